/*
 * Reading LSDAs; see lsda.h. Source: the tables that gcc and LLVM write and that unwind-pe.h's
 * readers in libstdc++, libgcc, libgnat and Rust's std expect; no standard describes them.
 *
 * 	landing pad base (encoding, pointer), type table (encoding, distance to its end),
 * 	call sites (encoding, bytes): start, length, landing pad, action
 * 	actions: filter, distance to the next one
 * 	types, growing down; lists of types for negative filters, growing up
 *
 * How many actions and types there are is not said anywhere: following the actions of all call
 * sites shows it. Personality routines of other modules are named by the relocation that fills the
 * word through which the table refers to them.
 */
#include "clone/read/lsda.h"

#include "base/cleanup.h"
#include "base/cursor.h"
#include "code/cfi/entry.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <string.h>

enum { FORMAT_MASK = 0x0f, BASE_MASK = 0x70, MAX_BYTES = 1 << 24 };

/* Bytes and records looked at for one module; cc1plus needs 3 million. */
enum { MAX_WORK = 1 << 28 };

/* The segment in which an LSDA lies, as the readers of pointers want it. */
struct source {
	const struct dw_clone_module *m;
	struct dw_cfi_section s;
	struct dw_cursor c;
};

static bool find_source(const struct dw_clone_module *m, uint64_t svma, struct source *ret)
{
	dw_vec_each(seg, &m->segments) {
		if (svma - seg->svma >= seg->n)
			continue;
		*ret = (struct source){.m = m,
				       .s = {.bytes = seg->bytes, .n = seg->n, .svma = seg->svma}};
		dw_cursor_init(&ret->c, seg->bytes, seg->n);
		dw_cursor_seek(&ret->c, svma - seg->svma);
		return true;
	}
	return false;
}

static bool charge(struct dw_lsda *l, uint64_t n)
{
	l->work += n;
	return l->work <= MAX_WORK && n <= MAX_BYTES;
}

static int read_pad_base(struct source *s, const struct dw_clone_function *f, uint64_t *ret)
{
	uint8_t encoding = dw_cursor_u8(&s->c);

	*ret = f->start;
	if (encoding == DW_EH_PE_omit)
		return 0;
	if ((encoding & BASE_MASK) != DW_EH_PE_pcrel &&
	    ((encoding & BASE_MASK) != DW_EH_PE_absptr || !s->m->is_fixed))
		return DWELL_ERR_UNSUPPORTED;
	return dw_cfi_read_pointer(&s->c, &s->s, encoding, ret);
}

/* The svma at offset @at of @f, if an instruction begins or the function ends there; else 0. */
static uint64_t boundary(const struct dw_clone_module *m, const struct dw_clone_function *f,
			 uint64_t at)
{
	uint64_t svma = f->start + at;

	if (at > f->end - f->start)
		return 0;
	return svma == f->end || dw_clone_insn_at(m, f, svma) != UINT32_MAX ? svma : 0;
}

/* Whether control may be sent to the clone of @svma, or to the module where it is not cloned. */
static bool is_pad(const struct dw_clone_module *m, uint64_t svma)
{
	const struct dw_clone_function *f = dw_clone_function_at(m, svma);

	return !f || f->reason || dw_clone_insn_at(m, f, svma) != UINT32_MAX;
}

static int read_site(struct source *s, const struct dw_clone_function *f, uint8_t encoding,
		     uint64_t pads, struct dw_lsda *ret)
{
	uint64_t low = ret->sites.n ? ret->sites.v[ret->sites.n - 1].end : f->start;
	struct dw_lsda_site site;
	uint64_t start, length, pad;

	if (dw_cfi_read_pointer(&s->c, &s->s, encoding, &start) ||
	    dw_cfi_read_pointer(&s->c, &s->s, encoding, &length) ||
	    dw_cfi_read_pointer(&s->c, &s->s, encoding, &pad))
		return DWELL_ERR_FORMAT;
	site.action = dw_cursor_uleb(&s->c);
	if (s->c.failed)
		return DWELL_ERR_FORMAT;
	if (!charge(ret, 1))
		return DWELL_ERR_LIMIT;
	if (!length)
		return 0; /* no address lies in it */
	site.start = boundary(s->m, f, start);
	site.end = length <= f->end - f->start ? boundary(s->m, f, start + length) : 0;
	site.pad = pad ? pads + pad : 0;
	if (!site.start || site.start < low || site.end <= site.start ||
	    (pad && !is_pad(s->m, site.pad)))
		return DWELL_ERR_UNSUPPORTED;
	return dw_vec_push(&ret->sites, site);
}

static int read_sites(struct source *s, const struct dw_clone_function *f, uint64_t pads,
		      struct dw_lsda *ret)
{
	uint8_t encoding = dw_cursor_u8(&s->c);
	uint64_t n = dw_cursor_uleb(&s->c), end = dw_cursor_offset(&s->c) + n;
	int rc = 0;

	if (s->c.failed || n > dw_cursor_left(&s->c))
		return DWELL_ERR_FORMAT;
	if (encoding & ~FORMAT_MASK)
		return DWELL_ERR_UNSUPPORTED;
	ret->sites.n = 0;
	while (!rc && dw_cursor_offset(&s->c) < end)
		rc = read_site(s, f, encoding, pads, ret);
	return !rc && dw_cursor_offset(&s->c) != end ? DWELL_ERR_FORMAT : rc;
}

unsigned dw_lsda_type_bytes(uint8_t encoding)
{
	switch (encoding & FORMAT_MASK) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return 8;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	}
	return 0;
}

/* Read the list of types that the negative @filter names. */
static int read_spec(struct source *s, int64_t filter, struct dw_lsda *ret)
{
	struct dw_cursor c = s->c;
	uint64_t at = ~(uint64_t)filter, type; /* -1 is at 0 */

	if (at > MAX_BYTES)
		return DWELL_ERR_LIMIT;
	dw_cursor_seek(&c, ret->types_end - s->s.svma + at);
	do {
		type = dw_cursor_uleb(&c);
		if (type > MAX_BYTES || !charge(ret, 1))
			return DWELL_ERR_LIMIT;
		if (type > ret->types_n)
			ret->types_n = (uint32_t)type;
	} while (type && !c.failed);
	at = dw_cursor_offset(&c) - (ret->types_end - s->s.svma);
	if (at > ret->specs_n)
		ret->specs_n = (uint32_t)at;
	return c.failed ? DWELL_ERR_FORMAT : 0;
}

static int read_filter(struct source *s, int64_t filter, struct dw_lsda *ret)
{
	if (!filter || ret->type_encoding == DW_EH_PE_omit)
		return 0;
	if (filter < 0)
		return read_spec(s, filter, ret);
	if (filter > MAX_BYTES)
		return DWELL_ERR_LIMIT;
	if (filter > ret->types_n)
		ret->types_n = (uint32_t)filter;
	return 0;
}

/* Mark the action at @at, so that each is read once. 1: it was marked before; or an error. */
static int mark(struct dw_lsda *l, uint64_t at)
{
	if (at >= l->seen.n) {
		if (at >= MAX_BYTES || !charge(l, at - l->seen.n))
			return DWELL_ERR_LIMIT;
		if (dw_vec_reserve(&l->seen, at + 1 - l->seen.n))
			return -ENOMEM;
		memset(l->seen.v + l->seen.n, 0, at + 1 - l->seen.n);
		l->seen.n = at + 1;
	}
	if (l->seen.v[at])
		return 1;
	l->seen.v[at] = 1;
	return 0;
}

/* Follow the chain of actions from offset @at of the table at cursor offset @table. */
static int read_chain(struct source *s, size_t table, uint64_t at, struct dw_lsda *ret)
{
	struct dw_cursor c = s->c;
	int rc = mark(ret, at);

	while (!rc) {
		int64_t filter, next;
		size_t from;

		dw_cursor_seek(&c, table + at);
		filter = dw_cursor_sleb(&c);
		from = dw_cursor_offset(&c);
		next = dw_cursor_sleb(&c);
		if (c.failed)
			return DWELL_ERR_FORMAT;
		if (dw_cursor_offset(&c) - table > ret->actions_n)
			ret->actions_n = (uint32_t)(dw_cursor_offset(&c) - table);
		rc = read_filter(s, filter, ret);
		if (rc || !next)
			return rc;
		at = from - table + (uint64_t)next;
		rc = mark(ret, at);
	}
	return rc > 0 ? 0 : rc;
}

/* Whether the type table can be said of a clone, and lies between the actions and its end. */
static int check_types(struct source *s, size_t table, struct dw_lsda *ret)
{
	uint64_t end = ret->types_end - s->s.svma;
	uint8_t encoding = ret->type_encoding, base = encoding & BASE_MASK;
	bool absolute = base == DW_EH_PE_absptr;

	if (!ret->types_n)
		return 0;
	if (!dw_lsda_type_bytes(encoding) || (!absolute && base != DW_EH_PE_pcrel))
		return DWELL_ERR_UNSUPPORTED;
	if (absolute && !s->m->is_fixed &&
	    (encoding & DW_EH_PE_indirect || dw_lsda_type_bytes(encoding) != 8))
		return DWELL_ERR_UNSUPPORTED;
	if (!charge(ret, ret->types_n))
		return DWELL_ERR_LIMIT;
	if (end - table < ret->actions_n + (uint64_t)ret->types_n * dw_lsda_type_bytes(encoding))
		return DWELL_ERR_FORMAT;
	return 0;
}

static int read_actions(struct source *s, struct dw_lsda *ret)
{
	size_t table = dw_cursor_offset(&s->c);
	int rc = 0;

	ret->actions = s->c.pos;
	ret->seen.n = ret->actions_n = ret->types_n = ret->specs_n = 0;
	for (size_t i = 0; i < ret->sites.n && !rc; i++)
		if (ret->sites.v[i].action)
			rc = read_chain(s, table, ret->sites.v[i].action - 1, ret);
	if (!rc && ret->type_encoding != DW_EH_PE_omit)
		rc = check_types(s, table, ret);
	return !rc && !charge(ret, ret->actions_n + ret->specs_n) ? DWELL_ERR_LIMIT : rc;
}

int dw_lsda_read(const struct dw_clone_module *m, const struct dw_clone_function *f, uint64_t svma,
		 struct dw_lsda *ret)
{
	struct source s;
	uint64_t pads, end;
	int rc;

	if (!find_source(m, svma, &s))
		return DWELL_ERR_FORMAT;
	rc = read_pad_base(&s, f, &pads);
	if (rc)
		return rc;
	ret->type_encoding = dw_cursor_u8(&s.c);
	ret->specs = NULL;
	ret->types_end = 0;
	if (ret->type_encoding != DW_EH_PE_omit) {
		end = dw_cursor_uleb(&s.c);
		if (end > dw_cursor_left(&s.c))
			return DWELL_ERR_FORMAT;
		ret->specs = s.c.pos + end;
		ret->types_end = s.s.svma + dw_cursor_offset(&s.c) + end;
	}
	rc = read_sites(&s, f, pads, ret);
	return rc ? rc : read_actions(&s, ret);
}

void dw_lsda_release(struct dw_lsda *lsda)
{
	dw_vec_release(&lsda->sites);
	dw_vec_release(&lsda->seen);
}

static const char *const known[] = {
	"__gxx_personality_v0",	 "__gcc_personality_v0",      "__gnat_personality_v0",
	"__gdc_personality_v0",	 "__gccgo_personality_v0",    "rust_eh_personality",
	"__objc_personality_v0", "__gnu_objc_personality_v0", "_d_eh_personality",
	"__gm2_personality_v0",	 "__gcj_personality_v0",
};

static bool is_known(const char *name)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(known[i], name))
			return true;
	return false;
}

/* Whether the name of symbol @i of the dynamic symbol table is a known one, or cannot be read. */
static bool symbol_is_known(const struct dw_elf *elf, uint64_t i)
{
	const struct dw_elf_section *symbols = dw_elf_section(elf, ".dynsym");
	const struct dw_elf_section *strings = dw_elf_section(elf, ".dynstr");
	dw_auto_free uint8_t *symbol_bytes = NULL, *string_bytes = NULL;
	size_t symbols_n, strings_n;
	Elf64_Sym symbol;

	if (!i || !symbols || !strings ||
	    dw_elf_read_section(elf, symbols, &symbol_bytes, &symbols_n, NULL) ||
	    dw_elf_read_section(elf, strings, &string_bytes, &strings_n, NULL) ||
	    i >= symbols_n / sizeof symbol)
		return true;
	memcpy(&symbol, symbol_bytes + i * sizeof symbol, sizeof symbol);
	return symbol.st_name >= strings_n || is_known((const char *)string_bytes + symbol.st_name);
}

/* Look for the relocation of @svma in @section. 1: found, *@symbol is its symbol's number. */
static int find_relocation(const struct dw_elf *elf, const struct dw_elf_section *section,
			   uint64_t svma, uint64_t *symbol)
{
	dw_auto_free uint8_t *bytes = NULL;
	size_t n;
	Elf64_Rela r;

	if (dw_elf_read_section(elf, section, &bytes, &n, NULL))
		return 0;
	for (size_t at = 0; n - at >= sizeof r && at < n; at += sizeof r) {
		memcpy(&r, bytes + at, sizeof r);
		if (r.r_offset == svma) {
			*symbol = ELF64_R_SYM(r.r_info);
			return 1;
		}
	}
	return 0;
}

bool dw_personality_is_known(const struct dw_elf *elf, uint64_t svma)
{
	size_t n;
	const struct dw_elf_section *s = dw_elf_sections(elf, &n);
	uint64_t symbol;

	for (size_t i = 0; i < n; i++)
		if (s[i].type == SHT_RELA && s[i].flags & SHF_ALLOC &&
		    find_relocation(elf, &s[i], svma, &symbol))
			return symbol_is_known(elf, symbol);
	return true;
}
