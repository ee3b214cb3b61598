/*
 * Modules of a session; see call-modules.h. A module is the same in all processes that call it by
 * one path and have loaded it with one program header table.
 */
#include "record/call-modules.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "code/elf/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Clones stand in the order of their functions; those left alone have none and are stepped over.
 * Calls are asked for by the thousand, so that walks begin at marks, which the first walk through a
 * function leaves.
 */

enum {
	LONG_LENGTH = 15,
	LONG_LENGTH_BYTES = 2,
	MARK_INSTRUCTIONS = 32, /* from one mark to the next */
};

/* Read @n records of @size bytes at @at of the file @fd. NULL: rc in *@rc. */
static void *read_part(int fd, struct dw_clone_part part, size_t size, int *rc)
{
	struct stat st;
	void *p = NULL;

	if (*rc)
		return NULL;
	if (fstat(fd, &st))
		*rc = -errno;
	else if (part.at > st.st_size || part.n > ((uint64_t)st.st_size - part.at) / size)
		*rc = DWELL_ERR_FORMAT;
	else if (!(p = malloc(part.n * size + 1)))
		*rc = -ENOMEM;
	else if (pread(fd, p, part.n * size, part.at) != (ssize_t)(part.n * size))
		*rc = DWELL_ERR_FORMAT;
	return p;
}

int dw_clone_map_load(struct dw_clone_map *m, const char *path,
		      const struct dw_clone_header *header,
		      const struct dw_clone_function_entry *functions)
{
	dw_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc = fd < 0 ? -errno : 0;

	*m = (struct dw_clone_map){
		.functions = functions, .functions_n = header->functions.n, .bytes = header->bytes};
	m->instructions = read_part(fd, header->instructions, 1, &rc);
	m->imports = read_part(fd, header->imports, sizeof *m->imports, &rc);
	m->statements = read_part(fd, header->statements, sizeof *m->statements, &rc);
	if (!rc) {
		m->statements_n = header->statements.n;
		m->instructions_n = header->instructions.n;
		m->imports_n = header->imports.n;
		m->marks_of = calloc((size_t)m->functions_n + 1, sizeof *m->marks_of);
	}
	return rc;
}

/* The function whose clone holds the area offset @at. NULL = none. */
static const struct dw_clone_function_entry *find_function(const struct dw_clone_map *m,
							   uint32_t at)
{
	const struct dw_clone_function_entry *f = m->functions, *found = NULL;
	uint32_t low = 0, high = m->functions_n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2, k = middle;

		while (k > low && !f[k].clone_at)
			k--;
		if (!f[k].clone_at || f[k].clone_at <= at) {
			found = f[k].clone_at ? &f[k] : found;
			low = middle + 1;
		} else {
			high = k;
		}
	}
	return found && at - found->clone_at < found->clone_bytes ? found : NULL;
}

/* The instruction at @at of the walk, of which @f is, and what its clone begins with. The walk goes
 * on to the next one. False: there are no more. */
static bool step(const struct dw_clone_map *m, const struct dw_clone_function_entry *f,
		 struct dw_origin_mark *at, struct dw_clone_origin *ret)
{
	uint32_t bytes, there;

	if (at->instruction >= m->instructions_n || at->module - f->start >= f->bytes)
		return false;
	bytes = m->instructions[at->instruction] >> 4;
	there = m->instructions[at->instruction++] & 15;
	if (there == LONG_LENGTH && m->instructions_n - at->instruction >= LONG_LENGTH_BYTES) {
		there = (uint32_t)m->instructions[at->instruction] |
			(uint32_t)m->instructions[at->instruction + 1] << 8;
		at->instruction += LONG_LENGTH_BYTES;
	}
	*ret = (struct dw_clone_origin){.at = at->module, .bytes = bytes, .clone_bytes = there};
	at->clone += there;
	at->module += bytes;
	return true;
}

static struct dw_origin_mark start_of(const struct dw_clone_function_entry *f)
{
	return (struct dw_origin_mark){f->instructions, f->clone_at, f->start};
}

/* Walk all of @f and leave marks. 0 or -ENOMEM. */
static int leave_marks(struct dw_clone_map *m, const struct dw_clone_function_entry *f)
{
	struct dw_origin_marks *marks = &m->marks_of[f - m->functions];
	struct dw_origin_mark at = start_of(f);
	struct dw_clone_origin unused;

	marks->first = (uint32_t)m->marks.n;
	do {
		if (dw_vec_push(&m->marks, at))
			return -ENOMEM;
		marks->n++;
		for (int i = 1; i < MARK_INSTRUCTIONS && step(m, f, &at, &unused); i++)
			;
	} while (step(m, f, &at, &unused));
	return 0;
}

/* The last mark in @f at or before @at. */
static struct dw_origin_mark find_mark(struct dw_clone_map *m,
				       const struct dw_clone_function_entry *f, uint32_t at)
{
	struct dw_origin_marks marks = {0};
	uint32_t low = 0, high;

	if (m->marks_of && (m->marks_of[f - m->functions].n || !leave_marks(m, f)))
		marks = m->marks_of[f - m->functions];
	for (high = marks.n; high - low > 1;) {
		uint32_t middle = low + (high - low) / 2;

		if (m->marks.v[marks.first + middle].clone <= at)
			low = middle;
		else
			high = middle;
	}
	return marks.n ? m->marks.v[marks.first + low] : start_of(f);
}

int dw_clone_map_find(struct dw_clone_map *m, uint32_t at, struct dw_clone_origin *ret)
{
	const struct dw_clone_function_entry *f = find_function(m, at);
	struct dw_origin_mark walk = f ? find_mark(m, f, at) : (struct dw_origin_mark){0};

	while (f && step(m, f, &walk, ret)) {
		if (at < walk.clone) {
			ret->behind = walk.clone - at - 1;
			return 0;
		}
	}
	return DWELL_ERR_NOT_FOUND;
}

uint32_t dw_clone_map_function(const struct dw_clone_map *m, uint32_t at)
{
	const struct dw_clone_function_entry *f = find_function(m, at);

	return f ? (uint32_t)(f - m->functions) : m->functions_n;
}

bool dw_clone_map_is_probe(const struct dw_clone_map *m, uint32_t i, uint32_t at)
{
	return at - m->functions[i].clone_at < m->functions[i].prefix_bytes;
}

void dw_clone_map_release(struct dw_clone_map *m)
{
	free(m->instructions);
	free(m->imports);
	free(m->statements);
	dw_vec_release(&m->marks);
	free(m->marks_of);
	*m = (struct dw_clone_map){0};
}

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

/* Of two names of one function the shorter one, else the first in the alphabet: whichever process
 * was seen first, which differs from run to run. */
static bool is_preferred(const char *name, const char *other)
{
	size_t n = strlen(name), other_n = strlen(other);

	return n != other_n ? n < other_n : strcmp(name, other) < 0;
}

int dw_call_modules_note_import(struct dw_call_modules *t, uint32_t id, uint64_t svma,
				const char *name)
{
	uint32_t row = dw_pairs_add(&t->imported, id, svma), text;
	bool is_new = row > t->imported_names.n;

	if (!row)
		return -ENOMEM;
	if (!is_new &&
	    !is_preferred(name, dw_strings_get(&t->strings, t->imported_names.v[row - 1])))
		return 0;
	if (dw_strings_adds(&t->strings, name, &text))
		return -ENOMEM;
	if (is_new)
		return dw_vec_push(&t->imported_names, text);
	t->imported_names.v[row - 1] = text;
	return 0;
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
