/*
 * The plan of indirect jumps; see jumps.h.
 *
 * Whether the address of a table is constant depends on how control flows, which depends on the
 * tables (an interpreter's handlers are reached by them only, and jump on by them). So tables are
 * first assumed where all paths known so far agree, their entries becoming paths, until nothing new
 * is found; then every assumption is checked against all paths, and what fails is dropped until the
 * rest holds together. A jump without table may lead to every label whose address is taken, or,
 * when its address was computed, anywhere in its function: then no register is trusted there.
 */
#include "clone/plan/jumps.h"

#include "base/vec.h"
#include "clone/plan/flow-x86-64.h"
#include "code/decode/insn-x86-64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Entries of tables cost more than steps of walks: memory, and questions of liveness. */
enum { RED_ZONE_BYTES = 128, PUSHED_BYTES = 8, ENTRY_WORK = 64 };

enum state { OPEN, ASSUMED, DROPPED };

struct candidate {
	struct dw_jump_form form;
	uint64_t holds; /* what form.holds is, when ASSUMED */
	uint64_t adds;
	struct dw_jump_bound bound;
	uint8_t state; /* enum state */
};

struct planner {
	struct dw_clone_module *m;
	struct dw_clone_function *f;
	struct dw_flow_entries entries;
	struct dw_jump_words words;
	struct dw_flow flow;
	struct dw_jump_table_read read;
	DW_VEC(struct candidate) candidates;
	uint32_t first_table; /* of this function */
	bool is_wild;	      /* a jump may lead to any of its instructions */
	bool is_labelled;     /* an address inside it is known somewhere */
};

static bool has_registers(const struct candidate *c)
{
	return c->form.holds != DWELL_NO_REGISTER || c->form.adds != DWELL_NO_REGISTER;
}

/* What the registers of @c hold: UNREACHED, CONSTANT, or no constant. */
static enum dw_flow_definition evaluate(struct planner *p, const struct candidate *c,
					uint64_t *holds, uint64_t *adds)
{
	enum dw_flow_definition a = DWELL_FLOW_CONSTANT, b = DWELL_FLOW_CONSTANT;

	*holds = *adds = 0;
	if (c->form.holds != DWELL_NO_REGISTER)
		a = dw_flow_define(&p->flow, c->form.load, c->form.holds, holds);
	if (c->form.adds != DWELL_NO_REGISTER)
		b = dw_flow_define(&p->flow, c->form.add, c->form.adds, adds);
	if (a > DWELL_FLOW_CONSTANT || b > DWELL_FLOW_CONSTANT)
		return a > b ? a : b;
	return a < b ? a : b;
}

static int read_table(struct planner *p, const struct candidate *c)
{
	struct dw_jump_table_ask ask = {.start = c->holds + (uint64_t)c->form.disp,
					.base = c->adds,
					.entry_bytes = c->form.entry_bytes};

	int rc;

	ask.is_tight = c->bound.is_tight;
	ask.max = c->bound.max;
	rc = dw_jump_table_read(p->m, p->f, &ask, &p->words, &p->read);
	return rc || dw_flow_charge(&p->flow, p->read.to.n * ENTRY_WORK) ? rc : DWELL_ERR_LIMIT;
}

/* What bounds the index, as far as the paths are known. */
static struct dw_jump_bound find_bound(struct planner *p, const struct candidate *c)
{
	struct dw_jump_bound ret = {UINT64_MAX, false};

	if (!p->is_wild)
		dw_jump_bound_find(&p->flow, &c->form, &ret);
	return ret;
}

/* Let the jump lead where the table in p->read says. */
static int add_table_edges(struct planner *p, const struct candidate *c)
{
	uint32_t last = UINT32_MAX;

	dw_vec_each(to, &p->read.to) {
		uint32_t i = dw_flow_insn_at(&p->flow, *to);

		if (i == UINT32_MAX || i == last)
			continue;
		if (dw_vec_push(&p->flow.edges, (struct dw_flow_edge){c->form.jump, i}))
			return -ENOMEM;
		last = i;
	}
	return 0;
}

/* Assume the table of the open candidate @c when all known paths agree. 1 = done, 0, -ENOMEM. */
static int assume(struct planner *p, struct candidate *c)
{
	enum dw_flow_definition how = evaluate(p, c, &c->holds, &c->adds);
	int rc;

	if (how == DWELL_FLOW_UNREACHED)
		return 0;
	c->state = DROPPED;
	if (how != DWELL_FLOW_CONSTANT)
		return 0;
	c->bound = find_bound(p, c);
	rc = read_table(p, c);
	if (rc)
		return rc == -ENOMEM ? rc : 0;
	c->state = ASSUMED;
	rc = add_table_edges(p, c);
	return rc ? rc : 1;
}

static int assume_all(struct planner *p)
{
	int found = 1;

	while (found) {
		found = 0;
		dw_vec_each(c, &p->candidates) {
			int rc = c->state == OPEN ? assume(p, c) : 0;

			if (rc < 0)
				return rc;
			found |= rc;
		}
		if (found && dw_flow_link(&p->flow))
			return -ENOMEM;
	}
	dw_vec_each(c, &p->candidates)
		if (c->state == OPEN)
			c->state = DROPPED;
	return 0;
}

/*
 * Let the dropped candidate @c lead wherever it may: when its target was loaded as a whole, to all
 * labels; when that is the sum of the address of some data and a distance that nobody knows, to
 * the entries of the table there; else anywhere.
 */
static int add_label_edges(struct planner *p, const struct candidate *c)
{
	enum dw_flow_definition how = DWELL_FLOW_POINTER;
	uint64_t base;
	int rc = 0;

	if (c->form.jumps_by != DWELL_NO_REGISTER)
		how = dw_flow_define(&p->flow, c->form.jump, c->form.jumps_by, &base);
	if (how == DWELL_FLOW_SUM) {
		struct dw_jump_table_ask ask = {
			.start = base, .base = base, .entry_bytes = 4, .max = UINT64_MAX};

		rc = dw_jump_table_read(p->m, p->f, &ask, &p->words, &p->read);
		rc = rc ? rc : add_table_edges(p, c);
	}
	if (rc == -ENOMEM)
		return rc;
	p->is_wild |= rc || how == DWELL_FLOW_UNKNOWN || !dw_flow_charge(&p->flow, p->flow.n);
	if (p->is_wild)
		return 0; /* no register is trusted any more: where it may lead makes no difference
			   */
	for (uint32_t i = 0; i < p->flow.n; i++)
		if (p->flow.marks[i] & DWELL_FLOW_LABEL &&
		    dw_vec_push(&p->flow.edges, (struct dw_flow_edge){c->form.jump, i}))
			return -ENOMEM;
	return 0;
}

/* Whether the assumed candidate @c holds on all paths known by now. */
static bool holds_still(struct planner *p, const struct candidate *c)
{
	uint64_t holds, adds;

	if (!has_registers(c))
		return true;
	return !p->is_wild && evaluate(p, c, &holds, &adds) == DWELL_FLOW_CONSTANT &&
	       holds == c->holds && adds == c->adds;
}

/* Check the assumed candidate @c again. 1 = paths were added, 0, -ENOMEM. */
static int check(struct planner *p, struct candidate *c)
{
	struct dw_jump_bound bound = find_bound(p, c);
	int rc = 0;

	if (!holds_still(p, c)) {
		rc = DWELL_ERR_NOT_FOUND;
	} else if (bound.max != c->bound.max || bound.is_tight != c->bound.is_tight) {
		c->bound = bound;
		rc = read_table(p, c);
		rc = rc ? rc : add_table_edges(p, c);
	} else {
		return 0;
	}
	if (rc && rc != -ENOMEM) {
		c->state = DROPPED;
		rc = add_label_edges(p, c);
	}
	return rc ? rc : 1;
}

static int check_all(struct planner *p)
{
	int again = 1, rc = 0;

	dw_vec_each(c, &p->candidates) {
		if (c->state == DROPPED) {
			rc = rc ? rc : add_label_edges(p, c);
		}
	}
	while (again && !rc) {
		again = 0;
		if (dw_flow_link(&p->flow))
			return -ENOMEM;
		dw_vec_each(c, &p->candidates) {
			int one = c->state == ASSUMED ? check(p, c) : 0;

			if (one < 0)
				return one;
			again |= one;
		}
	}
	return rc;
}

/* The plan's entry that leads to @to; adds a restoring sequence where registers are live. 0;
 * DWELL_ERR_NOT_FOUND (flags are live there); -ENOMEM. */
static int make_entry(struct planner *p, const struct candidate *c, struct dw_jump_plan *plan,
		      struct dw_map *known, uint64_t to)
{
	const struct dw_clone_function *f = dw_clone_function_at(p->m, to);
	struct dw_jump_entry entry = {.svma = to, .to = DWELL_JUMP_TO_MODULE};
	uint32_t wanted = 0, live, before = dw_map_get(known, to);

	if (before) {
		entry = p->m->jump_entries.v[before - 1];
		return dw_vec_push(&p->m->jump_entries, entry);
	}
	if (f && !f->reason && (f == p->f || to != f->start || f->flags & DWELL_CLONE_COLD) &&
	    dw_clone_insn_at(p->m, f, to) != UINT32_MAX)
		entry.to = DWELL_JUMP_TO_CLONE;
	if (c->form.jumps_by != DWELL_NO_REGISTER) {
		wanted = 1u << c->form.jumps_by | 1u << c->form.loads;
		if (c->form.add != UINT32_MAX && c->form.sets_flags)
			wanted |= DWELL_FLOW_FLAGS;
	}
	live = entry.to == DWELL_JUMP_TO_CLONE ? dw_flow_live(p->m, to, wanted) : 0;
	if (live & DWELL_FLOW_FLAGS && !c->form.adds_again)
		return DWELL_ERR_NOT_FOUND;
	if (live) {
		entry.to = DWELL_JUMP_TO_RESTORE;
		entry.restore = plan->restores++;
		if (dw_vec_push(&p->m->jump_restores, to))
			return -ENOMEM;
	}
	if (dw_map_put(known, to, (uint32_t)p->m->jump_entries.n + 1))
		return -ENOMEM;
	return dw_vec_push(&p->m->jump_entries, entry);
}

static bool same_entries(const struct dw_clone_module *m, uint32_t a, uint32_t b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct dw_jump_entry *x = &m->jump_entries.v[a + i],
					   *y = &m->jump_entries.v[b + i];

		if (x->svma != y->svma || x->to != y->to)
			return false;
	}
	return true;
}

/* Whether restoring sequences of one do for the other. */
static bool same_registers(const struct dw_jump_plan *a, const struct dw_jump_plan *b)
{
	return a->loads == b->loads && a->jumps_by == b->jumps_by && a->add_n == b->add_n &&
	       !memcmp(a->add_bytes, b->add_bytes, sizeof a->add_bytes);
}

/* The table that p->read and the entries from @first on make: one that there is, or a new one. */
static int place_table(struct planner *p, const struct candidate *c, struct dw_jump_plan *plan,
		       uint32_t first)
{
	struct dw_jump_table table = {.start = p->read.start,
				      .base = c->adds,
				      .first = first,
				      .n = (uint32_t)p->read.to.n,
				      .plan = (uint32_t)p->m->jumps.n,
				      .entry_bytes = c->form.entry_bytes};

	for (uint32_t i = p->first_table; i < p->m->jump_tables.n; i++) {
		const struct dw_jump_table *t = &p->m->jump_tables.v[i];

		if (t->start == table.start && t->base == table.base && t->n == table.n &&
		    t->entry_bytes == table.entry_bytes &&
		    (!plan->restores || same_registers(&p->m->jumps.v[t->plan], plan)) &&
		    same_entries(p->m, t->first, first, table.n)) {
			p->m->jump_entries.n = first;
			p->m->jump_restores.n = plan->first_target;
			plan->restores = 0;
			plan->table = i;
			return 0;
		}
	}
	plan->table = (uint32_t)p->m->jump_tables.n;
	return dw_vec_push(&p->m->jump_tables, table);
}

/* Plan the jump of @c by its table. 0; DWELL_ERR_NOT_FOUND (by the map then); -ENOMEM. */
static int plan_table(struct planner *p, const struct candidate *c, struct dw_jump_plan *plan)
{
	uint32_t first = (uint32_t)p->m->jump_entries.n;
	size_t restores = p->m->jump_restores.n;
	struct dw_map known = {0};
	struct dw_jump_parts parts;
	int rc = read_table(p, c);

	plan->loads = c->form.loads;
	plan->jumps_by = c->form.jumps_by;
	plan->first_target = (uint32_t)restores;
	if (c->form.add != UINT32_MAX && c->form.adds_again) {
		uint32_t at = p->flow.at[c->form.add], n = p->flow.at[c->form.add + 1] - at;

		if (n > sizeof plan->add_bytes)
			return DWELL_ERR_NOT_FOUND;
		memcpy(plan->add_bytes, p->flow.bytes + at, n);
		plan->add_n = (uint8_t)n;
	}
	for (size_t i = 0; i < p->read.to.n && !rc; i++)
		rc = make_entry(p, c, plan, &known, p->read.to.v[i]);
	dw_map_release(&known);
	if (!rc)
		rc = place_table(p, c, plan, first);
	if (rc) {
		p->m->jump_entries.n = first;
		p->m->jump_restores.n = restores;
		plan->restores = 0;
		return rc == -ENOMEM ? rc : DWELL_ERR_NOT_FOUND;
	}
	plan->how = DWELL_JUMP_TABLE;
	plan->load = p->f->first + c->form.load;
	plan->is_absolute = c->form.holds == DWELL_NO_REGISTER;
	plan->load_disp = c->form.disp;
	parts = dw_jump_take_apart(p->flow.bytes + p->flow.at[c->form.load], DWELL_INSN_BYTES_MAX);
	plan->load_disp_at = (uint8_t)(parts.modrm_at + 2); /* behind modrm and SIB */
	plan->load_bytes = (uint8_t)(plan->load_disp_at + 4);
	return 0;
}

static int64_t pushed_bytes(const struct planner *p)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < p->flow.n; i++) {
		struct dw_insn_detail d;
		struct dw_insn insn;

		if (dw_flow_detail(&p->flow, i, &insn, &d) && d.op == DWELL_OP_PUSH)
			sum += PUSHED_BYTES;
	}
	return sum;
}

/* How far below rsp the function may use the stack, <= 0; 1: not known, or so far that what is
 * saved below would not be safe from signals, whose frames begin RED_ZONE_BYTES below rsp. */
static int32_t free_below(const struct planner *p)
{
	int64_t by_sp = 0, by_fp = 0, lowest;
	bool calls = false;

	for (uint32_t i = 0; i < p->flow.n; i++) {
		const struct dw_insn *insn = &p->m->insns.v[p->f->first + i];

		calls |= insn->kind == DWELL_INSN_CALL || insn->kind == DWELL_INSN_CALL_INDIRECT;
		if (i && p->flow.marks[i] & DWELL_FLOW_ENTRY) /* another function's stack */
			by_fp = -RED_ZONE_BYTES;
		if (insn->flags & DWELL_INSN_SP && insn->value < by_sp)
			by_sp = insn->value;
		if (insn->flags & DWELL_INSN_FP && insn->value < by_fp)
			by_fp = insn->value;
	}
	lowest = !calls && by_fp < by_sp ? by_fp : by_sp;
	if (!lowest)
		return 0;
	lowest = (lowest - pushed_bytes(p)) & -PUSHED_BYTES;
	return lowest < DWELL_JUMP_SAVED_BYTES - RED_ZONE_BYTES ? 1 : (int32_t)lowest;
}

static bool has_labels(const struct planner *p)
{
	for (uint32_t i = 1; i < p->flow.n; i++)
		if (p->flow.marks[i] & DWELL_FLOW_LABEL)
			return true;
	return false;
}

/* Whether the jump of the dropped candidate @c is sure to leave the function. */
static bool leaves(struct planner *p, const struct candidate *c)
{
	uint64_t constant;

	if (p->is_labelled)
		return false;
	if (c->form.jumps_by == DWELL_NO_REGISTER)
		return true;
	switch (dw_flow_define(&p->flow, c->form.jump, c->form.jumps_by, &constant)) {
	case DWELL_FLOW_CONSTANT:
		return constant - p->f->start >= p->f->end - p->f->start;
	case DWELL_FLOW_POINTER:
		return true;
	default:
		return false;
	}
}

static void plan_other(struct planner *p, const struct candidate *c, struct dw_jump_plan *plan)
{
	plan->how = leaves(p, c) ? DWELL_JUMP_LEAVE : DWELL_JUMP_MAP;
	plan->jumps_by = c->form.jumps_by;
	plan->free_below = free_below(p);
	if (plan->how == DWELL_JUMP_LEAVE)
		return; /* nothing is saved; only whether the red zone may be in use counts */
	p->f->has_map = true;
	if (plan->free_below > 0)
		p->f->reason = DWELL_LEFT_RED_ZONE;
}

static int plan_all(struct planner *p)
{
	p->is_labelled = has_labels(p);
	dw_vec_each(c, &p->candidates) {
		struct dw_jump_plan plan = {.insn = p->f->first + c->form.jump};
		int rc = c->state == ASSUMED ? plan_table(p, c, &plan) : DWELL_ERR_NOT_FOUND;

		if (rc == -ENOMEM)
			return rc;
		if (rc)
			plan_other(p, c, &plan);
		if (dw_vec_push(&p->m->jumps, plan))
			return -ENOMEM;
	}
	return 0;
}

static int plan_function(struct planner *p)
{
	int rc = dw_flow_open(p->m, p->f, &p->entries, &p->flow);

	p->candidates.n = 0;
	p->is_wild = false;
	p->first_table = (uint32_t)p->m->jump_tables.n;
	for (uint32_t i = 0; i < p->f->n && !rc; i++) {
		struct candidate c = {.state = OPEN};

		if (p->m->insns.v[p->f->first + i].kind != DWELL_INSN_JUMP_INDIRECT)
			continue;
		dw_jump_form_find(&p->flow, i, &c.form);
		if (!c.form.entry_bytes)
			c.state = DROPPED;
		rc = dw_vec_push(&p->candidates, c);
	}
	if (!rc)
		rc = assume_all(p);
	if (!rc)
		rc = check_all(p);
	if (!rc)
		rc = plan_all(p);
	dw_flow_close(&p->flow);
	return rc;
}

int dw_jumps_plan(struct dw_clone_module *m)
{
	struct planner p = {.m = m};
	int rc = dw_flow_entries_find(m, &p.entries);

	dw_vec_each(f, &m->functions) {
		p.f = f;
		if (!rc && !f->reason && f->has_indirect_jump)
			rc = plan_function(&p);
	}
	for (uint32_t i = 0; i < m->jumps.n && !rc; i++)
		if (m->jumps.v[i].how == DWELL_JUMP_TABLE)
			rc = dw_vec_push(&m->jump_loads, i);
	dw_flow_entries_release(&p.entries);
	dw_map_release(&p.words.by_at);
	dw_vec_release(&p.read.to);
	dw_vec_release(&p.candidates);
	return rc;
}

const struct dw_jump_plan *dw_jumps_find(const struct dw_clone_module *m, uint32_t insn)
{
	size_t i = dw_sorted_count(m->jumps.v, m->jumps.n, e, e->insn < insn);

	return i < m->jumps.n && m->jumps.v[i].insn == insn ? &m->jumps.v[i] : NULL;
}

/* Each load stands in a straight line before its jump, so loads ascend as jumps do. */
const struct dw_jump_plan *dw_jumps_find_load(const struct dw_clone_module *m, uint32_t insn)
{
	size_t i = dw_sorted_count(m->jump_loads.v, m->jump_loads.n, e, m->jumps.v[*e].load < insn);

	if (i == m->jump_loads.n || m->jumps.v[m->jump_loads.v[i]].load != insn)
		return NULL;
	return &m->jumps.v[m->jump_loads.v[i]];
}
