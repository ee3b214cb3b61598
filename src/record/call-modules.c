/*
 * Modules of a session; see call-modules.h. A module is the same in all processes that call it by
 * one path and have loaded it with one program header table.
 */
#include "record/call-modules.h"

#include "base/cleanup.h"
#include "code/elf/elf.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct dw_call_module *dw_call_modules_find(const struct dw_call_modules *t,
					    const struct dw_region_module *m)
{
	dw_vec_each(row, &t->rows) {
		if ((*row)->headers_hash == m->headers_hash && !strcmp((*row)->path, m->path))
			return *row;
	}
	return NULL;
}

/* The row of the profile for the module called @path, whose file is open as @fd. */
static int add_row(struct dw_profile *p, const char *path, int fd, struct dw_call_module *m)
{
	const char *slash = strrchr(path, '/');
	struct dw_module row = {.kind = DWELL_MODULE_FILE};
	struct stat st;
	int rc = dw_strings_adds(&p->strings, path, &row.path);

	if (!rc)
		rc = dw_strings_adds(&p->strings, slash ? slash + 1 : path, &row.name);
	if (rc)
		return rc;
	if (fd >= 0 && !fstat(fd, &st)) {
		row.device = st.st_dev;
		row.inode = st.st_ino;
	}
	if (m->elf)
		row.build_id_bytes =
			(uint8_t)dw_elf_build_id(m->elf, row.build_id, sizeof row.build_id);
	return dw_modules_add(&p->modules, &row, &m->id);
}

/* Note where the bytes of module @id come from. */
static int add_source(struct dw_call_modules *t, uint32_t id, const struct dw_module_source *source)
{
	static const struct dw_module_source none = {.fd = -1, .root_fd = -1};

	while (t->sources.n <= id)
		if (dw_vec_push(&t->sources, none))
			return -ENOMEM;
	t->sources.v[id] = *source;
	return 0;
}

static void free_module(struct dw_call_module *m)
{
	dw_exports_release(&m->exports);
	dw_plt_release(&m->imports);
	dw_clone_map_release(&m->map);
	dw_elf_free(m->elf);
	free(m);
}

/* Where the module whose file is @fd comes from: what our user's processes may read we may, too. */
static struct dw_module_source source_of(const struct dw_call_modules *t, int fd,
					 const struct dw_region_process *p)
{
	struct dw_module_source source = {.fd = fd, .root_fd = -1, .uid = p->uid, .gid = p->gid};

	if (!t->own || t->own->uid != p->uid)
		return source;
	source.gid = t->own->gid;
	source.groups = t->own->groups.v;
	source.groups_n = t->own->groups.n;
	return source;
}

struct dw_call_module *dw_call_modules_add(struct dw_call_modules *t,
					   const struct dw_region_module *m, const char *file,
					   int fd, const struct dw_region_process *p)
{
	struct dw_module_source source = source_of(t, fd, p);
	struct dw_call_module *row =
		t->rows.n < DWELL_CALL_MODULES_MAX ? calloc(1, sizeof *row) : NULL;

	if (!row || dw_vec_reserve(&t->rows, 1)) {
		dw_cleanup_close(&fd);
		free(row);
		return NULL;
	}
	memcpy(row->path, m->path, sizeof row->path);
	row->headers_hash = m->headers_hash;
	if (fd >= 0 && !dw_elf_open(fd, &row->elf, NULL))
		row->start = dw_module_start(row->elf);
	if (add_row(t->p, file, fd, row) || add_source(t, row->id, &source)) {
		dw_cleanup_close(&fd);
		free_module(row);
		return NULL;
	}
	t->rows.v[t->rows.n++] = row;
	return row;
}

static const struct dw_exports *exports_of(struct dw_call_module *m)
{
	if (!m->has_exports && m->elf)
		(void)dw_exports_load(&m->exports, m->elf);
	m->has_exports = true;
	return &m->exports;
}

int dw_call_module_export(struct dw_call_module *m, const char *name, uint64_t *ret)
{
	return dw_exports_find(exports_of(m), name, ret);
}

int dw_call_modules_note_import(struct dw_call_modules *t, uint32_t id, uint64_t svma,
				const char *name)
{
	uint32_t row = dw_pairs_add(&t->imported, id, svma), text;
	int rc = row ? 0 : -ENOMEM;

	if (!rc && row <= t->imported_names.n)
		return 0;
	if (!rc)
		rc = dw_strings_adds(&t->strings, name, &text);
	return rc ? rc : dw_vec_push(&t->imported_names, text);
}

const char *dw_call_modules_import_name(void *ctx, uint32_t module, uint64_t svma)
{
	const struct dw_call_modules *t = ctx;
	uint32_t row = dw_pairs_find(&t->imported, module, svma);

	return row && row <= t->imported_names.n
		       ? dw_strings_get(&t->strings, t->imported_names.v[row - 1])
		       : NULL;
}

static const struct dw_plt *imports_of(struct dw_call_module *m)
{
	if (!m->has_imports && m->elf)
		(void)dw_plt_load(&m->imports, m->elf);
	m->has_imports = true;
	return &m->imports;
}

const char *dw_call_module_import(struct dw_call_module *m, uint64_t svma)
{
	return dw_plt_slot_name(imports_of(m), svma);
}

struct dw_clone_map *dw_call_module_map(struct dw_call_module *m)
{
	if (!m->image || m->image->state != DWELL_IMAGE_READY)
		return NULL;
	if (!m->has_map &&
	    dw_clone_map_load(&m->map, m->image->image, &m->image->header, m->image->functions))
		dw_clone_map_release(&m->map);
	m->has_map = true;
	return m->map.functions ? &m->map : NULL;
}

bool dw_call_modules_prepare(struct dw_call_modules *t)
{
	struct dw_call_module *m;

	if (t->prepared == t->rows.n)
		return false;
	m = t->rows.v[t->prepared++];
	(void)exports_of(m);
	if (dw_call_module_map(m))
		(void)imports_of(m);
	return true;
}

void dw_call_modules_release(struct dw_call_modules *t)
{
	dw_vec_each(m, &t->rows)
		free_module(*m);
	dw_vec_each(s, &t->sources)
		dw_cleanup_close(&s->fd);
	dw_vec_release(&t->rows);
	dw_vec_release(&t->sources);
	dw_pairs_release(&t->imported);
	dw_vec_release(&t->imported_names);
	dw_strings_release(&t->strings);
}
