/*
 * Choosing functions; see choose.h.
 *
 * Compilers split functions: the seldom part stands elsewhere with an unwind entry of its own. It
 * is known by its unwind rules (they begin with a frame in place), or, when it has no frame, by
 * being jumped to while nothing calls it or takes its address, and not being aligned as functions
 * are, or going back into the middle of one, or using stack below rsp, which a probe would
 * overwrite. Such a part has no entry to be probed. Taking a function for a part costs its numbers,
 * never its working.
 */
#include "clone/choose.h"

#include "code/cfi/entry.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <string.h>

enum { SHORT_INSNS = 24, ALIGNMENT = 16 };

/* Whether the FDE of @f begins with a frame in place: a rule before the first advance. */
static bool has_frame_at_start(const struct dw_clone_module *m, const struct dw_clone_function *f)
{
	const struct dw_cfi_section *s = &m->sections[DWELL_CFI_EH];
	size_t offset = m->fdes.list.v[f->fde].offset;
	struct dw_cfi_entry e;
	struct dw_cfi_cie cie;
	struct dw_cfi_fde fde;

	if (dw_cfi_next_entry(s, &offset, &e) != 1 || e.is_cie ||
	    dw_cfi_read_cie(s, e.cie_offset, &cie) || dw_cfi_read_fde(s, &e, &cie, &fde) ||
	    !fde.program_n)
		return false;
	switch (fde.program[0]) {
	case DW_CFA_nop:
	case DW_CFA_set_loc:
	case DW_CFA_advance_loc1:
	case DW_CFA_advance_loc2:
	case DW_CFA_advance_loc4:
	case DW_CFA_GNU_args_size:
		return false;
	}
	return (fde.program[0] & 0xc0) != DW_CFA_advance_loc;
}

/* Functions that are called, or whose address is known to something; and those jumped to. */
struct uses {
	struct dw_rank taken, jumped;
};

static void add_use(struct dw_rank *r, uint64_t svma)
{
	if (svma - r->base < r->n)
		dw_rank_add(r, svma);
}

static void add_insn_use(struct uses *u, const struct dw_clone_function *f,
			 const struct dw_insn *insn, uint64_t at)
{
	uint64_t to = dw_insn_target(insn, at);

	if (insn->kind == DWELL_INSN_CALL || insn->flags & DWELL_INSN_RIP)
		add_use(&u->taken, to);
	else if ((insn->kind == DWELL_INSN_JUMP || insn->kind == DWELL_INSN_BRANCH) &&
		 to - f->start >= f->end - f->start)
		add_use(&u->jumped, to);
}

/* Symbols that other modules can see are entries. */
static void add_symbols(const struct dw_clone_module *m, struct uses *u)
{
	const struct dw_elf_section *s = dw_elf_section(m->elf, ".dynsym");
	const uint8_t *bytes = s ? dw_clone_module_bytes(m, s->svma.v, s->bytes) : NULL;

	for (uint64_t i = 0; bytes && i + sizeof(Elf64_Sym) <= s->bytes; i += sizeof(Elf64_Sym)) {
		Elf64_Sym sym;

		memcpy(&sym, bytes + i, sizeof sym);
		if (sym.st_shndx != SHN_UNDEF)
			add_use(&u->taken, sym.st_value);
	}
}

static int find_uses(const struct dw_clone_module *m, struct uses *u)
{
	if (dw_rank_init(&u->taken, m->starts.base, m->starts.n) ||
	    dw_rank_init(&u->jumped, m->starts.base, m->starts.n))
		return -ENOMEM;
	dw_vec_each(f, &m->functions) {
		uint64_t at = f->start;

		for (uint32_t i = 0; i < f->n; i++) {
			const struct dw_insn *insn = &m->insns.v[f->first + i];

			if (insn->field_at)
				add_insn_use(u, f, insn, at);
			at += insn->length;
		}
	}
	dw_vec_each(p, &m->pointers)
		add_use(&u->taken, p->to);
	add_symbols(m, u);
	return 0;
}

/* Whether @f goes into another function's middle, or uses the red zone. */
static bool is_inside_another(const struct dw_clone_module *m, const struct dw_clone_function *f)
{
	uint64_t at = f->start;

	for (uint32_t i = f->first; i < f->first + f->n; i++) {
		const struct dw_insn *insn = &m->insns.v[i];
		uint64_t to = dw_insn_target(insn, at);
		const struct dw_clone_function *g;

		at += insn->length;
		if (insn->flags & DWELL_INSN_RSP && insn->value < 0)
			return true;
		if (insn->kind != DWELL_INSN_JUMP && insn->kind != DWELL_INSN_BRANCH)
			continue;
		g = dw_clone_function_at(m, to);
		if (g && g != f && g->start != to)
			return true;
	}
	return false;
}

static bool is_cold(const struct dw_clone_module *m, const struct dw_clone_function *f,
		    const struct uses *u)
{
	if (!dw_rank_has(&u->jumped, f->start) || dw_rank_has(&u->taken, f->start))
		return false;
	return f->start % ALIGNMENT || has_frame_at_start(m, f) || is_inside_another(m, f);
}

/* Why the code of @f cannot be moved; 0 = it can. */
static enum dw_clone_reason obstacle(const struct dw_clone_module *m,
				     const struct dw_clone_function *f)
{
	uint64_t at = f->start;

	for (uint32_t i = f->first; i < f->first + f->n; i++) {
		const struct dw_insn *insn = &m->insns.v[i];
		uint64_t to = dw_insn_target(insn, at);

		if (insn->kind == DWELL_INSN_OTHER)
			return DWELL_LEFT_INSTRUCTION;
		if (insn->field_at && !(insn->flags & DWELL_INSN_RIP) &&
		    to - f->start < f->end - f->start && !dw_clone_is_place(m, f, to))
			return DWELL_LEFT_ENTRY_OVERLAP;
		at += insn->length;
	}
	return DWELL_CLONED;
}

int dw_clone_choose(struct dw_clone_module *m, const struct dw_clone_options *options)
{
	struct uses u = {0};
	int rc = find_uses(m, &u);

	for (size_t i = 0; i < m->functions.n && !rc; i++) {
		struct dw_clone_function *f = &m->functions.v[i];

		if (is_cold(m, f, &u))
			f->flags |= DWELL_CLONE_COLD;
		if (f->reason)
			continue;
		if (m->entry && m->entry - f->start < f->end - f->start)
			f->reason = DWELL_LEFT_START;
		else if (options->is_chosen && !options->is_chosen(options->ctx, f->start))
			f->reason = DWELL_LEFT_NOT_CHOSEN;
		else
			f->reason = (uint8_t)obstacle(m, f);
	}
	dw_rank_release(&u.taken);
	dw_rank_release(&u.jumped);
	return rc;
}

/* Few instructions, no calls, no loops: its probes would cost more than it does. */
static bool is_short(const struct dw_clone_module *m, const struct dw_clone_function *f)
{
	uint64_t at = f->start;

	if (f->n > SHORT_INSNS)
		return false;
	for (uint32_t i = 0; i < f->n; i++) {
		const struct dw_insn *insn = &m->insns.v[f->first + i];
		uint64_t to = dw_insn_target(insn, at);

		switch (insn->kind) {
		case DWELL_INSN_CALL:
		case DWELL_INSN_CALL_INDIRECT:
		case DWELL_INSN_JUMP_INDIRECT:
		case DWELL_INSN_LOOP:
			return false;
		case DWELL_INSN_JUMP:
		case DWELL_INSN_BRANCH:
			if (to <= at || to >= f->end)
				return false;
		}
		at += insn->length;
	}
	return true;
}

void dw_clone_choose_probes(struct dw_clone_module *m, const struct dw_clone_options *options)
{
	if (options->probes == DWELL_PROBES_NONE)
		return;
	dw_vec_each(f, &m->functions)
		if (!f->reason && f->flags & DWELL_CLONE_REDIRECTED &&
		    (options->all_functions || !is_short(m, f)))
			f->flags |= DWELL_CLONE_PROBED;
}
