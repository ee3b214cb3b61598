/*
 * The scan; see rewrite.h. The first pass decodes and marks, targets of branches without knowing
 * yet whether an instruction begins there; the second one looks at that and adds up places.
 */
#include "agent/clr/il/rewrite-internal.h"

struct pass {
	const struct dw_il_body *body;
	uint32_t *marks;
	struct dw_il_scan scan;
	uint32_t group; /* where the instruction begins with its prefixes */
	bool is_tail;	/* among these is tail. */
};

static bool mark_targets(struct pass *p, const struct dw_il_instruction *ins)
{
	for (uint32_t i = 0; i < ins->branches; i++) {
		int64_t target = dw_il_target(p->body->code, ins, i);

		if (target < 0 || target >= p->body->code_bytes)
			return false;
		p->marks[target] |= DWELL_MARK_TARGET;
	}
	return true;
}

static bool is_call(uint32_t opcode)
{
	return opcode == DWELL_IL_CALL || opcode == DWELL_IL_CALLI || opcode == DWELL_IL_CALLVIRT;
}

/* @ins ends what began with p->group. */
static enum dw_il_refusal mark_group(struct pass *p, const struct dw_il_instruction *ins)
{
	uint32_t next = ins->at + ins->bytes;

	p->marks[p->group] |= DWELL_MARK_START;
	if (ins->opcode == DWELL_IL_RET || ins->opcode == DWELL_IL_JMP || p->is_tail)
		p->marks[p->group] |= DWELL_MARK_LEAVE;
	if (p->is_tail) {
		if (!is_call(ins->opcode) || next == p->body->code_bytes ||
		    p->body->code[next] != DWELL_IL_RET)
			return DWELL_IL_BAD_TAIL_CALL;
		p->marks[next] |= DWELL_MARK_TAIL;
		p->scan.has_tail_calls = true;
	}
	p->group = next;
	p->is_tail = false;
	return DWELL_IL_OK;
}

static enum dw_il_refusal mark_code(struct pass *p)
{
	uint32_t n = p->body->code_bytes;
	struct dw_il_instruction ins;

	for (uint32_t at = 0; at < n; at += ins.bytes) {
		enum dw_il_refusal why = DWELL_IL_OK;

		if (!dw_il_decode(p->body->code, n, at, &ins))
			return DWELL_IL_BAD_OPCODE;
		p->scan.map_rows++;
		if (!mark_targets(p, &ins))
			return DWELL_IL_BAD_BRANCH;
		if (ins.is_prefix)
			p->is_tail |= ins.opcode == DWELL_IL_TAIL;
		else
			why = mark_group(p, &ins);
		if (why != DWELL_IL_OK)
			return why;
	}
	return p->group == n ? DWELL_IL_OK : DWELL_IL_BAD_OPCODE;
}

/* Whether instructions begin where the range begins and behind it; @mark is noted at its
 * beginning. */
static bool mark_range(struct pass *p, uint32_t at, uint32_t bytes, uint32_t mark)
{
	uint32_t n = p->body->code_bytes;

	if (!bytes || at >= n || bytes > n - at)
		return false;
	if (!(p->marks[at] & DWELL_MARK_START) ||
	    (at + bytes < n && !(p->marks[at + bytes] & DWELL_MARK_START)))
		return false;
	p->marks[at] |= mark | DWELL_MARK_TARGET;
	return true;
}

static bool mark_clause(struct pass *p, const struct dw_il_clause *clause)
{
	if (clause->kind & ~(uint32_t)(DWELL_IL_FILTER | DWELL_IL_FINALLY | DWELL_IL_FAULT) ||
	    clause->kind & (clause->kind - 1) || !clause->handler_at)
		return false;
	if (!mark_range(p, clause->try_at, clause->try_bytes, 0) ||
	    !mark_range(p, clause->handler_at, clause->handler_bytes, DWELL_MARK_LANDING))
		return false;
	if (clause->kind != DWELL_IL_FILTER)
		return true;
	return clause->what && clause->what < clause->handler_at &&
	       mark_range(p, clause->what, clause->handler_at - clause->what, DWELL_MARK_LANDING);
}

static enum dw_il_refusal mark_clauses(struct pass *p)
{
	struct dw_il_clause_place place = {0};
	struct dw_il_clause clause;

	while (dw_il_clause_next(p->body, &place, &clause))
		if (!mark_clause(p, &clause))
			return DWELL_IL_BAD_CLAUSE;
	return DWELL_IL_OK;
}

/* Give each instruction its place. */
static enum dw_il_refusal place_code(struct pass *p)
{
	uint32_t n = p->body->code_bytes, to = 0;
	struct dw_il_instruction ins;

	for (uint32_t at = 0; at < n; at += ins.bytes) {
		if (!dw_il_decode(p->body->code, n, at, &ins))
			return DWELL_IL_BAD_OPCODE;
		for (uint32_t i = !(p->marks[at] & DWELL_MARK_START) ? 0 : 1; i < ins.bytes; i++)
			if (p->marks[at + i] & DWELL_MARK_TARGET)
				return DWELL_IL_BAD_BRANCH;
		p->marks[at] |= to;
		to += dw_mark_skip(p->marks[at]) + dw_il_new_bytes(&ins);
	}
	p->marks[n] |= to;
	return DWELL_IL_OK;
}

enum dw_il_refusal dw_il_scan(const struct dw_il_body *body, uint32_t *marks,
			      struct dw_il_scan *ret)
{
	struct pass p = {.body = body, .marks = marks};
	enum dw_il_refusal why;

	for (size_t i = 0; i < dw_il_marks(body); i++)
		marks[i] = 0;
	marks[0] = DWELL_MARK_LANDING;
	why = mark_code(&p);
	if (why == DWELL_IL_OK)
		why = mark_clauses(&p);
	if (why == DWELL_IL_OK)
		why = place_code(&p);
	if (why != DWELL_IL_OK)
		return why;
	p.scan.body_bytes = DWELL_IL_HEADER_BYTES + marks[body->code_bytes];
	if (body->clauses)
		p.scan.body_bytes = ((p.scan.body_bytes + 3) & ~3u) + DWELL_IL_SECTION_BYTES +
				    body->clauses * DWELL_IL_CLAUSE_BYTES;
	*ret = p.scan;
	return DWELL_IL_OK;
}
