/*
 * Importing; see import.h. As in a recording (record.c) what was taken in is written piece by
 * piece, so that memory does not grow with the file, and the session is finished in the same way.
 */
#include "record/import.h"

#include "base/cleanup.h"
#include "code/cfi/table.h"
#include "collect/import/import.h"
#include "record/environment.h"
#include "record/finish.h"
#include "session/write.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define CACHE_MAX_BYTES (256ull << 20) /* of unwind tables, afterwards */

struct importing {
	const struct dw_import_options *options;
	struct dw_import_result *result;
	struct dw_profile profile;
	struct dw_import *import;
	struct dw_session_writer *writer;
};

static int flush(struct importing *i, struct dw_error *err)
{
	struct dw_backend_stats stats;
	int rc;

	dw_import_stats(i->import, &stats);
	i->result->samples_kept = stats.samples_kept;
	rc = dw_note_stats(&i->profile.facts, &stats);
	return rc ? rc : dw_session_flush(i->writer, &i->profile, err);
}

static int collect(struct importing *i, struct dw_error *err)
{
	bool more = true;
	int rc = 0;

	while (!rc && more) {
		rc = dw_import_some(i->import, &more);
		if (!rc)
			rc = flush(i, err);
	}
	if (!rc)
		rc = dw_import_end(i->import);
	if (!rc)
		rc = flush(i, err);
	return rc ? rc : dw_session_close_partial(i->writer, err);
}

static int note_result(struct importing *i)
{
	const char *left_out = dw_import_left_out(i->import);

	i->result->is_cut = dw_facts_get(&i->profile.facts, "import_cut", 0);
	if (!*left_out)
		return 0;
	i->result->left_out = strdup(left_out);
	return i->result->left_out ? 0 : -ENOMEM;
}

static int finish(struct importing *i, struct dw_error *err)
{
	dw_auto_free char *partial = NULL;
	struct dw_finish_options options = {
		.path = i->options->output,
		.held = true,
		.without_code = i->options->without_code,
		.debuginfod_ms = i->options->debuginfod_ms,
	};

	if (asprintf(&partial, "%s.partial", i->options->output) < 0)
		return -ENOMEM;
	options.partial = partial;
	options.sources = dw_import_sources(i->import, &options.sources_n);
	dw_profile_release(&i->profile);
	return dw_finish(&options, err);
}

static int run(struct importing *i, struct dw_error *err)
{
	const struct dw_import_options *o = i->options;
	struct dw_import_config config = {
		.path = o->input,
		.event = o->event,
		.cache_dir = o->cache_dir,
		.home = o->home,
	};
	int rc = dw_session_check_output(o->output, err);

	if (!rc)
		rc = dw_import_open(&config, &i->profile, &i->import, err);
	if (!rc)
		rc = dw_session_create(o->output, &i->writer, err);
	if (!rc)
		rc = collect(i, err);
	if (!rc)
		rc = note_result(i);
	return rc ? rc : finish(i, err);
}

int dw_import_session(const struct dw_import_options *options, struct dw_import_result *ret,
		      struct dw_error *err)
{
	struct importing i = {.options = options, .result = ret};
	int rc;

	*ret = (struct dw_import_result){0};
	rc = run(&i, err);
	if (options->cache_dir)
		dw_cfi_cache_prune(options->cache_dir, CACHE_MAX_BYTES);
	dw_session_writer_free(i.writer, rc);
	dw_import_free(i.import);
	dw_profile_release(&i.profile);
	if (rc && err && !err->code)
		dw_error_set(err, rc, "importing: %s", dw_err_string(rc));
	return rc;
}
