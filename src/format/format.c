/* The list of formats, and what several of them need. */
#include "format/format.h"

#include "base/digits.h"
#include "format/formats.h"

#include <string.h>

const struct dw_format_ops *const dw_formats[] = {
	&dw_format_table, &dw_format_csv, &dw_format_json, &dw_format_xml, NULL,
};

const struct dw_format_ops *dw_format_find(const char *name)
{
	const struct dw_format_ops *const *ops = dw_formats;

	while (*ops && strcmp((*ops)->name, name))
		ops++;
	return *ops;
}

size_t dw_format_rows(const struct dw_format_job *job)
{
	return job->rows && job->rows < job->view->n ? job->rows : job->view->n;
}

/* Write the digits from @at on, which end where the array @digits does. */
static void put_digits(struct dw_out *out, const char *digits, const char *at)
{
	dw_out_write(out, at, (size_t)(digits + DWELL_DIGITS_MAX_BYTES - 1 - at));
}

void dw_format_count(struct dw_out *out, uint64_t n)
{
	char digits[DWELL_DIGITS_MAX_BYTES];

	put_digits(out, digits, dw_digits_decimal(n, digits));
}

void dw_format_address(struct dw_out *out, uint64_t n)
{
	char digits[DWELL_DIGITS_MAX_BYTES];

	put_digits(out, digits, dw_digits_hex(n, digits));
}

void dw_format_facts(const struct dw_format_job *job,
		     void (*fn)(const struct dw_format_fact *fact, struct dw_out *out),
		     struct dw_out *out)
{
	const struct dw_profile *p = job->view->request.profile;
	struct dw_format_fact kept = {.key = "samples_kept", .integer = (int64_t)p->samples.n};
	struct dw_format_fact reported = {
		.key = "samples_reported",
		.integer = (int64_t)job->view->request.totals->samples,
	};
	bool says_kept = false;

	dw_vec_each(row, &p->facts.rows) {
		struct dw_format_fact fact = {row->key, row->text, row->integer};

		says_kept |= !strcmp(row->key, kept.key);
		fn(&fact, out);
	}
	if (!says_kept)
		fn(&kept, out);
	fn(&reported, out);
}
