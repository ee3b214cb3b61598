/*
 * The registry of modules; see modules.h. Getting at a module's bytes is in module-open.c.
 *
 * What the kernel calls device and inode in a record is what identifies a file here. Inode numbers
 * are reused, hence the generation; /proc/PID/maps does not tell it (0), which then matches any.
 */
#include "collect/sampled/modules.h"

#include "collect/sampled/module-open.h"
#include "target/memory.h"

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

enum { TRIES_MAX = 8 };

#define DELETED_SUFFIX " (deleted)"

/* Whether @path ends in what the kernel puts behind names of files that are gone. */
static bool is_deleted(const char *path)
{
	size_t n = strlen(path), suffix = strlen(DELETED_SUFFIX);

	return n > suffix && !strcmp(path + n - suffix, DELETED_SUFFIX);
}

/* A row for a module whose path is the first @path_bytes of @path. */
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

/* The module of a mapped file. */
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
	} else if (dw_module_open(
			   &(struct dw_opening){who->pid, *who->owner, own, mapping,
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
