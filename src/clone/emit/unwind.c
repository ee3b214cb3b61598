/*
 * Unwind tables for clones: .eh_frame, .eh_frame_hdr and LSDAs rewritten for the clones' addresses;
 * see emit.h. Sources: LSB Core, "Exception Frames" and "The .eh_frame_hdr section"; DWARF 5, 6.4.
 *
 * Clones have their own, so that exceptions, cancellation and unwinders work on them without any
 * translation. Everything is relative to its own place; what refers to the module (personality
 * slots, type tables) is a distance with a DWELL_RELOC_TO_MODULE. The module's svma S is at
 * distance S - m->start - m->distance from the start of an area that needs no relocation.
 *
 * A clone's rows begin where the clones of the instructions begin at which the module's rows do; a
 * prefix has the state of the entry, as probes do not move the stack pointer. CIEs are written once
 * for each content, with all pointers in one encoding. A personality that the loader fills in
 * inside the table itself (old, or of assembly) is reached through the module's table.
 *
 * Layout: .eh_frame_hdr, .eh_frame with its zero end, LSDAs.
 */
#include "clone/emit/unwind.h"

#include "base/map.h"
#include "clone/emit/emit.h"
#include "clone/plan/unwind.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	PCREL4 = DW_EH_PE_pcrel | DW_EH_PE_sdata4,
	TABLE4 = DW_EH_PE_datarel | DW_EH_PE_sdata4,
	RED_ZONE_BYTES = 128,
};

void dw_unwind_put32(struct dw_unwind_output *o, uint32_t value)
{
	dw_buf_put(&o->buf, &value, sizeof value);
}

static void put_distance(struct dw_unwind_output *o, int64_t distance)
{
	o->too_far |= distance != (int32_t)distance;
	dw_unwind_put32(o, (uint32_t)distance);
}

void dw_unwind_put_area(struct dw_unwind_output *o, uint32_t to)
{
	put_distance(o, (int64_t)to - dw_unwind_here(o));
}

void dw_unwind_put_module(struct dw_unwind_output *o, uint64_t from, uint64_t svma)
{
	if (dw_vec_push(&o->to_module, dw_unwind_here(o)))
		o->buf.failed = true;
	put_distance(o, (int64_t)(svma - o->m->start - (uint64_t)o->m->distance - from));
}

/* Overwrite the 4 bytes at area offset @field. */
static void set32(struct dw_unwind_output *o, uint32_t field, uint32_t value)
{
	if (!o->buf.failed)
		memcpy(o->buf.data + (field - o->at), &value, sizeof value);
}

/* Append bytes @fill up to a multiple of @to, a power of two. */
static void align(struct dw_unwind_output *o, uint32_t to, char fill)
{
	while (dw_unwind_here(o) % to && !dw_buf_putc(&o->buf, fill))
		;
}

/* A CIE that was written, for those of the same content. */
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
	struct dw_idset by_content; /* index in cies + 1 */
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
	align(o, 8, DW_CFA_nop);
	set32(o, at, dw_unwind_here(o) - at - 4);
}

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
	dw_buf_putc(&o->buf, DWELL_REG_PC);
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
		c.personality = dw_unwind_personality(m, cie, &indirect);
		c.personality_encoding = (uint8_t)(PCREL4 | (indirect ? DW_EH_PE_indirect : 0));
	}
	while (c.program_n && c.program[c.program_n - 1] == DW_CFA_nop)
		c.program_n--;
	return c;
}

/* What looking for a CIE of one content compares. */
struct sought_cie {
	const struct writer *w;
	const struct written_cie *c;
};

static bool same_content(const void *ctx, uint32_t id)
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
		id = dw_idset_find(&w->by_content, hash, same_content, &sought);
		if (!id) {
			c.at = dw_unwind_here(&w->o);
			put_cie(&w->o, &c);
			if (dw_vec_push(&w->cies, c))
				return -ENOMEM;
			id = (uint32_t)w->cies.n;
			if (dw_idset_add(&w->by_content, hash, id))
				return -ENOMEM;
		}
		if (dw_map_put(&w->by_offset, w->e.cie_offset + 1, id))
			return -ENOMEM;
	}
	*ret = w->cies.v[id - 1].at;
	return 0;
}

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

/*
 * Where a probed clone leaves its function, or moves its stack pointer for a probe, its rows must
 * say more than the module's. Before a return, a tail jump or the end, where the next function goes
 * on, compilers have given back all registers, but leave the rules that find them saved below the
 * stack pointer: true, as the words are still there, until the call of the leaving trampoline
 * writes over them. From that call on the registers are what they are. Probes of statements may
 * move rsp down (plan/inner-probes-x86-64.c); a CFA that counts from it is that much farther then.
 */
struct leaving_walk {
	const struct dw_clone_module *m; /* laid out */
	const struct dw_clone_function *f;
	uint32_t next;	/* instruction */
	bool has_moved; /* its probe was told of */
	uint64_t at;	/* its svma */
	struct dw_cfi_machine machine;
	uint64_t row_end; /* svma; the machine's rules hold below */
};

/* One place: from @from to @to (area offsets) @registers (bit n: DWARF number n) have no rule, or
 * the CFA is rsp + @moved and rsp + @back behind it (@moved not 0). */
struct leaving {
	uint32_t from;
	uint32_t to;
	uint32_t registers;
	uint32_t moved, back;
};

static void start_leaving(struct leaving_walk *w, const struct dw_clone_module *m,
			  const struct dw_clone_function *f, const struct dw_cfi_cie *cie,
			  const struct dw_cfi_fde *fde)
{
	w->m = m;
	w->f = f;
	w->next = dw_clone_is_measured(m, f) ? f->first : f->first + f->n;
	w->at = w->row_end = f->start;
	dw_cfi_machine_init(&w->machine, cie, fde->start, fde->program, fde->program_n);
}

/* Bring the machine to the row of @svma. False: it has none. */
static bool go_to(struct leaving_walk *w, uint64_t svma)
{
	uint64_t from;

	while (w->row_end <= svma)
		if (dw_cfi_machine_next(&w->machine, &from, &w->row_end) < 0)
			return false;
	return true;
}

/* Tell of the probe of the instruction at which @w is, that moves rsp. False: it need not. */
static bool tell_moved(struct leaving_walk *w, struct leaving *ret)
{
	const struct dw_cfi_rule *cfa = &w->machine.rules.cfa;
	uint32_t start = w->m->places.v[w->next];

	if (w->has_moved || !(w->m->marks.v[w->next] & DWELL_MARK_LINE_BELOW) || !go_to(w, w->at) ||
	    cfa->reg != DWELL_REG_SP)
		return false;
	w->has_moved = true;
	*ret = (struct leaving){
		.from = start + DWELL_LINE_DOWN_BYTES,
		.to = start + dw_line_probe_bytes(w->m->marks.v[w->next]),
		.moved = (uint32_t)cfa->offset + RED_ZONE_BYTES,
		.back = (uint32_t)cfa->offset,
	};
	return true;
}

static bool next_leaving(struct leaving_walk *w, struct leaving *ret)
{
	uint32_t end = w->f->first + w->f->n;

	while (w->next < end) {
		uint32_t i = w->next;
		uint64_t at = w->at;

		if (tell_moved(w, ret))
			return true;
		w->next++;
		w->has_moved = false;
		w->at += w->m->insns.v[i].length;
		if (!dw_clone_leaves(w->m, w->f, i, at))
			continue;
		if (!go_to(w, at))
			return false;
		ret->moved = 0;
		ret->registers = dw_unwind_saved_below(&w->machine.rules);
		if (!ret->registers)
			continue;
		ret->from = dw_clone_front(w->m, i);
		ret->to = w->next < end ? dw_clone_front(w->m, w->next)
					: w->f->clone_at + w->f->clone_bytes;
		return true;
	}
	return false;
}

/* The program of a clone being written. */
struct clone_rows {
	struct dw_unwind_output *o;
	struct leaving_walk walk;
	struct leaving leaving; /* the next one */
	bool is_leaving;	/* there is one */
	uint32_t at;		/* area offset of the row being described */
	uint32_t end;		/* of the clone */
};

static void put_row(struct clone_rows *r, uint32_t at)
{
	put_advance(r->o, at - r->at);
	r->at = at;
}

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
	     r->is_leaving = next_leaving(&r->walk, &r->leaving)) {
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

static void put_program(struct writer *w, const struct dw_clone_function *f)
{
	struct clone_rows rows = {
		.o = &w->o, .at = f->clone_at, .end = f->clone_at + f->clone_bytes};
	struct dw_frame_program p;
	enum dw_frame_part part;
	const uint8_t *bytes;
	uint32_t to;
	size_t n;

	start_leaving(&rows.walk, w->o.m, f, &w->e.cie, &w->e.fde);
	rows.is_leaving = next_leaving(&rows.walk, &rows.leaving);
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
	int rc = dw_unwind_read_entry(w->o.m, f, &w->e);

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

/* Append the FDEs of @trampolines and the CIE they share. */
static int put_trampolines(struct writer *w, const struct dw_clone_trampoline_range *trampolines,
			   size_t n)
{
	static const uint8_t program[] = {DW_CFA_def_cfa, DWELL_REG_SP, 8,
					  DW_CFA_offset | DWELL_REG_PC, 1};
	const struct written_cie c = {.at = dw_unwind_here(&w->o),
				      .personality_encoding = DW_EH_PE_omit,
				      .data_align = -8,
				      .program = program,
				      .program_n = sizeof program};

	if (n)
		put_cie(&w->o, &c);
	for (size_t i = 0; i < n; i++) {
		uint32_t fde = start_fde(w, c.at, trampolines[i].at, trampolines[i].bytes);

		dw_buf_put_uleb(&w->o.buf, 0);
		dw_buf_put(&w->o.buf, trampolines[i].program, trampolines[i].program_n);
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
		align(&w->o, 4, 0);
		set32(&w->o, open->field, dw_unwind_here(&w->o) - open->field);
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
	set32(&w->o, at + 4, eh_frame_at - (at + 4));
	set32(&w->o, at + 8, (uint32_t)w->lines.n);
	if (w->lines.n)
		qsort(w->lines.v, w->lines.n, sizeof *w->lines.v, compare_lines);
	for (uint32_t i = 0; i < w->lines.n; i++) {
		set32(&w->o, at + 12 + i * 8, w->lines.v[i].code - at);
		set32(&w->o, at + 16 + i * 8, w->lines.v[i].fde - at);
	}
}

static bool has_clone(const struct dw_clone_function *f)
{
	return !f->reason && f->clone_bytes;
}

/* Leave room for the header and its table. */
static void put_header(struct writer *w, size_t trampolines_n)
{
	size_t n = trampolines_n;

	dw_vec_each(f, &w->o.m->functions) {
		n += has_clone(f);
	}
	for (size_t i = 0; i < 3 + 2 * n; i++)
		dw_unwind_put32(&w->o, 0);
	align(&w->o, 8, 0);
}

static int write_all(struct writer *w, const struct dw_clone_trampoline_range *trampolines,
		     size_t trampolines_n, uint32_t *eh_frame_at)
{
	int rc;

	put_header(w, trampolines_n);
	*eh_frame_at = dw_unwind_here(&w->o);
	rc = put_trampolines(w, trampolines, trampolines_n);
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

int dw_clone_unwind_write(const struct dw_clone_module *m,
			  const struct dw_clone_trampoline_range *trampolines, size_t trampolines_n,
			  uint32_t at, struct dw_clone_unwind *ret)
{
	struct writer w = {.o = {.m = m, .at = at}};
	int rc = write_all(&w, trampolines, trampolines_n, &ret->eh_frame_at);

	ret->eh_frame_hdr_at = at;
	ret->bytes.n = w.o.buf.len;
	ret->bytes.cap = w.o.buf.cap;
	ret->bytes.v = (uint8_t *)dw_buf_detach(&w.o.buf);
	ret->to_module.v = w.o.to_module.v;
	ret->to_module.n = w.o.to_module.n;
	ret->to_module.cap = w.o.to_module.cap;
	dw_vec_release(&w.cies);
	dw_idset_release(&w.by_content);
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
