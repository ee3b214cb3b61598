/*
 * The writer; see rewrite.h. It follows the marks of a scan that found everything in order.
 */
#include "agent/clr/il/rewrite-internal.h"

enum {
	FLAGS_FAT = 0x3003, /* with its size of three words */
	FLAGS_SECTIONS = 0x8,
	FLAGS_INIT_LOCALS = 0x10,
	SECTION_FAT_EXCEPTIONS = 0x41,
	NEAR_TO_FAR = DWELL_IL_BR - DWELL_IL_BR_S,
	PROBE_STACK = 2,
	STACK_MAX = 0xffff,
};

struct writer {
	const struct dw_il_body *body;
	const uint32_t *marks;
	const struct dw_il_probes *probes;
	uint8_t *at; /* next */
	uint8_t *code;
};

static void put(struct writer *w, uint64_t value, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		*w->at++ = (uint8_t)(value >> i * 8);
}

static uint32_t place_of(const struct writer *w, uint32_t was)
{
	return w->marks[was] & DWELL_MARK_PLACE;
}

/* Where branches to @was lead now. */
static uint32_t target_of(const struct writer *w, uint32_t was)
{
	return place_of(w, was) + dw_mark_branch_skip(w->marks[was]);
}

static void put_probe(struct writer *w, uint64_t helper)
{
	put(w, DWELL_IL_LDC_I4, 1);
	put(w, w->probes->key, 4);
	put(w, DWELL_IL_CONV_U, 1);
	put(w, DWELL_IL_LDC_I8, 1);
	put(w, helper, 8);
	put(w, DWELL_IL_CONV_I, 1);
	put(w, DWELL_IL_CALLI, 1);
	put(w, w->probes->signature, 4);
}

/* What stands before the instruction at @was. */
static void put_probes(struct writer *w, uint32_t was)
{
	uint32_t mark = w->marks[was], both = DWELL_MARK_TAIL | DWELL_MARK_TARGET;

	if (mark & DWELL_MARK_LANDING)
		put_probe(w, was ? w->probes->landing : w->probes->enter);
	if ((mark & both) == both)
		put(w, DWELL_IL_RET, 1);
	if (dw_mark_has_leave(mark))
		put_probe(w, w->probes->leave);
}

/* A branch: a long one, or a table. */
static void put_branches(struct writer *w, const struct dw_il_instruction *ins)
{
	uint32_t opcode = ins->opcode;
	uint8_t *end = w->at + dw_il_new_bytes(ins);

	if (ins->operand == DWELL_IL_NEAR)
		opcode = opcode == DWELL_IL_LEAVE_S ? DWELL_IL_LEAVE : opcode + NEAR_TO_FAR;
	put(w, opcode, 1);
	if (ins->operand == DWELL_IL_TABLE)
		put(w, ins->branches, 4);
	for (uint32_t i = 0; i < ins->branches; i++) {
		uint32_t target = (uint32_t)dw_il_target(w->body->code, ins, i);

		put(w, target_of(w, target) - (uint32_t)(end - w->code), 4);
	}
}

static void put_code(struct writer *w, struct dw_il_map_row *map)
{
	uint32_t n = w->body->code_bytes;
	struct dw_il_instruction ins;

	w->code = w->at;
	for (uint32_t at = 0; at < n; at += ins.bytes) {
		if (!dw_il_decode(w->body->code, n, at, &ins))
			return; /* the scan has seen that it can be */
		*map++ = (struct dw_il_map_row){at, place_of(w, at), 1};
		put_probes(w, at);
		if (ins.branches || ins.operand == DWELL_IL_TABLE) {
			put_branches(w, &ins);
			continue;
		}
		for (uint32_t i = 0; i < ins.bytes; i++)
			*w->at++ = w->body->code[at + i];
	}
}

/* A range begins at @from and ends before the probes of what is behind it. */
static void put_range(struct writer *w, uint32_t from, uint32_t end)
{
	put(w, from, 4);
	put(w, place_of(w, end) - from, 4);
}

/*
 * What is tried begins behind the probe of entering or landing where it stands: that one is the
 * business of whoever is around it. Handlers and filters begin with theirs.
 */
static void put_clauses(struct writer *w)
{
	struct dw_il_clause_place place = {0};
	struct dw_il_clause c;

	while ((w->at - w->code) % 4)
		put(w, 0, 1);
	put(w, SECTION_FAT_EXCEPTIONS, 1);
	put(w, DWELL_IL_SECTION_BYTES + w->body->clauses * DWELL_IL_CLAUSE_BYTES, 3);
	while (dw_il_clause_next(w->body, &place, &c)) {
		put(w, c.kind, 4);
		put_range(w, target_of(w, c.try_at), c.try_at + c.try_bytes);
		put_range(w, place_of(w, c.handler_at), c.handler_at + c.handler_bytes);
		put(w, c.kind == DWELL_IL_FILTER ? place_of(w, c.what) : c.what, 4);
	}
}

enum dw_il_refusal dw_il_rewrite(const struct dw_il_body *body, const uint32_t *marks,
				 const struct dw_il_scan *scan, const struct dw_il_probes *probes,
				 const struct dw_il_output *output)
{
	struct writer w = {.body = body, .marks = marks, .probes = probes, .at = output->body};
	uint32_t stack = (uint32_t)body->stack_max + PROBE_STACK;

	if (scan->body_bytes > output->room || scan->map_rows > output->map_room)
		return DWELL_IL_NO_ROOM;
	put(&w,
	    FLAGS_FAT | (body->clauses ? FLAGS_SECTIONS : 0) |
		    (body->has_init_locals ? FLAGS_INIT_LOCALS : 0),
	    2);
	put(&w, stack < STACK_MAX ? stack : STACK_MAX, 2);
	put(&w, marks[body->code_bytes] & DWELL_MARK_PLACE, 4);
	put(&w, body->locals, 4);
	put_code(&w, output->map);
	if (body->clauses)
		put_clauses(&w);
	return DWELL_IL_OK;
}
