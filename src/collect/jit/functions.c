/*
 * Functions of JIT code; see functions.h. Those of .NET are named as its agent names them and are
 * in their assembly's module, which may be there already by what is mapped of it; all others are in
 * one module, whatever process made them.
 */
#include "collect/jit/functions.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "code/clr/method-name.h"
#include "code/jit/perf-map.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/*
 * The list is read again for a name that it lacks, as methods of an assembly are told of after it
 * has been mapped, but not for each of many.
 */

#define LOOK_NS 200000000ull

#define SUFFIX ".dll"

static const char *find(const struct dw_jit_assemblies *a, const char *name, size_t n)
{
	dw_vec_each(m, &a->maps.rows) {
		const char *slash = strrchr(m->path, '/');

		if (slash && m->path[0] == '/' && !strncmp(slash + 1, name, n) &&
		    !strcmp(slash + 1 + n, SUFFIX))
			return m->path;
	}
	return NULL;
}

/* The path of the assembly that process @pid calls the @n bytes at @name, borrowed until the next
 * call. NULL = none is mapped, or the process is gone. */
static const char *jit_assembly_path(struct dw_jit_assemblies *a, pid_t pid, const char *name,
				     size_t n)
{
	const char *path = find(a, name, n);
	uint64_t now_ns = path ? 0 : dw_clock_ns(CLOCK_MONOTONIC);

	if (path || now_ns < a->look_at_ns)
		return path;
	a->look_at_ns = now_ns + LOOK_NS;
	dw_mappings_release(&a->maps);
	return dw_mappings_read(pid, &a->maps) ? NULL : find(a, name, n);
}

void dw_jit_assemblies_release(struct dw_jit_assemblies *a)
{
	dw_mappings_release(&a->maps);
}

#define OTHERS "[JIT]"

#define METHOD_BYTES ((uint64_t)1 << 32) /* of svmas */

enum { NAME_MAX_BYTES = 4096 };

struct lookup {
	const struct dw_jit_functions *table;
	struct dw_jit_function f;
};

static bool is_equal(const void *ctx, uint32_t id)
{
	const struct lookup *l = ctx;
	const struct dw_jit_function *a = &l->table->rows.v[id - 1], *b = &l->f;

	return a->module == b->module && a->name == b->name && a->file == b->file &&
	       a->line == b->line;
}

/* The module of JIT code of the path @path that is called @name. */
static int get_named(struct dw_profile *p, struct dw_jit_text path, struct dw_jit_text name,
		     uint32_t *ret)
{
	struct dw_module m = {.kind = DWELL_MODULE_JIT};
	int rc = dw_strings_add(&p->strings, path.at, path.n, &m.path);

	if (!rc)
		rc = dw_strings_add(&p->strings, name.at, name.n, &m.name);
	for (uint32_t id = 1; !rc && id <= dw_modules_count(&p->modules); id++) {
		const struct dw_module *known = dw_modules_get(&p->modules, id);

		if (known->kind == m.kind && known->path == m.path) {
			*ret = id;
			return 0;
		}
	}
	return rc ? rc : dw_modules_add(&p->modules, &m, ret);
}

/* The module of JIT code that is called @name. */
static int get_module(struct dw_profile *p, struct dw_jit_text name, uint32_t *ret)
{
	return get_named(p, name, name, ret);
}

int dw_jit_functions_module(struct dw_jit_functions *t, uint32_t *ret)
{
	return get_module(t->p, (struct dw_jit_text){OTHERS, strlen(OTHERS)}, ret);
}

/* The module of the assembly @path, which its precompiled code lies in, too. */
static int get_assembly(struct dw_profile *p, const char *path, uint32_t *ret)
{
	struct dw_module m = {.kind = DWELL_MODULE_JIT};
	int rc = dw_strings_adds(&p->strings, path, &m.path);

	for (uint32_t id = 1; !rc && id <= dw_modules_count(&p->modules); id++) {
		const struct dw_module *known = dw_modules_get(&p->modules, id);

		if (known->path == m.path && !known->deleted) {
			*ret = id;
			return 0;
		}
	}
	if (!rc)
		rc = dw_strings_adds(&p->strings, strrchr(path, '/') + 1, &m.name);
	return rc ? rc : dw_modules_add(&p->modules, &m, ret);
}

static struct dw_jit_text shortened(struct dw_jit_text t)
{
	return (struct dw_jit_text){t.at, t.n < NAME_MAX_BYTES ? t.n : NAME_MAX_BYTES};
}

static int find_module(struct dw_jit_functions *t, const struct dw_jit_teller *who,
		       const struct dw_jit_name *name, uint32_t *ret)
{
	struct dw_jit_text assembly = shortened(name->assembly);
	const char *path =
		assembly.n ? jit_assembly_path(who->assemblies, who->pid, assembly.at, assembly.n)
			   : NULL;

	if (path)
		return get_assembly(t->p, path, ret);
	return assembly.n ? get_module(t->p, assembly, ret) : dw_jit_functions_module(t, ret);
}

/* The ids of what @name tells. */
static int intern(struct dw_jit_functions *t, const struct dw_jit_teller *who,
		  const struct dw_jit_name *name, struct dw_jit_function *ret)
{
	struct dw_jit_text shown = shortened(name->name), file = shortened(name->file);
	dw_auto(dw_buf) method = DW_BUF_INIT;
	int rc = 0;

	*ret = (struct dw_jit_function){.line = name->line};
	if (name->assembly.n) {
		dw_method_name_put_mapped(&method, shown.at, shown.n);
		rc = method.failed ? -ENOMEM : 0;
		shown = (struct dw_jit_text){method.data, method.len};
	}
	if (!rc)
		rc = find_module(t, who, name, &ret->module);
	if (!rc)
		rc = dw_strings_add(&t->texts, shown.at, shown.n, &ret->name);
	return rc ? rc : dw_strings_add(&t->texts, file.at, file.n, &ret->file);
}

/* Append @f to the table, and its name to the profile. */
static int append(struct dw_jit_functions *t, const struct dw_jit_function *f, uint32_t hash)
{
	struct dw_alloc_method method = {.module = f->module};
	uint32_t id;
	int rc;

	if (t->rows.n >= DWELL_JIT_FUNCTIONS_MAX)
		return DWELL_ERR_LIMIT;
	rc = dw_vec_push(&t->rows, *f);
	if (rc)
		return rc;
	method.token = (uint32_t)t->rows.n;
	rc = dw_idset_add(&t->set, hash, method.token);
	if (!rc)
		rc = dw_strings_add(&t->p->strings, dw_strings_get(&t->texts, f->name),
				    dw_strings_len(&t->texts, f->name), &method.name);
	return rc ? rc : dw_allocations_method(&t->p->allocations, &method, &id);
}

/* The function that is equal to @l's, added when new. */
static int find_or_append(struct dw_jit_functions *t, const struct lookup *l, uint32_t *ret)
{
	uint32_t hash = (uint32_t)dw_hash_u64((uint64_t)l->f.module << 32 ^
					      (uint64_t)l->f.file << 16 ^ l->f.name);
	int rc;

	*ret = dw_idset_find(&t->set, hash, is_equal, l);
	if (*ret)
		return 0;
	rc = append(t, &l->f, hash);
	*ret = rc ? 0 : (uint32_t)t->rows.n;
	return rc;
}

int dw_jit_functions_add(struct dw_jit_functions *t, const struct dw_jit_teller *who,
			 const char *name, size_t n, uint32_t *ret)
{
	const struct dw_jit_name parts = dw_jit_name_read(name, n);
	struct lookup l = {.table = t};
	int rc = intern(t, who, &parts, &l.f);

	return rc ? rc : find_or_append(t, &l, ret);
}

int dw_jit_functions_declare(struct dw_jit_functions *t, const struct dw_jit_declaration *d,
			     uint32_t *ret)
{
	struct lookup l = {.table = t, .f.line = d->line};
	int rc = get_named(t->p, (struct dw_jit_text){d->module_path, strlen(d->module_path)},
			   (struct dw_jit_text){d->module_name, strlen(d->module_name)},
			   &l.f.module);

	if (!rc)
		rc = dw_strings_adds(&t->texts, d->name, &l.f.name);
	if (!rc)
		rc = dw_strings_adds(&t->texts, d->file, &l.f.file);
	return rc ? rc : find_or_append(t, &l, ret);
}

uint64_t dw_jit_functions_place(struct dw_jit_functions *t, uint32_t id, uint64_t bytes)
{
	struct dw_jit_function *f = &t->rows.v[id - 1];
	uint64_t at = f->bytes;

	/* What is too much for the space shares its beginning: its instructions are not told apart.
	 */
	if (bytes >= METHOD_BYTES - at)
		at = 0;
	else
		f->bytes += bytes;
	return (uint64_t)id << 32 | at;
}

uint64_t dw_jit_functions_inside(uint64_t piece, uint64_t offset)
{
	return offset < METHOD_BYTES - (uint32_t)piece ? piece + offset : piece;
}

const struct dw_jit_function *dw_jit_functions_at(const struct dw_jit_functions *t, uint64_t svma)
{
	uint64_t id = svma >> 32;

	return id && id <= t->rows.n ? &t->rows.v[id - 1] : NULL;
}

void dw_jit_functions_release(struct dw_jit_functions *t)
{
	dw_strings_release(&t->texts);
	dw_vec_release(&t->rows);
	dw_idset_release(&t->set);
}

/*
 * Code at an address may change while its names are kept back, so a frame stands for some tenths of
 * a second only.
 */

#define STANDS_FOR_NS 200000000ull

enum { FIRST = DWELL_JIT_FUNCTIONS_MAX + 1, ROWS_MAX = 1 << 20 };

int dw_jit_pending_add(struct dw_jit_pendings *t, struct dw_jit_open *open, uint64_t avma,
		       uint64_t time_ns, uint64_t *ret)
{
	uint32_t known = dw_map_get(&open->by_avma, avma), row = (uint32_t)t->rows.n;

	if (known && time_ns - t->rows.v[known - 1].time_ns < STANDS_FOR_NS) {
		*ret = (uint64_t)dw_jit_pending_token(known - 1) << 32;
		return 0;
	}
	if (row >= ROWS_MAX)
		return DWELL_ERR_LIMIT;
	if (dw_vec_push(&t->rows, (struct dw_jit_pending){avma, time_ns, 0}) ||
	    dw_vec_push(&open->rows, row) || dw_map_put(&open->by_avma, avma, row + 1))
		return -ENOMEM;
	*ret = (uint64_t)dw_jit_pending_token(row) << 32;
	return 0;
}

uint32_t dw_jit_pending_token(uint32_t row)
{
	return FIRST + row;
}

const struct dw_jit_pending *dw_jit_pending_at(const struct dw_jit_pendings *t, uint64_t svma)
{
	uint64_t token = svma >> 32;

	return token >= FIRST && token - FIRST < t->rows.n ? &t->rows.v[token - FIRST] : NULL;
}

void dw_jit_open_release(struct dw_jit_open *open)
{
	dw_vec_release(&open->rows);
	dw_map_release(&open->by_avma);
}
