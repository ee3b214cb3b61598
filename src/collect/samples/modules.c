/*
 * The registry of modules; see modules.h.
 *
 * What the kernel calls device and inode in a record is what identifies a file here. Inode numbers
 * are reused, hence the generation; /proc/PID/maps does not tell it (0), which then matches any.
 */
#include "collect/samples/modules.h"

#include "base/error.h"
#include "target/file.h"
#include "target/memory.h"
#include "target/maps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/*
 * The path may lead to another file by now, so what it gives must be the mapped inode. Overlay and
 * btrfs report other numbers by stat() than in mappings: there the text in the process's memory is
 * compared with the file's, and once the process is gone an equal inode number must do. The links
 * of /proc/PID lead to the very file: exe is open to all who may look at the process, map_files to
 * privileged ones.
 */

enum { COMPARED_BYTES = 32 << 10 };

/* Whether the text that the process has mapped is what stands in the file @fd. */
static bool is_same_text(const struct dw_opening *o, int fd, bool inode_is_equal)
{
	static const size_t step = 4096;
	uint8_t there[4096], here[4096];

	for (size_t at = 0; at < COMPARED_BYTES && at < o->mapping->bytes; at += step) {
		ssize_t n = dw_memory_read(o->pid, o->mapping->start + at, there, step);

		if (n <= 0)
			return at ? true : inode_is_equal;
		if (pread(fd, here, (size_t)n, (off_t)(o->mapping->offset + at)) <= 0)
			return at ? true : inode_is_equal;
		if (memcmp(there, here, (size_t)n))
			return false;
	}
	return true;
}

static bool is_mapped_file(const struct dw_opening *o, int fd)
{
	struct stat st;
	bool inode_is_equal;

	if (fstat(fd, &st))
		return false;
	inode_is_equal = st.st_ino == o->mapping->inode;
	if (inode_is_equal && st.st_dev == makedev(o->mapping->major_no, o->mapping->minor_no))
		return true;
	return is_same_text(o, fd, inode_is_equal);
}

/* Make an image of @fd, which is closed if that fails. */
static int image_of(const struct dw_opening *o, int fd, struct dw_opened *ret)
{
	int rc;

	if (!is_mapped_file(o, fd)) {
		close(fd);
		return DWELL_ERR_NOT_FOUND;
	}
	rc = dw_image_open(fd, o->cache_dir, &ret->image, NULL);
	if (rc)
		close(fd);
	return rc;
}

static int open_by_path(const struct dw_opening *o, struct dw_opened *ret)
{
	int fd;

	if (o->deleted)
		return DWELL_ERR_NOT_FOUND;
	fd = dw_target_file_open(o->owner->root_fd, o->path, &o->owner->rights, &o->own->rights);
	return fd < 0 ? fd : image_of(o, fd, ret);
}

static int open_by_link(const struct dw_opening *o, const char *name, struct dw_opened *ret)
{
	int fd = dw_target_link_open(o->pid, name, &o->owner->rights, &o->own->rights);

	return fd < 0 ? fd : image_of(o, fd, ret);
}

static int open_by_map_files(const struct dw_opening *o, struct dw_opened *ret)
{
	char name[64];

	snprintf(name, sizeof name, "map_files/%llx-%llx", (unsigned long long)o->mapping->start,
		 (unsigned long long)(o->mapping->start + o->mapping->bytes));
	return open_by_link(o, name, ret);
}

/* Copy the image out of memory: its header is mapped where the file's offset 0 is. */
static int copy_from_memory(const struct dw_opening *o, struct dw_opened *ret)
{
	struct dw_mappings m;
	uint64_t base = 0;
	int rc = dw_mappings_read(o->pid, &m);

	if (rc)
		return rc;
	dw_vec_each(row, &m.rows) {
		if (row->inode == o->mapping->inode && !row->offset &&
		    row->device == makedev(o->mapping->major_no, o->mapping->minor_no) &&
		    row->start <= o->mapping->start)
			base = row->start;
	}
	dw_mappings_release(&m);
	return base ? dw_image_copy(o->pid, base, o->cache_dir, &ret->image, NULL)
		    : DWELL_ERR_NOT_FOUND;
}

/* Open what @o describes. 0; DWELL_ERR_NOT_FOUND when there is no way. @ret is written on success
 * only. */
static int module_open(const struct dw_opening *o, struct dw_opened *ret)
{
	struct dw_opened opened = {0};
	int rc = open_by_path(o, &opened);
	bool forbidden = rc == -EACCES || rc == -EPERM;

	/* Not ELF, or for another processor: no other way leads to a better file. */
	if (rc == DWELL_ERR_FORMAT || rc == DWELL_ERR_UNSUPPORTED)
		return rc;
	if (rc) {
		opened.replaced = !forbidden;
		rc = open_by_link(o, "exe", &opened);
		if (rc)
			rc = open_by_map_files(o, &opened);
		forbidden |= rc == -EACCES && !dw_rights_equal(&o->owner->rights, &o->own->rights);
	}
	if (rc && rc != DWELL_ERR_FORMAT && rc != DWELL_ERR_UNSUPPORTED) {
		opened.is_private = forbidden;
		rc = copy_from_memory(o, &opened);
	}
	if (!rc)
		*ret = opened;
	return rc;
}

enum { TRIES_MAX = 8 };

#define DELETED_SUFFIX " (deleted)"

/* Whether @path ends in what the kernel puts behind names of files that are gone. */
static bool is_deleted(const char *path)
{
	size_t n = strlen(path), suffix = strlen(DELETED_SUFFIX);

	return n > suffix && !strcmp(path + n - suffix, DELETED_SUFFIX);
}

static int fill_row(struct dw_profile *p, struct dw_module *row, const char *path,
		    size_t path_bytes)
{
	const char *slash = memrchr(path, '/', path_bytes);
	const char *name = slash ? slash + 1 : path;
	int rc = dw_strings_add(&p->strings, path, path_bytes, &row->path);

	return rc ? rc
		  : dw_strings_add(&p->strings, name, path_bytes - (size_t)(name - path),
				   &row->name);
}

/* Append a module with an empty state and source. */
static int add_module(struct dw_perf_modules *m, const struct dw_module *row, uint32_t *ret)
{
	struct dw_module_source none = {.fd = -1, .root_fd = -1};
	size_t n = dw_modules_count(&m->profile->modules) + 2;
	int rc;

	if (dw_vec_reserve(&m->states, n - m->states.n) ||
	    dw_vec_reserve(&m->sources, n - m->sources.n))
		return -ENOMEM;
	rc = dw_modules_add(&m->profile->modules, row, ret);
	if (rc)
		return rc;
	while (m->states.n < n)
		m->states.v[m->states.n++] = (struct dw_module_state){0};
	while (m->sources.n < n)
		m->sources.v[m->sources.n++] = none;
	return 0;
}

struct file_key {
	const struct dw_perf_modules *modules;
	dev_t device;
	uint64_t inode;
	uint64_t generation; /* 0 = any */
};

static bool is_equal_file(const void *ctx, uint32_t id)
{
	const struct file_key *k = ctx;
	const struct dw_module *row = dw_modules_get(&k->modules->profile->modules, id);
	uint64_t generation = k->modules->states.v[id].generation;

	return row->device == k->device && row->inode == k->inode &&
	       (generation == k->generation || !generation || !k->generation);
}

static int file_module(struct dw_perf_modules *m, const struct dw_perf_mapping *mapping,
		       uint32_t *ret)
{
	struct file_key key = {m, makedev(mapping->major_no, mapping->minor_no), mapping->inode,
			       mapping->generation};
	uint32_t hash = (uint32_t)dw_hash_u64(dw_hash_u64(key.device) ^ key.inode);
	uint32_t id = dw_idset_find(&m->by_file, hash, is_equal_file, &key);
	struct dw_module row = {
		.kind = DWELL_MODULE_FILE, .device = key.device, .inode = key.inode};
	size_t path_bytes = strlen(mapping->path);
	int rc;

	if (!id) {
		row.deleted = is_deleted(mapping->path);
		if (row.deleted)
			path_bytes -= strlen(DELETED_SUFFIX);
		rc = fill_row(m->profile, &row, mapping->path, path_bytes);
		if (!rc)
			rc = add_module(m, &row, &id);
		if (!rc)
			rc = dw_idset_add(&m->by_file, hash, id);
		if (rc)
			return rc;
		m->states.v[id].generation = key.generation;
	}
	*ret = id;
	return 0;
}

/* A module without a file: made once and remembered in *@id. */
static int special_module(struct dw_perf_modules *m, enum dw_module_kind kind, const char *path,
			  uint32_t *id)
{
	struct dw_module row = {.kind = kind};
	int rc;

	if (*id)
		return 0;
	rc = fill_row(m->profile, &row, path, strlen(path));
	return rc ? rc : add_module(m, &row, id);
}

/* Note what @image tells of the module @id, and make it the module's. */
static void adopt_image(struct dw_perf_modules *m, uint32_t id, const struct dw_opened *opened,
			const struct dw_owner *owner)
{
	struct dw_module *row = dw_modules_get(&m->profile->modules, id);
	struct dw_module_source *source = &m->sources.v[id];
	size_t n;
	const uint8_t *build_id = dw_image_build_id(opened->image, &n);

	m->states.v[id].image = opened->image;
	row->build_id_bytes =
		(uint8_t)(n < DWELL_BUILD_ID_MAX_BYTES ? n : DWELL_BUILD_ID_MAX_BYTES);
	memcpy(row->build_id, build_id, row->build_id_bytes);
	row->deleted |= opened->replaced;
	if (opened->is_private)
		return;
	source->fd = dw_image_fd(opened->image);
	source->image = dw_image_bytes(opened->image, &source->image_bytes);
	source->cfi = dw_image_cfi(opened->image);
	source->root_fd = owner->root_fd;
	source->uid = owner->rights.uid;
	source->gid = owner->rights.gid;
	source->groups = owner->rights.groups.v;
	source->groups_n = owner->rights.groups.n;
}

/* Have somebody else find the bytes of the module @id. */
static void find_elsewhere(struct dw_perf_modules *m, uint32_t id)
{
	const struct dw_module *row = dw_modules_get(&m->profile->modules, id);
	const struct dw_owner *own = dw_owners_self(m->owners);
	const char *path = dw_strings_get(&m->profile->strings, row->path);
	struct dw_opened opened = {0};

	if (own && !m->find(m->find_ctx, path, row->kind == DWELL_MODULE_VDSO, &opened.image))
		adopt_image(m, id, &opened, own);
}

/* Get at the bytes of the module @id if that has not been done, nor been tried too often. */
static void open_module(struct dw_perf_modules *m, const struct dw_mapper *who,
			const struct dw_perf_mapping *mapping, uint32_t id)
{
	struct dw_module_state *state = &m->states.v[id];
	struct dw_module *row = dw_modules_get(&m->profile->modules, id);
	struct dw_opened opened = {0};
	const struct dw_owner *own;

	if (state->image || state->tries >= TRIES_MAX)
		return;
	state->tries++;
	if (m->find)
		find_elsewhere(m, id);
	if (m->offline)
		return;
	own = dw_owners_self(m->owners);
	*who->owner = dw_owners_get(m->owners, who->pid, *who->owner ? *who->owner : own);
	if (!*who->owner)
		return;
	if (row->kind == DWELL_MODULE_VDSO) {
		if (dw_image_vdso(m->cache_dir, &opened.image, NULL))
			return;
	} else if (module_open(&(struct dw_opening){who->pid, *who->owner, own, mapping,
						    dw_strings_get(&m->profile->strings, row->path),
						    row->deleted, m->cache_dir},
			       &opened)) {
		return;
	}
	adopt_image(m, id, &opened, *who->owner);
}

/* The module of @mapping by what kind of memory it is. *@ret_svma_is_avma: code without a file. */
static int find_module(struct dw_perf_modules *m, const struct dw_mapper *who,
		       const struct dw_perf_mapping *mapping, uint32_t *ret)
{
	int rc;

	if (!strcmp(mapping->path, "[vdso]")) {
		rc = special_module(m, DWELL_MODULE_VDSO, "[vdso]", &m->vdso);
		*ret = m->vdso;
		return rc;
	}
	if (mapping->inode && mapping->path[0] == '/')
		return file_module(m, mapping, ret);
	rc = special_module(m, DWELL_MODULE_ANON, "[anon]", who->anon);
	*ret = *who->anon;
	return rc;
}

int dw_perf_modules_map(struct dw_perf_modules *m, const struct dw_mapper *who,
			const struct dw_perf_mapping *mapping, struct dw_space_range *ret)
{
	const struct dw_image *image;
	uint64_t bias = mapping->start - mapping->offset;
	uint32_t id;
	int rc = find_module(m, who, mapping, &id);

	if (rc)
		return rc;
	if (dw_modules_get(&m->profile->modules, id)->kind == DWELL_MODULE_ANON)
		bias = 0;
	else
		open_module(m, who, mapping, id);
	image = m->states.v[id].image;
	if (image)
		dw_image_bias(image, mapping->start, mapping->offset, &bias);
	*ret = (struct dw_space_range){.start = mapping->start,
				       .end = mapping->start + mapping->bytes,
				       .bias = bias,
				       .module = id,
				       .cfi = image ? dw_image_cfi(image) : NULL};
	return 0;
}

int dw_perf_modules_kernel(struct dw_perf_modules *m, uint32_t *ret)
{
	int rc = special_module(m, DWELL_MODULE_KERNEL, "[kernel]", &m->kernel);

	*ret = m->kernel;
	return rc;
}

const struct dw_elf *dw_perf_modules_elf(const struct dw_perf_modules *m, uint32_t id)
{
	const struct dw_image *image = id < m->states.n ? m->states.v[id].image : NULL;

	return image ? dw_image_elf(image) : NULL;
}

const struct dw_module_source *dw_perf_modules_sources(struct dw_perf_modules *m, size_t *n)
{
	struct dw_module_source none = {.fd = -1, .root_fd = -1};

	if (!m->sources.n && dw_vec_push(&m->sources, none))
		return NULL;
	*n = m->sources.n;
	return m->sources.v;
}

void dw_perf_modules_release(struct dw_perf_modules *m)
{
	dw_vec_each(state, &m->states)
		dw_image_free(state->image);
	dw_vec_release(&m->states);
	dw_vec_release(&m->sources);
	dw_idset_release(&m->by_file);
}
