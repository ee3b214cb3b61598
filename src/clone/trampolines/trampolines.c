/*
 * Copying the trampolines; see trampolines.h. Their code, fields and unwind programs are in
 * count-x86-64.S and time-x86-64.S.
 */
#include "clone/trampolines/trampolines.h"

#include <string.h>

/* A field of the gates: 32-bit distance to a page of the image, or the thread word's offset. */
struct fixup {
	uint32_t at; /* in the gates */
	uint32_t page;
	uint32_t offset;
};

enum page { PAGE_CONSTANTS, PAGE_WIPED, PAGE_AREA, PAGE_THREAD };

/* A set of gates, assembled. */
struct set {
	const uint8_t *code, *end;
	const struct fixup *fixups, *fixups_end;
	const uint8_t *program, *program_end;
	const struct dw_clone_gate *half_way, *half_way_end; /* offsets in the set */
};

extern const uint8_t dw_gates_code[], dw_gates_code_end[], dw_gate_count[], dw_gate_leave[];
extern const uint8_t dw_gates_program[], dw_gates_program_end[];
extern const struct fixup dw_gates_fixups[], dw_gates_fixups_end[];
extern const uint8_t dw_gates_time[], dw_gates_time_end[];
extern const uint8_t dw_gates_time_program[], dw_gates_time_program_end[];
extern const struct fixup dw_gates_time_fixups[], dw_gates_time_fixups_end[];
extern const struct dw_clone_gate dw_gates_time_half_way[], dw_gates_time_half_way_end[];
extern const uint8_t dw_gates_time_signals[], dw_gates_time_moves[], dw_gates_time_moved[];
extern const uint8_t dw_gate_enter[], dw_gate_exit[], dw_gate_out[], dw_gate_out_pointer[],
	dw_gate_back[], dw_gate_landing[], dw_gate_call_begin[], dw_gate_call_end[], dw_gate_line[],
	dw_gate_tail[], dw_gate_counted[], dw_gate_counted_tail[], dw_gate_counted_pointer[];

static const struct set count_set = {
	dw_gates_code,	     dw_gates_code_end, dw_gates_fixups,
	dw_gates_fixups_end, dw_gates_program,	dw_gates_program_end,
};
static const struct set time_set = {
	dw_gates_time,		dw_gates_time_end,
	dw_gates_time_fixups,	dw_gates_time_fixups_end,
	dw_gates_time_program,	dw_gates_time_program_end,
	dw_gates_time_half_way, dw_gates_time_half_way_end,
};

static const uint8_t *const gates[DWELL_GATES_N] = {
	[DWELL_GATE_COUNT] = dw_gate_count,
	[DWELL_GATE_LEAVE] = dw_gate_leave,
	[DWELL_GATE_ENTER] = dw_gate_enter,
	[DWELL_GATE_EXIT] = dw_gate_exit,
	[DWELL_GATE_OUT] = dw_gate_out,
	[DWELL_GATE_OUT_POINTER] = dw_gate_out_pointer,
	[DWELL_GATE_BACK] = dw_gate_back,
	[DWELL_GATE_LANDING] = dw_gate_landing,
	[DWELL_GATE_CALL_BEGIN] = dw_gate_call_begin,
	[DWELL_GATE_CALL_END] = dw_gate_call_end,
	[DWELL_GATE_LINE] = dw_gate_line,
	[DWELL_GATE_TAIL] = dw_gate_tail,
	[DWELL_GATE_COUNTED] = dw_gate_counted,
	[DWELL_GATE_COUNTED_TAIL] = dw_gate_counted_tail,
	[DWELL_GATE_COUNTED_POINTER] = dw_gate_counted_pointer,
};

static const struct set *set_of(uint32_t probes)
{
	return probes == DWELL_PROBES_TIME || probes == DWELL_PROBES_SYSTEM_CALLS ? &time_set
										  : &count_set;
}

enum dw_gate dw_gate_of_entry(uint32_t probes)
{
	return set_of(probes) == &time_set ? DWELL_GATE_ENTER : DWELL_GATE_COUNT;
}

enum dw_gate dw_gate_of_leaving(uint32_t probes)
{
	return set_of(probes) == &time_set ? DWELL_GATE_EXIT : DWELL_GATE_LEAVE;
}

uint32_t dw_gates_bytes(uint32_t probes)
{
	return (uint32_t)(set_of(probes)->end - set_of(probes)->code);
}

uint32_t dw_gate_at(const struct dw_gates *g, enum dw_gate gate)
{
	return g->at + (uint32_t)(gates[gate] - set_of(g->probes)->code);
}

void dw_gates_write(const struct dw_gates *g, uint8_t *area)
{
	const struct set *s = set_of(g->probes);

	memcpy(area + g->at, s->code, dw_gates_bytes(g->probes));
	for (const struct fixup *x = s->fixups; x < s->fixups_end; x++) {
		uint32_t to = x->page == PAGE_CONSTANTS ? g->constants_at
			      : x->page == PAGE_WIPED	? g->wiped_at
							: 0;
		uint32_t distance = to + x->offset - (g->at + x->at + 4);

		if (x->page != PAGE_THREAD)
			memcpy(area + g->at + x->at, &distance, sizeof distance);
	}
}

uint32_t dw_gates_thread_field(const struct dw_gates *g, uint32_t i)
{
	const struct set *s = set_of(g->probes);

	for (const struct fixup *x = s->fixups; x < s->fixups_end; x++)
		if (x->page == PAGE_THREAD && !i--)
			return g->at + x->at;
	return 0;
}

void dw_gates_places(const struct dw_gates *g, uint32_t table[DWELL_GATES_N])
{
	const struct set *s = set_of(g->probes);

	for (int i = 0; i < DWELL_GATES_N; i++)
		table[i] = gates[i] >= s->code && gates[i] < s->end
				   ? g->at + (uint32_t)(gates[i] - s->code)
				   : 0;
}

void dw_gates_half_way(const struct dw_gates *g, struct dw_clone_gate table[DWELL_CLONE_GATES])
{
	const struct set *s = set_of(g->probes);

	for (const struct dw_clone_gate *x = s->half_way; x < s->half_way_end; x++)
		*table++ = (struct dw_clone_gate){g->at + x->again, g->at + x->commit,
						  g->at + x->end, g->at + x->over};
}

void dw_gates_slow_path(const struct dw_gates *g, struct dw_clone_header *h)
{
	if (set_of(g->probes) != &time_set)
		return;
	h->signals_at = g->at + (uint32_t)(dw_gates_time_signals - dw_gates_time);
	h->moves_at = g->at + (uint32_t)(dw_gates_time_moves - dw_gates_time);
	h->moved_at = g->at + (uint32_t)(dw_gates_time_moved - dw_gates_time);
}

struct dw_clone_gate_range dw_gates_range(const struct dw_gates *g)
{
	const struct set *s = set_of(g->probes);

	return (struct dw_clone_gate_range){
		.at = g->at,
		.bytes = dw_gates_bytes(g->probes),
		.program = s->program,
		.program_n = (uint32_t)(s->program_end - s->program),
	};
}
