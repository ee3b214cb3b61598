/*
 * Unwind tables of clones; see unwind-info.h. Sources: LSB Core, "Exception Frames" and "The
 * .eh_frame_hdr section"; DWARF 5, 6.4.
 *
 * A clone's rows begin where the clones of the instructions begin at which the module's rows do; a
 * prefix has the state of the entry, as probes do not move the stack pointer. CIEs are written once
 * for each meaning, with all pointers in one encoding. A personality that the loader fills in
 * inside the table itself (old, or of assembly) is reached through the module's table.
 *
 * Layout: .eh_frame_hdr, .eh_frame with its zero end, LSDAs.
 */
#include "clone/unwind-info.h"

#include "base/map.h"
#include "clone/frame-program.h"
#include "clone/lsda.h"
#include "clone/personality.h"
#include "clone/shares.h"
#include "clone/unwind-leaving.h"
#include "clone/unwind-output.h"
#include "code/cfi/entry.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	BASE_MASK = 0x70,
	FORMAT_MASK = 0x0f,
	PCREL4 = DW_EH_PE_pcrel | DW_EH_PE_sdata4,
	TABLE4 = DW_EH_PE_datarel | DW_EH_PE_sdata4,
	RETURN_ADDRESS = 16,
	PERSONALITIES_MAX = 16, /* of one module; real ones have three */
};

/* Read the entries of @f, which must be in .eh_frame. 0 or negative. */
static int read_entry(const struct dw_clone_module *m, const struct dw_clone_function *f,
		      struct dw_cfi_reading *r)
{
	return m->fdes.list.v[f->fde].kind == DWELL_CFI_EH ? dw_clone_read_fde(m, f, r)
							   : DWELL_ERR_UNSUPPORTED;
}

static bool is_absolute(uint8_t encoding)
{
	return (encoding & BASE_MASK) == DW_EH_PE_absptr;
}

/* Whether the loader fills in the personality in the table itself. */
static bool by_loader(const struct dw_clone_module *m, const struct dw_cfi_cie *cie)
{
	return !m->is_fixed && is_absolute(cie->personality_encoding);
}

/* The svma that leads to the personality routine, and how: directly or as the word that holds it.
 */
static uint64_t personality(const struct dw_clone_module *m, const struct dw_cfi_cie *cie,
			    bool *indirect)
{
	*indirect = by_loader(m, cie) || cie->personality_encoding & DW_EH_PE_indirect;
	return by_loader(m, cie) ? m->sections[DWELL_CFI_EH].svma + cie->personality_at
				 : cie->personality;
}

/* Personalities that were looked up, by the address that leads to them. */
struct personalities {
	uint64_t svma[PERSONALITIES_MAX];
	bool known[PERSONALITIES_MAX];
	size_t n;
};

static bool personality_is_known(const struct dw_clone_module *m, struct personalities *p,
				 uint64_t svma)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->svma[i] == svma)
			return p->known[i];
	if (p->n == PERSONALITIES_MAX)
		return false;
	p->svma[p->n] = svma;
	p->known[p->n] = dw_personality_is_known(m->elf, svma);
	return p->known[p->n++];
}

/* Whether FDEs of @cie can be said of clones. */
static bool cie_moves(const struct dw_clone_module *m, const struct dw_cfi_cie *cie)
{
	struct dw_frame_program p;
	enum dw_frame_part part;
	const uint8_t *bytes;
	size_t n;

	if (cie->unknown || cie->return_register != RETURN_ADDRESS)
		return false;
	if (cie->personality_encoding != DW_EH_PE_omit && by_loader(m, cie) &&
	    (cie->personality_encoding & FORMAT_MASK) != DW_EH_PE_absptr)
		return false;
	dw_frame_program_init(&p, cie, 0, cie->program, cie->program_n);
	do
		part = dw_frame_program_next(&p, &bytes, &n);
	while (part == DWELL_FRAME_RULES);
	return part == DWELL_FRAME_END;
}

/* Whether rows begin at instructions only, and the machine understands all of them. */
static bool rows_move(const struct dw_clone_module *m, const struct dw_clone_function *f,
		      const struct dw_cfi_reading *e)
{
	struct dw_frame_program p;
	struct dw_cfi_machine machine;
	enum dw_frame_part part;
	const uint8_t *bytes;
	uint64_t from, to;
	size_t n;
	int rc;

	if (e->cie.pointer_encoding == DW_EH_PE_absptr && !m->is_fixed)
		return false;
	dw_frame_program_init(&p, &e->cie, f->start, e->fde.program, e->fde.program_n);
	while ((part = dw_frame_program_next(&p, &bytes, &n)) > DWELL_FRAME_END)
		if (part == DWELL_FRAME_ROW && p.pc != f->end &&
		    dw_clone_insn_at(m, f, p.pc) == UINT32_MAX)
			return false;
	if (part != DWELL_FRAME_END)
		return false;
	dw_cfi_machine_init(&machine, &e->cie, f->start, e->fde.program, e->fde.program_n);
	while ((rc = dw_cfi_machine_next(&machine, &from, &to)) == 1)
		;
	return !rc;
}

/* What checking a module needs. */
struct check {
	struct dw_cfi_reading e;
	size_t cie_known; /* offset of the CIE that was looked at, + 1 */
	bool cie_moves;
	struct personalities personalities;
	struct dw_lsda lsda;
	DW_VEC(struct dw_clone_pad) pads; /* that matter to probes */
};

/* Note where exceptions of function @i land. 0 or -ENOMEM. */
static int add_pads(struct check *c, uint32_t i)
{
	dw_vec_each(site, &c->lsda.sites)
		if (site->pad && dw_vec_push(&c->pads, (struct dw_clone_pad){i, site->pad}))
			return -ENOMEM;
	return 0;
}

/* Whether the LSDA of @f, if it has one, can be said of a clone. 1, 0, or -ENOMEM. */
static int lsda_moves(const struct dw_clone_module *m, const struct dw_clone_function *f,
		      struct check *c)
{
	const struct dw_cfi_cie *cie = &c->e.cie;
	bool indirect;
	int rc;

	if (cie->lsda_encoding != DW_EH_PE_omit && is_absolute(cie->lsda_encoding) && !m->is_fixed)
		return 0; /* the file does not tell it */
	if (!c->e.fde.lsda)
		return 1;
	if (c->e.fde.lsda == DWELL_CFI_LSDA_UNKNOWN || cie->personality_encoding == DW_EH_PE_omit ||
	    !personality_is_known(m, &c->personalities, personality(m, cie, &indirect)))
		return 0;
	rc = dw_lsda_read(m, f, c->e.fde.lsda, &c->lsda);
	if (!rc && m->probes == DWELL_PROBES_TIME)
		rc = add_pads(c, (uint32_t)(f - m->functions.v));
	return rc == -ENOMEM ? rc : !rc;
}

/* 1 when the tables of @f can be said of its clone, 0 when not; -ENOMEM. */
static int moves(const struct dw_clone_module *m, const struct dw_clone_function *f,
		 struct check *c)
{
	if (read_entry(m, f, &c->e))
		return 0;
	if (c->cie_known != c->e.cie_offset + 1) {
		c->cie_known = c->e.cie_offset + 1;
		c->cie_moves = cie_moves(m, &c->e.cie);
	}
	if (!c->cie_moves || c->e.fde.start != f->start || c->e.fde.end != f->end ||
	    !rows_move(m, f, &c->e))
		return 0;
	return lsda_moves(m, f, c);
}

/* All shares. */
struct checks {
	struct dw_clone_module *m;
	struct check of[DWELL_SHARES];
	int rc[DWELL_SHARES];
};

static void check_share(void *ctx, const struct dw_share *share)
{
	struct check c = {0};
	struct checks *all = ctx;
	int rc = 0;

	for (uint32_t i = share->first; i < share->end && rc >= 0; i++) {
		struct dw_clone_function *f = &all->m->functions.v[i];

		if (f->reason)
			continue;
		rc = moves(all->m, f, &c);
		if (!rc)
			f->reason = DWELL_LEFT_UNWIND;
	}
	dw_lsda_release(&c.lsda);
	all->of[share->k] = c;
	all->rc[share->k] = rc < 0 ? rc : 0;
}

int dw_clone_unwind_check(struct dw_clone_module *m)
{
	struct checks all = {.m = m};
	int rc = 0;

	dw_shares_run(m, check_share, &all);
	for (unsigned k = 0; k < DWELL_SHARES; k++) {
		rc = rc ? rc : all.rc[k];
		dw_vec_each(pad, &all.of[k].pads)
			rc = rc ? rc : dw_vec_push(&m->pads, *pad);
		dw_vec_release(&all.of[k].pads);
	}
	return rc;
}

/* A CIE that was written, for those of the same meaning. */
struct written_cie {
	uint32_t at; /* area offset */
	bool has_lsda;
	uint8_t personality_encoding; /* in the clone's table; omit = none */
	uint64_t personality;
	bool signal;
	int64_t data_align;
	const uint8_t *program; /* borrowed from the module's section */
	size_t program_n;
};

/* An FDE whose LSDA is yet to be written, behind .eh_frame. */
struct open_lsda {
	uint32_t field; /* area offset of the distance to it */
	uint32_t function;
	uint64_t svma;
};

/* One line of .eh_frame_hdr's table. */
struct line {
	uint32_t code; /* area offsets */
	uint32_t fde;
};

struct writer {
	struct dw_unwind_output o;
	DW_VEC(struct written_cie) cies;
	struct dw_idset by_meaning; /* index in cies + 1 */
	struct dw_map by_offset;    /* the module's offset + 1 -> index in cies + 1 */
	DW_VEC(struct open_lsda) lsdas;
	DW_VEC(struct line) lines;
	struct dw_cfi_reading e;
};

static uint32_t start_entry(struct dw_unwind_output *o, uint32_t id)
{
	uint32_t at = dw_unwind_here(o);

	dw_unwind_put32(o, 0);
	dw_unwind_put32(o, id);
	return at;
}

static void end_entry(struct dw_unwind_output *o, uint32_t at)
{
	dw_unwind_align(o, 8, DW_CFA_nop);
	dw_unwind_set32(o, at, dw_unwind_here(o) - at - 4);
}

/* Append @v as a signed LEB128. */
static void put_sleb(struct dw_buf *b, int64_t v)
{
	bool more = true;

	while (more) {
		uint8_t low = v & 0x7f;

		v >>= 7;
		more = v != (low & 0x40 ? -1 : 0);
		dw_buf_putc(b, (char)(more ? low | 0x80 : low));
	}
}

/* Append the CIE @c. */
static void put_cie(struct dw_unwind_output *o, const struct written_cie *c)
{
	bool has_personality = c->personality_encoding != DW_EH_PE_omit;
	uint32_t at = start_entry(o, 0);
	char letters[8], *end = letters;

	*end++ = 'z';
	if (has_personality)
		*end++ = 'P';
	if (c->has_lsda)
		*end++ = 'L';
	*end++ = 'R';
	if (c->signal)
		*end++ = 'S';
	*end++ = 0;
	dw_buf_putc(&o->buf, 1);
	dw_buf_put(&o->buf, letters, (size_t)(end - letters));
	dw_buf_put_uleb(&o->buf, 1); /* advances count bytes: we write our own */
	put_sleb(&o->buf, c->data_align);
	dw_buf_putc(&o->buf, RETURN_ADDRESS);
	dw_buf_put_uleb(&o->buf, (has_personality ? 5u : 0u) + c->has_lsda + 1u);
	if (has_personality) {
		dw_buf_putc(&o->buf, (char)c->personality_encoding);
		dw_unwind_put_module(o, dw_unwind_here(o), c->personality);
	}
	if (c->has_lsda)
		dw_buf_putc(&o->buf, PCREL4);
	dw_buf_putc(&o->buf, PCREL4);
	dw_buf_put(&o->buf, c->program, c->program_n);
	end_entry(o, at);
}

static struct written_cie describe_cie(const struct dw_clone_module *m,
				       const struct dw_cfi_cie *cie)
{
	struct written_cie c = {.has_lsda = cie->lsda_encoding != DW_EH_PE_omit,
				.personality_encoding = DW_EH_PE_omit,
				.signal = cie->signal,
				.data_align = cie->data_align,
				.program = cie->program,
				.program_n = cie->program_n};
	bool indirect;

	if (cie->personality_encoding != DW_EH_PE_omit) {
		c.personality = personality(m, cie, &indirect);
		c.personality_encoding = (uint8_t)(PCREL4 | (indirect ? DW_EH_PE_indirect : 0));
	}
	while (c.program_n && c.program[c.program_n - 1] == DW_CFA_nop)
		c.program_n--;
	return c;
}

/* What looking for a CIE of one meaning compares. */
struct sought_cie {
	const struct writer *w;
	const struct written_cie *c;
};

static bool same_meaning(const void *ctx, uint32_t id)
{
	const struct sought_cie *sought = ctx;
	const struct written_cie *a = sought->c, *b = &sought->w->cies.v[id - 1];

	return a->has_lsda == b->has_lsda && a->personality_encoding == b->personality_encoding &&
	       a->personality == b->personality && a->signal == b->signal &&
	       a->data_align == b->data_align && a->program_n == b->program_n &&
	       !memcmp(a->program, b->program, a->program_n);
}

/* The area offset of the clones' CIE for w->e.cie, written if it is new. 0 or -ENOMEM. */
static int find_cie(struct writer *w, uint32_t *ret)
{
	struct written_cie c = describe_cie(w->o.m, &w->e.cie);
	struct sought_cie sought = {w, &c};
	uint32_t id = dw_map_get(&w->by_offset, w->e.cie_offset + 1), hash;

	if (!id) {
		hash = (uint32_t)dw_hash_bytes(c.program, c.program_n, c.personality);
		id = dw_idset_find(&w->by_meaning, hash, same_meaning, &sought);
		if (!id) {
			c.at = dw_unwind_here(&w->o);
			put_cie(&w->o, &c);
			if (dw_vec_push(&w->cies, c))
				return -ENOMEM;
			id = (uint32_t)w->cies.n;
			if (dw_idset_add(&w->by_meaning, hash, id))
				return -ENOMEM;
		}
		if (dw_map_put(&w->by_offset, w->e.cie_offset + 1, id))
			return -ENOMEM;
	}
	*ret = w->cies.v[id - 1].at;
	return 0;
}

/* Append the shortest advance by @delta bytes. */
static void put_advance(struct dw_unwind_output *o, uint32_t delta)
{
	if (!delta)
		return;
	if (delta < 0x40) {
		dw_buf_putc(&o->buf, (char)(DW_CFA_advance_loc | delta));
	} else if (delta <= UINT8_MAX) {
		dw_buf_putc(&o->buf, DW_CFA_advance_loc1);
		dw_buf_putc(&o->buf, (char)delta);
	} else if (delta <= UINT16_MAX) {
		uint16_t narrow = (uint16_t)delta;

		dw_buf_putc(&o->buf, DW_CFA_advance_loc2);
		dw_buf_put(&o->buf, &narrow, sizeof narrow);
	} else {
		dw_buf_putc(&o->buf, DW_CFA_advance_loc4);
		dw_unwind_put32(o, delta);
	}
}

/* The program of a clone being written. */
struct clone_rows {
	struct dw_unwind_output *o;
	struct dw_leaving_walk walk;
	struct dw_leaving leaving; /* the next one */
	bool is_leaving;	   /* there is one */
	uint32_t at;		   /* area offset of the row being described */
	uint32_t end;		   /* of the clone */
};

static void put_row(struct clone_rows *r, uint32_t at)
{
	put_advance(r->o, at - r->at);
	r->at = at;
}

/* Append the rows of a probe that moves the stack pointer. */
static void put_moved(struct clone_rows *r)
{
	put_row(r, r->leaving.from);
	dw_buf_putc(&r->o->buf, DW_CFA_def_cfa_offset);
	dw_buf_put_uleb(&r->o->buf, r->leaving.moved);
	put_row(r, r->leaving.to);
	dw_buf_putc(&r->o->buf, DW_CFA_def_cfa_offset);
	dw_buf_put_uleb(&r->o->buf, r->leaving.back);
}

/* Append rows of their own for the places up to @to where the function is left, or its stack
 * pointer moved. */
static void put_leavings(struct clone_rows *r, uint32_t to)
{
	for (; r->is_leaving && r->leaving.from < to;
	     r->is_leaving = dw_leaving_next(&r->walk, &r->leaving)) {
		bool is_last = r->leaving.to == r->end;

		if (r->leaving.moved) {
			put_moved(r);
			continue;
		}
		put_row(r, r->leaving.from);
		if (!is_last)
			dw_buf_putc(&r->o->buf, DW_CFA_remember_state);
		for (unsigned i = 0; i < DWELL_REG_PC; i++)
			if (r->leaving.registers >> i & 1) {
				dw_buf_putc(&r->o->buf, DW_CFA_same_value);
				dw_buf_put_uleb(&r->o->buf, i);
			}
		if (is_last)
			continue;
		put_row(r, r->leaving.to);
		dw_buf_putc(&r->o->buf, DW_CFA_restore_state);
	}
}

/* Append the program of w->e.fde for the clone of @f. */
static void put_program(struct writer *w, const struct dw_clone_function *f)
{
	struct clone_rows rows = {
		.o = &w->o, .at = f->clone_at, .end = f->clone_at + f->clone_bytes};
	struct dw_frame_program p;
	enum dw_frame_part part;
	const uint8_t *bytes;
	uint32_t to;
	size_t n;

	dw_leaving_start(&rows.walk, w->o.m, f, &w->e.cie, &w->e.fde);
	rows.is_leaving = dw_leaving_next(&rows.walk, &rows.leaving);
	dw_frame_program_init(&p, &w->e.cie, f->start, w->e.fde.program, w->e.fde.program_n);
	while ((part = dw_frame_program_next(&p, &bytes, &n)) > DWELL_FRAME_END) {
		if (part == DWELL_FRAME_RULES) {
			if (*bytes != DW_CFA_nop)
				dw_buf_put(&w->o.buf, bytes, n);
			continue;
		}
		to = dw_clone_boundary(w->o.m, f, p.pc);
		put_leavings(&rows, to);
		put_row(&rows, to);
	}
	put_leavings(&rows, rows.end);
}

/* Start an FDE for [@at, @at + @bytes). Its area offset. */
static uint32_t start_fde(struct writer *w, uint32_t cie, uint32_t at, uint32_t bytes)
{
	uint32_t fde = start_entry(&w->o, dw_unwind_here(&w->o) + 4 - cie);

	if (dw_vec_push(&w->lines, (struct line){at, fde}))
		w->o.buf.failed = true;
	dw_unwind_put_area(&w->o, at);
	dw_unwind_put32(&w->o, bytes);
	return fde;
}

static int put_fde(struct writer *w, uint32_t function)
{
	const struct dw_clone_function *f = &w->o.m->functions.v[function];
	uint32_t cie = 0, fde;
	int rc = read_entry(w->o.m, f, &w->e);

	if (!rc)
		rc = find_cie(w, &cie);
	if (rc)
		return rc;
	fde = start_fde(w, cie, f->clone_at, f->clone_bytes);
	if (w->e.cie.lsda_encoding == DW_EH_PE_omit) {
		dw_buf_put_uleb(&w->o.buf, 0);
	} else {
		struct open_lsda open;

		dw_buf_put_uleb(&w->o.buf, sizeof(uint32_t));
		open = (struct open_lsda){dw_unwind_here(&w->o), function, w->e.fde.lsda};
		dw_unwind_put32(&w->o, 0);
		if (open.svma && dw_vec_push(&w->lsdas, open))
			return -ENOMEM;
	}
	put_program(w, f);
	end_entry(&w->o, fde);
	return 0;
}

/* Append the FDEs of @gates and the CIE they share. */
static int put_gates(struct writer *w, const struct dw_clone_gate_range *gates, size_t n)
{
	static const uint8_t program[] = {DW_CFA_def_cfa, DWELL_REG_SP, 8,
					  DW_CFA_offset | RETURN_ADDRESS, 1};
	const struct written_cie c = {.at = dw_unwind_here(&w->o),
				      .personality_encoding = DW_EH_PE_omit,
				      .data_align = -8,
				      .program = program,
				      .program_n = sizeof program};

	if (n)
		put_cie(&w->o, &c);
	for (size_t i = 0; i < n; i++) {
		uint32_t fde = start_fde(w, c.at, gates[i].at, gates[i].bytes);

		dw_buf_put_uleb(&w->o.buf, 0);
		dw_buf_put(&w->o.buf, gates[i].program, gates[i].program_n);
		end_entry(&w->o, fde);
	}
	return 0;
}

static int put_lsdas(struct writer *w)
{
	struct dw_lsda lsda = {0};
	int rc = 0;

	for (size_t i = 0; i < w->lsdas.n && !rc; i++) {
		const struct open_lsda *open = &w->lsdas.v[i];
		const struct dw_clone_function *f = &w->o.m->functions.v[open->function];

		rc = dw_lsda_read(w->o.m, f, open->svma, &lsda);
		if (rc)
			break;
		dw_unwind_align(&w->o, 4, 0);
		dw_unwind_set32(&w->o, open->field, dw_unwind_here(&w->o) - open->field);
		dw_lsda_write(&lsda, f, &w->o);
	}
	dw_lsda_release(&lsda);
	return rc;
}

static int compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return (x->code > y->code) - (x->code < y->code);
}

/* Fill in the header, now that all FDEs are known. */
static void set_header(struct writer *w, uint32_t eh_frame_at)
{
	static const uint8_t head[] = {1, PCREL4, DW_EH_PE_udata4, TABLE4};
	uint32_t at = w->o.at;

	if (w->o.buf.failed)
		return;
	memcpy(w->o.buf.data, head, sizeof head);
	dw_unwind_set32(&w->o, at + 4, eh_frame_at - (at + 4));
	dw_unwind_set32(&w->o, at + 8, (uint32_t)w->lines.n);
	if (w->lines.n)
		qsort(w->lines.v, w->lines.n, sizeof *w->lines.v, compare_lines);
	for (uint32_t i = 0; i < w->lines.n; i++) {
		dw_unwind_set32(&w->o, at + 12 + i * 8, w->lines.v[i].code - at);
		dw_unwind_set32(&w->o, at + 16 + i * 8, w->lines.v[i].fde - at);
	}
}

static bool has_clone(const struct dw_clone_function *f)
{
	return !f->reason && f->clone_bytes;
}

/* Leave room for the header and its table. */
static void put_header(struct writer *w, size_t gates_n)
{
	size_t n = gates_n;

	dw_vec_each(f, &w->o.m->functions) {
		n += has_clone(f);
	}
	for (size_t i = 0; i < 3 + 2 * n; i++)
		dw_unwind_put32(&w->o, 0);
	dw_unwind_align(&w->o, 8, 0);
}

static int write_all(struct writer *w, const struct dw_clone_gate_range *gates, size_t gates_n,
		     uint32_t *eh_frame_at)
{
	int rc;

	put_header(w, gates_n);
	*eh_frame_at = dw_unwind_here(&w->o);
	rc = put_gates(w, gates, gates_n);
	for (uint32_t i = 0; i < w->o.m->functions.n && !rc; i++)
		if (has_clone(&w->o.m->functions.v[i]))
			rc = put_fde(w, i);
	dw_unwind_put32(&w->o, 0);
	if (!rc)
		rc = put_lsdas(w);
	set_header(w, *eh_frame_at);
	if (!rc && w->o.buf.failed)
		rc = -ENOMEM;
	if (!rc && (w->o.too_far || w->o.at + (uint64_t)w->o.buf.len > INT32_MAX))
		rc = DWELL_ERR_LIMIT;
	return rc;
}

int dw_clone_unwind_write(const struct dw_clone_module *m, const struct dw_clone_gate_range *gates,
			  size_t gates_n, uint32_t at, struct dw_clone_unwind *ret)
{
	struct writer w = {.o = {.m = m, .at = at}};
	int rc = write_all(&w, gates, gates_n, &ret->eh_frame_at);

	ret->eh_frame_hdr_at = at;
	ret->bytes.n = w.o.buf.len;
	ret->bytes.cap = w.o.buf.cap;
	ret->bytes.v = (uint8_t *)dw_buf_detach(&w.o.buf);
	ret->to_module.v = w.o.to_module.v;
	ret->to_module.n = w.o.to_module.n;
	ret->to_module.cap = w.o.to_module.cap;
	dw_vec_release(&w.cies);
	dw_idset_release(&w.by_meaning);
	dw_map_release(&w.by_offset);
	dw_vec_release(&w.lsdas);
	dw_vec_release(&w.lines);
	return rc;
}

void dw_clone_unwind_release(struct dw_clone_unwind *u)
{
	dw_vec_release(&u->bytes);
	dw_vec_release(&u->to_module);
}
