/*
 * Limits of overhead; see call-overhead.h.
 *
 * What is decided is done in two steps, the second at the next decision, when the agent has done
 * the first: so activations that were open lose none of their time. A fork's child begins with what
 * its parent had disabled.
 */
#include "record/call-overhead.h"

#include "base/cleanup.h"

#include <errno.h>

enum {
	ENOUGH_MS = 2,	     /* of processor time, to decide by */
	NOBODY = UINT32_MAX, /* in disable_keys, where 0 is none */
};

void dw_call_overhead_init(struct dw_call_overhead *o, double limit, struct dw_call_names *names,
			   uint32_t process, uint64_t begin_ns)
{
	*o = (struct dw_call_overhead){
		.decision.limit = limit, .names = names, .process = process, .begin_ns = begin_ns};
}

/* Whether the module at @index of the region has probes that are disabled from the start. */
static bool is_predisabled(const struct dw_call_overhead *o, uint32_t index)
{
	dw_vec_each(t, &o->predisabled) {
		if (t->module == index)
			return true;
	}
	return false;
}

int dw_call_overhead_predisable(struct dw_call_overhead *o, struct dw_regions *regions,
				const struct dw_region_question *q,
				const struct dw_module_image *image)
{
	uint32_t n = (uint32_t)image->disabled_cache.off_n;
	dw_auto_free uint32_t *disable_keys = NULL;
	int rc;

	/* Opened again it finds what it was told the first time. */
	if (!n || is_predisabled(o, q->index))
		return 0;
	disable_keys = calloc(n, sizeof *disable_keys);
	if (!disable_keys ||
	    dw_vec_push(&o->predisabled, (struct dw_call_predisabled){q->index, image}))
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		disable_keys[i] = image->disabled_cache.rows.v[i].disable_key;
	rc = dw_regions_predisable(regions, q, disable_keys, n);
	o->predisabled.n -= rc != 0;
	return rc;
}

/* The place whose clones hold the half address @site. NULL = none. */
static const struct dw_call_place *place_of_site(const struct dw_call_overhead *o, uint32_t site,
						 const struct dw_clone_map **map)
{
	dw_vec_each(p, &o->names->places) {
		*map = p->area && p->module ? dw_call_module_map(p->module) : NULL;
		if (*map && site - (uint32_t)p->area < (*map)->bytes)
			return p;
	}
	return NULL;
}

/* The key of calls through pointers by the code at @site. NOBODY = none. */
static uint32_t find_pointers(const struct dw_call_overhead *o, uint32_t site)
{
	const struct dw_clone_map *map;
	const struct dw_call_place *p = place_of_site(o, site, &map);
	uint32_t at = p ? site - (uint32_t)p->area : 0, function;

	if (!p || !p->first_id)
		return NOBODY;
	function = dw_clone_map_function(map, at);
	return function < map->functions_n ? (p->first_id + function) | DWELL_DISABLE_POINTERS
					   : NOBODY;
}

/* The same, remembered. 0 = none, or no memory. */
static uint32_t pointers_at(struct dw_call_overhead *o, uint32_t site)
{
	uint32_t disable_key = dw_map_get(&o->disable_keys, site);

	if (!disable_key) {
		disable_key = find_pointers(o, site);
		if (dw_map_put(&o->disable_keys, site, disable_key))
			return 0;
	}
	return disable_key == NOBODY ? 0 : disable_key;
}

/* The key of calls of @key, a function or import; 0 = they must be seen. */
static uint32_t disable_key_of(const struct dw_call_overhead *o, uint64_t key)
{
	dw_vec_each(p, &o->names->places) {
		uint64_t i = key - p->first_id;
		const struct dw_clone_map *map;

		if (!p->first_id || i >= p->ids_n)
			continue;
		map = p->module ? dw_call_module_map(p->module) : NULL;
		if (!map || i >= map->functions_n + map->imports_n)
			return 0;
		if (i >= map->functions_n)
			return map->imports[i - map->functions_n].flags & DWELL_IMPORT_SWITCHES
				       ? 0
				       : (uint32_t)key;
		return map->functions[i].flags & DWELL_CLONE_SWITCHES ? 0 : (uint32_t)key;
	}
	return 0;
}

/* Note that @key is called by the code of @disable_key, through a pointer. */
static int add_callee(struct dw_call_overhead *o, uint32_t disable_key, uint64_t key)
{
	if (!disable_key || dw_pairs_find(&o->seen, key, disable_key))
		return 0;
	if (!dw_pairs_add(&o->seen, key, disable_key))
		return -ENOMEM;
	return dw_vec_push(&o->callees, (struct dw_call_callee){disable_key, key});
}

bool dw_call_overhead_add(struct dw_call_overhead *o, const struct dw_call_cost *cost)
{
	struct dw_overhead *d = &o->decision;
	uint32_t pointers = 0, disable_key;
	int rc = 0;

	dw_overhead_count(d, cost->counted);
	if (cost->pass > 0 || cost->key & DWELL_KEY_ADDRESS)
		pointers = pointers_at(o, cost->site);
	if (cost->pass > 0 && pointers)
		rc = dw_overhead_add(d, pointers, cost->pass, 0);
	if (cost->key & DWELL_KEY_ADDRESS)
		rc = add_callee(o, pointers, cost->key);
	disable_key = cost->key & DWELL_KEY_ADDRESS ? pointers : disable_key_of(o, cost->key);
	if (!rc)
		rc = dw_overhead_add(d, disable_key, cost->probes, cost->time);
	o->error = rc ? ENOMEM : o->error;
	return !pointers || !dw_overhead_is_disabled(d, pointers);
}

/* Note in the profile that calls of @key are measured no more, all or some. */
static int note_key(struct dw_call_overhead *o, uint64_t key, uint32_t flags, uint64_t now_ns)
{
	const struct dw_region_names names = dw_call_names_of(o->names);
	struct dw_call_disabled disabled = {.process = o->process, .at_ns = now_ns, .flags = flags};
	bool is_external;
	int rc = names.callee(names.ctx, key, &disabled.entry, &is_external);

	if (rc || !disabled.entry)
		return rc;
	if (is_external)
		disabled.flags |= DWELL_DISABLED_IN_PART;
	return dw_vec_push(&o->names->modules->p->calls.disabled, disabled);
}

/* The key of @disable_key of the module at @p, where keys are those of struct dw_region_disabled.
 */
static uint32_t key_at(const struct dw_call_place *p, uint32_t disable_key)
{
	return (p->first_id + (disable_key & ~DWELL_DISABLE_POINTERS)) |
	       (disable_key & DWELL_DISABLE_POINTERS);
}

/* The image that runs at @p. NULL = none. */
static struct dw_module_image *image_at(const struct dw_call_place *p)
{
	return p->first_id && p->module ? p->module->image : NULL;
}

/* Note which probes of the module at @p, with @image, are disabled from the start. */
static int note_predisabled(struct dw_call_overhead *o, const struct dw_call_place *p,
			    const struct dw_module_image *image)
{
	int rc = dw_map_put(&o->begun, p->first_id, 1);

	for (size_t i = 0; i < image->disabled_cache.off_n && !rc; i++) {
		uint32_t key = key_at(p, image->disabled_cache.rows.v[i].disable_key);

		rc = dw_overhead_leave(&o->decision, key);
		if (!rc && !(key & DWELL_DISABLE_POINTERS))
			rc = note_key(o, key, DWELL_DISABLED_FROM_START, o->begin_ns);
	}
	return rc;
}

/* Likewise of all modules that have got their keys since the last time. */
static int note_all_predisabled(struct dw_call_overhead *o)
{
	int rc = 0;

	dw_vec_each(p, &o->names->places) {
		const struct dw_module_image *image = image_at(p);

		dw_vec_each(t, &o->predisabled) {
			if (!rc && image && t->image == image &&
			    !dw_map_get(&o->begun, p->first_id))
				rc = note_predisabled(o, p, image);
		}
	}
	return rc;
}

/* Remember for later runs that @key was switched off. */
static int cache_disabled(struct dw_call_overhead *o, uint32_t key)
{
	uint32_t id = key & ~DWELL_DISABLE_POINTERS;

	dw_vec_each(p, &o->names->places) {
		struct dw_module_image *image = image_at(p);

		if (image && id - p->first_id < p->ids_n)
			return dw_disabled_cache_add(&image->disabled_cache,
						     (id - p->first_id) |
							     (key & DWELL_DISABLE_POINTERS));
	}
	return 0;
}

/* Note what was decided from place @from of o->decision.disabled on. */
static int note_disabled(struct dw_call_overhead *o, size_t from, uint64_t now_ns)
{
	int rc = 0;

	for (size_t i = from; i < o->decision.disabled.n && !rc; i++) {
		uint32_t disable_key = o->decision.disabled.v[i];

		rc = cache_disabled(o, disable_key);
		if (rc)
			break;
		if (!(disable_key & DWELL_DISABLE_POINTERS)) {
			rc = note_key(o, disable_key, 0, now_ns);
			continue;
		}
		for (size_t k = 0; k < o->callees.n && !rc; k++)
			if (o->callees.v[k].disable_key == disable_key)
				rc = note_key(o, o->callees.v[k].key, DWELL_DISABLED_IN_PART,
					      now_ns);
	}
	return rc;
}

/* Begin with what a fork's child has from its parent. */
static int inherit(struct dw_call_overhead *o, int fd, uint64_t now_ns)
{
	dw_auto_free uint32_t *keys = calloc(DWELL_REGION_DISABLED, sizeof *keys);
	uint32_t n = 0;
	int rc = keys ? dw_region_read_disabled(fd, keys, &n, &o->ended) : -ENOMEM;

	for (uint32_t i = 0; i < n && !rc; i++)
		rc = dw_overhead_inherit(&o->decision, keys[i]);
	return rc ? rc : note_disabled(o, 0, now_ns);
}

int dw_call_overhead_decide(struct dw_call_overhead *o, int fd, const struct dw_region_head *head,
			    uint64_t now_ns, double ticks)
{
	uint32_t from;
	int rc = 0;

	if (!o->is_open && head->is_fork)
		rc = inherit(o, fd, now_ns);
	if (!o->is_open)
		o->serial = head->disabled_done;
	o->is_open = true;
	if (!rc)
		rc = note_all_predisabled(o);
	if (head->disabled_error)
		o->error = head->disabled_error;
	o->waits = head->disabled_done == o->serial ? 0 : o->waits + 1;
	if (rc || o->error || head->disabled_done != o->serial)
		return rc;
	from = (uint32_t)o->decision.disabled.n;
	rc = dw_overhead_decide(&o->decision, ENOUGH_MS * ticks, DWELL_REGION_DISABLED);
	if (rc || (from == o->decision.disabled.n && from == o->ended))
		return rc;
	o->ended_before = o->ended;
	o->ended = from;
	rc = dw_region_write_disabled(fd, o->decision.disabled.v, from,
				      (uint32_t)o->decision.disabled.n, o->ended, ++o->serial);
	return rc ? rc : note_disabled(o, from, now_ns);
}

/* Where the limit was passed, now or earlier, remember what was waste all the same. */
static void cache_waste(struct dw_call_overhead *o)
{
	if (!o->decision.disabled.n && !o->predisabled.n)
		return;
	dw_vec_each(c, &o->decision.calls) {
		if (dw_overhead_is_waste(&o->decision, c))
			(void)cache_disabled(o, c->key);
	}
}

void dw_call_overhead_end(struct dw_call_overhead *o)
{
	cache_waste(o);
	dw_vec_each(p, &o->names->places) {
		struct dw_module_image *image = image_at(p);
		size_t from = image ? image->disabled_cache.off_n : 0;

		for (size_t i = from; image && i < image->disabled_cache.rows.n; i++) {
			struct dw_disabled_cache_row *row = &image->disabled_cache.rows.v[i];

			if (dw_overhead_is_worth(&o->decision, key_at(p, row->disable_key)))
				dw_disabled_cache_forget(row);
		}
	}
}

uint32_t dw_call_overhead_pending(const struct dw_call_overhead *o,
				  const struct dw_region_head *head)
{
	uint32_t done = head->disabled_done == o->serial ? o->ended : o->ended_before;

	return (uint32_t)o->decision.disabled.n - done;
}

void dw_call_overhead_release(struct dw_call_overhead *o)
{
	dw_overhead_release(&o->decision);
	dw_vec_release(&o->predisabled);
	dw_map_release(&o->begun);
	dw_map_release(&o->disable_keys);
	dw_pairs_release(&o->seen);
	dw_vec_release(&o->callees);
}
