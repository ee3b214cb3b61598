/*
 * Selecting functions: which are cloned, which are parts of others, and which get probes; see
 * plan.h.
 *
 * Compilers split functions: the seldom part stands elsewhere with an unwind entry of its own. It
 * is known by its unwind rules (they begin with a frame in place), or, when it has no frame, by
 * being jumped to while nothing calls it or takes its address, and being called so in the symbol
 * table, where there is one, not being aligned as functions are, or going back into the middle of
 * one, or using stack below rsp, which a probe would overwrite. Such a part has no entry to be
 * probed. Taking a function for a part costs its numbers, never its working.
 */
#include "clone/plan/plan.h"

#include "base/cleanup.h"
#include "code/cfi/entry.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT_INSNS = 24, ALIGNMENT = 16 };

/* Whether the FDE of @f begins with a frame in place: a rule before the first advance. */
static bool has_frame_at_start(const struct dw_clone_module *m, const struct dw_clone_function *f)
{
	struct dw_cfi_reading r = {0};

	if (dw_clone_read_fde(m, f, &r) || !r.fde.program_n)
		return false;
	switch (r.fde.program[0]) {
	case DW_CFA_nop:
	case DW_CFA_set_loc:
	case DW_CFA_advance_loc1:
	case DW_CFA_advance_loc2:
	case DW_CFA_advance_loc4:
	case DW_CFA_GNU_args_size:
		return false;
	}
	return (r.fde.program[0] & 0xc0) != DW_CFA_advance_loc;
}

/* Functions that are called, or whose address is known to something; those jumped to; and those
 * that are parts by their names. */
enum use { TAKEN = 1, JUMPED = 2, NAMED = 4 };

struct uses {
	struct dw_clone_module *m;
	uint8_t *of[DWELL_SHARES]; /* enum use by function, as each share knows */
};

static void add_use(const struct dw_clone_module *m, uint8_t *uses, enum use use, uint64_t svma)
{
	if (dw_rank_has(&m->starts, svma))
		uses[dw_rank_at(&m->starts, svma) - 1] |= (uint8_t)use;
}

static void add_insn_use(const struct dw_clone_module *m, uint8_t *uses,
			 const struct dw_clone_function *f, const struct dw_insn *insn, uint64_t at)
{
	uint64_t to = dw_insn_target(insn, at);

	if (insn->kind == DWELL_INSN_CALL || insn->flags & DWELL_INSN_RELATIVE)
		add_use(m, uses, TAKEN, to);
	else if ((insn->kind == DWELL_INSN_JUMP || insn->kind == DWELL_INSN_BRANCH) &&
		 to - f->start >= f->end - f->start)
		add_use(m, uses, JUMPED, to);
}

/* Symbols that other modules can see are entries. */
static void add_symbols(const struct dw_clone_module *m, uint8_t *uses)
{
	const struct dw_elf_section *s = dw_elf_section(m->elf, ".dynsym");
	const uint8_t *bytes = s ? dw_clone_module_bytes(m, s->svma.v, s->bytes) : NULL;

	for (uint64_t i = 0; bytes && i + sizeof(Elf64_Sym) <= s->bytes; i += sizeof(Elf64_Sym)) {
		Elf64_Sym sym;

		memcpy(&sym, bytes + i, sizeof sym);
		if (sym.st_shndx != SHN_UNDEF)
			add_use(m, uses, TAKEN, sym.st_value);
	}
}

static bool is_name_of_part(const char *name)
{
	const char *dot = strstr(name, ".cold");

	return dot && dot > name && (!dot[5] || dot[5] == '.');
}

/* Parts by the names of .symtab, which many files do not have. */
static void add_names(const struct dw_clone_module *m, uint8_t *uses)
{
	const struct dw_elf_section *s = dw_elf_section(m->elf, ".symtab");
	const struct dw_elf_section *t = dw_elf_section(m->elf, ".strtab");
	dw_auto_free uint8_t *symbols = NULL;
	dw_auto_free uint8_t *names = NULL;
	size_t symbols_n, names_n;

	if (!s || !t || dw_elf_read_section(m->elf, s, &symbols, &symbols_n, NULL) ||
	    dw_elf_read_section(m->elf, t, &names, &names_n, NULL))
		return;
	for (size_t i = 0; i + sizeof(Elf64_Sym) <= symbols_n; i += sizeof(Elf64_Sym)) {
		Elf64_Sym sym;

		memcpy(&sym, symbols + i, sizeof sym);
		if (sym.st_shndx != SHN_UNDEF && sym.st_name < names_n &&
		    dw_rank_has(&m->starts, sym.st_value) &&
		    is_name_of_part((const char *)names + sym.st_name))
			add_use(m, uses, NAMED, sym.st_value);
	}
}

static void find_share(void *ctx, const struct dw_share *share)
{
	const struct uses *u = ctx;

	for (uint32_t k = share->first; k < share->end; k++) {
		const struct dw_clone_function *f = &u->m->functions.v[k];
		uint64_t at = f->start;

		for (uint32_t i = 0; i < f->n; i++) {
			const struct dw_insn *insn = &u->m->insns.v[f->first + i];

			if (insn->field_at)
				add_insn_use(u->m, u->of[share->k], f, insn, at);
			at += insn->length;
		}
	}
}

static int find_uses(const struct dw_clone_module *m, struct uses *u)
{
	for (unsigned k = 0; k < DWELL_SHARES; k++) {
		u->of[k] = calloc(m->functions.n + 1, 1);
		if (!u->of[k])
			return -ENOMEM;
	}
	dw_shares_run(m, find_share, u);
	dw_vec_each(p, &m->pointers)
		add_use(m, u->of[0], TAKEN, p->to);
	add_symbols(m, u->of[0]);
	add_names(m, u->of[0]);
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
		if (insn->flags & DWELL_INSN_SP && insn->value < 0)
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
	unsigned uses = 0;

	for (unsigned k = 0; k < DWELL_SHARES; k++)
		uses |= u->of[k][f - m->functions.v];
	if ((uses & (TAKEN | JUMPED)) != JUMPED)
		return false;
	return uses & NAMED || f->start % ALIGNMENT || has_frame_at_start(m, f) ||
	       is_inside_another(m, f);
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
		if (insn->field_at && !(insn->flags & DWELL_INSN_RELATIVE) &&
		    to - f->start < f->end - f->start && !dw_clone_is_place(m, f, to))
			return DWELL_LEFT_ENTRY_OVERLAP;
		at += insn->length;
	}
	return DWELL_CLONED;
}

static void judge_share(void *ctx, const struct dw_share *share)
{
	const struct uses *u = ctx;

	for (uint32_t i = share->first; i < share->end; i++) {
		struct dw_clone_function *f = &u->m->functions.v[i];

		if (is_cold(u->m, f, u))
			f->flags |= DWELL_CLONE_COLD;
		if (!f->reason)
			f->reason = (uint8_t)obstacle(u->m, f);
	}
}

int dw_clone_choose(struct dw_clone_module *m, const struct dw_clone_options *options)
{
	struct uses u = {.m = m};
	int rc = find_uses(m, &u);

	dw_vec_each(f, &m->functions) {
		if (options->is_slowest && options->is_slowest(options->ctx, f->start))
			f->flags |= DWELL_CLONE_SLOWEST;
		if (f->reason)
			continue;
		if (m->entry && m->entry - f->start < f->end - f->start)
			f->reason = DWELL_LEFT_START;
		else if (options->is_chosen && !options->is_chosen(options->ctx, f->start))
			f->reason = DWELL_LEFT_NOT_CHOSEN;
	}
	if (!rc)
		dw_shares_run(m, judge_share, &u);
	for (unsigned k = 0; k < DWELL_SHARES; k++)
		free(u.of[k]);
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
	if (options->probes == DWELL_PROBES_NONE || options->probes == DWELL_PROBES_SYSTEM_CALLS)
		return;
	dw_vec_each(f, &m->functions)
		if (!f->reason && f->flags & DWELL_CLONE_REDIRECTED &&
		    (options->all_functions || !is_short(m, f)))
			f->flags |= DWELL_CLONE_PROBED;
}
