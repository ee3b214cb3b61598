/*
 * Where control leaves functions and the instrumented code; see plan.h.
 *
 * A call of a cloned function has no probes around it, the callee has its own; neither has one of
 * a function that was not chosen. What was left alone for safety, has no unwind entry or is reached
 * through a PLT entry or a word that the loader fills is an import; every other callee is known by
 * its address at run time.
 *
 * A callee is keyed by the word that its address is read from, also when that is done by a PLT
 * entry, so both lead to one import. A kept call that ends its function returns to what
 * follows in the module, where no probe stands: it gets none at all. Where the callee's address
 * lies below rsp, a probe would write over it.
 */
#include "clone/plan/plan.h"

#include "base/vec.h"
#include "clone/plan/jumps.h"

#include <errno.h>
#include <string.h>

/* Functions that go on on another stack. */
static bool is_switch(const char *name)
{
	static const char *const names[] = {"swapcontext",    "setcontext", "jump_fcontext",
					    "ontop_fcontext", "co_switch",  "coro_transfer"};

	for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static const struct dw_clone_slot *find_slot(const struct dw_clone_module *m, uint64_t svma)
{
	size_t i = dw_sorted_count(m->slots.v, m->slots.n, e, e->at < svma);

	return i < m->slots.n && m->slots.v[i].at == svma ? &m->slots.v[i] : NULL;
}

uint64_t dw_calls_out_stub(const struct dw_clone_module *m, uint64_t svma)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	enum { STUB_BYTES = 16 };
	const uint8_t *bytes = dw_clone_module_bytes(m, svma, STUB_BYTES);
	size_t skip = bytes && !memcmp(bytes, endbr64, sizeof endbr64) ? sizeof endbr64 : 0;
	struct dw_insn insn;

	if (!bytes || !dw_insn_decode(bytes + skip, STUB_BYTES - skip, &insn) ||
	    insn.kind != DWELL_INSN_JUMP_INDIRECT || !(insn.flags & DWELL_INSN_RELATIVE))
		return 0;
	return dw_insn_target(&insn, svma + skip);
}

/* Let @svma, which is called or called through, stand for the import of @slot, or @svma itself. */
static int add_import(struct dw_clone_module *m, uint64_t svma, uint64_t slot, uint32_t flags)
{
	uint32_t id = dw_map_get(&m->import_of, slot ? slot : svma);
	struct dw_clone_import import = {.slot = slot ? (uint32_t)(slot - m->start) : 0,
					 .flags = flags};

	if (!id) {
		if (dw_vec_push(&m->imports, import))
			return -ENOMEM;
		id = (uint32_t)m->imports.n;
		if (dw_map_put(&m->import_of, slot ? slot : svma, id))
			return -ENOMEM;
	}
	if (svma == slot)
		return 0;
	m->imports.v[id - 1].stub = (uint32_t)(svma - m->start);
	return slot ? dw_map_put(&m->import_of, svma, id) : 0;
}

/* Whether calls of @g, which is not cloned, are no calls out. */
static bool is_own(const struct dw_clone_function *g)
{
	return !g->reason || g->reason == DWELL_LEFT_NOT_CHOSEN;
}

/* The direct call to @to: 1 = of an import, 0, -ENOMEM. */
static int look_at_direct(struct dw_clone_module *m, uint64_t to)
{
	const struct dw_clone_function *g = dw_clone_function_at(m, to);
	const struct dw_clone_slot *slot;
	uint64_t word;
	int rc;

	if (dw_map_get(&m->import_of, to))
		return 1;
	if (to - m->start >= m->bytes || to == m->start || (g && (g->start != to || is_own(g))))
		return 0;
	if (g) {
		rc = add_import(m, to, 0, dw_switches_stacks(m, g) ? DWELL_IMPORT_SWITCHES : 0);
		return rc ? rc : 1;
	}
	word = dw_calls_out_stub(m, to);
	if (word - m->start >= m->bytes)
		word = 0;
	slot = find_slot(m, word);
	rc = add_import(m, to, word, slot && is_switch(slot->name) ? DWELL_IMPORT_SWITCHES : 0);
	return rc ? rc : 1;
}

/* Likewise the call through the word at @to. */
static int add_slot(struct dw_clone_module *m, uint64_t to)
{
	const struct dw_clone_slot *slot = find_slot(m, to);
	int rc;

	if (!slot || to - m->start >= m->bytes)
		return 0;
	rc = add_import(m, to, to, is_switch(slot->name) ? DWELL_IMPORT_SWITCHES : 0);
	return rc ? rc : 1;
}

/* The marks of the call @insn at @at, negative: -ENOMEM. */
static int look_at_call(struct dw_clone_module *m, const struct dw_insn *insn, uint64_t at)
{
	uint64_t to = dw_insn_target(insn, at);
	int rc;

	if (insn->kind == DWELL_INSN_CALL) {
		rc = look_at_direct(m, to);
		return rc > 0 ? DWELL_MARK_OUT : rc;
	}
	if (insn->flags & DWELL_INSN_RELATIVE && find_slot(m, to)) {
		rc = add_slot(m, to);
		if (rc)
			return rc > 0 ? DWELL_MARK_OUT : rc;
	}
	return insn->flags & DWELL_INSN_SP && insn->value < 0 ? 0 : DWELL_MARK_OUT_POINTER;
}

/* Whether the jump @insn at @at surely leads out of the instrumented code. */
static bool tails_out(const struct dw_clone_module *m, const struct dw_clone_function *f,
		      const struct dw_insn *insn, uint64_t at)
{
	uint64_t to = dw_insn_target(insn, at);
	const struct dw_clone_function *g;

	switch (insn->kind) {
	case DWELL_INSN_JUMP:
	case DWELL_INSN_BRANCH:
		if (to - f->start < f->end - f->start)
			return false;
		g = dw_clone_function_at(m, to);
		return g ? g->start == to && !is_own(g) && !(g->flags & DWELL_CLONE_COLD)
			 : dw_clone_is_linkers(m->elf, to);
	case DWELL_INSN_JUMP_INDIRECT:
		return insn->flags & DWELL_INSN_RELATIVE && find_slot(m, to);
	}
	return false;
}

/* The plan of @f's jump @i lets a trampoline stand before it. */
static bool has_trampoline(const struct dw_clone_module *m, const struct dw_insn *insn, uint32_t i)
{
	const struct dw_jump_plan *plan = dw_jumps_find(m, i);

	return insn->kind != DWELL_INSN_JUMP_INDIRECT ||
	       (plan && plan->how == DWELL_JUMP_LEAVE && !plan->free_below);
}

/* The marks of the jump @insn, which is instruction @i of @f at @at, negative: -ENOMEM. */
static int look_at_jump(struct dw_clone_module *m, struct dw_clone_function *f,
			const struct dw_insn *insn, uint32_t i, uint64_t at)
{
	uint64_t to = dw_insn_target(insn, at);
	int rc;

	if (!tails_out(m, f, insn, at))
		return 0;
	f->flags |= DWELL_CLONE_TAILS_OUT;
	if (!has_trampoline(m, insn, i))
		return 0;
	if (insn->kind == DWELL_INSN_JUMP_INDIRECT)
		rc = add_slot(m, to);
	else
		rc = look_at_direct(m, to);
	return rc > 0 ? DWELL_MARK_OUT : rc;
}

static bool is_call(const struct dw_insn *insn)
{
	return insn->kind == DWELL_INSN_CALL || insn->kind == DWELL_INSN_CALL_INDIRECT;
}

static int look_at(struct dw_clone_module *m, struct dw_clone_function *f)
{
	uint32_t last = f->first + f->n - 1;
	uint64_t at = f->start;

	for (uint32_t i = f->first; i <= last; at += m->insns.v[i++].length) {
		const struct dw_insn *insn = &m->insns.v[i];
		int marks;

		if (i == last && m->marks.v[i] & DWELL_MARK_KEEP_RETURN)
			continue;
		marks = is_call(insn) ? look_at_call(m, insn, at) : look_at_jump(m, f, insn, i, at);
		if (marks < 0)
			return marks;
		m->marks.v[i] |= (uint8_t)marks;
	}
	return 0;
}

/* Functions that may go on in others: indexes in m->functions. */
struct edge {
	uint32_t from, to;
};
struct edges {
	DW_VEC(struct edge);
};

static int add_edges(struct dw_clone_module *m, const struct dw_clone_function *f,
		     struct edges *edges)
{
	uint64_t at = f->start;
	int rc = 0;

	for (uint32_t i = f->first; i < f->first + f->n && !rc; at += m->insns.v[i++].length) {
		const struct dw_insn *insn = &m->insns.v[i];
		uint64_t to = dw_insn_target(insn, at);
		const struct dw_clone_function *g;

		if ((insn->kind != DWELL_INSN_JUMP && insn->kind != DWELL_INSN_BRANCH) ||
		    to - f->start < f->end - f->start)
			continue;
		g = dw_clone_function_at(m, to);
		if (g && !g->reason)
			rc = dw_vec_push(edges, ((struct edge){(uint32_t)(f - m->functions.v),
							       (uint32_t)(g - m->functions.v)}));
	}
	return rc;
}

/* Let functions know what those may do that they jump to, however many jumps it takes. 0 or
 * -ENOMEM. */
static int spread_tails(struct dw_clone_module *m)
{
	struct edges edges = {0};
	bool again = true;
	int rc = 0;

	dw_vec_each(f, &m->functions) {
		if (!f->reason && !rc)
			rc = add_edges(m, f, &edges);
	}
	while (again) {
		again = false;
		dw_vec_each(edge, &edges) {
			uint32_t tails = m->functions.v[edge->to].flags & DWELL_CLONE_TAILS_OUT;
			uint8_t *flags = &m->functions.v[edge->from].flags;

			again |= tails & ~*flags;
			*flags |= (uint8_t)tails;
		}
	}
	dw_vec_release(&edges);
	return rc;
}

/* Mark the calls of @f behind which what they have called may have to be ended. */
static void mark_backs(struct dw_clone_module *m, const struct dw_clone_function *f)
{
	uint32_t last = f->first + f->n - 1;
	uint64_t at = f->start;

	for (uint32_t i = f->first; i <= last; at += m->insns.v[i++].length) {
		const struct dw_insn *insn = &m->insns.v[i];
		uint64_t to = dw_insn_target(insn, at);
		const struct dw_clone_function *g;

		if (insn->kind != DWELL_INSN_CALL || m->marks.v[i] & DWELL_MARK_OUT ||
		    (i == last && m->marks.v[i] & DWELL_MARK_KEEP_RETURN))
			continue;
		g = dw_clone_function_at(m, to);
		if (g && g->start == to && !g->reason && g->flags & DWELL_CLONE_TAILS_OUT)
			m->marks.v[i] |= DWELL_MARK_RETURN;
	}
}

/* Mark where exceptions of clones land in clones. */
static void mark_pads(struct dw_clone_module *m)
{
	dw_vec_each(pad, &m->pads) {
		const struct dw_clone_function *g = dw_clone_function_at(m, pad->svma);

		if (!m->functions.v[pad->function].reason && g && !g->reason &&
		    dw_clone_is_measured(m, g) && pad->svma != g->start)
			m->marks.v[dw_clone_insn_at(m, g, pad->svma)] |= DWELL_MARK_LANDING;
	}
}

int dw_calls_out_find(struct dw_clone_module *m)
{
	int rc = 0;

	if (m->probes != DWELL_PROBES_TIME)
		return 0;
	dw_vec_each(f, &m->functions) {
		if (f->reason)
			continue;
		if (dw_switches_stacks(m, f))
			f->flags |= DWELL_CLONE_SWITCHES;
		if (dw_clone_is_measured(m, f) && !rc)
			rc = look_at(m, f);
	}
	mark_pads(m);
	if (!rc)
		rc = spread_tails(m);
	dw_vec_each(f, &m->functions) {
		if (!f->reason && dw_clone_is_measured(m, f))
			mark_backs(m, f);
	}
	return rc;
}

uint32_t dw_calls_out_import(const struct dw_clone_module *m, const struct dw_insn *insn,
			     uint64_t at)
{
	return dw_map_get(&m->import_of, dw_insn_target(insn, at)) - 1;
}

bool dw_clone_leaves_to(const struct dw_clone_module *m, const struct dw_clone_function *f,
			uint64_t to)
{
	const struct dw_clone_function *g;

	if (!dw_clone_is_measured(m, f) || to - f->start < f->end - f->start)
		return false;
	g = dw_clone_function_at(m, to);
	return g ? g->start == to && !(g->flags & DWELL_CLONE_COLD)
		 : dw_clone_is_linkers(m->elf, to);
}

/* Whether the instruction of @kind may go on with the one behind it. */
static bool goes_on(uint8_t kind)
{
	return kind != DWELL_INSN_JUMP && kind != DWELL_INSN_JUMP_INDIRECT &&
	       kind != DWELL_INSN_RETURN && kind != DWELL_INSN_STOP;
}

bool dw_clone_goes_on_behind(const struct dw_clone_module *m, const struct dw_clone_function *f,
			     uint32_t i)
{
	return i == f->first + f->n - 1 && goes_on(m->insns.v[i].kind);
}

bool dw_clone_leaves(const struct dw_clone_module *m, const struct dw_clone_function *f, uint32_t i,
		     uint64_t at)
{
	const struct dw_insn *insn = &m->insns.v[i];
	const struct dw_jump_plan *plan;

	if (dw_clone_goes_on_behind(m, f, i) && dw_clone_leaves_to(m, f, f->end))
		return true;
	switch (insn->kind) {
	case DWELL_INSN_RETURN:
		return dw_clone_is_measured(m, f);
	case DWELL_INSN_JUMP:
	case DWELL_INSN_BRANCH:
		return dw_clone_leaves_to(m, f, dw_insn_target(insn, at));
	case DWELL_INSN_JUMP_INDIRECT:
		plan = dw_jumps_find(m, i);
		return dw_clone_is_measured(m, f) && plan && plan->how != DWELL_JUMP_TABLE &&
		       !plan->free_below;
	default:
		return false;
	}
}
