/*
 * The verifier's own rules for probes; see probes.h.
 *
 * Stack switches and uses of the red zone are found by operands, landing pads by the LSDAs of all
 * functions that have a clone.
 */
#include "clone/verify/probes.h"

#include "base/vec.h"
#include "clone/trampolines/trampolines.h"
#include "code/cfi/entry.h"
#include "code/decode/insn-x86-64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool dw_verify_is_measured(const struct dw_verify *v, const struct dw_verify_function *f)
{
	if (f->flags & DWELL_CLONE_PROBED)
		return true;
	return v->h.probes == DWELL_PROBES_TIME && f->flags & DWELL_CLONE_COLD;
}

static const struct dw_verify_slot *find_slot(const struct dw_verify *v, uint64_t svma)
{
	size_t i = dw_sorted_count(v->slots.v, v->slots.n, e, e->at < svma);

	return i < v->slots.n && v->slots.v[i].at == svma ? &v->slots.v[i] : NULL;
}

/* The word that the PLT entry at @svma jumps through, 0: there is none. */
static uint64_t stub_word(const struct dw_verify *v, uint64_t svma)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	struct dw_insn insn;
	size_t left;
	const uint8_t *bytes = dw_verify_bytes(v, svma, &left);

	if (!bytes || left < 16)
		return 0;
	if (!memcmp(bytes, endbr64, sizeof endbr64)) {
		bytes += sizeof endbr64;
		svma += sizeof endbr64;
		left -= sizeof endbr64;
	}
	if (!dw_insn_decode(bytes, left, &insn) || insn.kind != DWELL_INSN_JUMP_INDIRECT ||
	    !(insn.flags & DWELL_INSN_RELATIVE))
		return 0;
	svma = dw_insn_target(&insn, svma);
	return svma - v->start < v->bytes ? svma : 0;
}

/* Whether calls of @g have no probes around them. */
static bool is_own(const struct dw_verify_function *g)
{
	return g->clone_at || g->reason == DWELL_CLONED || g->reason == DWELL_LEFT_NOT_CHOSEN;
}

enum dw_verify_call dw_verify_call_kind(const struct dw_verify *v,
					const struct dw_verify_function *f,
					const struct dw_insn *insn, uint64_t svma)
{
	uint64_t to = dw_insn_target(insn, svma);
	const struct dw_verify_function *g;

	if (v->h.probes != DWELL_PROBES_TIME || !dw_verify_is_measured(v, f))
		return DWELL_VERIFY_PLAIN;
	if (insn->kind == DWELL_INSN_CALL_INDIRECT) {
		if (insn->flags & DWELL_INSN_RELATIVE && find_slot(v, to) &&
		    to - v->start < v->bytes)
			return DWELL_VERIFY_OUT;
		return insn->flags & DWELL_INSN_SP && insn->value < 0 ? DWELL_VERIFY_PLAIN
								      : DWELL_VERIFY_OUT_POINTER;
	}
	if (to - v->start >= v->bytes || to == v->start) /* an import's 0 is none */
		return DWELL_VERIFY_PLAIN;
	g = dw_verify_function_at(v, to);
	return g && (g->start != to || is_own(g)) ? DWELL_VERIFY_PLAIN : DWELL_VERIFY_OUT;
}

bool dw_verify_has_return(const struct dw_verify *v, const struct dw_verify_function *f,
			  const struct dw_insn *insn, uint64_t svma)
{
	uint64_t to = dw_insn_target(insn, svma);
	const struct dw_verify_function *g = dw_verify_function_at(v, to);

	return v->h.probes == DWELL_PROBES_TIME && dw_verify_is_measured(v, f) &&
	       insn->kind == DWELL_INSN_CALL && g && g->start == to && g->clone_at &&
	       g->flags & DWELL_CLONE_TAILS_OUT;
}

static struct dw_clone_import import_at(const struct dw_verify *v, uint32_t i)
{
	struct dw_clone_import import;

	memcpy(&import, v->area + v->h.imports.at + i * sizeof import, sizeof import);
	return import;
}

bool dw_verify_is_import(const struct dw_verify *v, uint32_t id, const struct dw_insn *insn,
			 uint64_t svma)
{
	uint64_t to = dw_insn_target(insn, svma), slot;
	struct dw_clone_import import;

	if (id - v->h.functions.n >= v->h.imports.n)
		return false;
	import = import_at(v, id - v->h.functions.n);
	if (insn->kind == DWELL_INSN_CALL_INDIRECT || insn->kind == DWELL_INSN_JUMP_INDIRECT)
		return to == v->start + import.slot;
	slot = dw_verify_function_at(v, to) ? 0 : stub_word(v, to);
	return slot ? slot == v->start + import.slot : !import.slot && to == v->start + import.stub;
}

/* Instructions that may load the stack pointer, or copy it: looked at closely. */
static bool is_candidate(const uint8_t *p, const struct dw_insn *insn)
{
	if (insn->kind != DWELL_INSN_PLAIN)
		return false;
	if (insn->length == 1)
		return *p == 0x5c;
	return (*p & 0xf8) == 0x48 &&
	       (p[1] == 0x89 || p[1] == 0x8b || p[1] == 0x87 || p[1] == 0x94);
}

/* Registers that hold this stack's pointer, as bits. */
struct copies {
	uint32_t known; /* rbp, and what was ever given it */
	uint32_t fresh; /* was given it last, as far as moves and calls tell */
};

/* Whether the instruction loads the stack pointer with what may be another stack's. */
static bool is_switch(const uint8_t *p, const struct dw_insn *insn, struct copies *copies)
{
	enum { RSP = 4, RBP = 5, LOST_IN_CALLS = 0xfc7 };
	struct dw_insn_detail d;
	struct dw_insn again;
	bool is_copy;

	if (insn->kind == DWELL_INSN_CALL || insn->kind == DWELL_INSN_CALL_INDIRECT)
		copies->fresh &= ~(uint32_t)LOST_IN_CALLS;
	if (!is_candidate(p, insn) || !dw_insn_decode_detail(p, insn->length, &again, &d))
		return false;
	if (d.op == DWELL_OP_POP || d.op == DWELL_OP_XCHG)
		return d.writes >> RSP & 1;
	if (d.op != DWELL_OP_MOV || d.to == DWELL_NO_REGISTER)
		return false;
	is_copy = !d.memory.is_there && (d.from == RSP || copies->fresh >> d.from & 1);
	if (d.to == RSP)
		return d.memory.is_there ? d.memory.base != RBP
					 : !is_copy && !(copies->known >> d.from & 1);
	copies->fresh &= ~(1u << d.to);
	copies->fresh |= (uint32_t)is_copy << d.to;
	copies->known |= (uint32_t)is_copy << d.to;
	return false;
}

/* What walking over a function shows: nothing where it is not made of instructions alone. */
struct seen {
	bool switches;
	bool tails_out;
	bool tails_on; /* to one with the flag TAILS_OUT */
	bool by_sp;    /* operands below rsp */
	bool by_fp;    /* below rbp */
	bool calls;
	bool system_calls;
};

bool dw_verify_tails_out(const struct dw_verify *v, const struct dw_verify_function *f,
			 const struct dw_insn *insn, uint64_t svma)
{
	uint64_t to = dw_insn_target(insn, svma);
	const struct dw_verify_function *g;

	if (insn->kind == DWELL_INSN_JUMP_INDIRECT)
		return insn->flags & DWELL_INSN_RELATIVE && find_slot(v, to);
	if ((insn->kind != DWELL_INSN_JUMP && insn->kind != DWELL_INSN_BRANCH) ||
	    to - f->start < f->end - f->start)
		return false;
	g = dw_verify_function_at(v, to);
	if (g)
		return g->start == to && !is_own(g) && !(g->flags & DWELL_CLONE_COLD);
	return dw_verify_is_linkage(v->elf, to);
}

/* Whether @f may end by it in a jump to one that may end in a jump out, as the image says. */
static bool tails_on(const struct dw_verify *v, const struct dw_verify_function *f,
		     const struct dw_insn *insn, uint64_t svma)
{
	uint64_t to = dw_insn_target(insn, svma);
	const struct dw_verify_function *g;

	if ((insn->kind != DWELL_INSN_JUMP && insn->kind != DWELL_INSN_BRANCH) ||
	    to - f->start < f->end - f->start)
		return false;
	g = dw_verify_function_at(v, to);
	return g && g->clone_at && g->flags & DWELL_CLONE_TAILS_OUT;
}

static void look_at(const struct dw_verify *v, const struct dw_verify_function *f,
		    const struct dw_insn *insn, uint64_t svma, struct seen *s)
{
	s->tails_out |= dw_verify_tails_out(v, f, insn, svma);
	s->tails_on |= tails_on(v, f, insn, svma);
	s->by_sp |= insn->flags & DWELL_INSN_SP && insn->value < 0;
	s->by_fp |= insn->flags & DWELL_INSN_FP && insn->value < 0;
	s->calls |= insn->kind == DWELL_INSN_CALL || insn->kind == DWELL_INSN_CALL_INDIRECT;
	s->system_calls |= insn->flags & DWELL_INSN_SYSCALL;
}

static struct seen walk(const struct dw_verify *v, const struct dw_verify_function *f)
{
	struct seen s = {.switches = false};
	struct copies copies = {.known = 1u << 5}; /* rbp */
	struct dw_insn insn;

	for (uint64_t at = f->start; at < f->end; at += insn.length) {
		size_t left;
		const uint8_t *bytes = dw_verify_bytes(v, at, &left);

		left = left < f->end - at ? left : f->end - at;
		if (!bytes || !dw_insn_decode(bytes, left, &insn))
			return (struct seen){.switches = false};
		look_at(v, f, &insn, at, &s);
		s.switches |= is_switch(bytes, &insn, &copies);
	}
	return s;
}

static bool has(const uint64_t *v, size_t n, uint64_t svma)
{
	size_t i = dw_sorted_count(v, n, e, *e < svma);

	return i < n && v[i] == svma;
}

/* Add the functions into whose middle @f jumps. One that is not made of instructions alone is not
 * cloned, and jumps to what its module has there. */
static int add_entered(struct dw_verify *v, const struct dw_verify_function *f)
{
	size_t before = v->entered.n;
	struct dw_insn insn;
	int rc = 0;

	for (uint64_t at = f->start; at < f->end && !rc; at += insn.length) {
		const struct dw_verify_function *g;
		size_t left;
		const uint8_t *bytes = dw_verify_bytes(v, at, &left);
		uint64_t to;

		left = left < f->end - at ? left : f->end - at;
		if (!bytes || !dw_insn_decode(bytes, left, &insn)) {
			v->entered.n = before;
			return 0;
		}
		to = dw_insn_target(&insn, at);
		if ((insn.kind != DWELL_INSN_JUMP && insn.kind != DWELL_INSN_BRANCH &&
		     insn.kind != DWELL_INSN_LOOP) ||
		    to - f->start < f->end - f->start)
			continue;
		g = dw_verify_function_at(v, to);
		if (g && g->start != to)
			rc = dw_vec_push(&v->entered, g->start);
	}
	return rc;
}

/* The row at @svma of the function with the FDE at @offset: whether all registers are found above
 * the stack pointer. */
static bool rows_above(const struct dw_verify *v, const struct dw_cfi_fde_ref *ref, uint64_t svma)
{
	struct dw_cfi_machine machine;
	struct dw_cfi_reading e = {0};
	uint64_t from, to = 0;

	if (dw_cfi_read(&e, &v->sections[ref->kind], ref->offset))
		return false;
	dw_cfi_machine_init(&machine, &e.cie, e.fde.start, e.fde.program, e.fde.program_n);
	while (to <= svma)
		if (dw_cfi_machine_next(&machine, &from, &to) < 0)
			return false;
	for (unsigned i = 0; i < DWELL_REG_PC; i++) {
		const struct dw_cfi_rule *cfa = &machine.rules.cfa, *r = &machine.rules.r[i];

		if (i != DWELL_REG_SP && r->how == DWELL_CFI_OFFSET &&
		    cfa->how == DWELL_CFI_OFFSET && cfa->reg == DWELL_REG_SP &&
		    cfa->offset + r->offset < 0)
			return false;
	}
	return true;
}

/* Whether the range of @f is not its unwind table's: it overlaps the next one. The maker reads
 * neither, so they are not cloned. */
static bool is_cut(const struct dw_verify *v, const struct dw_verify_function *f)
{
	const struct dw_cfi_fde_ref *ref = dw_cfi_fdes_find(&v->fdes, f->start);

	return !ref || ref->end != f->end;
}

bool dw_verify_is_free_below(struct dw_verify *v, const struct dw_verify_function *f, uint64_t svma)
{
	const struct dw_cfi_fde_ref *ref = dw_cfi_fdes_find(&v->fdes, f->start);
	struct seen s;

	if (f->flags & DWELL_CLONE_COLD || has(v->entered.v, v->entered.n, f->start) || !ref)
		return false;
	if (v->walked != f->start) {
		s = walk(v, f);
		v->walked = f->start;
		v->uses_below = s.by_sp || (s.by_fp && !s.calls);
	}
	return !v->uses_below && rows_above(v, ref, svma);
}

bool dw_verify_has_system_trampolines(struct dw_verify *v, const struct dw_verify_function *f,
				      uint64_t svma)
{
	return (v->h.probes == DWELL_PROBES_SYSTEM_CALLS || v->h.probes == DWELL_PROBES_TIME) &&
	       dw_verify_is_free_below(v, f, svma);
}

static int add_pads(struct dw_verify *v, const struct dw_verify_function *f)
{
	const struct dw_cfi_fde_ref *ref = dw_cfi_fdes_find(&v->fdes, f->start);
	struct dw_verify_lsda lsda;
	struct dw_verify_site site;
	struct dw_cfi_reading e = {0};
	int rc = 0;

	if (!ref || dw_cfi_read(&e, &v->sections[ref->kind], ref->offset) || !e.fde.lsda ||
	    !dw_verify_lsda_open(v, e.fde.lsda, f->start, &lsda))
		return 0;
	while (!rc && dw_verify_lsda_next(&lsda, &site))
		if (site.pad)
			rc = dw_vec_push(&v->pads, site.pad);
	return rc;
}

/* What holds wherever the area is. */
static int read_once(struct dw_verify *v)
{
	bool any = v->h.statements.n;
	int rc = 0;

	dw_vec_each(f, &v->functions) {
		if (!rc && f->clone_at && v->h.probes == DWELL_PROBES_TIME)
			rc = add_pads(v, f);
		if (f->clone_at && !any)
			any = walk(v, f).system_calls;
	}
	dw_vec_each(f, &v->functions)
		if (any && !rc && !is_cut(v, f) && !(f > v->functions.v && is_cut(v, f - 1)))
			rc = add_entered(v, f);
	if (v->pads.n)
		qsort(v->pads.v, v->pads.n, sizeof *v->pads.v, dw_verify_by_svma);
	if (v->entered.n)
		qsort(v->entered.v, v->entered.n, sizeof *v->entered.v, dw_verify_by_svma);
	return rc;
}

int dw_verify_probes(struct dw_verify *v)
{
	enum { CALL_BYTES = 5 };

	if (v->h.probes != DWELL_PROBES_SYSTEM_CALLS && v->h.probes != DWELL_PROBES_TIME)
		return 0;
	if (!v->probes_known) {
		v->probes_known = true;
		if (read_once(v))
			return -ENOMEM;
	}
	dw_vec_each(f, &v->functions) {
		if (!f->clone_at || !dw_verify_is_measured(v, f))
			continue;
		for (uint32_t i = f->first + 1; i < f->first + f->n; i++)
			if (has(v->pads.v, v->pads.n, v->insns.v[i].svma))
				v->insns.v[i].clone_at += CALL_BYTES;
	}
	return 0;
}

/* Whether import @i is what the module has there. */
static bool is_right_import(const struct dw_verify *v, uint32_t i)
{
	struct dw_clone_import import = import_at(v, i);
	uint64_t stub = import.stub ? v->start + import.stub : 0;
	uint64_t slot = import.slot ? v->start + import.slot : 0;
	const struct dw_verify_function *g = stub ? dw_verify_function_at(v, stub) : NULL;
	const struct dw_verify_slot *s = slot ? find_slot(v, slot) : NULL;
	bool switches = s ? s->switches : g && walk(v, g).switches;

	if (import.unused || (!stub && !s) || (g && (is_own(g) || slot)) || import.stub >= v->bytes)
		return false;
	if (stub && !g && stub_word(v, stub) != slot)
		return false;
	return import.flags == (switches ? DWELL_IMPORT_SWITCHES : 0);
}

static void check_flags(struct dw_verify *v, const struct dw_verify_function *f)
{
	uint32_t want = 0, mask = DWELL_CLONE_TAILS_OUT | DWELL_CLONE_SWITCHES;
	struct seen s = {.switches = false};

	if (v->h.probes == DWELL_PROBES_TIME && f->clone_at)
		s = walk(v, f);
	want |= s.switches ? DWELL_CLONE_SWITCHES : 0;
	if (s.tails_on || (s.tails_out && dw_verify_is_measured(v, f)))
		want |= DWELL_CLONE_TAILS_OUT;
	if ((f->flags & mask) != want)
		dw_verify_find(v, f->start, f->clone_at, "other flags");
}

/* The system calls of the module, as the header counts them. */
static void check_system_calls(struct dw_verify *v)
{
	uint32_t with = 0;

	dw_vec_each(f, &v->functions)
		for (uint32_t i = f->first; f->clone_at && i < f->first + f->n; i++) {
			size_t left;
			const uint8_t *p = dw_verify_bytes(v, v->insns.v[i].svma, &left);

			with += left > 1 && p[0] == 0x0f && p[1] == 0x05 &&
				dw_verify_has_system_trampolines(v, f, v->insns.v[i].svma);
		}
	if (with != v->h.system_calls)
		dw_verify_find(v, 0, 0, "another number of system calls");
}

/* The trampolines' fields for the thread word, all of them. */
static void check_thread_fields(struct dw_verify *v)
{
	struct dw_trampolines trampolines = {v->h.probes, v->h.code_at, v->h.constants_at,
					     v->h.wiped_at};
	struct dw_clone_part part = v->h.relocations[DWELL_RELOC_THREAD];

	for (uint32_t i = 0; i <= part.n; i++) {
		uint32_t at = 0;

		if (i < part.n)
			memcpy(&at, v->area + part.at + i * sizeof at, sizeof at);
		if (at != dw_trampolines_thread_field(&trampolines, i))
			dw_verify_find(v, 0, at, "not where a trampoline wants the thread's word");
	}
}

void dw_verify_probe_lists(struct dw_verify *v)
{
	uint64_t start = 0, end = 0;

	for (uint32_t i = 0; i < v->h.imports.n; i++)
		if (!is_right_import(v, i))
			dw_verify_find(v, v->start + import_at(v, i).stub, 0, "import %u is none",
				       i);
	dw_vec_each(f, &v->functions) {
		check_flags(v, f);
		if (!(f->flags & DWELL_CLONE_PROBED))
			continue;
		start = end ? start : f->start - v->start;
		end = f->end - v->start;
	}
	if (start != v->h.probed_start || end != v->h.probed_end)
		dw_verify_find(v, v->start + start, 0, "other bounds of probed functions");
	check_system_calls(v);
	dw_verify_statements(v);
	check_thread_fields(v);
}
