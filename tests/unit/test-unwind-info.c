/* Unwind tables of clones: rows, personalities and LSDAs of real libraries, at places of our own.
 */
#include "check.h"

#include "base/cleanup.h"
#include "clone/module.h"
#include "clone/emit/emit.h"
#include "code/cfi/entry.h"
#include "code/elf/elf.h"

#include <dwarf.h>
#include <fcntl.h>

enum { PREFIX_BYTES = 15, STRETCH = 3, AREA_CODE = 0x1000 };

/* A module whose clones have a prefix and STRETCH bytes more for each instruction. */
struct cloned {
	struct dw_elf *elf;
	struct dw_clone_module m;
	uint32_t code_end;
	struct dw_clone_unwind u;
};

static void lay_out(struct cloned *c)
{
	uint32_t at = AREA_CODE;

	c->m.places.v = calloc(c->m.insns.n + 1, sizeof *c->m.places.v);
	c->m.places.n = c->m.insns.n;
	dw_vec_each(f, &c->m.functions) {
		f->clone_at = at;
		f->prefix_bytes = PREFIX_BYTES;
		at += PREFIX_BYTES;
		for (uint32_t i = f->first; i < f->first + f->n; i++) {
			c->m.places.v[i] = at;
			at += c->m.insns.v[i].length + STRETCH;
		}
		f->clone_bytes = at - f->clone_at;
	}
	c->code_end = (at + 7) & ~7u;
	c->m.distance = (int64_t)c->m.bytes;
}

/* Read, check and write the library called @name. False: it is not here. */
static bool open_cloned(const char *name, struct cloned *c)
{
	static const char *const folders[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib",
					      "/lib64"};
	static const uint8_t trampoline[] = {DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16};
	const struct dw_clone_trampoline_range trampolines[] = {
		{0x800, 0x40, trampoline, sizeof trampoline}};
	int fd = -1;

	*c = (struct cloned){0};
	for (size_t i = 0; i < sizeof folders / sizeof *folders && fd < 0; i++) {
		char path[256];

		snprintf(path, sizeof path, "%s/%s", folders[i], name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (fd < 0 || dw_elf_open(fd, &c->elf, NULL) || dw_clone_module_read(c->elf, &c->m, NULL) ||
	    dw_clone_module_decode(&c->m) || dw_clone_unwind_check(&c->m))
		return false;
	close(fd);
	lay_out(c);
	return !dw_clone_unwind_write(&c->m, trampolines, 1, c->code_end, &c->u);
}

static void release(struct cloned *c)
{
	dw_clone_unwind_release(&c->u);
	dw_clone_module_release(&c->m);
	dw_elf_free(c->elf);
}

static bool same_rule(const struct dw_cfi_rule *a, const struct dw_cfi_rule *b)
{
	if (a->how != b->how || a->reg != b->reg || a->ops_n != b->ops_n)
		return false;
	if (a->how == DWELL_CFI_EXPRESSION || a->how == DWELL_CFI_VAL_EXPRESSION)
		return !memcmp(a->ops, b->ops, a->ops_n);
	return a->offset == b->offset;
}

static bool same_rules(const struct dw_cfi_rules *a, const struct dw_cfi_rules *b)
{
	for (unsigned i = 0; i < DWELL_REG_COUNT; i++)
		if (!same_rule(&a->r[i], &b->r[i]))
			return false;
	return same_rule(&a->cfa, &b->cfa);
}

/* The rows of one range, one after the other. */
struct rows {
	struct dw_cfi_cie cie;
	struct dw_cfi_fde fde;
	struct dw_cfi_machine machine;
	uint64_t from, to;
};

static bool start_rows(const struct dw_cfi_section *s, size_t offset, struct rows *r)
{
	struct dw_cfi_entry e;

	if (dw_cfi_next_entry(s, &offset, &e) != 1 || dw_cfi_read_cie(s, e.cie_offset, &r->cie) ||
	    dw_cfi_read_fde(s, &e, &r->cie, &r->fde))
		return false;
	dw_cfi_machine_init(&r->machine, &r->cie, r->fde.start, r->fde.program, r->fde.program_n);
	r->from = r->to = r->fde.start;
	return true;
}

/* The rules at @svma, not below the last one asked for. */
static struct dw_cfi_rules rules_at(struct rows *r, uint64_t svma)
{
	struct dw_cfi_rules rules = r->machine.rules;

	while (r->to <= svma && dw_cfi_machine_next(&r->machine, &r->from, &r->to) >= 0)
		rules = r->machine.rules;
	return rules;
}

/* The section that was written, as if the area were loaded at 0. */
static struct dw_cfi_section written(const struct cloned *c)
{
	uint32_t at = c->u.eh_frame_at - c->code_end;

	return (struct dw_cfi_section){.bytes = c->u.bytes.v + at,
				       .n = c->u.bytes.n - at,
				       .svma = c->u.eh_frame_at,
				       .open_ended = true};
}

/* Whether the clone of @f, with its FDE at @offset of @s, unwinds like @f at every instruction. */
static bool unwinds_alike(const struct cloned *c, const struct dw_clone_function *f,
			  const struct dw_cfi_section *s, size_t offset)
{
	struct rows old, new;
	uint64_t svma = f->start;

	if (!start_rows(&c->m.sections[DWELL_CFI_EH], c->m.fdes.list.v[f->fde].offset, &old) ||
	    !start_rows(s, offset, &new) || new.fde.start != f->clone_at ||
	    new.fde.end != f->clone_at + f->clone_bytes || old.cie.signal != new.cie.signal ||
	    !old.fde.lsda != !new.fde.lsda)
		return false;
	for (uint32_t i = f->first; i < f->first + f->n; i++) {
		struct dw_cfi_rules a, b;

		a = rules_at(&old, svma);
		b = rules_at(&new, c->m.places.v[i]);
		if (!same_rules(&a, &b))
			return false;
		svma += c->m.insns.v[i].length;
	}
	return true;
}

/* The number of functions whose clones unwind like them; those with clones in *@cloned. */
static size_t count_alike(const struct cloned *c, size_t *cloned_n)
{
	struct dw_cfi_section sections[DWELL_CFI_SECTIONS] = {written(c)};
	struct dw_cfi_spans spans = {0};
	struct dw_cfi_fdes fdes = {0};
	size_t n = 0, next = 1; /* the trampoline is first */

	*cloned_n = 0;
	if (dw_cfi_fdes_read(sections, &spans, &fdes))
		return 0;
	dw_vec_each(f, &c->m.functions) {
		if (f->reason)
			continue;
		++*cloned_n;
		if (next < fdes.list.n)
			n += unwinds_alike(c, f, sections, fdes.list.v[next++].offset);
	}
	dw_cfi_fdes_release(&fdes);
	return n;
}

static uint32_t word(const struct cloned *c, uint32_t area)
{
	uint32_t v;

	memcpy(&v, c->u.bytes.v + (area - c->code_end), sizeof v);
	return v;
}

TEST(clones_of_libstdcxx_unwind_like_their_functions)
{
	struct cloned c;
	size_t cloned_n, alike;

	CHECK(open_cloned("libstdc++.so.6", &c));
	alike = count_alike(&c, &cloned_n);
	CHECK(cloned_n > 1000);
	CHECK(cloned_n * 1000 >= c.m.functions.n * 999);
	CHECK_INT(alike, cloned_n);
	release(&c);
}

TEST(clones_of_libc_unwind_like_their_functions)
{
	struct cloned c;
	size_t cloned_n, alike;

	CHECK(open_cloned("libc.so.6", &c));
	alike = count_alike(&c, &cloned_n);
	CHECK(cloned_n > 1000);
	CHECK_INT(alike, cloned_n);
	release(&c);
}

TEST(the_index_is_sorted_and_leads_to_the_entries)
{
	struct cloned c;
	uint32_t hdr, n;

	CHECK(open_cloned("libstdc++.so.6", &c));
	hdr = c.u.eh_frame_hdr_at;
	CHECK_INT(word(&c, hdr), 0x3b031b01);
	CHECK_INT(hdr + 4 + word(&c, hdr + 4), c.u.eh_frame_at);
	n = word(&c, hdr + 8);
	CHECK_INT(word(&c, hdr + 12) + hdr, 0x800); /* the trampoline */
	for (uint32_t i = 0; i < n; i++) {
		uint32_t code = word(&c, hdr + 12 + i * 8) + hdr;
		uint32_t fde = word(&c, hdr + 16 + i * 8) + hdr;

		CHECK(!i || code > word(&c, hdr + 4 + i * 8) + hdr);
		CHECK_INT(fde + 8 + word(&c, fde + 8), code);
	}
	release(&c);
}

TEST_MAIN()
