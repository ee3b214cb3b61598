/*
 * Writing pieces of clones; see writer-x86-64.h.
 */
#include "clone/writer-x86-64.h"

#include <errno.h>
#include <string.h>

enum { CALL = 0xe8, JUMP = 0xe9 };

void dw_put(struct dw_writer *w, const void *bytes, size_t n)
{
	memcpy(w->t->area + w->pos, bytes, n);
	w->pos += (uint32_t)n;
}

void dw_put_byte(struct dw_writer *w, uint8_t byte)
{
	w->t->area[w->pos++] = byte;
}

void dw_add_relocation(struct dw_writer *w, enum dw_clone_relocation kind, uint32_t at)
{
	if (dw_vec_push(&w->ret->relocations[kind], at))
		w->rc = -ENOMEM;
}

/* Set the 32-bit field at area offset @at to the distance of area offset @to from @from. */
void dw_set_distance(struct dw_writer *w, uint32_t at, int64_t to, int64_t from)
{
	int64_t distance = to - from;
	int32_t field = (int32_t)distance;

	if (field != distance)
		w->rc = DWELL_ERR_LIMIT;
	memcpy(w->t->area + at, &field, sizeof field);
}

/* The same for a distance to the module's @svma. */
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

void dw_put_call_field(struct dw_writer *w, uint64_t svma)
{
	put_field(w, svma, dw_clone_place(w->m, svma, false));
}

void dw_put_branch_field(struct dw_writer *w, uint64_t svma)
{
	bool inside = svma - w->f->start < w->f->end - w->f->start;

	put_field(w, svma, dw_clone_place(w->m, svma, inside) + w->skip);
}

void dw_put_jump(struct dw_writer *w, uint64_t svma)
{
	dw_put_byte(w, JUMP);
	dw_put_branch_field(w, svma);
}

void dw_put_module_jump(struct dw_writer *w, uint64_t svma)
{
	dw_put_byte(w, JUMP);
	w->pos += 4;
	dw_set_module_distance(w, w->pos - 4, svma, w->pos);
}

void dw_set_gate_call(struct dw_writer *w, uint32_t at, enum dw_gate gate)
{
	if (dw_vec_push(&w->ret->gate_calls[gate], at))
		w->rc = -ENOMEM;
	w->t->area[at] = CALL;
	dw_set_distance(w, at + 1, dw_gate_at(&w->t->gates, gate), at + DWELL_GATE_CALL_BYTES);
}

void dw_put_gate_call(struct dw_writer *w, enum dw_gate gate)
{
	w->pos += DWELL_GATE_CALL_BYTES;
	dw_set_gate_call(w, w->pos - DWELL_GATE_CALL_BYTES, gate);
}

void dw_put_copy(struct dw_writer *w, const uint8_t *bytes, const struct dw_insn *insn, uint64_t at)
{
	dw_put(w, bytes, insn->length);
	if (insn->flags & DWELL_INSN_RIP)
		dw_set_module_distance(w, w->pos - insn->length + insn->field_at,
				       dw_insn_target(insn, at), w->pos);
}
