/*
 * callgrind's format: https://valgrind.org/docs/manual/cl-format.html
 *
 * KCachegrind and callgrind_annotate read it. Threads and processes are one, since the format has
 * no room for them beside others; --thread and --process take them apart. Inlined functions are
 * functions, called by those that they are in. How often something was called only instrumentation
 * knows: else calls count the samples, or the objects, below them.
 */
#include "analysis/cct.h"
#include "base/map.h"
#include "base/vec.h"
#include "export/export.h"
#include "export/frame-table.h"
#include "format/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A call from a frame to a symbol. It has all that lies below it, once for each sample or interval
 * however often the call is on its stack. */
struct call {
	uint32_t symbol; /* of the callee */
	uint32_t line;	 /* where the callee was first seen, 0 = not known */
	uint32_t next;	 /* index of the next call from the same frame + 1, 0 = none */
	uint32_t until;	 /* while costs are added up: on the path at positions below this */
	uint64_t count;	 /* calls; where these are not known, samples or objects */
};

/* Costs by function and call instead of by path. Each frame has costs of its own. */
struct costs {
	const struct dw_export *e;
	unsigned kinds_n;
	unsigned calls_kind; /* the values that count calls, kinds_n = there are none */
	struct dw_inline_frames frames;
	struct dw_cct tree;    /* of paths, amounts in the order of kinds */
	uint64_t *own;	       /* by frame, kinds_n each */
	uint32_t *symbol_of;   /* by frame */
	uint32_t *location_of; /* by frame */
	uint32_t *calls_of;    /* by frame: index of its first call + 1 */
	DW_VEC(struct call) calls;
	DW_VEC(uint64_t) inclusive; /* by call, kinds_n each */
	struct dw_map call_ids;	    /* frame << 32 | symbol -> index + 1 */
};

static void note_frame(void *ctx, uint32_t location, uint32_t i)
{
	struct costs *c = ctx;
	uint32_t frame = c->frames.first[location + 1] - 1 - i;

	c->symbol_of[frame] = dw_paths_line(&c->e->paths, location, i).symbol;
	c->location_of[frame] = location;
}

/* Put all values into the tree, and what a frame has of its own. */
static int sum_up(struct costs *c)
{
	const struct dw_sample_values *sample_values = &c->e->values;
	const struct dw_paths *paths = &c->e->paths;
	int rc;

	for (uint32_t path = 0; path < paths->n; path++)
		c->tree.parent[path] = path ? dw_paths_parent(paths, path) : DWELL_CCT_NONE;
	dw_vec_each(row, &sample_values->rows)
		dw_cct_mark(&c->tree, row->path);
	rc = dw_cct_order(&c->tree);
	for (size_t i = 0; i < sample_values->rows.n && !rc; i++) {
		uint32_t path = sample_values->rows.v[i].path;
		uint64_t *own =
			&c->own[(c->frames.first[dw_paths_location(paths, path) + 1] - 1ul) *
				c->kinds_n];
		struct dw_amount amount = {0};

		for (unsigned k = 0; k < c->kinds_n; k++) {
			amount.v[k + 1] = dw_sample_value(sample_values, i, k);
			own[k] += amount.v[k + 1];
		}
		rc = dw_cct_add(&c->tree, path, &amount);
	}
	return rc ? rc : dw_cct_sum(&c->tree);
}

/* The call from @frame to @to, made when new. NULL = no memory. */
static struct call *find_call(struct costs *c, uint32_t frame, struct dw_path_line to)
{
	uint64_t key = (uint64_t)frame << 32 | to.symbol;
	uint32_t id = dw_map_get(&c->call_ids, key);

	if (id)
		return &c->calls.v[id - 1];
	if (dw_vec_push(&c->calls, (struct call){.symbol = to.symbol,
						 .line = to.line,
						 .next = c->calls_of[frame]}) ||
	    dw_vec_reserve(&c->inclusive, c->kinds_n) ||
	    dw_map_put(&c->call_ids, key, (uint32_t)c->calls.n))
		return NULL;
	memset(c->inclusive.v + c->inclusive.n, 0, c->kinds_n * sizeof *c->inclusive.v);
	c->inclusive.n += c->kinds_n;
	c->calls_of[frame] = (uint32_t)c->calls.n;
	return &c->calls.v[c->calls.n - 1];
}

/* At position @p is a call from @frame to the function @i of its location. It counts where it was
 * not on the path before. */
static int enter(struct costs *c, uint32_t frame, uint32_t p, uint32_t i)
{
	const struct dw_cct *t = &c->tree;
	uint32_t location = dw_paths_location(&c->e->paths, t->id[p]), end = t->end[p];
	struct call *call = find_call(c, frame, dw_paths_line(&c->e->paths, location, i));
	const uint64_t *from = &t->common[(size_t)p * c->kinds_n];
	const uint64_t *until = &t->common[(size_t)end * c->kinds_n];
	bool counted = c->calls_kind < c->kinds_n;

	if (!call)
		return -ENOMEM;
	if (counted)
		call->count += dw_cct_own(t, p, c->calls_kind + 1);
	if (p < call->until)
		return 0;
	call->until = end;
	if (!counted)
		call->count += until[0] - from[0];
	for (unsigned k = 0; k < c->kinds_n; k++)
		c->inclusive.v[(size_t)(call - c->calls.v) * c->kinds_n + k] += until[k] - from[k];
	return 0;
}

/* All calls that the path at position @p adds to those of its parent. */
static int enter_all(struct costs *c, uint32_t p)
{
	const struct dw_paths *paths = &c->e->paths;
	const uint32_t *first = c->frames.first;
	uint32_t path = c->tree.id[p], parent = dw_paths_parent(paths, path);
	uint32_t location = dw_paths_location(paths, path),
		 lines = first[location + 1] - first[location];
	int rc = 0;

	if (parent)
		rc = enter(c, first[dw_paths_location(paths, parent) + 1] - 1, p, lines - 1);
	for (uint32_t i = lines - 1; i-- > 0 && !rc;)
		rc = enter(c, first[location + 1] - 2 - i, p, i);
	return rc;
}

static int allocate_costs(struct costs *c)
{
	const struct dw_amounts like = {.common_n = (uint8_t)c->kinds_n,
					.all_n = (uint8_t)c->kinds_n};
	size_t frames = (size_t)c->frames.n + 1;

	c->own = calloc(frames, c->kinds_n * sizeof *c->own);
	c->symbol_of = calloc(frames, sizeof *c->symbol_of);
	c->location_of = calloc(frames, sizeof *c->location_of);
	c->calls_of = calloc(frames, sizeof *c->calls_of);
	return c->own && c->symbol_of && c->location_of && c->calls_of &&
			       !dw_cct_init(&c->tree, c->e->paths.n, &like)
		       ? 0
		       : -ENOMEM;
}

/* Add up the values of @e. 0 or -ENOMEM, to be released in either case. */
static int costs_init(struct costs *c, const struct dw_export *e)
{
	const struct dw_value_kind *kinds = e->values.kinds;
	int rc;

	*c = (struct costs){.e = e, .kinds_n = e->values.kinds_n};
	while (c->calls_kind < c->kinds_n && kinds[c->calls_kind].measure != DWELL_MEASURE_CALLS)
		c->calls_kind++;
	rc = dw_inline_frames_init(&c->frames, &e->paths, &e->values);
	if (!rc)
		rc = allocate_costs(c);
	if (!rc) {
		dw_inline_frames_each(&c->frames, note_frame, c);
		rc = sum_up(c);
	}
	/* The first position is that of the empty path. */
	for (uint32_t p = 1; p < c->tree.n && !rc; p++)
		rc = enter_all(c, p);
	return rc;
}

static void costs_release(struct costs *c)
{
	dw_inline_frames_release(&c->frames);
	dw_cct_release(&c->tree);
	free(c->own);
	free(c->symbol_of);
	free(c->location_of);
	free(c->calls_of);
	dw_vec_release(&c->calls);
	dw_vec_release(&c->inclusive);
	dw_map_release(&c->call_ids);
}

struct callgrind {
	const struct dw_export *e;
	struct dw_out *out;
	struct costs costs;
	struct dw_buf scratch;
	uint32_t *frames_of;		      /* by symbol: its first frame + 1 */
	uint32_t *next;			      /* by frame: the next one of its symbol + 1 */
	uint8_t *functions, *files, *objects; /* by symbol, string id, module id: 1 = told */
	uint32_t file;			      /* of the lines at hand */
};

/* "PREFIX(ID) NAME", the second time without the name. */
static void put_name(struct callgrind *g, const char *prefix, uint8_t *told, uint32_t id,
		     const char *name)
{
	dw_out_printf(g->out, "%s(%" PRIu32 ")", prefix, id + 1);
	if (!*told) {
		dw_out_puts(g->out, " ");
		dw_text_put(g->out, *name ? name : "???");
	}
	*told = 1;
	dw_out_puts(g->out, "\n");
}

static void put_file(struct callgrind *g, const char *prefix, uint32_t file)
{
	put_name(g, prefix, &g->files[file], file, dw_strings_get(&g->e->profile->strings, file));
}

static void put_object(struct callgrind *g, const char *prefix, uint32_t module)
{
	const struct dw_module *m = dw_modules_get(&g->e->profile->modules, module);

	put_name(g, prefix, &g->objects[module], module,
		 m ? dw_strings_get(&g->e->profile->strings, m->path) : "");
}

static void put_symbol(struct callgrind *g, uint32_t symbol, const char *const prefixes[3])
{
	const struct dw_function *f = dw_paths_function(&g->e->paths, symbol);

	put_object(g, prefixes[0], f ? f->module : 0);
	put_file(g, prefixes[1], f ? f->file : 0);
	put_name(g, prefixes[2], &g->functions[symbol], symbol,
		 dw_paths_name(&g->e->paths, symbol, &g->scratch));
}

static void put_costs(struct callgrind *g, uint32_t line, const uint64_t *costs)
{
	dw_out_printf(g->out, "%" PRIu32, line);
	for (unsigned k = 0; k < g->costs.kinds_n; k++)
		dw_out_printf(g->out, " %" PRIu64, costs[k]);
	dw_out_puts(g->out, "\n");
}

static bool has_costs(const struct callgrind *g, const uint64_t *costs)
{
	for (unsigned k = 0; k < g->costs.kinds_n; k++)
		if (costs[k])
			return true;
	return false;
}

static void put_call(struct callgrind *g, const struct call *call, uint32_t line)
{
	static const char *const prefixes[] = {"cob=", "cfi=", "cfn="};
	size_t at = (size_t)(call - g->costs.calls.v) * g->costs.kinds_n;

	put_symbol(g, call->symbol, prefixes);
	/* Of a call that began before a range of time the cost is in it, but not its beginning. For
	 * readers a call that never was has no cost. */
	dw_out_printf(g->out, "calls=%" PRIu64 " %" PRIu32 "\n", call->count ? call->count : 1,
		      call->line);
	put_costs(g, line, &g->costs.inclusive.v[at]);
}

static void put_inline_frame(struct callgrind *g, uint32_t frame)
{
	const struct costs *c = &g->costs;
	uint32_t location = c->location_of[frame];
	struct dw_path_line line =
		dw_paths_line(&g->e->paths, location, c->frames.first[location + 1] - 1 - frame);
	const uint64_t *own = &c->own[(size_t)frame * c->kinds_n];

	if (line.file && line.file != g->file)
		put_file(g, "fi=", g->file = line.file);
	if (has_costs(g, own))
		put_costs(g, line.line, own);
	for (uint32_t i = c->calls_of[frame]; i; i = c->calls.v[i - 1].next)
		put_call(g, &c->calls.v[i - 1], line.line);
}

static void put_function(struct callgrind *g, uint32_t symbol)
{
	static const char *const prefixes[] = {"ob=", "fl=", "fn="};
	const struct dw_function *f = dw_paths_function(&g->e->paths, symbol);

	if (!g->frames_of[symbol])
		return;
	dw_out_puts(g->out, "\n");
	put_symbol(g, symbol, prefixes);
	g->file = f ? f->file : 0;
	for (uint32_t i = g->frames_of[symbol]; i; i = g->next[i - 1])
		put_inline_frame(g, i - 1);
}

static void put_head(struct callgrind *g)
{
	const struct dw_sample_values *w = &g->e->values;
	const char *command = dw_facts_get_text(&g->e->profile->facts, "command");

	dw_out_puts(g->out,
		    "# callgrind format\nversion: 1\ncreator: dwell " DWELL_VERSION "\ncmd: ");
	dw_text_put(g->out, command ? command : "");
	dw_out_puts(g->out, "\npositions: line\nevents:");
	for (unsigned k = 0; k < w->kinds_n; k++)
		dw_out_printf(g->out, " %s", w->kinds[k].name);
	dw_out_puts(g->out, "\nsummary:");
	for (unsigned k = 0; k < w->kinds_n; k++) {
		uint64_t sum = 0;

		for (size_t i = 0; i < w->rows.n; i++)
			sum += dw_sample_value(w, i, k);
		dw_out_printf(g->out, " %" PRIu64, sum);
	}
	dw_out_puts(g->out, "\n");
}

static int allocate(struct callgrind *g)
{
	uint32_t symbols = dw_paths_symbols(&g->e->paths);
	const struct dw_profile *p = g->e->profile;

	g->frames_of = calloc(symbols, sizeof *g->frames_of);
	g->next = calloc((size_t)g->costs.frames.n + 1, sizeof *g->next);
	g->functions = calloc(symbols, 1);
	g->files = calloc((size_t)p->strings.n + 1, 1);
	g->objects = calloc((size_t)dw_modules_count(&p->modules) + 1, 1);
	return g->frames_of && g->next && g->functions && g->files && g->objects ? 0 : -ENOMEM;
}

static void put_document(struct callgrind *g)
{
	for (uint32_t frame = g->costs.frames.n; frame-- > 0;) {
		uint32_t symbol = g->costs.symbol_of[frame];

		g->next[frame] = g->frames_of[symbol];
		g->frames_of[symbol] = frame + 1;
	}
	put_head(g);
	for (uint32_t symbol = 0; symbol < dw_paths_symbols(&g->e->paths); symbol++)
		put_function(g, symbol);
}

static int write_callgrind(const struct dw_export *e, struct dw_out *out)
{
	struct callgrind g = {.e = e, .out = out};
	int rc = costs_init(&g.costs, e);

	if (!rc)
		rc = allocate(&g);
	if (!rc)
		put_document(&g);
	costs_release(&g.costs);
	dw_buf_release(&g.scratch);
	free(g.frames_of);
	free(g.next);
	free(g.functions);
	free(g.files);
	free(g.objects);
	return rc;
}

const struct dw_export_ops dw_export_callgrind = {
	.name = "callgrind",
	.help = "functions, lines and calls with all values, for KCachegrind",
	.write = write_callgrind,
};
