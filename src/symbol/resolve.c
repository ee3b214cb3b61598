/*
 * One module's names; see resolve.h. DWARF names win over ELF symbols, so that foo.cold and
 * foo.part.0 belong to foo. A symbol without a size counts up to the next one, unless unwind
 * information says that another function begins in between.
 */
#include "symbol/resolve.h"

#include "symbol/debugfile.h"
#include "symbol/demangle.h"
#include "symbol/dwarf.h"
#include "symbol/symtab.h"
#include "symbol/dwarf-lines.h"
#include "symbol/plt.h"
#include "symbol/symbol-cache.h"

#include "base/cleanup.h"
#include "base/vec.h"
#include "code/cfi/fdes.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* All that is open for one module. */
struct files {
	struct dw_elf *elf;
	struct dw_elf *debug_elf; /* separate debug file, NULL = none */
	int debug_fd;
	int alt_fd;
	Elf *libelf; /* of the file that has the DWARF */
	Dwarf *dwarf;
	Dwarf *alt;
	struct dw_buf debug_path;
	uint8_t *unpacked; /* .gnu_debugdata */
};

struct dw_resolver {
	const struct dw_question *q;
	struct dw_answer *a; /* of the question that is being answered */
	struct files files;
	bool is_open;
	struct dw_symtab symbols;
	struct dw_cfi_range *ranges;
	size_t ranges_n;
	bool ranges_loaded;
	struct dw_plt plt;
	bool plt_loaded;
	struct dw_map ids; /* entry of a symbol -> function id */
};

static void files_close(struct files *f)
{
	if (f->dwarf)
		dwarf_end(f->dwarf);
	if (f->alt)
		dwarf_end(f->alt);
	if (f->libelf)
		elf_end(f->libelf);
	dw_cleanup_close(&f->alt_fd);
	dw_cleanup_close(&f->debug_fd);
	dw_elf_free(f->debug_elf);
	dw_elf_free(f->elf);
	dw_buf_release(&f->debug_path);
	free(f->unpacked);
}

static bool has_bytes(const struct dw_elf *elf, const char *section)
{
	const struct dw_elf_section *s = dw_elf_section(elf, section);

	return s && s->bytes;
}

static bool has_dwarf(const struct dw_elf *elf)
{
	return has_bytes(elf, ".debug_info") || has_bytes(elf, ".zdebug_info");
}

/* libdw unpacks every section that it knows at once: keep those from it that nobody here reads. */
static void hide_unread(Elf *elf)
{
	static const char *const unread[] = {".debug_loc", ".debug_loclists", ".debug_macro",
					     ".debug_aranges"};
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;

		for (size_t i = 0; name && i < sizeof unread / sizeof *unread; i++)
			if (!strcmp(name, unread[i])) {
				header.sh_type = SHT_NOBITS;
				gelf_update_shdr(section, &header);
			}
	}
}

/* Start libdw on @fd, whose path is @path. Without success the module has no DWARF, which is
 * normal. */
static void open_dwarf(struct files *f, int fd, const char *path, const struct dw_question *q)
{
	elf_version(EV_CURRENT);
	f->libelf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (f->libelf)
		hide_unread(f->libelf);
	if (f->libelf)
		f->dwarf = dwarf_begin_elf(f->libelf, DWARF_C_READ, NULL);
	if (!f->dwarf)
		return;
	f->alt_fd = dw_debugfile_find_alt(f->dwarf, path, q->debug_dirs);
	if (f->alt_fd < 0)
		f->alt_fd = dw_debugfile_take_alt(f->dwarf, q->alt_fd);
	if (f->alt_fd >= 0)
		f->alt = dwarf_begin(f->alt_fd, DWARF_C_READ);
	if (f->alt)
		dwarf_setalt(f->dwarf, f->alt);
}

static int open_elf(const struct dw_module_source *s, struct dw_elf **ret)
{
	if (s->fd >= 0)
		return dw_elf_open(s->fd, ret, NULL);
	return dw_elf_open_bytes(s->image, s->image_bytes, true, ret, NULL);
}

/* Take the debug file @fd (-1 = none), if it is the module's, in place of the one that is open. */
static void take_debug_file(struct files *f, int fd, const struct dw_question *q)
{
	uint8_t id[64];
	size_t n = dw_elf_build_id(f->elf, id, sizeof id);

	if (fd < 0 || n <= 1 || !dw_debugfile_has_id(fd, id, n))
		return;
	dw_elf_free(f->debug_elf);
	f->debug_elf = NULL;
	dw_cleanup_close(&f->debug_fd);
	f->debug_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	dw_buf_clear(&f->debug_path);
	if (f->debug_fd >= 0 && !dw_buf_puts(&f->debug_path, q->path))
		(void)dw_elf_open(f->debug_fd, &f->debug_elf, NULL);
}

/* Open the debug file as it was kept, or where they stand. */
static void open_debug_file(struct files *f, const struct dw_question *q)
{
	if (dw_unpacked_has(q))
		take_debug_file(f, q->unpacked_fd, q);
	if (f->debug_elf)
		return;
	f->debug_fd = dw_debugfile_find(f->elf, q->path, q->debug_dirs, &f->debug_path);
	if (f->debug_fd >= 0)
		(void)dw_elf_open(f->debug_fd, &f->debug_elf, NULL);
}

/* Read the DWARF of the separate debug file, and write it down unpacked where that is wanted. */
static void open_separate_dwarf(struct files *f, const struct dw_question *q)
{
	const char *name;
	const void *id;

	open_dwarf(f, f->debug_fd, dw_buf_str(&f->debug_path), q);
	if (f->dwarf && q->unpacked_fd >= 0 && !dw_unpacked_has(q) &&
	    dwelf_dwarf_gnu_debugaltlink(f->dwarf, &name, &id) <= 0)
		dw_unpacked_write(f->libelf, f->debug_fd, q->unpacked_fd);
}

static int files_open(struct files *f, const struct dw_question *q)
{
	const struct dw_module_source *s = q->source;
	int rc;

	f->debug_fd = f->alt_fd = -1;
	rc = open_elf(s, &f->elf);
	if (rc)
		return rc;
	if (s->fd >= 0 && !q->names_only && has_dwarf(f->elf))
		open_dwarf(f, s->fd, q->path, q);
	if ((f->dwarf || q->names_only) && has_bytes(f->elf, ".symtab"))
		return 0;
	open_debug_file(f, q);
	if (!f->dwarf && (!f->debug_elf || !has_dwarf(f->debug_elf)))
		take_debug_file(f, q->debug_fd, q);
	if (!f->dwarf && !q->names_only && f->debug_elf && has_dwarf(f->debug_elf))
		open_separate_dwarf(f, q);
	return 0;
}

/* Whether the module has debug information here. One that is no ELF file lacks nothing. */
static bool find_presence(const struct dw_question *q)
{
	struct files f = {.debug_fd = -1, .alt_fd = -1};
	bool found = open_elf(q->source, &f.elf) != 0 || has_dwarf(f.elf);

	if (!found)
		open_debug_file(&f, q);
	found = found || (f.debug_elf && has_dwarf(f.debug_elf));
	files_close(&f);
	return found;
}

/* Add the packed table of .gnu_debugdata, if there is one. */
static void add_unpacked(struct dw_resolver *m)
{
	struct dw_elf *elf;
	size_t n;

	if (dw_debugfile_unpack(m->files.elf, &m->files.unpacked, &n) ||
	    dw_elf_open_bytes(m->files.unpacked, n, false, &elf, NULL))
		return;
	(void)dw_symtab_add(&m->symbols, elf, ".symtab", ".strtab");
	dw_elf_free(elf);
}

/* A broken table is no error: the next source may be whole. */
static void load_symbols(struct dw_resolver *m)
{
	struct files *f = &m->files;
	int rc = dw_symtab_add(&m->symbols, f->elf, ".symtab", ".strtab");

	if (rc && f->debug_elf)
		rc = dw_symtab_add(&m->symbols, f->debug_elf, ".symtab", ".strtab");
	if (rc) {
		add_unpacked(m);
		(void)dw_go_table_add(&m->symbols, f->elf);
		(void)dw_symtab_add(&m->symbols, f->elf, ".dynsym", ".dynstr");
	}
	dw_symtab_sort(&m->symbols);
}

/* Add the function that the symbol @mangled stands for; @suffix goes behind its name. */
static int add_symbol(struct dw_resolver *m, const char *mangled, const char *suffix,
		      struct dw_function f, uint32_t *ret)
{
	dw_auto_free char *name = dw_demangle(mangled);
	dw_auto(dw_buf) text = DW_BUF_INIT;
	struct dw_answer *a = m->a;
	int rc;

	dw_buf_puts(&text, name ? name : mangled);
	dw_buf_puts(&text, suffix);
	if (text.failed)
		return -ENOMEM;
	rc = dw_answer_add_string(a, text.data, &f.name);
	if (!rc && name)
		rc = dw_answer_add_string(a, mangled, &f.linkage_name);
	if (!rc)
		rc = dw_answer_add_function(a, &f, ret);
	return rc ? rc : dw_map_put(&m->ids, f.svma, *ret);
}

/* Name @svma after the stub of the PLT in which it lies. */
static int name_stub(struct dw_resolver *m, uint64_t svma, uint32_t *ret)
{
	const struct dw_elf_section *section = dw_plt_section(m->files.elf, svma);
	struct dw_plt_stub stub;

	if (!section)
		return 0;
	if (!m->plt_loaded && dw_plt_load(&m->plt, m->files.elf))
		return -ENOMEM;
	m->plt_loaded = true;
	if (dw_plt_find(&m->plt, m->files.elf, section, svma, &stub))
		return 0;
	*ret = dw_map_get(&m->ids, stub.svma);
	if (*ret)
		return 0;
	return add_symbol(m, stub.name, "@plt",
			  (struct dw_function){.svma = stub.svma, .bytes = stub.bytes}, ret);
}

/* The unwind range at @svma, NULL = none. Listing them takes as long as reading the symbols, and
 * most modules need none. */
static const struct dw_cfi_range *find_range(struct dw_resolver *m, uint64_t svma)
{
	if (!m->ranges_loaded && dw_cfi_ranges(m->files.elf, &m->ranges, &m->ranges_n, NULL)) {
		m->ranges = NULL;
		m->ranges_n = 0;
	}
	m->ranges_loaded = true;
	return dw_cfi_range_find(m->ranges, m->ranges_n, svma);
}

/* The first unwind range that begins behind @svma, NULL = none. Ranges were listed. */
static const struct dw_cfi_range *next_range(const struct dw_resolver *m, uint64_t svma)
{
	size_t i = dw_sorted_count(m->ranges, m->ranges_n, r, r->start <= svma);

	return i < m->ranges_n ? &m->ranges[i] : NULL;
}

/* The symbol at @svma, NULL = none that may be believed; *@ret_bytes = its length. */
static const struct dw_symbol *find_symbol(struct dw_resolver *m, uint64_t svma,
					   uint64_t *ret_bytes)
{
	const struct dw_symbol *s = dw_symtab_find(&m->symbols, svma);
	const struct dw_cfi_range *range, *next;

	if (!s)
		return NULL;
	*ret_bytes = dw_symtab_end(&m->symbols, s) - s->svma;
	if (s->bytes)
		return s;
	range = find_range(m, svma);
	if (range && range->start > s->svma)
		return NULL;
	if (range && range->start == s->svma)
		*ret_bytes = range->end - range->start;
	next = next_range(m, s->svma);
	if (next && next->start - s->svma < *ret_bytes)
		*ret_bytes = next->start - s->svma;
	return svma - s->svma < *ret_bytes ? s : NULL;
}

/* The function of the symbol at @svma; *@ret = 0 when there is none. */
static int name_address(struct dw_resolver *m, uint64_t svma, uint32_t *ret)
{
	uint64_t bytes;
	const struct dw_symbol *s = find_symbol(m, svma, &bytes);
	dw_auto_free char *name = NULL;

	*ret = 0;
	if (!s)
		return name_stub(m, svma, ret);
	*ret = dw_map_get(&m->ids, s->svma);
	if (*ret)
		return 0;
	/* A version stands behind '@' in tables that a linker wrote. */
	name = strndup(s->name, strcspn(s->name, "@"));
	if (!name)
		return -ENOMEM;
	return add_symbol(m, *name ? name : s->name, "",
			  (struct dw_function){.svma = s->svma, .bytes = bytes}, ret);
}

/* Append the chain of one address to the answer, innermost first. */
static int put_chain(struct dw_resolver *m, uint64_t svma, const struct dw_dwarf_place *place,
		     const struct dw_inlines *inlines)
{
	struct dw_location l = place->line;
	uint32_t node = place->node;
	int rc = 0;

	do {
		const struct dw_inline *in = node ? &inlines->nodes.v[node] : NULL;

		l.function = in ? in->function : 0;
		if (!l.function && (!in || !in->outer))
			rc = name_address(m, svma, &l.function);
		if (!rc && (l.function || !in || !in->outer) && (l.function || l.file))
			rc = dw_vec_push(&m->a->rows, l);
		l = (struct dw_location){0};
		if (in) {
			l.file = in->file;
			l.line = in->line;
			l.column = in->column;
		}
		node = in ? in->outer : 0;
	} while (node && !rc);
	return rc ? rc : dw_vec_push(&m->a->first, (uint32_t)m->a->rows.n);
}

static int put_chains(struct dw_resolver *m)
{
	const struct dw_question *q = m->q;
	struct dw_dwarf_place *places = calloc(q->n + 1, sizeof *places);
	struct dw_inlines inlines = {0};
	int rc = places ? dw_vec_push(&m->a->first, 0) : -ENOMEM;

	if (!rc && m->files.dwarf)
		rc = dw_dwarf_find(m->files.dwarf, q->svmas, places, q->n, &inlines, m->a);
	for (size_t i = 0; i < q->n && !rc; i++)
		rc = put_chain(m, q->svmas[i], &places[i], &inlines);
	dw_inlines_release(&inlines);
	free(places);
	return rc;
}

/*
 * The name under which others link the function @f, as long as it is plainer than that of its
 * source: pthread_mutex_lock, which the C library's source calls ___pthread_mutex_lock. NULL =
 * none.
 */
static const char *plainer_name(const struct dw_resolver *m, const struct dw_function *f)
{
	const char *now = dw_strings_get(&m->a->strings, f->name);
	dw_auto_free char *demangled = NULL;
	const struct dw_symbol *s;

	if (*now != '_' || f->flags & DWELL_FUNCTION_INLINED)
		return NULL;
	s = dw_symtab_find(&m->symbols, f->svma);
	if (!s || s->svma != f->svma || !s->is_function || s->binding == 2 ||
	    strspn(s->name, "_") >= strspn(now, "_"))
		return NULL;
	demangled = dw_demangle(s->name);
	return demangled ? NULL : s->name;
}

static int rename_plainly(struct dw_resolver *m)
{
	int rc = 0;

	dw_vec_each(f, &m->a->functions) {
		const char *name = plainer_name(m, f);

		if (name && !rc)
			rc = dw_strings_add(&m->a->strings, name, strcspn(name, "@"), &f->name);
	}
	return rc;
}

/* An answer that knows nothing of @n addresses. */
static int put_nothing(struct dw_answer *a, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i <= n && !rc; i++)
		rc = dw_vec_push(&a->first, 0);
	return rc;
}

int dw_resolver_new(const struct dw_question *q, struct dw_resolver **ret)
{
	struct dw_resolver *m = calloc(1, sizeof *m);

	*ret = m;
	if (!m)
		return -ENOMEM;
	m->q = q;
	m->is_open = !files_open(&m->files, q);
	if (m->is_open && !q->statements_only)
		load_symbols(m);
	return 0;
}

int dw_resolver_look_ahead(struct dw_resolver *m)
{
	return m->files.dwarf ? dw_dwarf_list_units(m->files.dwarf) : 0;
}

/* Whether the DWARF stands in a file of its own, and nothing of it is missing. */
static bool is_separate(const struct files *f)
{
	const char *name;
	const void *id;

	return f->dwarf && f->debug_fd >= 0 &&
	       (f->alt || dwelf_dwarf_gnu_debugaltlink(f->dwarf, &name, &id) <= 0);
}

int dw_resolver_answer(struct dw_resolver *m, const struct dw_question *q, struct dw_answer *a)
{
	int rc;

	m->q = q;
	m->a = a;
	if (!m->is_open || q->statements_only)
		rc = put_nothing(a, q->n);
	else
		rc = put_chains(m);
	if (!rc && m->files.dwarf && q->statements_only)
		rc = dw_lines_statements(m->files.dwarf, a);
	if (!rc && !q->statements_only)
		rc = rename_plainly(m);
	if (!rc && m->is_open)
		rc = dw_managed_names_put(a, m->files.elf, q->path);
	a->has_debug = !q->statements_only && is_separate(&m->files);
	return rc;
}

void dw_resolver_free(struct dw_resolver *m)
{
	if (!m)
		return;
	free(m->ranges);
	dw_plt_release(&m->plt);
	dw_map_release(&m->ids);
	dw_symtab_release(&m->symbols);
	files_close(&m->files);
	free(m);
}

int dw_resolve(const struct dw_question *q, struct dw_answer *a)
{
	struct dw_resolver *m = NULL;
	int rc;

	if (q->presence_only) {
		a->has_debug = find_presence(q);
		return put_nothing(a, q->n);
	}
	rc = dw_resolver_new(q, &m);
	if (!rc)
		rc = dw_resolver_answer(m, q, a);
	dw_resolver_free(m);
	return rc;
}
