/*
 * DIEs to functions; see dwarf-functions.h. The linkage name, demangled, is the best name: it has
 * the parameters. Compilers leave it out for what has no linkage (lambdas, members of local
 * classes), where the name is put together from the scopes around: what can stand before "::" or
 * hold such a thing. DWARF 5, sections 2.22, 3.3.
 */
#include "symbol/dwarf-functions.h"

#include "base/cleanup.h"
#include "base/vec.h"
#include "symbol/demangle.h"
#include "symbol/dwarf-lines.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_scope(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_interface_type:
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_variant_part:
	case DW_TAG_variant:
		return true;
	}
	return false;
}

/* Add all scopes below @die, which is row @parent. */
static void add_below(struct dw_scope_unit *u, Dwarf_Die *die, uint32_t parent, int depth)
{
	Dwarf_Die child;

	if (depth > DWELL_DIE_DEPTH_MAX || !dw_die_first(die, &child))
		return;
	do {
		if (!is_scope(dwarf_tag(&child)))
			continue;
		if (dw_vec_push(&u->rows, (struct dw_scope){child, parent}))
			return;
		add_below(u, &child, (uint32_t)u->rows.n - 1, depth + 1);
	} while (dw_die_next(&child));
}

static struct dw_scope_unit *unit_of(struct dw_scopes *s, Dwarf_Die *die)
{
	Dwarf_Die root;
	struct dw_scope_unit *u;

	/* The last unit is the likely one. */
	for (size_t i = s->units.n; i-- > 0;)
		if (s->units.v[i].cu == (void *)die->cu)
			return &s->units.v[i];
	if (!dwarf_diecu(die, &root, NULL, NULL) || dw_vec_reserve(&s->units, 1))
		return NULL;
	u = &s->units.v[s->units.n++];
	*u = (struct dw_scope_unit){.cu = die->cu};
	add_below(u, &root, UINT32_MAX, 0);
	return u;
}

/* The DIE that holds @die, borrowed until the next call. NULL = the unit, or not known. */
static Dwarf_Die *parent_of(struct dw_scopes *s, Dwarf_Die *die)
{
	struct dw_scope_unit *u = unit_of(s, die);
	size_t i = u ? dw_sorted_count(u->rows.v, u->rows.n, r, r->die.addr < die->addr) : 0;

	if (!u || i == u->rows.n || u->rows.v[i].die.addr != die->addr ||
	    u->rows.v[i].parent == UINT32_MAX)
		return NULL;
	return &u->rows.v[u->rows.v[i].parent].die;
}

enum { ORIGINS_MAX = 16, SCOPES_MAX = 32 };

/* Follow abstract origins and specifications to the DIE that declares the function. */
static void follow_origins(Dwarf_Die *die)
{
	static const unsigned links[] = {DW_AT_abstract_origin, DW_AT_specification};

	for (int i = 0; i < ORIGINS_MAX; i++) {
		Dwarf_Attribute attr;
		Dwarf_Die next;
		unsigned k;

		for (k = 0; k < 2; k++)
			if (dwarf_attr(die, links[k], &attr) && dwarf_formref_die(&attr, &next))
				break;
		if (k == 2)
			return;
		*die = next;
	}
}

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		return dwarf_formstring(&attr);
	return NULL;
}

static int language_of(Dwarf_Die *die)
{
	Dwarf_Die unit;

	return dwarf_diecu(die, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1;
}

/* Whether names of @die's language have no scopes. Units of unknown languages count as such. */
static bool is_plain_language(Dwarf_Die *die)
{
	switch (language_of(die)) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case 0x2b: /* C++17 and C++20, which are newer than this libdw */
	case 0x2c:
	case DW_LANG_D:
	case DW_LANG_Rust:
	case DW_LANG_ObjC_plus_plus:
		return false;
	}
	return true;
}

static const char *scope_name(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	if (name)
		return name;
	return dwarf_tag(die) == DW_TAG_namespace ? "(anonymous namespace)" : NULL;
}

/* Put the text of one scope, with "::" behind it, into @name. A function ends the chain with its
 * whole name: true. */
static bool put_scope(struct dw_buf *name, Dwarf_Die *scope)
{
	const char *linkage = dwarf_tag(scope) == DW_TAG_subprogram ? linkage_name(scope) : NULL;
	dw_auto_free char *whole = linkage ? dw_demangle(linkage) : NULL;
	const char *text = whole ? whole : scope_name(scope);

	if (text) {
		dw_buf_puts(name, text);
		dw_buf_puts(name, "::");
	}
	return whole;
}

static void put_scopes(struct dw_die_functions *t, Dwarf_Die *die, struct dw_buf *name)
{
	Dwarf_Die scopes[SCOPES_MAX], *parent;
	size_t n = 0, first;
	bool ended = false;

	for (parent = parent_of(&t->scopes, die); parent && n < SCOPES_MAX;
	     parent = parent_of(&t->scopes, &scopes[n - 1])) {
		scopes[n] = *parent;
		if (dwarf_tag(parent) == DW_TAG_subprogram ||
		    dwarf_tag(parent) == DW_TAG_inlined_subroutine)
			follow_origins(&scopes[n]);
		n++;
	}
	/* A demangled function stands for everything outside of it. */
	for (first = 0; first < n && !ended; first++) {
		ended = put_scope(name, &scopes[first]);
		dw_buf_clear(name);
	}
	while (first-- > 0)
		put_scope(name, &scopes[first]);
}

/* Whether scopes belong before the name @plain of the function @origin. Those that others call by a
 * name of their own (Rust's panic handler) have them, too; .NET's are in the linkage name. */
static bool needs_scopes(const char *linkage, const char *plain, Dwarf_Die *origin)
{
	if (is_plain_language(origin))
		return false;
	return !linkage || (strcmp(linkage, plain) && language_of(origin) == DW_LANG_Rust);
}

/* Put the name of the function @die into @name, which stays empty when there is none. */
static void put_name(struct dw_die_functions *t, Dwarf_Die *die, Dwarf_Die *origin,
		     const char *linkage, struct dw_buf *name)
{
	dw_auto_free char *demangled = linkage ? dw_demangle(linkage) : NULL;
	const char *plain = dwarf_diename(die);

	if (demangled) {
		dw_buf_puts(name, demangled);
	} else if (plain) {
		if (needs_scopes(linkage, plain, origin))
			put_scopes(t, origin, name);
		dw_buf_puts(name, plain);
	} else if (linkage) {
		dw_buf_puts(name, linkage);
	}
}

/* Set file and line where @die is declared. Not by dwarf_decl_file(), which ends the process when a
 * split unit's lines were asked for before (seen in 0.188). */
static int set_declaration(struct dw_answer *a, Dwarf_Die *die, struct dw_function *f)
{
	Dwarf_Attribute attr;
	Dwarf_Die unit;
	Dwarf_Word file;
	int line;

	if (dwarf_decl_line(die, &line) || line <= 0 ||
	    !dwarf_attr_integrate(die, DW_AT_decl_file, &attr) || dwarf_formudata(&attr, &file) ||
	    file > UINT32_MAX)
		return 0;
	if (dwarf_cu_info(attr.cu, NULL, NULL, &unit, NULL, NULL, NULL, NULL))
		return 0;
	f->line = (uint32_t)line;
	return dw_lines_file(&unit, (uint32_t)file, a, &f->file);
}

static int add_function(struct dw_die_functions *t, Dwarf_Die *die, Dwarf_Die *origin,
			uint32_t *ret)
{
	struct dw_answer *a = t->answer;
	struct dw_function f = {.flags = DWELL_FUNCTION_INLINED};
	const char *linkage = linkage_name(die);
	dw_auto(dw_buf) name = DW_BUF_INIT;
	int rc;

	put_name(t, die, origin, linkage, &name);
	*ret = 0;
	if (name.failed)
		return -ENOMEM;
	if (!name.len)
		return 0;
	rc = dw_answer_add_string(a, name.data, &f.name);
	if (!rc && linkage && strcmp(linkage, name.data))
		rc = dw_answer_add_string(a, linkage, &f.linkage_name);
	if (!rc)
		rc = set_declaration(a, die, &f);
	if (!rc)
		rc = dw_answer_add_function(a, &f, ret);
	return rc ? rc : dw_map_put(&t->ids, (uint64_t)(uintptr_t)origin->addr, *ret);
}

static void set_range(struct dw_function *f, Dwarf_Die *die)
{
	Dwarf_Addr base, lo, hi, entry;
	ptrdiff_t at = 0;
	bool known = !dwarf_entrypc(die, &entry);

	while ((at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0) {
		if (known && (entry < lo || entry >= hi))
			continue;
		f->svma = known ? entry : lo;
		f->bytes = hi - f->svma;
		break;
	}
	f->flags &= ~(uint32_t)DWELL_FUNCTION_INLINED;
}

/* Where the inlined copy @die begins: copies in several pieces need not say which is the first. */
static uint64_t inlined_at(Dwarf_Die *die)
{
	Dwarf_Addr base, lo, hi;

	return !dwarf_entrypc(die, &lo) || dwarf_ranges(die, 0, &base, &lo, &hi) > 0 ? lo : 0;
}

int dw_die_functions_get(struct dw_die_functions *t, Dwarf_Die *die, uint32_t *ret)
{
	bool inlined = dwarf_tag(die) == DW_TAG_inlined_subroutine;
	Dwarf_Die origin = *die;
	struct dw_function *f;
	int rc = 0;

	follow_origins(&origin);
	*ret = dw_map_get(&t->ids, (uint64_t)(uintptr_t)origin.addr);
	if (!*ret)
		rc = add_function(t, die, &origin, ret);
	if (rc || !*ret)
		return rc;
	f = &t->answer->functions.v[*ret];
	if (!inlined && f->flags & DWELL_FUNCTION_INLINED)
		set_range(f, die);
	else if (inlined && f->flags & DWELL_FUNCTION_INLINED && !f->svma)
		f->svma = inlined_at(die);
	return 0;
}

void dw_die_functions_release(struct dw_die_functions *t)
{
	dw_map_release(&t->ids);
	dw_vec_each(u, &t->scopes.units)
		dw_vec_release(&u->rows);
	dw_vec_release(&t->scopes.units);
}
