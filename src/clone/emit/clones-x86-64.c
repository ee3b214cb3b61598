/*
 * Writing clones; see emit.h.
 *
 * Instructions are copied; what depends on where they stand is written anew: rip operands as
 * distances to the module, branches with 32-bit distances to clones where the target has one, else
 * to the module. Where a probed function is left for good (return, tail jump) a call of the leaving
 * trampoline comes first, or, where that jump goes to an import, the trampoline TAIL; a conditional
 * tail jump becomes a jump around such a pair. Indirect jumps and their loads are those of
 * jumps-x86-64.c.
 *
 * A call that leaves the instrumented code stands between two trampolines:
 *
 * 	mov %rax, -16(%rsp)		what the trampolines OUT and OUT_POINTER expect
 * 	mov $import, %eax		or: mov CALLEE, %rax
 * 	call trampoline
 * 	the call, or a jump to the module's own that keeps its return address
 * 	call RETURN			also behind a call with none in front, if what it calls may
 * 					end in a jump out
 *
 * The call stays in its place between the trampolines: its return address is in the clone's code,
 * and call sites of exceptions hold all of it. A call of a clone has no trampolines; its distance
 * lies within 8 aligned bytes, so that one store can lead it elsewhere.
 */
#include "clone/emit/writer-x86-64.h"

#include <errno.h>
#include <string.h>

enum {
	CALL = 0xe8,
	JUMP = 0xe9,
	SHORT_JUMP = 0xeb,
	TWO_BYTES = 0x0f,
	BRANCH = 0x80,
	JUMP_BYTES = DWELL_JUMP_BYTES,
	BRANCH_BYTES = 6,
	HOP_BYTES = 2,
	TRAMPOLINE_BYTES = DWELL_TRAMPOLINE_CALL_BYTES,
	PROBE_BYTES = DWELL_PREFIX_BYTES,
	SAVE_BYTES = 5,
	MOV_BYTES = 5,
	WORD_BYTES = 8,
	LAST_START = WORD_BYTES - 4, /* of a distance within a word */
	OUT_MARKS = DWELL_MARK_OUT | DWELL_MARK_OUT_POINTER,
};

void dw_put(struct dw_writer *w, const void *bytes, size_t n)
{
	memcpy(w->t->area + w->pos, bytes, n);
	w->pos += (uint32_t)n;
}

static void put_byte(struct dw_writer *w, uint8_t byte)
{
	w->t->area[w->pos++] = byte;
}

void dw_add_relocation(struct dw_writer *w, enum dw_clone_relocation kind, uint32_t at)
{
	if (dw_vec_push(&w->ret->relocations[kind], at))
		w->rc = -ENOMEM;
}

void dw_set_distance(struct dw_writer *w, uint32_t at, int64_t to, int64_t from)
{
	int64_t distance = to - from;
	int32_t field = (int32_t)distance;

	if (field != distance)
		w->rc = DWELL_ERR_LIMIT;
	memcpy(w->t->area + at, &field, sizeof field);
}

void dw_set_module_distance(struct dw_writer *w, uint32_t at, uint64_t svma, uint32_t from)
{
	dw_set_distance(w, at, (int64_t)(svma - w->m->start) - w->m->distance, from);
	dw_add_relocation(w, DWELL_RELOC_TO_MODULE, at);
}

static void put_field(struct dw_writer *w, uint64_t svma, uint32_t place)
{
	w->pos += 4;
	if (place)
		dw_set_distance(w, w->pos - 4, place, w->pos);
	else
		dw_set_module_distance(w, w->pos - 4, svma, w->pos);
}

/* Put the 32-bit distance, the last field of a call, to the clone of @svma, else to the module. A
 * call of oneself is an entry like all others. */
static void put_call_field(struct dw_writer *w, uint64_t svma)
{
	put_field(w, svma, dw_clone_place(w->m, svma, false));
}

/* The same of a branch, which goes behind the prefix of its own function. */
static void put_branch_field(struct dw_writer *w, uint64_t svma)
{
	bool inside = svma - w->f->start < w->f->end - w->f->start;

	put_field(w, svma, dw_clone_place(w->m, svma, inside) + w->skip);
}

/* Put a jump to the clone of @svma, else to the module. */
static void put_jump(struct dw_writer *w, uint64_t svma)
{
	put_byte(w, JUMP);
	put_branch_field(w, svma);
}

void dw_put_module_jump(struct dw_writer *w, uint64_t svma)
{
	put_byte(w, JUMP);
	w->pos += 4;
	dw_set_module_distance(w, w->pos - 4, svma, w->pos);
}

void dw_set_trampoline_call(struct dw_writer *w, uint32_t at, enum dw_trampoline trampoline)
{
	if (dw_vec_push(&w->ret->trampoline_calls[trampoline], at))
		w->rc = -ENOMEM;
	w->t->area[at] = CALL;
	dw_set_distance(w, at + 1, dw_trampoline_at(&w->t->trampolines, trampoline),
			at + DWELL_TRAMPOLINE_CALL_BYTES);
}

static void put_trampoline_call(struct dw_writer *w, enum dw_trampoline trampoline)
{
	w->pos += DWELL_TRAMPOLINE_CALL_BYTES;
	dw_set_trampoline_call(w, w->pos - DWELL_TRAMPOLINE_CALL_BYTES, trampoline);
}

void dw_put_copy(struct dw_writer *w, const uint8_t *bytes, const struct dw_insn *insn, uint64_t at)
{
	dw_put(w, bytes, insn->length);
	if (insn->flags & DWELL_INSN_RELATIVE)
		dw_set_module_distance(w, w->pos - insn->length + insn->field_at,
				       dw_insn_target(insn, at), w->pos);
}

static bool has_return(const struct dw_clone_module *m, uint32_t i)
{
	uint8_t marks = m->marks.v[i];

	return marks & OUT_MARKS ||
	       (m->insns.v[i].kind == DWELL_INSN_CALL && marks & DWELL_MARK_RETURN);
}

/* Bytes in front of a call at @pos that keep its distance within a word. */
static uint32_t padding(const struct dw_clone_module *m, uint32_t pos)
{
	uint32_t field = (pos + 1) % WORD_BYTES;

	return m->probes == DWELL_PROBES_TIME && field > LAST_START ? WORD_BYTES - field : 0;
}

static void write_callee(const struct dw_clone_module *m, uint32_t i, uint64_t at,
			 struct dw_jump_code *code)
{
	const struct dw_insn *insn = &m->insns.v[i];

	dw_jump_write_callee(insn, dw_clone_module_bytes(m, at, insn->length), at, code);
}

static uint32_t call_length(const struct dw_clone_module *m, uint32_t i, uint64_t at, uint32_t pos)
{
	const struct dw_insn *insn = &m->insns.v[i];
	uint8_t marks = m->marks.v[i];
	uint32_t own = insn->kind == DWELL_INSN_CALL || marks & DWELL_MARK_KEEP_RETURN
			       ? JUMP_BYTES
			       : insn->length;
	struct dw_jump_code code;

	if (marks & DWELL_MARK_SYSTEM_CALL)
		return own + 2 * TRAMPOLINE_BYTES;
	if (marks & DWELL_MARK_OUT)
		return SAVE_BYTES + MOV_BYTES + own + 2 * TRAMPOLINE_BYTES;
	if (marks & DWELL_MARK_OUT_POINTER) {
		write_callee(m, i, at, &code);
		return SAVE_BYTES + code.n + own + 2 * TRAMPOLINE_BYTES;
	}
	if (insn->kind == DWELL_INSN_CALL && !(marks & DWELL_MARK_KEEP_RETURN))
		own += padding(m, pos);
	return own + (has_return(m, i) ? TRAMPOLINE_BYTES : 0);
}

/* Put what stands in front of a call that leaves the instrumented code. */
static void put_out(struct dw_writer *w, uint32_t i, uint64_t at)
{
	static const uint8_t save_rax[SAVE_BYTES] = {0x48, 0x89, 0x44, 0x24, 0xf0};
	struct dw_jump_code code;
	uint32_t id;

	dw_put(w, save_rax, sizeof save_rax);
	if (w->m->marks.v[i] & DWELL_MARK_OUT_POINTER) {
		write_callee(w->m, i, at, &code);
		dw_emit_put_code(w, &code);
		put_trampoline_call(w, DWELL_TRAMPOLINE_OUT_POINTER);
		return;
	}
	id = (uint32_t)w->m->functions.n + dw_calls_out_import(w->m, &w->m->insns.v[i], at);
	put_byte(w, 0xb8); /* mov $id, %eax */
	dw_put(w, &id, sizeof id);
	put_trampoline_call(w, DWELL_TRAMPOLINE_OUT);
}

static void put_call(struct dw_writer *w, uint32_t i, uint64_t at, const uint8_t *bytes)
{
	static const uint8_t nops[WORD_BYTES - LAST_START][3] = {
		[1] = {0x90}, [2] = {0x66, 0x90}, [3] = {0x0f, 0x1f, 0x00}};
	const struct dw_insn *insn = &w->m->insns.v[i];
	uint32_t n;

	if (w->m->marks.v[i] & DWELL_MARK_KEEP_RETURN) {
		dw_put_module_jump(w, at);
		return;
	}
	if (insn->kind == DWELL_INSN_CALL_INDIRECT) {
		dw_put_copy(w, bytes, insn, at);
		return;
	}
	n = w->m->marks.v[i] & OUT_MARKS ? 0 : padding(w->m, w->pos);
	dw_put(w, nops[n], n);
	put_byte(w, CALL);
	put_call_field(w, dw_insn_target(insn, at));
}

static void put_whole_call(struct dw_writer *w, uint32_t i, uint64_t at, const uint8_t *bytes)
{
	if (w->m->marks.v[i] & DWELL_MARK_SYSTEM_CALL) {
		put_trampoline_call(w, DWELL_TRAMPOLINE_CALL_BEGIN);
		dw_put(w, bytes, w->m->insns.v[i].length);
		put_trampoline_call(w, DWELL_TRAMPOLINE_CALL_END);
		return;
	}
	if (w->m->marks.v[i] & OUT_MARKS)
		put_out(w, i, at);
	put_call(w, i, at, bytes);
	if (has_return(w->m, i))
		put_trampoline_call(w, DWELL_TRAMPOLINE_RETURN);
}

uint32_t dw_emit_return_place(const struct dw_clone_module *m, uint32_t i)
{
	return dw_clone_front(m, i + 1) - (has_return(m, i) ? TRAMPOLINE_BYTES : 0);
}

static const struct dw_insn *insn_of(const struct dw_clone_module *m, uint32_t i)
{
	return &m->insns.v[i];
}

/* Bytes of the probe before jump @i of @f to @to. */
static uint32_t leaving_bytes(const struct dw_clone_module *m, const struct dw_clone_function *f,
			      uint32_t i, uint64_t to)
{
	if (!dw_clone_leaves_to(m, f, to))
		return 0;
	return m->marks.v[i] & DWELL_MARK_OUT ? PROBE_BYTES : JUMP_BYTES;
}

static bool is_call(const struct dw_clone_module *m, uint32_t i)
{
	const struct dw_insn *insn = insn_of(m, i);

	return insn->kind == DWELL_INSN_CALL || insn->kind == DWELL_INSN_CALL_INDIRECT ||
	       m->marks.v[i] & DWELL_MARK_SYSTEM_CALL;
}

static uint32_t own_length(const struct dw_clone_module *m, const struct dw_clone_function *f,
			   uint32_t i, uint64_t at, uint32_t pos)
{
	const struct dw_insn *insn = insn_of(m, i);
	uint32_t probe;

	if (is_call(m, i))
		return call_length(m, i, at, pos);
	switch (insn->kind) {
	case DWELL_INSN_JUMP_INDIRECT:
		probe = m->marks.v[i] & DWELL_MARK_OUT ? PROBE_BYTES - JUMP_BYTES : 0;
		return probe + dw_emit_jump_length(m, f, i, at);
	case DWELL_INSN_JUMP:
		return leaving_bytes(m, f, i, dw_insn_target(insn, at)) + JUMP_BYTES;
	case DWELL_INSN_BRANCH:
		probe = leaving_bytes(m, f, i, dw_insn_target(insn, at));
		return probe ? HOP_BYTES + probe + JUMP_BYTES : BRANCH_BYTES;
	case DWELL_INSN_LOOP:
		return insn->length + HOP_BYTES + JUMP_BYTES;
	case DWELL_INSN_RETURN:
		return insn->length + (dw_clone_is_measured(m, f) ? JUMP_BYTES : 0);
	default:
		return insn->flags & DWELL_INSN_READS_TABLE ? dw_emit_load_length(m, i)
							    : insn->length;
	}
}

uint32_t dw_emit_length(const struct dw_clone_module *m, const struct dw_clone_function *f,
			uint32_t i, uint64_t at, uint32_t pos)
{
	uint32_t length = dw_line_probe_bytes(m->marks.v[i]);

	length += own_length(m, f, i, at, pos + length);
	if (dw_clone_goes_on_behind(m, f, i))
		length += JUMP_BYTES + (dw_clone_leaves_to(m, f, f->end) ? JUMP_BYTES : 0);
	return length;
}

/* Put a call of @trampoline with @id in eax and rax saved. */
static void put_probe(struct dw_writer *w, uint32_t id, enum dw_trampoline trampoline)
{
	static const uint8_t save_rax_mov_eax[] = {0x48, 0x89, 0x44, 0x24, 0xf0, 0xb8};

	dw_put(w, save_rax_mov_eax, sizeof save_rax_mov_eax);
	dw_put(w, &id, sizeof id);
	put_trampoline_call(w, trampoline);
}

static void put_line_probe(struct dw_writer *w, uint32_t i, uint64_t at)
{
	static const uint8_t down[DWELL_LINE_DOWN_BYTES] = {0x48, 0x8d, 0x64, 0x24, 0x80};
	static const uint8_t up[DWELL_LINE_UP_BYTES] = {0x48, 0x8d, 0xa4, 0x24, 0x80};
	bool is_below = w->m->marks.v[i] & DWELL_MARK_LINE_BELOW;

	dw_put(w, down, is_below ? sizeof down : 0);
	put_probe(w, (uint32_t)(w->m->functions.n + w->m->imports.n) + dw_statement_index(w->m, at),
		  DWELL_TRAMPOLINE_LINE);
	dw_put(w, up, is_below ? sizeof up : 0);
}

static void put_leaving_jump(struct dw_writer *w, uint64_t to)
{
	if (dw_clone_leaves_to(w->m, w->f, to))
		put_trampoline_call(w, dw_trampoline_of_leaving(w->m->probes));
	put_jump(w, to);
}

/* Put the probe of the jump @insn at @at to an import. */
static void put_tail(struct dw_writer *w, const struct dw_insn *insn, uint64_t at)
{
	put_probe(w, (uint32_t)w->m->functions.n + dw_calls_out_import(w->m, insn, at),
		  DWELL_TRAMPOLINE_TAIL);
}

static void put_own_jump(struct dw_writer *w, uint32_t i, uint64_t at)
{
	const struct dw_insn *insn = insn_of(w->m, i);
	uint64_t to = dw_insn_target(insn, at);

	if (w->m->marks.v[i] & DWELL_MARK_OUT) {
		put_tail(w, insn, at);
		put_jump(w, to);
	} else {
		put_leaving_jump(w, to);
	}
}

static void put_conditional(struct dw_writer *w, const uint8_t *bytes, uint32_t i, uint64_t at)
{
	const struct dw_insn *insn = insn_of(w->m, i);
	uint64_t to = dw_insn_target(insn, at);
	uint32_t probe = leaving_bytes(w->m, w->f, i, to);
	uint8_t condition = bytes[insn->field_at - 1] & 15;

	if (probe) {
		put_byte(w, 0x70 | (condition ^ 1));
		put_byte(w, (uint8_t)(probe + JUMP_BYTES));
		put_own_jump(w, i, at);
		return;
	}
	put_byte(w, TWO_BYTES);
	put_byte(w, BRANCH | condition);
	put_branch_field(w, to);
}

/* loop and jrcxz reach 127 bytes: they hop over a jump around a jump. */
static void put_loop(struct dw_writer *w, const uint8_t *bytes, const struct dw_insn *insn,
		     uint64_t to)
{
	dw_put(w, bytes, insn->field_at);
	put_byte(w, HOP_BYTES);
	put_byte(w, SHORT_JUMP);
	put_byte(w, JUMP_BYTES);
	put_jump(w, to);
}

/* Whether the clone of instruction @i is the same bytes. */
static bool is_same(const struct dw_clone_module *m, uint32_t i)
{
	const struct dw_insn *insn = insn_of(m, i);

	return insn->kind == DWELL_INSN_PLAIN && !m->marks.v[i] &&
	       !(insn->flags & (DWELL_INSN_RELATIVE | DWELL_INSN_READS_TABLE));
}

/* What branch @i to @to goes behind. */
static uint32_t skip_of(const struct dw_writer *w, uint32_t i, uint64_t to)
{
	if (!(w->m->marks.v[i] & DWELL_MARK_SAME_LINE) || is_call(w->m, i))
		return 0;
	return dw_line_probe_bytes(w->m->marks.v[dw_clone_insn_at(w->m, w->f, to)]);
}

static void put_insn(struct dw_writer *w, uint32_t i, uint64_t at, const uint8_t *bytes)
{
	const struct dw_insn *insn = insn_of(w->m, i);
	uint64_t to = dw_insn_target(insn, at);

	if (w->m->marks.v[i] & DWELL_MARK_LINE)
		put_line_probe(w, i, at);
	w->skip = skip_of(w, i, to);
	if (is_call(w->m, i)) {
		put_whole_call(w, i, at, bytes);
		return;
	}
	switch (insn->kind) {
	case DWELL_INSN_JUMP:
		put_own_jump(w, i, at);
		break;
	case DWELL_INSN_BRANCH:
		put_conditional(w, bytes, i, at);
		break;
	case DWELL_INSN_LOOP:
		put_loop(w, bytes, insn, to);
		break;
	case DWELL_INSN_BEGIN:
		dw_put(w, bytes, insn->field_at);
		put_branch_field(w, to);
		break;
	case DWELL_INSN_RETURN:
		if (dw_clone_is_measured(w->m, w->f))
			put_trampoline_call(w, dw_trampoline_of_leaving(w->m->probes));
		dw_put(w, bytes, insn->length);
		break;
	case DWELL_INSN_JUMP_INDIRECT:
		if (w->m->marks.v[i] & DWELL_MARK_OUT) {
			put_tail(w, insn, at);
			dw_put_copy(w, bytes, insn, at);
		} else {
			dw_emit_jump(w, i, at, bytes);
		}
		break;
	default:
		if (insn->flags & DWELL_INSN_READS_TABLE)
			dw_emit_load(w, i, at);
		else
			dw_put_copy(w, bytes, insn, at);
	}
}

int dw_emit_function(const struct dw_emit_target *t, const struct dw_clone_function *f,
		     struct dw_emit_result *ret)
{
	struct dw_writer w = {.t = t, .m = t->m, .f = f, .ret = ret, .pos = f->clone_at};
	const uint8_t *bytes = dw_clone_module_bytes(t->m, f->start, f->end - f->start);
	uint32_t end = f->first + f->n;
	uint64_t at = f->start, from;

	if (f->prefix_bytes)
		put_probe(&w, (uint32_t)(f - t->m->functions.v),
			  dw_trampoline_of_entry(t->m->probes));
	for (uint32_t i = f->first; i < end && !w.rc;) {
		if (t->m->marks.v[i] & DWELL_MARK_LANDING)
			put_trampoline_call(&w, DWELL_TRAMPOLINE_LANDING);
		if (w.pos != t->m->places.v[i])
			return DWELL_ERR_LIMIT;
		from = at;
		while (i < end && is_same(t->m, i))
			at += insn_of(t->m, i++)->length;
		if (at > from) {
			dw_put(&w, bytes + (from - f->start), at - from);
			continue;
		}
		put_insn(&w, i, at, bytes + (at - f->start));
		at += insn_of(t->m, i++)->length;
	}
	w.skip = 0;
	if (!w.rc && dw_clone_goes_on_behind(t->m, f, end - 1))
		put_leaving_jump(&w, f->end);
	return w.rc ? w.rc : w.pos == f->clone_at + f->clone_bytes ? 0 : DWELL_ERR_LIMIT;
}

void dw_emit_result_release(struct dw_emit_result *r)
{
	for (int i = 0; i < DWELL_RELOCATIONS; i++)
		dw_vec_release(&r->relocations[i]);
	for (int i = 0; i < DWELL_TRAMPOLINES_N; i++)
		dw_vec_release(&r->trampoline_calls[i]);
}
