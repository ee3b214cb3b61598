/*
 * From call frame programs to rows; see table-format.h.
 *
 * Each FDE's program is run once; a start is written where the rules for pc, sp and fp change.
 * What a row cannot say becomes COMPLEX, and the unwinder asks the program again. Where FDEs
 * overlap, the one that starts later holds from its start on. The idea of flat rows instead of
 * interpreting at unwind time: Bastian, Kell, Zappa Nardelli, "Reliable and fast DWARF-based stack
 * unwinding", OOPSLA 2019.
 */
#include "code/cfi/table-format.h"

#include "base/cleanup.h"
#include "base/map.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

enum {
	SHIFT_MIN = 8,
	PAGES_MIN = 1 << 12,
	PAGES_PER_FDE = 12, /* about as many as starts */
	STARTS_MAX = 1 << 27,
	ROWS_MAX = 1 << 16,
	SPECIALS = 32, /* rows that there must be room for */
	RECENT_BITS = 10,
};

struct output {
	DW_VEC(struct dw_cfi_start) starts;
	DW_VEC(struct dw_cfi_fde_index) fdes;
	DW_VEC(uint32_t) pages;
	DW_VEC(struct dw_cfi_row) rows;
	struct dw_map row_ids;		   /* the two numbers of a row -> 1 + its place */
	uint16_t recent[1 << RECENT_BITS]; /* places of rows, by their hash */
	uint64_t base;
	uint32_t shift;
	uint32_t last_pc; /* of the last start */
};

static int16_t special(int number)
{
	return (int16_t)(number << 2 | DWELL_ROW_SPECIAL);
}

/* Whether @v is a multiple of 8 that fits, in words, in @bits bits with sign; *@ret = the words. */
static bool fits(int64_t v, int bits, int16_t *ret)
{
	int64_t words = v / 8, top = (int64_t)1 << (bits - 1);

	if (v % 8 || words < -top || words >= top)
		return false;
	*ret = (int16_t)words;
	return true;
}

/* Read an expression that begins with a breg operation on @reg; @c has what stands behind it. */
static bool is_breg(const struct dw_cfi_rule *rule, uint8_t reg, struct dw_cursor *c,
		    int64_t *offset)
{
	dw_cursor_init(c, rule->ops, rule->ops_n);
	if (dw_cursor_u8(c) != DW_OP_breg0 + reg)
		return false;
	*offset = dw_cursor_sleb(c);
	return !c->failed;
}

/* CFA = *(fp + n) with fp saved at fp + m: what compilers write for a realigned stack. */
static bool encode_deref(const struct dw_cfi_rules *r, struct dw_cfi_row *row)
{
	const struct dw_cfi_rule *fp = &r->r[DWELL_REG_FP];
	struct dw_cursor c;
	int64_t offset;
	int16_t words;

	if (!is_breg(&r->cfa, DWELL_REG_FP, &c, &offset) || dw_cursor_left(&c) != 1 ||
	    dw_cursor_u8(&c) != DW_OP_deref || !fits(offset, 14, &words))
		return false;
	row->cfa = (int16_t)(words * 4 + DWELL_ROW_DEREF);
	return fp->how == DWELL_CFI_EXPRESSION && is_breg(fp, DWELL_REG_FP, &c, &offset) &&
	       !dw_cursor_left(&c) && fits(offset, 16, &row->fp);
}

/* CFA = sp + 8 + ((pc & 15) >= n) * 8: what linkers for x86-64 write for the procedure linkage
 * table. */
static bool encode_plt(const struct dw_cfi_rules *r, struct dw_cfi_row *row)
{
	static const uint8_t before[] = {DW_OP_breg0 + DWELL_REG_SP,
					 8,
					 DW_OP_breg0 + DWELL_REG_PC,
					 0,
					 DW_OP_lit15,
					 DW_OP_and};
	static const uint8_t after[] = {DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus};
	const uint8_t *ops = r->cfa.ops;
	size_t n = r->cfa.ops_n;

	if (n != sizeof before + 1 + sizeof after || memcmp(ops, before, sizeof before) ||
	    memcmp(ops + n - sizeof after, after, sizeof after) ||
	    r->r[DWELL_REG_FP].how > DWELL_CFI_SAME)
		return false;
	row->cfa = special(DWELL_ROW_PLT);
	row->fp = (int16_t)(ops[sizeof before] - DW_OP_lit0);
	return row->fp >= 0 && row->fp < 16;
}

/* CFA = sp or fp + n, fp kept or saved at the CFA + m. */
static bool encode_plain(const struct dw_cfi_rules *r, struct dw_cfi_row *row)
{
	const struct dw_cfi_rule *fp = &r->r[DWELL_REG_FP];
	int16_t words;

	if ((r->cfa.reg != DWELL_REG_SP && r->cfa.reg != DWELL_REG_FP) ||
	    !fits(r->cfa.offset, 14, &words))
		return false;
	row->cfa =
		(int16_t)(words * 4 + (r->cfa.reg == DWELL_REG_FP ? DWELL_ROW_FP : DWELL_ROW_SP));
	row->fp = 0;
	if (fp->how <= DWELL_CFI_SAME)
		return true;
	return fp->how == DWELL_CFI_OFFSET && fp->offset && fits(fp->offset, 16, &row->fp);
}

/* Write the rules @r of an FDE of @cie as the kind and numbers of *@row. */
static void encode(const struct dw_cfi_cie *cie, const struct dw_cfi_rules *r,
		   struct dw_cfi_row *row)
{
	const struct dw_cfi_rule *ra = &r->r[cie->return_register], *sp = &r->r[DWELL_REG_SP];
	bool ok = false;

	if (ra->how == DWELL_CFI_UNDEFINED) {
		row->cfa = special(DWELL_ROW_END);
		row->fp = 0;
		return;
	}
	if (cie->return_register == DWELL_REG_PC && !cie->signal && ra->how == DWELL_CFI_OFFSET &&
	    ra->offset == DWELL_RETURN_AT && sp->how <= DWELL_CFI_SAME) {
		if (r->cfa.how == DWELL_CFI_OFFSET)
			ok = encode_plain(r, row);
		else if (r->cfa.how == DWELL_CFI_VAL_EXPRESSION)
			ok = encode_deref(r, row) || encode_plt(r, row);
	}
	if (!ok) {
		row->cfa = special(DWELL_ROW_COMPLEX);
		row->fp = 0;
	}
}

/* Find or make the place of @row. Without room for more, COMPLEX says the same. */
static int find_row(struct output *o, struct dw_cfi_row row, uint16_t *ret)
{
	uint32_t key = (uint32_t)(uint16_t)row.cfa << 16 | (uint16_t)row.fp;
	uint16_t *recent = &o->recent[key * 0x9e3779b1 >> (32 - RECENT_BITS)];
	uint32_t id;

	*ret = *recent;
	if (*recent < o->rows.n && o->rows.v[*recent].cfa == row.cfa &&
	    o->rows.v[*recent].fp == row.fp)
		return 0;
	id = dw_map_get(&o->row_ids, key);
	if (!id && o->rows.n >= ROWS_MAX - SPECIALS && (row.cfa & 3) != DWELL_ROW_SPECIAL)
		return find_row(o, (struct dw_cfi_row){special(DWELL_ROW_COMPLEX), 0}, ret);
	if (!id) {
		id = (uint32_t)o->rows.n + 1;
		if (dw_map_put(&o->row_ids, key, id) || dw_vec_push(&o->rows, row))
			return -ENOMEM;
	}
	*ret = *recent = (uint16_t)(id - 1);
	return 0;
}

/* Note in the page index that the next start lies in @page, or none does. */
static int begin_page(struct output *o, uint32_t page)
{
	while (o->pages.n <= page)
		if (dw_vec_push(&o->pages, (uint32_t)o->starts.n))
			return -ENOMEM;
	return 0;
}

/* Let @row hold from @svma on, unless it does already. */
static int add(struct output *o, uint64_t svma, struct dw_cfi_row row)
{
	struct dw_cfi_start *last = o->starts.n ? &o->starts.v[o->starts.n - 1] : NULL;
	uint32_t pc = (uint32_t)(svma - o->base);
	struct dw_cfi_start start = {.pc = (uint16_t)pc};
	int rc = find_row(o, row, &start.row);

	if (rc)
		return rc;
	if (last && o->last_pc == pc) {
		*last = start;
		return 0;
	}
	if (last && last->row == start.row)
		return 0;
	o->last_pc = pc;
	rc = begin_page(o, pc >> o->shift);
	return rc ? rc : dw_vec_push(&o->starts, start);
}

static int add_gap(struct output *o, uint64_t svma)
{
	return add(o, svma, (struct dw_cfi_row){.cfa = special(DWELL_ROW_NONE)});
}

/* Add the rows of one FDE, up to @end. Where its program fails, the rest is a gap. */
static int compile_fde(struct output *o, const struct dw_cfi_cie *cie, const struct dw_cfi_fde *f,
		       uint64_t end)
{
	struct dw_cfi_machine m;
	struct dw_cfi_row row = {0};
	uint64_t from, to;
	int more;

	dw_cfi_machine_init(&m, cie, f->start, f->program, f->program_n);
	do {
		more = dw_cfi_machine_next(&m, &from, &to);
		if (from >= end)
			return 0;
		if (more < 0)
			return add_gap(o, from);
		encode(cie, &m.rules, &row);
		if (add(o, from, row))
			return -ENOMEM;
	} while (more);
	return 0;
}

/* Make @fdes disjoint: of those with one start the first stays, each ends where the next starts. */
static void make_disjoint(struct dw_cfi_fdes *fdes)
{
	struct dw_cfi_fde_ref *v = fdes->list.v;
	size_t n = 0;

	for (size_t i = 0; i < fdes->list.n; i++) {
		if (n && v[n - 1].start == v[i].start)
			continue;
		if (n && v[n - 1].end > v[i].start)
			v[n - 1].end = v[i].start;
		v[n++] = v[i];
	}
	fdes->list.n = n;
}

/* Write rows and index of all of @fdes. */
static int compile_all(struct output *o, const struct dw_cfi_section *sections,
		       const struct dw_cfi_fdes *fdes)
{
	struct dw_cfi_reading readings[DWELL_CFI_SECTIONS] = {0};
	uint64_t done = o->base;

	if (add_gap(o, done)) /* lookups rely on a start there */
		return -ENOMEM;
	dw_vec_each(ref, &fdes->list) {
		uint32_t kind = ref->kind;
		struct dw_cfi_reading *r = &readings[kind];
		struct dw_cfi_fde_index index = {(uint32_t)(ref->start - o->base),
						 ref->offset * 2 + kind};

		if (ref->end - o->base > UINT32_MAX)
			break;
		if (o->starts.n > STARTS_MAX)
			return DWELL_ERR_LIMIT;
		/* All of it went well when the FDE was listed. */
		(void)dw_cfi_read(r, &sections[kind], ref->offset);
		if ((done < ref->start && add_gap(o, done)) ||
		    compile_fde(o, &r->cie, &r->fde, ref->end) || dw_vec_push(&o->fdes, index))
			return -ENOMEM;
		done = ref->end;
	}
	return add_gap(o, done);
}

/* How large pages are to be: the table spans @bytes and has @fdes entries. */
static uint32_t choose_shift(uint64_t bytes, size_t fdes)
{
	uint32_t shift = SHIFT_MIN;

	while (shift < DWELL_CFI_SHIFT_MAX && bytes >> shift > fdes * PAGES_PER_FDE + PAGES_MIN)
		shift++;
	return shift;
}

/* Make the starts' memory the table's one block. */
static int lay_out(struct dw_cfi_table *t, struct output *o)
{
	size_t starts_bytes = o->starts.n * sizeof *o->starts.v;
	size_t fdes_bytes = o->fdes.n * sizeof *o->fdes.v;
	size_t pages_bytes, rows_bytes = o->rows.n * sizeof *o->rows.v;
	char *block;

	if (begin_page(o, (o->last_pc >> o->shift) + 1))
		return -ENOMEM;
	pages_bytes = o->pages.n * sizeof *o->pages.v;
	block = realloc(o->starts.v, starts_bytes + fdes_bytes + pages_bytes + rows_bytes);
	if (!block)
		return -ENOMEM;
	o->starts.v = NULL; /* the table's now */
	t->memory = block;
	t->shift = o->shift;
	t->base = o->base;
	t->starts_n = (uint32_t)o->starts.n;
	t->fdes_n = (uint32_t)o->fdes.n;
	t->pages_n = (uint32_t)o->pages.n;
	t->rows_n = (uint32_t)o->rows.n;
	memcpy(block += starts_bytes, o->fdes.v, fdes_bytes);
	memcpy(block += fdes_bytes, o->pages.v, pages_bytes);
	memcpy(block + pages_bytes, o->rows.v, rows_bytes);
	dw_cfi_table_place(t, t->memory);
	return 0;
}

void dw_cfi_table_place(struct dw_cfi_table *t, const char *block)
{
	t->starts = (const struct dw_cfi_start *)block;
	t->fdes = (const struct dw_cfi_fde_index *)(t->starts + t->starts_n);
	t->pages = (const uint32_t *)(t->fdes + t->fdes_n);
	t->rows = (const struct dw_cfi_row *)(t->pages + t->pages_n);
}

size_t dw_cfi_table_block_bytes(const struct dw_cfi_table *t)
{
	return t->starts_n * sizeof *t->starts + t->fdes_n * sizeof *t->fdes +
	       t->pages_n * sizeof *t->pages + t->rows_n * sizeof *t->rows;
}

int dw_cfi_compile(struct dw_cfi_table *t, const struct dw_cfi_spans *spans)
{
	dw_auto(dw_cfi_fdes) fdes = {0};
	struct output o = {0};
	int rc = dw_cfi_fdes_read(t->sections, spans, &fdes);

	if (!rc && !fdes.list.n)
		rc = DWELL_ERR_NOT_FOUND;
	if (rc)
		return rc;
	make_disjoint(&fdes);
	o.base = fdes.list.v[0].start;
	o.shift = choose_shift(fdes.list.v[fdes.list.n - 1].end - o.base, fdes.list.n);
	rc = compile_all(&o, t->sections, &fdes);
	if (!rc)
		rc = lay_out(t, &o);
	dw_vec_release(&o.starts);
	dw_vec_release(&o.fdes);
	dw_vec_release(&o.pages);
	dw_vec_release(&o.rows);
	dw_map_release(&o.row_ids);
	return rc;
}
