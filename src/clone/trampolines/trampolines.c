/*
 * Copying the trampolines; see trampolines.h. Their code, fields and unwind programs are in
 * count-x86-64.S and time-x86-64.S.
 */
#include "clone/trampolines/trampolines.h"

#include <string.h>

/* A field of the trampolines: 32-bit distance to a page of the image, or the thread word's offset.
 */
struct fixup {
	uint32_t at; /* in the trampolines */
	uint32_t page;
	uint32_t offset;
};

enum page { PAGE_CONSTANTS, PAGE_WIPED, PAGE_AREA, PAGE_THREAD };

/* A set of trampolines, assembled. */
struct set {
	const uint8_t *code, *end;
	const struct fixup *fixups, *fixups_end;
	const uint8_t *program, *program_end;
	const struct dw_clone_trampoline *interrupted, *interrupted_end; /* offsets in the set */
};

extern const uint8_t dw_trampolines_code[], dw_trampolines_code_end[], dw_trampoline_count[],
	dw_trampoline_leave[];
extern const uint8_t dw_trampolines_program[], dw_trampolines_program_end[];
extern const struct fixup dw_trampolines_fixups[], dw_trampolines_fixups_end[];
extern const uint8_t dw_trampolines_time[], dw_trampolines_time_end[];
extern const uint8_t dw_trampolines_time_program[], dw_trampolines_time_program_end[];
extern const struct fixup dw_trampolines_time_fixups[], dw_trampolines_time_fixups_end[];
extern const struct dw_clone_trampoline dw_trampolines_time_interrupted[],
	dw_trampolines_time_interrupted_end[];
extern const uint8_t dw_trampolines_time_signals[], dw_trampolines_time_moves[],
	dw_trampolines_time_moved[];
extern const uint8_t dw_trampoline_enter[], dw_trampoline_exit[], dw_trampoline_out[],
	dw_trampoline_out_pointer[], dw_trampoline_return[], dw_trampoline_landing[],
	dw_trampoline_call_begin[], dw_trampoline_call_end[], dw_trampoline_line[],
	dw_trampoline_tail[], dw_trampoline_counted[], dw_trampoline_counted_tail[],
	dw_trampoline_counted_pointer[];

static const struct set count_set = {
	dw_trampolines_code,	   dw_trampolines_code_end, dw_trampolines_fixups,
	dw_trampolines_fixups_end, dw_trampolines_program,  dw_trampolines_program_end,
};
static const struct set time_set = {
	dw_trampolines_time,
	dw_trampolines_time_end,
	dw_trampolines_time_fixups,
	dw_trampolines_time_fixups_end,
	dw_trampolines_time_program,
	dw_trampolines_time_program_end,
	dw_trampolines_time_interrupted,
	dw_trampolines_time_interrupted_end,
};

static const uint8_t *const trampolines[DWELL_TRAMPOLINES_N] = {
	[DWELL_TRAMPOLINE_COUNT] = dw_trampoline_count,
	[DWELL_TRAMPOLINE_LEAVE] = dw_trampoline_leave,
	[DWELL_TRAMPOLINE_ENTER] = dw_trampoline_enter,
	[DWELL_TRAMPOLINE_EXIT] = dw_trampoline_exit,
	[DWELL_TRAMPOLINE_OUT] = dw_trampoline_out,
	[DWELL_TRAMPOLINE_OUT_POINTER] = dw_trampoline_out_pointer,
	[DWELL_TRAMPOLINE_RETURN] = dw_trampoline_return,
	[DWELL_TRAMPOLINE_LANDING] = dw_trampoline_landing,
	[DWELL_TRAMPOLINE_CALL_BEGIN] = dw_trampoline_call_begin,
	[DWELL_TRAMPOLINE_CALL_END] = dw_trampoline_call_end,
	[DWELL_TRAMPOLINE_LINE] = dw_trampoline_line,
	[DWELL_TRAMPOLINE_TAIL] = dw_trampoline_tail,
	[DWELL_TRAMPOLINE_COUNTED] = dw_trampoline_counted,
	[DWELL_TRAMPOLINE_COUNTED_TAIL] = dw_trampoline_counted_tail,
	[DWELL_TRAMPOLINE_COUNTED_POINTER] = dw_trampoline_counted_pointer,
};

static const struct set *set_of(uint32_t probes)
{
	return probes == DWELL_PROBES_TIME || probes == DWELL_PROBES_SYSTEM_CALLS ? &time_set
										  : &count_set;
}

enum dw_trampoline dw_trampoline_of_entry(uint32_t probes)
{
	return set_of(probes) == &time_set ? DWELL_TRAMPOLINE_ENTER : DWELL_TRAMPOLINE_COUNT;
}

enum dw_trampoline dw_trampoline_of_leaving(uint32_t probes)
{
	return set_of(probes) == &time_set ? DWELL_TRAMPOLINE_EXIT : DWELL_TRAMPOLINE_LEAVE;
}

uint32_t dw_trampolines_bytes(uint32_t probes)
{
	return (uint32_t)(set_of(probes)->end - set_of(probes)->code);
}

uint32_t dw_trampoline_at(const struct dw_trampolines *g, enum dw_trampoline trampoline)
{
	return g->at + (uint32_t)(trampolines[trampoline] - set_of(g->probes)->code);
}

void dw_trampolines_write(const struct dw_trampolines *g, uint8_t *area)
{
	const struct set *s = set_of(g->probes);

	memcpy(area + g->at, s->code, dw_trampolines_bytes(g->probes));
	for (const struct fixup *x = s->fixups; x < s->fixups_end; x++) {
		uint32_t to = x->page == PAGE_CONSTANTS ? g->constants_at
			      : x->page == PAGE_WIPED	? g->wiped_at
							: 0;
		uint32_t distance = to + x->offset - (g->at + x->at + 4);

		if (x->page != PAGE_THREAD)
			memcpy(area + g->at + x->at, &distance, sizeof distance);
	}
}

uint32_t dw_trampolines_thread_field(const struct dw_trampolines *g, uint32_t i)
{
	const struct set *s = set_of(g->probes);

	for (const struct fixup *x = s->fixups; x < s->fixups_end; x++)
		if (x->page == PAGE_THREAD && !i--)
			return g->at + x->at;
	return 0;
}

void dw_trampolines_places(const struct dw_trampolines *g, uint32_t table[DWELL_TRAMPOLINES_N])
{
	const struct set *s = set_of(g->probes);

	for (int i = 0; i < DWELL_TRAMPOLINES_N; i++)
		table[i] = trampolines[i] >= s->code && trampolines[i] < s->end
				   ? g->at + (uint32_t)(trampolines[i] - s->code)
				   : 0;
}

void dw_trampolines_interrupted(const struct dw_trampolines *g,
				struct dw_clone_trampoline table[DWELL_CLONE_TRAMPOLINES])
{
	const struct set *s = set_of(g->probes);

	for (const struct dw_clone_trampoline *x = s->interrupted; x < s->interrupted_end; x++)
		*table++ = (struct dw_clone_trampoline){g->at + x->again, g->at + x->commit,
							g->at + x->end, g->at + x->over};
}

void dw_trampolines_slow_path(const struct dw_trampolines *g, struct dw_clone_header *h)
{
	if (set_of(g->probes) != &time_set)
		return;
	h->signals_at = g->at + (uint32_t)(dw_trampolines_time_signals - dw_trampolines_time);
	h->moves_at = g->at + (uint32_t)(dw_trampolines_time_moves - dw_trampolines_time);
	h->moved_at = g->at + (uint32_t)(dw_trampolines_time_moved - dw_trampolines_time);
}

struct dw_clone_trampoline_range dw_trampolines_range(const struct dw_trampolines *g)
{
	const struct set *s = set_of(g->probes);

	return (struct dw_clone_trampoline_range){
		.at = g->at,
		.bytes = dw_trampolines_bytes(g->probes),
		.program = s->program,
		.program_n = (uint32_t)(s->program_end - s->program),
	};
}
