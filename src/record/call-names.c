/*
 * Names of keys and sites; see call-names.h. What was found is remembered until the process has
 * other modules.
 *
 * Sites are halves of addresses. The caller's own code comes first: its clones, then where its
 * module's calls keep their return addresses; then whatever module has such an address, for calls
 * from code without probes.
 */
#include "record/call-names.h"

#include "base/cleanup.h"
#include "target/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* In the maps, beside frame ids. */
#define IS_EXTERNAL 0x80000000u
#define TRAMPOLINES 0xc0000000u /* how many, times TRAMPOLINE */
#define TRAMPOLINE  0x40000000u
#define NOTHING	    0x3fffffffu

enum {
	TRAMPOLINE_CALL_BYTES = 5,
	CALL_AND_RETURN_BYTES = 13, /* the call may be padded by 3 bytes */
};

static bool is_same(const struct dw_call_place *a, const struct dw_call_place *b)
{
	return a->start == b->start && a->bytes == b->bytes && a->area == b->area &&
	       a->first_id == b->first_id && a->ids_n == b->ids_n && a->module == b->module;
}

int dw_call_names_update(struct dw_call_names *n, int fd, const struct dw_region_head *head)
{
	bool is_changed = false;
	size_t at = n->untold_n;
	int rc = dw_call_methods_read(n->methods, fd, head);

	if (rc == -ENOMEM)
		return rc;
	n->fd = fd;
	for (uint32_t i = 0; i < head->module_n; i++) {
		struct dw_region_module m;
		struct dw_call_place place;

		if (dw_region_read_module(fd, i, &m))
			continue;
		place = (struct dw_call_place){
			.start = m.start,
			.bytes = m.bytes,
			.area = m.area,
			.first_id = m.first_id,
			.ids_n = m.ids_n,
			.module = dw_call_modules_find(n->modules, &m),
		};
		if (at < n->places.n && is_same(&n->places.v[at], &place)) {
			at++;
			continue;
		}
		is_changed = true;
		if (at == n->places.n && dw_vec_push(&n->places, place))
			return -ENOMEM;
		n->places.v[at++] = place;
	}
	if (is_changed) {
		dw_map_release(&n->callees);
		dw_map_release(&n->sites);
	}
	return 0;
}

static bool is_loader(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && (!strncmp(slash + 1, "ld-linux", 8) || !strncmp(slash + 1, "ld-2", 4));
}

int dw_call_names_add_loader(struct dw_call_names *n, const struct dw_region_process *p,
			     const struct dw_rights *own)
{
	const struct dw_mapping *first = NULL;
	struct dw_region_module m = {0};
	struct dw_call_place place = {0};

	dw_vec_each(row, &p->mappings.rows) {
		if (!is_loader(row->path) || (first && strcmp(row->path, first->path)))
			continue;
		first = first ? first : row;
		place.start = first->start;
		place.bytes = row->end - first->start;
	}
	if (!first)
		return 0;
	m.start = first->start;
	snprintf(m.path, sizeof m.path, "%s", first->path);
	place.module = dw_call_modules_find(n->modules, &m);
	if (!place.module)
		place.module = dw_call_modules_add(n->modules, &m, first->path,
						   dw_region_process_open(p, &m, own), p);
	n->untold_n = 1;
	return dw_vec_push(&n->places, place);
}

static int frame_at(struct dw_call_names *n, const struct dw_call_place *place, uint64_t avma,
		    uint32_t *ret)
{
	struct dw_frame f = {.svma = avma};

	if (place && place->module) {
		f.module = place->module->id;
		f.svma = avma - place->start + place->module->start;
	}
	return dw_frames_add(&n->modules->p->frames, f, ret);
}

/* The module that has @avma, the latest of several. NULL = none. */
static const struct dw_call_place *place_of(const struct dw_call_names *n, uint64_t avma)
{
	for (size_t i = n->places.n; i-- > 0;)
		if (avma - n->places.v[i].start < n->places.v[i].bytes)
			return &n->places.v[i];
	return NULL;
}

/* The module whose keys @key is one of. NULL = none. */
static const struct dw_call_place *place_of_key(const struct dw_call_names *n, uint64_t key)
{
	dw_vec_each(p, &n->places) {
		if (p->first_id && key - p->first_id < p->ids_n)
			return p;
	}
	return NULL;
}

/* The frame of the function called @name that the loader would choose. */
static int find_export(struct dw_call_names *n, const char *name, uint32_t *ret)
{
	uint64_t svma;

	for (size_t i = 0; i < n->places.n; i++) {
		/* What the agent does not tell of is asked last. */
		const struct dw_call_place *p = &n->places.v[(i + n->untold_n) % n->places.n];

		if (!p->module || dw_call_module_export(p->module, name, &svma))
			continue;
		if (dw_call_modules_note_import(n->modules, p->module->id, svma, name))
			return -ENOMEM;
		return frame_at(n, p, p->start + svma - p->module->start, ret);
	}
	*ret = 0;
	return 0;
}

/* The frame of import @i of @place. */
static int find_import(struct dw_call_names *n, const struct dw_call_place *place,
		       const struct dw_clone_map *map, uint32_t i, uint32_t *ret)
{
	const struct dw_clone_import *import = &map->imports[i];
	const char *name = NULL;
	int rc = 0;

	*ret = 0;
	if (import->slot)
		name = dw_call_module_import(place->module, place->module->start + import->slot);
	if (name)
		rc = find_export(n, name, ret);
	if (rc || *ret)
		return rc;
	/* The stub has a name of its own. */
	return frame_at(n, place, place->start + (import->stub ? import->stub : import->slot), ret);
}

/* The frame of the method of @key, 0 = it is none: one may have come since the region was read. */
static int find_method(struct dw_call_names *n, uint64_t key, uint32_t *ret)
{
	struct dw_region_head head;
	int rc = dw_call_methods_frame(n->methods, key, ret);

	if (rc || *ret || dw_region_read_head(n->fd, &head))
		return rc;
	rc = dw_call_methods_read(n->methods, n->fd, &head);
	return rc ? rc == -ENOMEM ? rc : 0 : dw_call_methods_frame(n->methods, key, ret);
}

/* What @key means, for the map. */
static int find_callee(struct dw_call_names *n, uint64_t key, uint32_t *ret)
{
	const struct dw_call_place *place;
	const struct dw_clone_map *map;
	uint32_t i, frame = 0;
	int rc = 0;

	*ret = IS_EXTERNAL | NOTHING;
	if (key & DWELL_KEY_ADDRESS) {
		key &= ~DWELL_KEY_ADDRESS;
		rc = frame_at(n, place_of(n, key), key, &frame);
		*ret = frame | IS_EXTERNAL;
		return rc;
	}
	place = place_of_key(n, key & ~DWELL_KEY_LINE);
	if (!place && key < DWELL_KEY_ROOT) {
		rc = find_method(n, key, &frame);
		*ret = frame ? frame : *ret;
		return rc;
	}
	map = place && place->module ? dw_call_module_map(place->module) : NULL;
	if (!map)
		return 0;
	i = (uint32_t)key - place->first_id;
	if (dw_key_is_line(key)) {
		i -= map->functions_n + map->imports_n;
		if (i < map->statements_n)
			rc = frame_at(n, place, place->start + map->statements[i].at, &frame);
		*ret = frame ? frame : *ret;
	} else if (i < map->functions_n) {
		rc = frame_at(n, place, place->start + map->functions[i].start, &frame);
		*ret = frame;
	} else if (i - map->functions_n < map->imports_n) {
		rc = find_import(n, place, map, i - map->functions_n, &frame);
		*ret = frame | IS_EXTERNAL;
	}
	return rc;
}

static int name_callee(void *ctx, uint64_t key, uint32_t *entry, bool *is_external)
{
	struct dw_call_names *n = ctx;
	uint32_t found = dw_map_get(&n->callees, key);
	int rc = 0;

	if (!found) {
		rc = find_callee(n, key, &found);
		if (!rc)
			rc = dw_map_put(&n->callees, key, found);
	}
	*is_external = found & IS_EXTERNAL;
	*entry = (found & ~IS_EXTERNAL) == NOTHING ? 0 : found & ~IS_EXTERNAL;
	return rc;
}

/* How many trampolines stand around the call that @origin is in. */
static uint32_t trampolines_of(const struct dw_clone_origin *origin)
{
	if (origin->behind < TRAMPOLINE_CALL_BYTES)
		return 0;
	return origin->clone_bytes > CALL_AND_RETURN_BYTES ? 2 : 1;
}

/*
 * The last byte of the call at @low in @place: its avma, and how many trampolines stand around it
 * in the clone. False: that is not there.
 */
static bool find_in_place(const struct dw_call_place *place, uint32_t low, bool is_return,
			  uint64_t *ret, uint32_t *trampolines)
{
	struct dw_clone_map *map = place->module ? dw_call_module_map(place->module) : NULL;
	struct dw_clone_origin origin;
	uint32_t offset = low - is_return - (uint32_t)place->area;

	if (map && place->area && offset < map->bytes && !dw_clone_map_find(map, offset, &origin)) {
		*ret = place->start + origin.at + origin.bytes - 1;
		*trampolines = is_return ? trampolines_of(&origin) : 0;
		return true;
	}
	offset = low - is_return - (uint32_t)place->start;
	*ret = place->start + offset;
	*trampolines = 0;
	return offset < place->bytes;
}

static int find_site(struct dw_call_names *n, const struct dw_call_place *caller, uint32_t low,
		     bool is_return, uint32_t *ret)
{
	const struct dw_call_place *place = caller;
	uint64_t avma = 0;
	uint32_t trampolines = 0;
	size_t i = n->places.n;
	int rc;

	while (!place || !find_in_place(place, low, is_return, &avma, &trampolines)) {
		if (!i) {
			*ret = NOTHING;
			return 0;
		}
		place = &n->places.v[--i];
	}
	rc = frame_at(n, place, avma, ret);
	*ret |= trampolines * TRAMPOLINE;
	return rc;
}

static int name_site(void *ctx, uint64_t caller, uint32_t low, bool is_return,
		     struct dw_region_site *ret)
{
	struct dw_call_names *n = ctx;
	const struct dw_call_place *place = caller & DWELL_KEY_ADDRESS
						    ? place_of(n, caller & ~DWELL_KEY_ADDRESS)
						    : place_of_key(n, caller);
	uint64_t which = place ? (uint64_t)(place - n->places.v) + 1 : 0;
	uint64_t key = which << 33 | (uint64_t)low << 1 | is_return;
	uint32_t found = dw_map_get(&n->sites, key);
	int rc = 0;

	if (!found) {
		rc = find_site(n, place, low, is_return, &found);
		if (!rc)
			rc = dw_map_put(&n->sites, key, found);
	}
	*ret = (struct dw_region_site){
		.frame = (found & ~TRAMPOLINES) == NOTHING ? 0 : found & ~TRAMPOLINES,
		.trampolines = (found & TRAMPOLINES) / TRAMPOLINE,
	};
	return rc;
}

struct dw_region_names dw_call_names_of(struct dw_call_names *n)
{
	return (struct dw_region_names){name_callee, name_site, n};
}

void dw_call_names_release(struct dw_call_names *n)
{
	dw_vec_release(&n->places);
	dw_map_release(&n->callees);
	dw_map_release(&n->sites);
}
