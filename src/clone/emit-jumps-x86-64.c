/*
 * Indirect jumps and tables in clones; see emit-jumps-x86-64.h.
 *
 * The clone of a jump is followed by its restoring sequences, then by jumps to the module ("exits")
 * for those entries of its table that lead there and are 8-byte words of position-independent code:
 * no word of the area could hold such an address without one more kind of relocation.
 */
#include "clone/emit-jumps-x86-64.h"

#include "clone/jumps.h"

#include <errno.h>
#include <string.h>

enum { CALL = 0xe8, JUMP_BYTES = DWELL_JUMP_BYTES };

/* A call of the leaving gate for jumps.h to put where it belongs; its field is found again by these
 * bytes. */
static const uint8_t leave_mark[JUMP_BYTES] = {CALL, 'l', 'e', 'f', 't'};

/* Write the clone of the indirect jump @i to @code. Its plan; NULL: it has none. */
static const struct dw_jump_plan *write_jump(const struct dw_clone_module *m,
					     const struct dw_clone_function *f, uint32_t i,
					     uint64_t at, struct dw_jump_code *code)
{
	const struct dw_jump_plan *plan = dw_jumps_find(m, i);

	if (plan)
		dw_jump_write(m, plan, at, leave_mark,
			      dw_clone_is_measured(m, f) ? sizeof leave_mark : 0, code);
	return plan;
}

static bool is_cloned(const struct dw_clone_module *m, uint64_t svma)
{
	const struct dw_clone_function *f = dw_clone_function_at(m, svma);

	return f && !f->reason && dw_clone_insn_at(m, f, svma) != UINT32_MAX;
}

static bool needs_exit(const struct dw_clone_module *m, const struct dw_jump_table *table,
		       const struct dw_jump_entry *e)
{
	return table->entry_bytes == 8 && !m->is_fixed && e->to != DWELL_JUMP_TO_RESTORE &&
	       (e->to != DWELL_JUMP_TO_CLONE || !is_cloned(m, e->svma));
}

/* The exits behind the jump of @plan: of the first @n entries of its table. */
static uint32_t exits(const struct dw_clone_module *m, const struct dw_jump_plan *plan, uint32_t n)
{
	const struct dw_jump_table *table = &m->jump_tables.v[plan->table];
	uint32_t sum = 0;

	for (uint32_t k = 0; k < n; k++)
		sum += needs_exit(m, table, &m->jump_entries.v[table->first + k]);
	return sum;
}

/* Whether the exits of its table stand behind the jump of @plan. */
static bool has_exits(const struct dw_clone_module *m, const struct dw_jump_plan *plan)
{
	return plan->how == DWELL_JUMP_TABLE &&
	       plan == &m->jumps.v[m->jump_tables.v[plan->table].plan];
}

/* Bytes of the restoring sequences and exits of @plan. */
static uint32_t tail_bytes(const struct dw_clone_module *m, const struct dw_jump_plan *plan)
{
	struct dw_jump_code code = {0};
	uint32_t sum = 0;

	if (plan->how != DWELL_JUMP_TABLE)
		return 0;
	if (plan->restores)
		dw_jump_write_restore(m, plan, 0, &code);
	if (has_exits(m, plan))
		sum = JUMP_BYTES * exits(m, plan, m->jump_tables.v[plan->table].n);
	return sum + plan->restores * code.n;
}

uint32_t dw_emit_jump_length(const struct dw_clone_module *m, const struct dw_clone_function *f,
			     uint32_t i, uint64_t at)
{
	struct dw_jump_code code;
	const struct dw_jump_plan *plan = write_jump(m, f, i, at, &code);

	return plan ? code.n + tail_bytes(m, plan) : m->insns.v[i].length;
}

uint32_t dw_emit_load_length(const struct dw_clone_module *m, uint32_t i)
{
	return dw_jumps_find_load(m, i)->load_bytes;
}

void dw_emit_put_code(struct dw_writer *w, const struct dw_jump_code *code)
{
	uint32_t start = w->pos;
	const uint8_t *mark = memmem(code->bytes, code->n, leave_mark, sizeof leave_mark);

	dw_put(w, code->bytes, code->n);
	for (uint8_t k = 0; k < code->fixups_n; k++) {
		const struct dw_jump_fixup *x = &code->fixups[k];
		uint32_t field = start + x->at, from = field + 4 + x->after, place = 0;

		if (x->to == DWELL_JUMP_TO_MAP)
			place = w->f->map_at;
		else if (x->to == DWELL_JUMP_TO_CLONE)
			place = dw_clone_place(w->m, x->svma, true);
		if (place)
			dw_set_distance(w, field, place, from);
		else
			dw_set_module_distance(w, field, x->svma, from);
	}
	if (mark)
		dw_set_gate_call(w, start + (uint32_t)(mark - code->bytes),
				 dw_gate_of_leaving(w->t->gates.probes));
}

/* The load that was just put leads to the clone's table. */
static void set_load(struct dw_writer *w, const struct dw_jump_plan *plan, uint32_t start)
{
	const struct dw_jump_table *table = &w->m->jump_tables.v[plan->table];
	uint32_t field = start + plan->load_disp_at;
	int64_t apart = w->m->distance + table->at - (int64_t)(table->start - w->m->start);

	dw_set_distance(w, field, plan->load_disp + apart, 0);
	dw_add_relocation(w, plan->is_absolute ? DWELL_RELOC_AREA_32 : DWELL_RELOC_FROM_MODULE,
			  field);
}

void dw_emit_load(struct dw_writer *w, uint32_t i, uint64_t at)
{
	const struct dw_jump_plan *plan = dw_jumps_find_load(w->m, i);
	uint32_t start = w->pos;
	struct dw_jump_code code;

	dw_jump_write_load(w->m, plan, at, &code);
	dw_emit_put_code(w, &code);
	set_load(w, plan, start);
}

static void put_exits(struct dw_writer *w, const struct dw_jump_plan *plan)
{
	const struct dw_jump_table *table = &w->m->jump_tables.v[plan->table];

	for (uint32_t k = 0; k < table->n; k++) {
		const struct dw_jump_entry *e = &w->m->jump_entries.v[table->first + k];

		if (needs_exit(w->m, table, e))
			dw_put_module_jump(w, e->svma);
	}
}

void dw_emit_jump(struct dw_writer *w, uint32_t i, uint64_t at, const uint8_t *bytes)
{
	uint32_t start = w->pos;
	struct dw_jump_code code;
	const struct dw_jump_plan *plan = write_jump(w->m, w->f, i, at, &code);

	if (!plan) {
		dw_put_copy(w, bytes, &w->m->insns.v[i], at);
		return;
	}
	dw_emit_put_code(w, &code);
	if (plan->how != DWELL_JUMP_TABLE)
		return;
	if (plan->load == i)
		set_load(w, plan, start);
	for (uint32_t k = 0; k < plan->restores; k++) {
		dw_jump_write_restore(w->m, plan, k, &code);
		dw_emit_put_code(w, &code);
	}
	if (has_exits(w->m, plan))
		put_exits(w, plan);
}

/* A table being written, and where what stands behind its jump begins. */
struct table {
	const struct dw_jump_table *t;
	const struct dw_jump_plan *plan;
	uint32_t restores_at; /* area offset */
	uint32_t restore_bytes;
	uint32_t exits_at;
};

static struct table find_tail(const struct dw_clone_module *m, const struct dw_jump_table *t,
			      const struct dw_clone_function *f)
{
	struct table ret = {.t = t, .plan = &m->jumps.v[t->plan]};
	uint32_t next = ret.plan->insn + 1;
	uint32_t end =
		next < f->first + f->n ? dw_clone_front(m, next) : f->clone_at + f->clone_bytes;
	struct dw_jump_code code = {0};

	if (ret.plan->restores)
		dw_jump_write_restore(m, ret.plan, 0, &code);
	ret.restore_bytes = code.n;
	ret.restores_at = end - tail_bytes(m, ret.plan);
	ret.exits_at = ret.restores_at + ret.plan->restores * code.n;
	return ret;
}

/* The place of the clone that entry @k leads to; 0: the module. */
static uint32_t entry_place(const struct dw_clone_module *m, const struct table *table, uint32_t k)
{
	const struct dw_jump_entry *e = &m->jump_entries.v[table->t->first + k];

	if (e->to == DWELL_JUMP_TO_RESTORE)
		return table->restores_at + e->restore * table->restore_bytes;
	if (needs_exit(m, table->t, e))
		return table->exits_at + JUMP_BYTES * exits(m, table->plan, k);
	return e->to == DWELL_JUMP_TO_CLONE ? dw_clone_place(m, e->svma, true) : 0;
}

static void put_entry(struct dw_writer *w, const struct table *table, uint32_t k)
{
	const struct dw_clone_module *m = w->m;
	uint32_t place = entry_place(m, table, k), field = table->t->at + k * table->t->entry_bytes;
	uint64_t svma = m->jump_entries.v[table->t->first + k].svma;

	if (table->t->entry_bytes == 4) {
		int64_t to = place ? (int64_t)m->start + m->distance + place : (int64_t)svma;

		dw_set_distance(w, field, to, (int64_t)table->t->base);
		if (place)
			dw_add_relocation(w, DWELL_RELOC_FROM_MODULE, field);
		return;
	}
	if (place) {
		svma = m->is_fixed ? m->start + (uint64_t)m->distance + place : place;
		dw_add_relocation(w, DWELL_RELOC_AREA_64, field);
	}
	memcpy(w->t->area + field, &svma, sizeof svma);
}

int dw_emit_tables(const struct dw_emit_target *t, struct dw_emit_result *ret)
{
	struct dw_writer w = {.t = t, .m = t->m, .ret = ret};

	dw_vec_each(x, &t->m->jump_tables) {
		struct table table;

		if (!x->at)
			continue;
		table = find_tail(t->m, x, dw_clone_function_of(t->m, t->m->jumps.v[x->plan].insn));
		for (uint32_t k = 0; k < x->n && !w.rc; k++)
			put_entry(&w, &table, k);
	}
	return w.rc;
}
