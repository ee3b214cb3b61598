/*
 * The collector of what somebody else has recorded: what is taken in is written piece by
 * piece, so that memory does not grow with the file. It is always ready.
 */
#include "code/cfi/table.h"
#include "record/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_MAX_BYTES (256ull << 20) /* of unwind tables, afterwards */

struct dw_collector {
	struct dw_recorder *r;
	struct dw_import *import;
};

static int prepare(struct dw_recorder *r, struct dw_collector **ret, struct dw_error *err)
{
	const struct dw_record_options *o = r->options;
	struct dw_import_config config = o->import;
	int rc = dw_session_check_output(o->output, err);

	config.cache_dir = o->cache_dir;
	*ret = rc ? NULL : calloc(1, sizeof **ret);
	if (!*ret)
		return rc ? rc : -ENOMEM;
	(*ret)->r = r;
	return dw_import_open(&config, &r->profile, &(*ret)->import, err);
}

static int drain(struct dw_collector *c, struct dw_error *err)
{
	bool more = false;
	int rc = dw_import_some(c->import, &more);

	c->r->result->ended = !rc && !more;
	return rc ? rc : dw_recorder_flush(c->r, err);
}

static void stats_of(const struct dw_collector *c, struct dw_backend_stats *ret)
{
	dw_import_stats(c->import, ret);
}

/* Whether functions of the kernel have samples and can have no names. */
static bool is_kernel_nameless(const struct dw_profile *p)
{
	for (uint32_t id = 1; id <= dw_modules_count(&p->modules); id++)
		if (dw_modules_get(&p->modules, id)->kind == DWELL_MODULE_KERNEL)
			return !dw_facts_get_text(&p->facts, "kernel_place");
	return false;
}

static int stop(struct dw_collector *c, int rc, struct dw_error *err)
{
	struct dw_import_result *result = &c->r->result->import;
	const char *left_out;

	(void)err;
	if (!rc)
		rc = dw_import_end(c->import);
	left_out = dw_import_left_out(c->import);
	result->is_cut = dw_facts_get(&c->r->profile.facts, "import_cut", 0);
	result->is_kernel_nameless = is_kernel_nameless(&c->r->profile);
	if (rc || !*left_out)
		return rc;
	result->left_out = strdup(left_out);
	return result->left_out ? 0 : -ENOMEM;
}

static void finish(struct dw_collector *c, struct dw_finish_options *options)
{
	options->cache_dir = NULL; /* names of this machine */
	options->sources = dw_import_sources(c->import, &options->sources_n);
}

static void free_import(struct dw_collector *c)
{
	if (!c)
		return;
	if (c->r->options->cache_dir)
		dw_cfi_cache_prune(c->r->options->cache_dir, CACHE_MAX_BYTES);
	dw_import_free(c->import);
	free(c);
}

const struct dw_collector_ops dw_collector_import = {
	.activity = "importing",
	.runs_nothing = true,
	.prepare = prepare,
	.drain = drain,
	.stats = stats_of,
	.stop = stop,
	.finish = finish,
	.free = free_import,
};
