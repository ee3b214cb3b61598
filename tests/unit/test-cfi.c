/* Compiled unwind tables: rows from hand-made entries, both sections, ranges, hostile entries. */
#include "check.h"

#include "code/cfi/fdes.h"
#include "code/cfi/table-format.h"
#include "code/cfi/table.h"
#include "code/elf/elf.h"
#include "elf-image.h"

#include <dwarf.h>

#define BYTES ELF_IMAGE_BYTES

/* What a test works on: sections in the making, then the table made from them. */
struct made {
	struct dw_buf eh, debug;
	uint8_t *image;
	struct dw_elf *elf;
	struct dw_cfi_table *table;
	int rc;
};

static void make(struct made *m)
{
	size_t n;

	m->image = elf_image_make(m->eh.data, m->eh.len, m->debug.data, m->debug.len, &n);
	dw_elf_open_bytes(m->image, n, false, &m->elf, NULL);
	m->rc = dw_cfi_table_load(m->elf, NULL, &m->table, NULL);
}

static void release(struct made *m)
{
	dw_cfi_table_free(m->table);
	dw_elf_free(m->elf);
	free(m->image);
	dw_buf_release(&m->eh);
	dw_buf_release(&m->debug);
}

/* The row for @svma as text: "rsp+16 rbp-16", "end", ... */
static const char *row(const struct made *m, uint64_t svma)
{
	static const char *const special[] = {"none", "end", "complex", "plt"};
	static const char *const kind[] = {"rsp", "rbp", "deref"};
	static char text[64];
	const struct dw_cfi_row *r;

	if (!m->table)
		return "no table";
	r = dw_cfi_table_find(m->table, svma);
	if ((r->cfa & 3) == DWELL_ROW_SPECIAL)
		return special[r->cfa >> 2];
	snprintf(text, sizeof text, "%s%+d rbp%+d", kind[r->cfa & 3], (r->cfa >> 2) * 8, r->fp * 8);
	return text;
}

TEST(a_function_with_a_frame_pointer)
{
	struct made m = {0};
	size_t cie = elf_image_cie(&m.eh, "zR", "\3", NULL, 0);

	elf_image_fde(&m.eh, cie, 0x1000, 0x1040,
		      BYTES(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
			    DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, 6,
			    DW_CFA_advance_loc | 0x3b, DW_CFA_def_cfa, 7, 8));
	make(&m);
	CHECK_INT(m.rc, 0);
	CHECK_STR(row(&m, 0xfff), "none");
	CHECK_STR(row(&m, 0x1000), "rsp+8 rbp+0");
	CHECK_STR(row(&m, 0x1001), "rsp+16 rbp-16");
	CHECK_STR(row(&m, 0x1003), "rsp+16 rbp-16");
	CHECK_STR(row(&m, 0x1004), "rbp+16 rbp-16");
	CHECK_STR(row(&m, 0x103e), "rbp+16 rbp-16");
	CHECK_STR(row(&m, 0x103f), "rsp+8 rbp-16");
	CHECK_STR(row(&m, 0x1040), "none");
	CHECK_STR(row(&m, ~0ull), "none");
	CHECK_INT(dw_cfi_table_starts(m.table), 5);
	release(&m);
}

TEST(rows_that_are_special)
{
	struct made m = {0};
	size_t cie = elf_image_cie(&m.eh, "zR", "\3", NULL, 0);
	size_t signal = elf_image_cie(&m.eh, "zRS", "\3", NULL, 0);

	elf_image_fde(&m.eh, cie, 0x1000, 0x1010, BYTES(DW_CFA_undefined, 16));
	elf_image_fde(&m.eh, cie, 0x1010, 0x1020, /* a realigned stack */
		      BYTES(DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref,
			    DW_CFA_expression, 6, 2, DW_OP_breg6, 0));
	elf_image_fde(&m.eh, cie, 0x1020, 0x1030, /* the procedure linkage table */
		      BYTES(DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0,
			    DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl,
			    DW_OP_plus));
	elf_image_fde(&m.eh, cie, 0x1030, 0x1040, BYTES(DW_CFA_def_cfa, 10, 0));
	elf_image_fde(&m.eh, signal, 0x1040, 0x1050, BYTES(DW_CFA_nop));
	elf_image_fde(&m.eh, cie, 0x1050, 0x1060, BYTES(DW_CFA_def_cfa_offset, 12));
	elf_image_fde(&m.eh, cie, 0x1060, 0x1070, BYTES(DW_CFA_def_cfa_offset, 0x88, 0x80, 4));
	elf_image_fde(&m.eh, cie, 0x1070, 0x1080, BYTES(DW_CFA_register, 16, 1));
	elf_image_fde(&m.eh, cie, 0x1080, 0x1090, BYTES(DW_CFA_def_cfa_offset, 0xf8, 0xff, 3));
	make(&m);
	CHECK_STR(row(&m, 0x1000), "end");
	CHECK_STR(row(&m, 0x1010), "deref-8 rbp+0");
	CHECK_STR(row(&m, 0x1020), "plt");
	CHECK_INT(dw_cfi_table_find(m.table, 0x1020)->fp, 11);
	CHECK_STR(row(&m, 0x1030), "complex"); /* a CFA from r10 */
	CHECK_STR(row(&m, 0x1040), "complex"); /* a signal frame */
	CHECK_STR(row(&m, 0x1050), "complex"); /* no multiple of 8 */
	CHECK_STR(row(&m, 0x1060), "complex"); /* too far */
	CHECK_STR(row(&m, 0x1070), "complex"); /* the return address in a register */
	CHECK_STR(row(&m, 0x1080), "rsp+65528 rbp+0");
	release(&m);
}

TEST(full_rules_on_demand)
{
	struct made m = {0};
	size_t cie = elf_image_cie(&m.eh, "zR", "\3", NULL, 0);
	size_t signal = elf_image_cie(&m.eh, "zRS", "\3", NULL, 0);
	struct dw_cfi_rules rules;
	bool is_signal;

	elf_image_fde(&m.eh, cie, 0x1000, 0x1010,
		      BYTES(DW_CFA_advance_loc | 4, DW_CFA_offset | 3, 2, DW_CFA_advance_loc | 4,
			    DW_CFA_restore | 3));
	elf_image_fde(&m.eh, signal, 0x1020, 0x1030, NULL, 0);
	make(&m);
	CHECK_INT(dw_cfi_table_rules(m.table, 0x1003, &rules, &is_signal), 0);
	CHECK_INT(rules.r[3].how, DWELL_CFI_UNSPECIFIED);
	CHECK_INT(dw_cfi_table_rules(m.table, 0x1004, &rules, &is_signal), 0);
	CHECK_INT(rules.r[3].offset, -16);
	CHECK(!is_signal);
	CHECK_INT(dw_cfi_table_rules(m.table, 0x100f, &rules, &is_signal), 0);
	CHECK_INT(rules.r[3].how, DWELL_CFI_UNSPECIFIED);
	CHECK_INT(dw_cfi_table_rules(m.table, 0x1010, &rules, &is_signal), DWELL_ERR_NOT_FOUND);
	CHECK_INT(dw_cfi_table_rules(m.table, 0x0fff, &rules, &is_signal), DWELL_ERR_NOT_FOUND);
	CHECK_INT(dw_cfi_table_rules(m.table, 0x1020, &rules, &is_signal), 0);
	CHECK(is_signal);
	release(&m);
}

TEST(pointer_encodings_and_augmentations)
{
	static const struct {
		const char *letters, *data;
		bool ok;
	} cases[] = {
		{"zR", "\3", true},
		{"zPLR", "\x9b____\x1b\3", true}, /* indirect personality, LSDA */
		{"zRS", "\3", true},
		{"zRB", "\3", true},
		{"zR?", "\3_____", true}, /* what is not known is passed over */
		{"R", "", false},	  /* without z nobody knows how long it is */
		{"zP", "", false},
		{"zR", "\x83", false}, /* indirect */
		{"zR", "\x63", false}, /* no such base */
		{"zR", "\x07", false}, /* no such format */
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct made m = {0};
		size_t cie = elf_image_cie(&m.eh, cases[i].letters, cases[i].data, NULL, 0);

		elf_image_fde(&m.eh, cie, 0x1000, 0x1010, NULL, 0);
		make(&m);
		if (m.rc != (cases[i].ok ? 0 : DWELL_ERR_NOT_FOUND))
			printf("# case %zu\n", i);
		CHECK_INT(m.rc, cases[i].ok ? 0 : DWELL_ERR_NOT_FOUND);
		if (cases[i].ok)
			CHECK_STR(row(&m, 0x100f),
				  strchr(cases[i].letters, 'S') ? "complex" : "rsp+8 rbp+0");
		release(&m);
	}
}

TEST(relative_to_the_pointer)
{
	struct made m = {0};
	size_t cie = elf_image_cie(&m.eh, "zR", "\x1b", NULL, 0);
	/* the pointer lies 8 bytes into the entry */
	uint32_t here = (uint32_t)(ELF_IMAGE_EH + m.eh.len + 8);

	elf_image_fde(&m.eh, cie, 0x1000 - here, 0x1000 - here + 0x20, NULL, 0);
	make(&m);
	CHECK_INT(m.rc, 0);
	CHECK_STR(row(&m, 0x0fff), "none");
	CHECK_STR(row(&m, 0x1000), "rsp+8 rbp+0");
	CHECK_STR(row(&m, 0x1020), "none");
	release(&m);
}

TEST(eh_frame_wins_over_debug_frame)
{
	struct made m = {0};
	size_t cie = elf_image_cie(&m.eh, "zR", "\3", NULL, 0);
	size_t debug = elf_image_debug_cie(&m.debug, NULL, 0);
	struct dw_cfi_range *ranges, range;
	size_t n;

	elf_image_fde(&m.eh, cie, 0x2000, 0x2010, BYTES(DW_CFA_def_cfa_offset, 16));
	elf_image_debug_fde(&m.debug, debug, 0x2000, 0x2010, BYTES(DW_CFA_def_cfa_offset, 24));
	elf_image_debug_fde(&m.debug, debug, 0x1ff8, 0x2004, BYTES(DW_CFA_def_cfa_offset, 24));
	elf_image_debug_fde(&m.debug, debug, 0x1000, 0x1010, BYTES(DW_CFA_def_cfa_offset, 32));
	elf_image_debug_fde(&m.debug, debug, 0x90000, 0x90010, NULL, 0); /* in no segment */
	make(&m);
	CHECK_STR(row(&m, 0x1000), "rsp+32 rbp+0");
	CHECK_STR(row(&m, 0x1ff8), "none");
	CHECK_STR(row(&m, 0x2000), "rsp+16 rbp+0");
	CHECK_STR(row(&m, 0x90000), "none");
	CHECK_INT(dw_cfi_ranges(m.elf, &ranges, &n, NULL), 0);
	CHECK_INT(n, 2);
	CHECK_INT(ranges[0].start, 0x1000);
	CHECK_INT(ranges[1].end, 0x2010);
	free(ranges);
	CHECK_INT(dw_cfi_table_range(m.table, 0x200f, &range), 0);
	CHECK_INT(range.start, 0x2000);
	CHECK_INT(range.end, 0x2010);
	CHECK_INT(dw_cfi_table_range(m.table, 0x1004, &range), 0);
	CHECK_INT(range.start, 0x1000);
	CHECK_INT(dw_cfi_table_range(m.table, 0x1ff8, &range), DWELL_ERR_NOT_FOUND);
	CHECK_INT(dw_cfi_table_range(m.table, 0x2010, &range), DWELL_ERR_NOT_FOUND);
	CHECK_INT(dw_cfi_table_range(m.table, 0xfff, &range), DWELL_ERR_NOT_FOUND);
	release(&m);
}

TEST(overlapping_entries)
{
	struct made m = {0};
	size_t cie = elf_image_cie(&m.eh, "zR", "\3", NULL, 0);

	elf_image_fde(&m.eh, cie, 0x1000, 0x1100, BYTES(DW_CFA_def_cfa_offset, 16));
	elf_image_fde(&m.eh, cie, 0x1080, 0x1090, BYTES(DW_CFA_def_cfa_offset, 24));
	elf_image_fde(&m.eh, cie, 0x1080, 0x10f0, BYTES(DW_CFA_def_cfa_offset, 32));
	make(&m);
	CHECK_STR(row(&m, 0x107f), "rsp+16 rbp+0");
	CHECK_STR(row(&m, 0x1080), "rsp+24 rbp+0");
	CHECK_STR(row(&m, 0x1090), "none");
	release(&m);
}

TEST(innermost_range)
{
	struct dw_cfi_range r[] = {{0x10, 0x20}, {0x30, 0x90}, {0x40, 0x50}, {0x60, 0x68}};

	CHECK(!dw_cfi_range_find(r, 4, 0x0f));
	CHECK(dw_cfi_range_find(r, 4, 0x10) == &r[0]);
	CHECK(!dw_cfi_range_find(r, 4, 0x20));
	CHECK(dw_cfi_range_find(r, 4, 0x45) == &r[2]);
	CHECK(dw_cfi_range_find(r, 4, 0x50) == &r[1]);
	CHECK(dw_cfi_range_find(r, 4, 0x8f) == &r[1]);
	CHECK(!dw_cfi_range_find(r, 4, 0x90));
	CHECK(!dw_cfi_range_find(r, 0, 0x10));
}

TEST(no_entries)
{
	struct made m = {0};

	make(&m);
	CHECK_INT(m.rc, DWELL_ERR_NOT_FOUND);
	release(&m);
	memset(&m, 0, sizeof m);
	dw_buf_put(&m.eh, "\0\0\0\0", 4);
	make(&m);
	CHECK_INT(m.rc, DWELL_ERR_NOT_FOUND);
	release(&m);
}

TEST(hostile_entries)
{
	static const uint8_t pieces[][24] = {
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		{0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 0, 0, 0, 1, 1},
		{0xfe, 0xff, 0xff, 0xff, 0, 0, 0, 0, 1},
		{16, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f}, /* a CIE far away */
		{16, 0, 0, 0, 4, 0, 0, 0},	       /* its own CIE */
		{3, 0, 0, 0, 0, 0, 0},		       /* too short for an id */
	};

	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
		struct made m = {0};
		size_t cie = elf_image_cie(&m.eh, "zR", "\3", NULL, 0);

		elf_image_fde(&m.eh, cie, 0x1000, 0x1010, NULL, 0);
		dw_buf_put(&m.eh, pieces[i], sizeof pieces[i]);
		make(&m);
		CHECK_INT(m.rc, 0); /* what came before counts */
		CHECK_STR(row(&m, 0x1000), "rsp+8 rbp+0");
		release(&m);
	}
}

/* A program that fails in the middle loses only what comes after. */
TEST(a_program_that_breaks_off)
{
	struct made m = {0};
	size_t cie = elf_image_cie(&m.eh, "zR", "\3", NULL, 0);

	elf_image_fde(&m.eh, cie, 0x1000, 0x1010,
		      BYTES(DW_CFA_advance_loc | 8, DW_CFA_restore_state));
	elf_image_fde(&m.eh, cie, 0x1010, 0x1020, NULL, 0);
	make(&m);
	CHECK_STR(row(&m, 0x1007), "rsp+8 rbp+0");
	CHECK_STR(row(&m, 0x1008), "none");
	CHECK_STR(row(&m, 0x1010), "rsp+8 rbp+0");
	release(&m);
}

/* The lookup against a search from the start, over many small functions. */
TEST(lookup_matches_a_linear_search)
{
	struct made m = {0};
	size_t cie = elf_image_cie(&m.eh, "zR", "\3", NULL, 0);
	uint32_t seed = 7, at = 16;

	while (at < 190000) { /* pcs have 16 bits */
		uint32_t length = (seed >> 16 & 63) + 1, gap = seed >> 28 ? 0 : seed >> 12 & 2047;
		uint8_t offset = (uint8_t)((seed >> 22 & 3) * 8 + 8);

		elf_image_fde(&m.eh, cie, at, at + length, BYTES(DW_CFA_def_cfa_offset, offset));
		at += length + gap;
		seed = seed * 1664525 + 1013904223;
	}
	make(&m);
	const struct dw_cfi_table *t = m.table;
	uint64_t *svmas = calloc(t->starts_n, sizeof *svmas);

	for (uint32_t i = 0; i < t->starts_n; i++)
		svmas[i] = dw_cfi_table_start_svma(t, i);
	for (uint64_t svma = 0; svma < 200000; svma++) {
		uint32_t want = t->starts_n - 1;

		for (uint32_t i = 0; svma >= t->base && i < t->starts_n && svmas[i] <= svma; i++)
			want = i;
		CHECK(dw_cfi_table_find(t, svma) == &t->rows[t->starts[want].row]);
	}
	free(svmas);
	release(&m);
}

TEST_MAIN()
