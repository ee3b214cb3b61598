/*
 * One module's own facts; see module-symbols.h. A function may have several stretches of code (a
 * cold part, copies of one inline function in several objects): each that holds a frame is copied
 * once.
 *
 * Exports come from sections, not the dynamic segment: modules that run have both, and files
 * without section headers go without names here as elsewhere. System V ABI, "Symbol Table"; LSB,
 * "Symbol Versioning" (bit 15 of a version hides it).
 */
#include "symbol/module-symbols.h"

#include "base/cleanup.h"
#include "base/vec.h"
#include "code/cfi/table.h"
#include "symbol/helper.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_TIMEOUT_MS = 20000, STATEMENTS_TIMEOUT_MS = 60000, VERSION_HIDDEN = 0x8000 };

void dw_module_code_open(struct dw_module_code *m, const struct dw_module_source *source)
{
	int rc = DWELL_ERR_NOT_FOUND;

	*m = (struct dw_module_code){0};
	if (source && source->fd >= 0)
		rc = dw_elf_open(source->fd, &m->elf, NULL);
	else if (source && source->image)
		rc = dw_elf_open_bytes(source->image, source->image_bytes, true, &m->elf, NULL);
	if (!rc)
		m->cfi = source->cfi;
	if (!rc && !m->cfi && dw_cfi_ranges(m->elf, &m->ranges, &m->ranges_n, NULL)) {
		m->ranges = NULL;
		m->ranges_n = 0;
	}
}

int dw_module_code_unwind_range(const struct dw_module_code *m, uint64_t svma,
				struct dw_cfi_range *ret)
{
	const struct dw_cfi_range *range;

	if (m->cfi)
		return dw_cfi_table_range(m->cfi, svma, ret);
	range = dw_cfi_range_find(m->ranges, m->ranges_n, svma);
	if (!range)
		return DWELL_ERR_NOT_FOUND;
	*ret = *range;
	return 0;
}

struct dw_code_range dw_module_code_range(const struct dw_module_code *m, uint32_t id,
					  const struct dw_function *f, uint64_t svma)
{
	struct dw_cfi_range range;

	if (svma - f->svma < f->bytes)
		return (struct dw_code_range){id, f->svma, f->bytes};
	if (dw_module_code_unwind_range(m, svma, &range))
		return (struct dw_code_range){id, svma, 0};
	return (struct dw_code_range){id, range.start, range.end - range.start};
}

static int compare(const void *pa, const void *pb)
{
	const struct dw_code_range *a = pa, *b = pb;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return (a->svma > b->svma) - (a->svma < b->svma);
}

static int copy_one(const struct dw_module_code *m, const struct dw_code_range *r,
		    struct dw_codes *codes)
{
	size_t n = r->bytes < DWELL_CODE_MAX_BYTES ? (size_t)r->bytes : DWELL_CODE_MAX_BYTES;
	dw_auto_free uint8_t *bytes = NULL;
	int rc;

	if (!n)
		return 0;
	bytes = malloc(n);
	if (!bytes)
		return -ENOMEM;
	/* A range that the file does not hold is the file's lie: no code then. */
	if (dw_elf_read_svma(m->elf, (struct dw_svma){r->svma}, bytes, n))
		return 0;
	rc = dw_vec_push(&codes->rows, (struct dw_code){r->function, (uint32_t)n, r->svma, bytes});
	if (!rc)
		bytes = NULL;
	return rc;
}

int dw_module_code_copy(const struct dw_module_code *m, struct dw_code_range *ranges, size_t n,
			struct dw_codes *codes)
{
	int rc = 0;

	if (!m->elf || !n)
		return 0;
	qsort(ranges, n, sizeof *ranges, compare);
	for (size_t i = 0; i < n && !rc; i++)
		if (!i || compare(&ranges[i - 1], &ranges[i]))
			rc = copy_one(m, &ranges[i], codes);
	return rc;
}

void dw_module_code_release(struct dw_module_code *m)
{
	dw_elf_free(m->elf);
	free(m->ranges);
	*m = (struct dw_module_code){0};
}

static bool is_function(const Elf64_Sym *s)
{
	unsigned type = ELF64_ST_TYPE(s->st_info);

	return s->st_shndx != SHN_UNDEF && s->st_value && ELF64_ST_BIND(s->st_info) != STB_LOCAL &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

static int compare_exports(const void *pa, const void *pb)
{
	const struct dw_export *a = pa, *b = pb;
	int rc = strcmp(a->name, b->name);

	if (!rc)
		rc = a->is_hidden - b->is_hidden;
	return rc ? rc : (a->svma > b->svma) - (a->svma < b->svma);
}

int dw_exports_load(struct dw_exports *t, const struct dw_elf *elf)
{
	size_t names_n, symbols_n, versions_n;
	dw_auto_free uint8_t *symbols = dw_elf_read_named(elf, ".dynsym", &symbols_n);
	dw_auto_free uint8_t *versions = dw_elf_read_named(elf, ".gnu.version", &versions_n);

	t->names = (char *)dw_elf_read_named(elf, ".dynstr", &names_n);
	for (size_t i = 0; i < symbols_n / sizeof(Elf64_Sym); i++) {
		struct dw_export row;
		Elf64_Sym s;
		uint16_t version = 0;

		memcpy(&s, symbols + i * sizeof s, sizeof s);
		if (!is_function(&s) || s.st_name >= names_n)
			continue;
		if ((i + 1) * sizeof version <= versions_n)
			memcpy(&version, versions + i * sizeof version, sizeof version);
		row = (struct dw_export){t->names + s.st_name, s.st_value,
					 version & VERSION_HIDDEN};
		if (dw_vec_push(&t->rows, row))
			return -ENOMEM;
	}
	if (t->rows.n)
		qsort(t->rows.v, t->rows.n, sizeof *t->rows.v, compare_exports);
	return 0;
}

int dw_exports_find(const struct dw_exports *t, const char *name, uint64_t *ret)
{
	size_t i = dw_sorted_count(t->rows.v, t->rows.n, e, strcmp(e->name, name) < 0);

	if (i == t->rows.n || strcmp(t->rows.v[i].name, name))
		return DWELL_ERR_NOT_FOUND;
	*ret = t->rows.v[i].svma;
	return 0;
}

void dw_exports_release(struct dw_exports *t)
{
	dw_vec_release(&t->rows);
	free(t->names);
	t->names = NULL;
}

/* The outermost function at an address is the one whose symbol it is. */
static int take_names(void *ctx, size_t i, struct dw_answer *a)
{
	struct dw_function_names *names = ctx;
	int rc = 0;

	(void)i;
	for (size_t at = 0; a && at < names->n && !rc; at++) {
		uint32_t function = 0;

		if (a->first.v[at + 1] > a->first.v[at])
			function = a->rows.v[a->first.v[at + 1] - 1].function;
		if (function)
			rc = dw_strings_adds(
				&names->strings,
				dw_strings_get(&a->strings, a->functions.v[function].name),
				&names->ids[at]);
	}
	return rc;
}

int dw_function_names_read(const struct dw_module_source *source, const char *path,
			   const uint64_t *svmas, size_t n, struct dw_function_names *ret,
			   struct dw_error *err)
{
	struct dw_question q = dw_question_about(source, path);

	q.svmas = svmas;
	q.n = n;
	q.names_only = true;
	*ret = (struct dw_function_names){.n = n, .ids = calloc(n + 1, sizeof *ret->ids)};
	return ret->ids ? dw_ask(&q, 1, NAMES_TIMEOUT_MS, take_names, ret, err) : -ENOMEM;
}

const char *dw_function_names_get(const struct dw_function_names *names, size_t i)
{
	return names->ids[i] ? dw_strings_get(&names->strings, names->ids[i]) : NULL;
}

void dw_function_names_release(struct dw_function_names *names)
{
	dw_strings_release(&names->strings);
	free(names->ids);
	*names = (struct dw_function_names){0};
}

static int take_statements(void *ctx, size_t i, struct dw_answer *a)
{
	struct dw_statements *ret = ctx;

	(void)i;
	for (size_t k = 0; a && k < a->statements.n; k++)
		if (dw_vec_push(&ret->list, a->statements.v[k]))
			return -ENOMEM;
	return 0;
}

int dw_statements_read(const struct dw_module_source *source, const char *path,
		       struct dw_statements *ret, struct dw_error *err)
{
	struct dw_question q = dw_question_about(source, path);

	q.statements_only = true;
	*ret = (struct dw_statements){0};
	return dw_ask(&q, 1, STATEMENTS_TIMEOUT_MS, take_statements, ret, err);
}

void dw_statements_release(struct dw_statements *s)
{
	dw_vec_release(&s->list);
}
