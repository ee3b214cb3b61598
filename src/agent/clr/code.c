/*
 * Managed code; see code.h.
 *
 * A method has one piece of code for each tier, all of which are asked for whenever one is made:
 * the runtime does not say which is new. Of precompiled code it tells the method when it has found
 * the address, but does not list that yet; so the address is looked for on the stack, where the
 * runtime has it at hand, and counts only if the runtime then says that the method begins there.
 * (The event with the address, R2RGetEntryPoint, costs each program 30 ms at its start.)
 */
#include "agent/clr/code.h"

#include "agent/clr/ids.h"
#include "agent/clr/metadata.h"
#include "agent/clr/runtime.h"
#include "agent/clr/tables.h"
#include "agent/core/agent.h"
#include "agent/core/system-calls.h"

enum {
	IL_MAP = 512,	   /* entries of one piece that are told */
	VERSIONS = 32,	   /* of one method's code */
	CODE_PARTS = 4,	   /* of one version */
	SAVED_WORDS = 16,  /* below a frame's base, where registers are saved */
	STACK_WORDS = 256, /* looked through for an address */
	LOW_ADDRESS = 1 << 16,
};

struct code {
	struct dw_ids starts; /* address of a version -> row of its method */
	uint32_t last_word;   /* where on the stack an address was found, atomic */
};

static struct code code;

/* One version of a method, as the runtime tells it. */
struct version {
	uint32_t function; /* row */
	uint32_t parts_n, map_n;
	struct dw_com_code parts[CODE_PARTS];
	struct dw_com_il_map map[IL_MAP];
};

/* Add the entries of @v's map for the @bytes from offset @base on: how many, the first in *@ret. */
static uint32_t add_il(const struct version *v, uint64_t base, uint64_t bytes, uint32_t *ret)
{
	uint32_t n = 0, first;
	struct dw_clr_il *rows;

	for (uint32_t i = 0; i < v->map_n; i++)
		n += v->map[i].start - base < bytes;
	first = n ? dw_table_take_inside(DWELL_CLR_IL, n) : 0;
	if (!first)
		return 0;
	rows = dw_table_row(DWELL_CLR_IL, first);
	for (uint32_t i = 0; i < v->map_n; i++)
		if (v->map[i].start - base < bytes)
			*rows++ = (struct dw_clr_il){(uint32_t)(v->map[i].start - base),
						     v->map[i].il};
	*ret = first;
	return n;
}

static bool add_part(const struct version *v, uint32_t i, uint64_t base, uint64_t now_ns)
{
	uint32_t at = dw_table_take_inside(DWELL_CLR_CODES, 1), il = 0;
	struct dw_clr_code *row = dw_table_row(DWELL_CLR_CODES, at);
	const struct dw_com_code *part = &v->parts[i], *first = &v->parts[0];
	const uint8_t *bytes = (const uint8_t *)first->start;

	if (!at)
		return false;
	row->since_ns = now_ns;
	row->bytes = (uint32_t)part->bytes;
	row->function = v->function;
	row->il_n = add_il(v, base, part->bytes, &il);
	row->il = il;
	row->flags = i ? DWELL_CLR_CODE_COLD : 0;
	for (uint32_t k = 0; k < DWELL_CLR_PROLOG_BYTES && k < first->bytes; k++)
		row->prolog[k] = bytes[k];
	__atomic_store_n(&row->start, part->start, __ATOMIC_RELEASE);
	return true;
}

/* Tell @v, unless it known already; methods that were made are not remembered. */
static void add_version(const struct version *v, bool is_dynamic)
{
	uint64_t now_ns = dw_sys_now_ns(), base = 0;
	bool is_good = dw_agent_enter();

	if (!is_good) {
		dw_tables_count(DWELL_CLR_LOST_CODE, 1);
		return;
	}
	if (is_dynamic || !dw_ids_find(&code.starts, v->parts[0].start)) {
		for (uint32_t i = 0; i < v->parts_n && is_good; i++) {
			is_good = add_part(v, i, base, now_ns);
			base += v->parts[i].bytes;
		}
		if (!is_dynamic)
			dw_ids_put(&code.starts, v->parts[0].start, v->function, 0);
	}
	dw_agent_leave();
	if (!is_good)
		dw_tables_count(DWELL_CLR_LOST_CODE, 1);
}

/* Ask the runtime for the version of @function at @start, and tell it. */
static void take_version(uint64_t function, uint64_t start, bool is_dynamic)
{
	struct version v;

	v.function = dw_intern_function(function);
	v.parts_n = CODE_PARTS;
	v.map_n = IL_MAP;
	if (!v.function || dw_runtime_code(start, v.parts, &v.parts_n) < 0 || !v.parts_n) {
		dw_tables_count(DWELL_CLR_LOST_CODE, 1);
		return;
	}
	if (dw_runtime_il_map(start, v.map, &v.map_n) < 0)
		v.map_n = 0;
	v.parts_n = v.parts_n < CODE_PARTS ? v.parts_n : CODE_PARTS;
	v.map_n = v.map_n < IL_MAP ? v.map_n : IL_MAP;
	add_version(&v, is_dynamic);
}

static void take(uint64_t function, bool is_dynamic)
{
	uint64_t starts[VERSIONS];
	uint32_t n = VERSIONS;

	if (dw_runtime_code_starts(function, starts, &n) < 0)
		return;
	for (uint32_t i = 0; i < n && i < VERSIONS; i++)
		if (is_dynamic || !dw_ids_find(&code.starts, starts[i]))
			take_version(function, starts[i], is_dynamic);
}

void dw_code_compiled(uint64_t function)
{
	take(function, false);
}

void dw_code_dynamic(uint64_t function)
{
	take(function, true);
}

/* Whether precompiled code of @function begins at @address, which may be anything. */
static bool is_entry(uint64_t function, uint64_t address)
{
	struct dw_com_code parts[CODE_PARTS];
	uint64_t found;
	uint32_t n = CODE_PARTS;

	return address > LOW_ADDRESS && dw_runtime_function_at(address, &found) >= 0 &&
	       found == function && dw_runtime_code(address, parts, &n) >= 0 && n &&
	       parts[0].start == address;
}

__attribute__((noinline)) void dw_code_searched(uint64_t function)
{
	const uint64_t *stack = (const uint64_t *)__builtin_frame_address(0) - SAVED_WORDS;
	uint32_t last = __atomic_load_n(&code.last_word, __ATOMIC_RELAXED);

	__builtin_unwind_init();
	for (uint32_t i = 0; i < STACK_WORDS; i++) {
		uint32_t at = i ? i - 1 : last;

		if (stack[at] == function || !is_entry(function, stack[at]))
			continue;
		__atomic_store_n(&code.last_word, at, __ATOMIC_RELAXED);
		if (!dw_ids_find(&code.starts, stack[at]))
			take_version(function, stack[at], false);
		return;
	}
	dw_tables_count(DWELL_CLR_LOST_CODE, 1);
}

void dw_code_forget(void)
{
	if (!dw_agent_enter())
		return;
	dw_ids_remove(&code.starts, NULL, 0);
	dw_interned_forget();
	dw_agent_leave();
}

void dw_code_forget_dynamic(uint64_t function)
{
	if (!dw_agent_enter())
		return;
	dw_interned_forget_id(function);
	dw_agent_leave();
}
