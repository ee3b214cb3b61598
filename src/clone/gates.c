/*
 * Copying the gates; see gates.h. Their code, fields and unwind program are in gates-x86-64.S.
 */
#include "clone/gates.h"

#include <string.h>

/* A field of the gates: 32-bit distance to a page of the image. */
struct fixup {
	uint32_t at; /* in the gates */
	uint32_t page;
	uint32_t offset;
};

enum page { PAGE_CONSTANTS, PAGE_WIPED, PAGE_AREA };

extern const uint8_t dw_gates_code[], dw_gates_code_end[], dw_gate_count[], dw_gate_leave[];
extern const uint8_t dw_gates_program[], dw_gates_program_end[];
extern const struct fixup dw_gates_fixups[], dw_gates_fixups_end[];

uint32_t dw_gates_bytes(void)
{
	return (uint32_t)(dw_gates_code_end - dw_gates_code);
}

uint32_t dw_gate_at(const struct dw_gates *g, enum dw_gate gate)
{
	const uint8_t *code = gate == DWELL_GATE_COUNT ? dw_gate_count : dw_gate_leave;

	return g->at + (uint32_t)(code - dw_gates_code);
}

void dw_gates_write(const struct dw_gates *g, uint8_t *area)
{
	memcpy(area + g->at, dw_gates_code, dw_gates_bytes());
	for (const struct fixup *x = dw_gates_fixups; x < dw_gates_fixups_end; x++) {
		uint32_t to = x->page == PAGE_CONSTANTS ? g->constants_at
			      : x->page == PAGE_WIPED	? g->wiped_at
							: 0;
		uint32_t distance = to + x->offset - (g->at + x->at + 4);

		memcpy(area + g->at + x->at, &distance, sizeof distance);
	}
}

struct dw_clone_gate_range dw_gates_range(const struct dw_gates *g)
{
	return (struct dw_clone_gate_range){
		.at = g->at,
		.bytes = dw_gates_bytes(),
		.program = dw_gates_program,
		.program_n = (uint32_t)(dw_gates_program_end - dw_gates_program),
	};
}
