/* Comparing sessions of two methods; see diff-across.h. */
#include "cli/diff-across.h"

#include "cli/options.h"
#include "cli/terminal.h"
#include "compare/across.h"
#include "format/across.h"
#include "record/finish.h"
#include "session/decode.h"
#include "session/range.h"
#include "session/read.h"

#include <errno.h>
#include <string.h>

/* Take the facts. */
static int take_facts(void *ctx, const struct dw_packed_chunk *c, struct dw_error *err)
{
	struct dw_raw_chunk chunk = {.kind = DWELL_CHUNK_FACTS, .items = c->items};
	int rc = dw_chunk_unpack(c, &chunk.raw);

	rc = rc ? rc : dw_decode_chunk(&chunk, NULL, ctx, err);
	dw_buf_release(&chunk.raw);
	return rc;
}

/* How @path was recorded. False: it cannot be told. */
static bool find_method(const char *path, enum dw_method *ret)
{
	struct dw_profile facts = DW_PROFILE_INIT;
	bool found = !dw_session_each_chunk(path, DWELL_CHUNK_FACTS, take_facts, &facts, NULL) &&
		     dw_facts_get_text(&facts.facts, "method");

	*ret = dw_profile_method(&facts);
	dw_profile_release(&facts);
	return found;
}

bool dw_diff_is_across(const char *const paths[2])
{
	enum dw_method a, b;

	if (!find_method(paths[0], &a) || !find_method(paths[1], &b))
		return false;
	return (a == DWELL_METHOD_SAMPLING && b == DWELL_METHOD_INSTRUMENTATION) ||
	       (b == DWELL_METHOD_SAMPLING && a == DWELL_METHOD_INSTRUMENTATION);
}

static int write(const struct dw_diff_across *d, const struct dw_across_job *made,
		 struct dw_error *err)
{
	bool human_readable = !strcmp(d->format, "table") || !strcmp(d->format, "markdown");
	struct dw_across_job job = *made;
	struct dw_terminal terminal;
	struct dw_out out;
	int rc = dw_terminal_open(&terminal, d->output, human_readable, err), closed;

	if (rc)
		return rc;
	job.width = terminal.width;
	dw_out_init_fd(&out, terminal.fd);
	dw_across_write(&job, d->format, &out);
	rc = dw_out_close(&out);
	closed = dw_terminal_close(&terminal);
	rc = rc ? rc : closed;
	return rc && rc != -EPIPE ? dw_error_set_errno(err, -rc, "cannot write the report") : 0;
}

int dw_diff_across(const struct dw_diff_across *d, struct dw_error *err)
{
	static const struct dw_session_range whole;
	struct dw_profile p[2] = {0};
	struct dw_across across = {0};
	bool by_module = !strcmp(d->view, "modules");
	int rc = 0;

	if (!by_module && strcmp(d->view, "functions") != 0)
		return dw_misuse(
			err,
			"'%s' and '%s' are of two methods: the views functions and modules "
			"compare such, %s does not",
			d->paths[0], d->paths[1], d->view);
	for (int i = 0; i < 2 && !rc; i++) {
		rc = dw_terminal_check(d->output, d->paths[i], err);
		rc = rc ? rc : dw_open_profile(d->paths[i], &whole, &p[i], err);
	}
	if (!rc) {
		int plain = dw_profile_has_calls(&p[0]);

		rc = dw_across_compare(&p[plain], &p[!plain], by_module, &across, err);
		if (!rc)
			rc = write(d,
				   &(struct dw_across_job){
					   .across = &across,
					   .paths = {d->paths[plain], d->paths[!plain]},
					   .all = d->all,
					   .rows = d->rows,
				   },
				   err);
	}
	dw_across_release(&across);
	dw_profile_release(&p[0]);
	dw_profile_release(&p[1]);
	return rc;
}
