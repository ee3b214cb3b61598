/*
 * Limits of overhead; see call-overhead.h.
 *
 * What is decided is done in two steps, the second at the next decision, when the agent has done
 * the first: so activations that were open lose none of their time. A fork's child begins with what
 * its parent had muted.
 */
#include "record/call-overhead.h"

#include "base/cleanup.h"

#include <errno.h>

enum {
	ENOUGH_MS = 2,	     /* of processor time, to decide by */
	NOBODY = UINT32_MAX, /* in subjects, where 0 is none */
};

void dw_call_overhead_init(struct dw_call_overhead *o, double limit, struct dw_call_names *names,
			   uint32_t process, uint64_t begin_ns)
{
	*o = (struct dw_call_overhead){
		.decision.limit = limit, .names = names, .process = process, .begin_ns = begin_ns};
}

/* Whether the module at @index of the region was taught. */
static bool is_taught(const struct dw_call_overhead *o, uint32_t index)
{
	dw_vec_each(t, &o->taught) {
		if (t->module == index)
			return true;
	}
	return false;
}

int dw_call_overhead_teach(struct dw_call_overhead *o, struct dw_regions *regions,
			   const struct dw_region_question *q, const struct dw_module_image *image)
{
	uint32_t n = (uint32_t)image->learnt.off_n;
	dw_auto_free uint32_t *subjects = NULL;
	int rc;

	/* Opened again it finds what it was told the first time. */
	if (!n || is_taught(o, q->index))
		return 0;
	subjects = calloc(n, sizeof *subjects);
	if (!subjects || dw_vec_push(&o->taught, (struct dw_call_taught){q->index, image}))
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		subjects[i] = image->learnt.rows.v[i].subject;
	rc = dw_regions_teach(regions, q, subjects, n);
	o->taught.n -= rc != 0;
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

/* The subject of calls through pointers by the code at @site. NOBODY = none. */
static uint32_t find_pointers(const struct dw_call_overhead *o, uint32_t site)
{
	const struct dw_clone_map *map;
	const struct dw_call_place *p = place_of_site(o, site, &map);
	uint32_t at = p ? site - (uint32_t)p->area : 0, function;

	if (!p || !p->first_id)
		return NOBODY;
	function = dw_clone_map_function(map, at);
	return function < map->functions_n ? (p->first_id + function) | DWELL_MUTE_POINTERS
					   : NOBODY;
}

/* The same, remembered. 0 = none, or no memory. */
static uint32_t pointers_at(struct dw_call_overhead *o, uint32_t site)
{
	uint32_t subject = dw_map_get(&o->subjects, site);

	if (!subject) {
		subject = find_pointers(o, site);
		if (dw_map_put(&o->subjects, site, subject))
			return 0;
	}
	return subject == NOBODY ? 0 : subject;
}

/* The subject of calls of @key, a function or import; 0 = they must be seen. */
static uint32_t subject_of(const struct dw_call_overhead *o, uint64_t key)
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

/* Note that @subject calls @key. */
static int add_callee(struct dw_call_overhead *o, uint32_t subject, uint64_t key)
{
	if (!subject || dw_pairs_find(&o->seen, key, subject))
		return 0;
	if (!dw_pairs_add(&o->seen, key, subject))
		return -ENOMEM;
	return dw_vec_push(&o->callees, (struct dw_call_callee){subject, key});
}

bool dw_call_overhead_add(struct dw_call_overhead *o, const struct dw_call_cost *cost)
{
	struct dw_overhead *d = &o->decision;
	uint32_t pointers = 0, subject;
	int rc = 0;

	dw_overhead_count(d, cost->counted);
	if (cost->pass > 0 || cost->key & DWELL_KEY_ADDRESS)
		pointers = pointers_at(o, cost->site);
	if (cost->pass > 0 && pointers)
		rc = dw_overhead_add(d, pointers, cost->pass, 0);
	if (cost->key & DWELL_KEY_ADDRESS)
		rc = add_callee(o, pointers, cost->key);
	subject = cost->key & DWELL_KEY_ADDRESS ? pointers : subject_of(o, cost->key);
	if (!rc)
		rc = dw_overhead_add(d, subject, cost->probes, cost->time);
	o->error = rc ? ENOMEM : o->error;
	return !pointers || !dw_overhead_is_muted(d, pointers);
}

/* Note in the profile that calls of @key are measured no more, all or some. */
static int note_key(struct dw_call_overhead *o, uint64_t key, uint32_t flags, uint64_t now_ns)
{
	const struct dw_region_names names = dw_call_names_of(o->names);
	struct dw_call_mute mute = {.process = o->process, .at_ns = now_ns, .flags = flags};
	bool is_outside;
	int rc = names.callee(names.ctx, key, &mute.entry, &is_outside);

	if (rc || !mute.entry)
		return rc;
	if (is_outside)
		mute.flags |= DWELL_MUTE_IN_PART;
	return dw_vec_push(&o->names->modules->p->calls.mutes, mute);
}

/* The key of @subject of the module at @p, where keys are those of struct dw_region_mutes. */
static uint32_t key_at(const struct dw_call_place *p, uint32_t subject)
{
	return (p->first_id + (subject & ~DWELL_MUTE_POINTERS)) | (subject & DWELL_MUTE_POINTERS);
}

/* The image that runs at @p. NULL = none. */
static struct dw_module_image *image_at(const struct dw_call_place *p)
{
	return p->first_id && p->module ? p->module->image : NULL;
}

/* Note what the module at @p, with @image, was taught. */
static int note_learnt(struct dw_call_overhead *o, const struct dw_call_place *p,
		       const struct dw_module_image *image)
{
	int rc = dw_map_put(&o->begun, p->first_id, 1);

	for (size_t i = 0; i < image->learnt.off_n && !rc; i++) {
		uint32_t key = key_at(p, image->learnt.rows.v[i].subject);

		rc = dw_overhead_leave(&o->decision, key);
		if (!rc && !(key & DWELL_MUTE_POINTERS))
			rc = note_key(o, key, DWELL_MUTE_FROM_START, o->begin_ns);
	}
	return rc;
}

/* Note what modules were taught that have keys since the last time. */
static int note_all_learnt(struct dw_call_overhead *o)
{
	int rc = 0;

	dw_vec_each(p, &o->names->places) {
		const struct dw_module_image *image = image_at(p);

		dw_vec_each(t, &o->taught) {
			if (!rc && image && t->image == image &&
			    !dw_map_get(&o->begun, p->first_id))
				rc = note_learnt(o, p, image);
		}
	}
	return rc;
}

/* Remember for later runs that @key was switched off. */
static int learn(struct dw_call_overhead *o, uint32_t key)
{
	uint32_t id = key & ~DWELL_MUTE_POINTERS;

	dw_vec_each(p, &o->names->places) {
		struct dw_module_image *image = image_at(p);

		if (image && id - p->first_id < p->ids_n)
			return dw_learnt_add(&image->learnt,
					     (id - p->first_id) | (key & DWELL_MUTE_POINTERS));
	}
	return 0;
}

/* Note what was decided from place @from of o->decision.muted on. */
static int note_muted(struct dw_call_overhead *o, size_t from, uint64_t now_ns)
{
	int rc = 0;

	for (size_t i = from; i < o->decision.muted.n && !rc; i++) {
		uint32_t subject = o->decision.muted.v[i];

		rc = learn(o, subject);
		if (rc)
			break;
		if (!(subject & DWELL_MUTE_POINTERS)) {
			rc = note_key(o, subject, 0, now_ns);
			continue;
		}
		for (size_t k = 0; k < o->callees.n && !rc; k++)
			if (o->callees.v[k].subject == subject)
				rc = note_key(o, o->callees.v[k].key, DWELL_MUTE_IN_PART, now_ns);
	}
	return rc;
}

/* Begin with what a fork's child has from its parent. */
static int inherit(struct dw_call_overhead *o, int fd, uint64_t now_ns)
{
	dw_auto_free uint32_t *keys = calloc(DWELL_REGION_MUTES, sizeof *keys);
	uint32_t n = 0;
	int rc = keys ? dw_region_read_mutes(fd, keys, &n, &o->ended) : -ENOMEM;

	for (uint32_t i = 0; i < n && !rc; i++)
		rc = dw_overhead_inherit(&o->decision, keys[i]);
	return rc ? rc : note_muted(o, 0, now_ns);
}

int dw_call_overhead_decide(struct dw_call_overhead *o, int fd, const struct dw_region_head *head,
			    uint64_t now_ns, double ticks)
{
	uint32_t from;
	int rc = 0;

	if (!o->is_open && head->is_fork)
		rc = inherit(o, fd, now_ns);
	if (!o->is_open)
		o->serial = head->mutes_done;
	o->is_open = true;
	if (!rc)
		rc = note_all_learnt(o);
	if (head->mutes_error)
		o->error = head->mutes_error;
	o->waits = head->mutes_done == o->serial ? 0 : o->waits + 1;
	if (rc || o->error || head->mutes_done != o->serial)
		return rc;
	from = (uint32_t)o->decision.muted.n;
	rc = dw_overhead_decide(&o->decision, ENOUGH_MS * ticks, DWELL_REGION_MUTES);
	if (rc || (from == o->decision.muted.n && from == o->ended))
		return rc;
	o->ended_before = o->ended;
	o->ended = from;
	rc = dw_region_write_mutes(fd, o->decision.muted.v, from, (uint32_t)o->decision.muted.n,
				   o->ended, ++o->serial);
	return rc ? rc : note_muted(o, from, now_ns);
}

/* Where the limit was passed, now or earlier, remember what was waste all the same. */
static void learn_waste(struct dw_call_overhead *o)
{
	if (!o->decision.muted.n && !o->taught.n)
		return;
	dw_vec_each(c, &o->decision.calls) {
		if (dw_overhead_is_waste(&o->decision, c))
			(void)learn(o, c->key);
	}
}

void dw_call_overhead_end(struct dw_call_overhead *o)
{
	learn_waste(o);
	dw_vec_each(p, &o->names->places) {
		struct dw_module_image *image = image_at(p);
		size_t from = image ? image->learnt.off_n : 0;

		for (size_t i = from; image && i < image->learnt.rows.n; i++) {
			struct dw_learnt_row *row = &image->learnt.rows.v[i];

			if (dw_overhead_is_worth(&o->decision, key_at(p, row->subject)))
				dw_learnt_forget(row);
		}
	}
}

uint32_t dw_call_overhead_pending(const struct dw_call_overhead *o,
				  const struct dw_region_head *head)
{
	uint32_t done = head->mutes_done == o->serial ? o->ended : o->ended_before;

	return (uint32_t)o->decision.muted.n - done;
}

void dw_call_overhead_release(struct dw_call_overhead *o)
{
	dw_overhead_release(&o->decision);
	dw_vec_release(&o->taught);
	dw_map_release(&o->begun);
	dw_map_release(&o->subjects);
	dw_pairs_release(&o->seen);
	dw_vec_release(&o->callees);
}
