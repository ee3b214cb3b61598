/*
 * callgrind's format: https://valgrind.org/docs/manual/cl-format.html
 *
 * KCachegrind and callgrind_annotate read it. Threads and processes are one, since the format has
 * no place for them beside others; --thread and --process take them apart. Inlined functions are
 * functions, called by those that they are in. How often something was called only instrumentation
 * knows: else calls count the samples, or the objects, below them.
 */
#include "export/call-costs.h"
#include "export/formats.h"
#include "format/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct callgrind {
	const struct dw_export *e;
	struct dw_out *out;
	struct dw_call_costs costs;
	struct dw_buf scratch;
	uint32_t *slots_of;		      /* by symbol: its first slot + 1 */
	uint32_t *next;			      /* by slot: the next one of its symbol + 1 */
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

/* The object, file and name of @symbol. */
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

static void put_call(struct callgrind *g, const struct dw_cost_call *call, uint32_t line)
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

/* What a slot has of its own, and its calls. */
static void put_slot(struct callgrind *g, uint32_t slot)
{
	const struct dw_call_costs *c = &g->costs;
	uint32_t place = c->place_of[slot];
	struct dw_path_line line =
		dw_paths_line(&g->e->paths, place, c->slots.first[place + 1] - 1 - slot);
	const uint64_t *own = &c->own[(size_t)slot * c->kinds_n];

	if (line.file && line.file != g->file)
		put_file(g, "fi=", g->file = line.file);
	if (has_costs(g, own))
		put_costs(g, line.line, own);
	for (uint32_t i = c->calls_of[slot]; i; i = c->calls.v[i - 1].next)
		put_call(g, &c->calls.v[i - 1], line.line);
}

static void put_function(struct callgrind *g, uint32_t symbol)
{
	static const char *const prefixes[] = {"ob=", "fl=", "fn="};
	const struct dw_function *f = dw_paths_function(&g->e->paths, symbol);

	if (!g->slots_of[symbol])
		return;
	dw_out_puts(g->out, "\n");
	put_symbol(g, symbol, prefixes);
	g->file = f ? f->file : 0;
	for (uint32_t i = g->slots_of[symbol]; i; i = g->next[i - 1])
		put_slot(g, i - 1);
}

static void put_head(struct callgrind *g)
{
	const struct dw_weights *w = &g->e->weights;
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
			sum += dw_weights_value(w, i, k);
		dw_out_printf(g->out, " %" PRIu64, sum);
	}
	dw_out_puts(g->out, "\n");
}

static int allocate(struct callgrind *g)
{
	uint32_t symbols = dw_paths_symbols(&g->e->paths);
	const struct dw_profile *p = g->e->profile;

	g->slots_of = calloc(symbols, sizeof *g->slots_of);
	g->next = calloc((size_t)g->costs.slots.n + 1, sizeof *g->next);
	g->functions = calloc(symbols, 1);
	g->files = calloc((size_t)p->strings.n + 1, 1);
	g->objects = calloc((size_t)dw_modules_count(&p->modules) + 1, 1);
	return g->slots_of && g->next && g->functions && g->files && g->objects ? 0 : -ENOMEM;
}

static void put_document(struct callgrind *g)
{
	for (uint32_t slot = g->costs.slots.n; slot-- > 0;) {
		uint32_t symbol = g->costs.symbol_of[slot];

		g->next[slot] = g->slots_of[symbol];
		g->slots_of[symbol] = slot + 1;
	}
	put_head(g);
	for (uint32_t symbol = 0; symbol < dw_paths_symbols(&g->e->paths); symbol++)
		put_function(g, symbol);
}

static int write_callgrind(const struct dw_export *e, struct dw_out *out)
{
	struct callgrind g = {.e = e, .out = out};
	int rc = dw_call_costs_init(&g.costs, e);

	if (!rc)
		rc = allocate(&g);
	if (!rc)
		put_document(&g);
	dw_call_costs_release(&g.costs);
	dw_buf_release(&g.scratch);
	free(g.slots_of);
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
