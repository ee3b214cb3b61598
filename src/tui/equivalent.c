/* What is seen, outside of the reader: the command that reports it, and a file that holds it. */
#include "base/cleanup.h"
#include "format/text.h"
#include "tui/reading.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static void put_word(struct dw_out *out, const char *option, const char *word)
{
	dw_out_printf(out, " %s ", option);
	dw_format_shell_word(out, word, dw_text_put);
}

/* In the largest unit that says it exactly. */
static void put_time(struct dw_out *out, const char *option, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = {{1000000000, ""}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
	size_t i = 0;

	while (ns % units[i].ns)
		i++;
	dw_out_printf(out, " %s %" PRIu64 "%s", option, ns / units[i].ns, units[i].name);
}

/* The waits that count, unless they are those that do by themselves. */
static void put_waits(struct dw_out *out, dw_wait_kinds left_out)
{
	const char *behind = " --waits ";

	if (left_out == DWELL_WAITS_FOLDED)
		return;
	if (!left_out)
		return dw_out_puts(out, " --waits all");
	for (enum dw_wait_kind kind = 0; kind < DWELL_WAIT_KINDS; kind++)
		if (!dw_wait_kinds_have(left_out, kind)) {
			dw_out_printf(out, "%s%s", behind, dw_wait_kind_name(kind));
			behind = ",";
		}
	if (*behind != ',')
		dw_out_puts(out, " --waits none");
}

static void put_filters(struct dw_out *out, const struct dw_reading *r)
{
	static const char *const options[DWELL_FILTER_KINDS] = {
		[DWELL_FILTER_PROCESS] = "--process",
		[DWELL_FILTER_THREAD] = "--thread",
		[DWELL_FILTER_MODULE] = "--module",
		[DWELL_FILTER_TYPE] = "--type",
	};

	for (size_t kind = 0; kind < DWELL_FILTER_KINDS; kind++)
		dw_vec_each(word, &r->selection->lists[kind].words)
			put_word(out, options[kind], *word);
	if (r->selection->from_ns)
		put_time(out, "--from", r->selection->from_ns);
	if (r->selection->to_ns)
		put_time(out, "--until", r->selection->to_ns);
	put_waits(out, r->selection->filter.filter.waits_left_out);
}

static void put_order(struct dw_out *out, const struct dw_place *p)
{
	char key[DWELL_KEY_MAX_BYTES];

	if (!p->sort)
		return;
	dw_column_key(p->sort, key);
	dw_out_printf(out, " --sort %s%s", p->reverse ? "-" : "", key);
}

/* Whether the text of the source is among the columns. */
static bool has_source(const struct dw_place *p)
{
	return p->ops == &dw_view_source_annotated;
}

static void put_columns(struct dw_out *out, const struct dw_place *p)
{
	for (const enum dw_column *c = p->chosen; *c; c++) {
		char key[DWELL_KEY_MAX_BYTES];

		dw_column_key(*c, key);
		dw_out_printf(out, "%s%s", c == p->chosen ? " --columns " : ",", key);
	}
}

/* The columns of a file, as a report has them. */
static void columns_of_file(const struct dw_reading *r, const struct dw_place *p,
			    enum dw_column *ret)
{
	if (p->chosen[0]) {
		memcpy(ret, p->chosen, sizeof p->chosen);
		return;
	}
	dw_view_columns(p->ops, &r->profile, DWELL_BY_NONE, false, ret);
	dw_columns_drop_derived(ret);
	if (!has_source(p))
		dw_columns_drop(ret, DWELL_COLUMN_SOURCE_TEXT);
}

/* Reports for programs fold nothing by themselves, so the command says it. */
static bool folds(const struct dw_reading *r)
{
	const struct dw_place_sources sources = {.profile = &r->profile, .selection = r->selection};

	return !r->shows_all_code && dw_place_may_fold(dw_reading_here(r), &sources);
}

int dw_reading_command(const struct dw_reading *r, struct dw_buf *ret)
{
	const struct dw_place *p = dw_reading_here(r);
	dw_auto(dw_buf) name = DW_BUF_INIT;
	struct dw_out out;
	int rc;

	dw_out_init_buffer(&out);
	dw_out_puts(&out, "dwell report ");
	dw_format_shell_word(&out, dw_reading_path(r), dw_text_put);
	dw_out_printf(&out, " %s", p->ops->name);
	if (p->function) {
		dw_function_word(&r->profile, p->function, &name);
		dw_out_puts(&out, " ");
		dw_format_shell_word(&out, dw_buf_str(&name), dw_text_put);
	}
	if (p->root) {
		dw_function_word(&r->profile, p->root, &name);
		put_word(&out, "--root", dw_buf_str(&name));
	}
	if (p->ops->parts & (DWELL_TOTALS_NODES | DWELL_TOTALS_PATHS) && !p->ops->has_notes)
		dw_out_puts(&out, " --trim 0 --no-fold");
	if (p->ops->is_of_my_code && !dw_profile_has_calls(&r->profile))
		dw_out_puts(&out, folds(r) ? " --just-my-code=callee" : " --all-code");
	if (has_source(p))
		dw_out_puts(&out, " --source");
	for (size_t i = 0; has_source(p) && i < r->start->source_dirs_n; i++)
		put_word(&out, "--source-dir", r->start->source_dirs[i]);
	put_filters(&out, r);
	put_order(&out, p);
	put_columns(&out, p);
	rc = dw_out_flush(&out);
	dw_buf_clear(ret);
	dw_buf_puts(ret, dw_buf_str(&out.buf));
	dw_out_close(&out);
	return rc || ret->failed ? -ENOMEM : 0;
}

static const struct dw_format_ops *format_of(const char *path)
{
	size_t n = strlen(path);

	return n > 4 && !strcmp(path + n - 4, ".csv") ? &dw_format_csv : &dw_format_json;
}

int dw_reading_save(struct dw_reading *r, const char *path, struct dw_error *err)
{
	const struct dw_place *p = dw_reading_here(r);
	enum dw_column columns[DWELL_COLUMNS_N];
	struct dw_format_job job = {
		.view = &p->view, .columns = columns, .path = dw_reading_path(r)};
	struct dw_out out;
	int rc, fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	if (fd < 0 && errno == EEXIST)
		return dw_error_set(err, DWELL_ERR_REFUSED, "'%s' is there already", path);
	if (fd < 0)
		return dw_error_set_errno(err, errno, "cannot write '%s'", path);
	columns_of_file(r, p, columns);
	dw_out_init_fd(&out, fd);
	format_of(path)->write(&job, &out);
	rc = dw_out_close(&out);
	if (close(fd) && !rc)
		rc = -errno;
	return rc ? dw_error_set_errno(err, -rc, "cannot write '%s'", path) : 0;
}
