/*
 * Types, groups and methods, and their values; see allocations.h. All three are append-only tables
 * of three numbers a row, found again by a set of ids, which a loaded profile leaves empty.
 */
#include "model/allocations.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

int dw_alloc_store_extend(struct dw_alloc_store *s, size_t n)
{
	size_t more = n > s->plain.n ? n - s->plain.n : 0;

	if (!more)
		return 0;
	if (dw_vec_reserve(&s->plain, more) || dw_vec_reserve(&s->apart_of, more))
		return -ENOMEM;
	memset(s->plain.v + s->plain.n, 0, more * sizeof *s->plain.v);
	memset(s->apart_of.v + s->plain.n, 0, more * sizeof *s->apart_of.v);
	s->plain.n = s->apart_of.n = n;
	return 0;
}

static bool has_apart(const struct dw_alloc_values *v)
{
	uint64_t any = 0;

	for (int i = DWELL_ALLOC_PLAIN; i < DWELL_GENERATIONS; i++)
		any |= v->collected[i].objects | v->collected[i].bytes;
	return any;
}

int dw_alloc_store_add(struct dw_alloc_store *s, size_t row, const struct dw_alloc_values *more)
{
	struct dw_alloc_plain *p = &s->plain.v[row];
	uint32_t *apart = &s->apart_of.v[row];

	if (!*apart && !has_apart(more)) {
		dw_alloc_count_add(&p->allocated, &more->allocated);
		for (int i = 0; i < DWELL_ALLOC_PLAIN; i++)
			dw_alloc_count_add(&p->collected[i], &more->collected[i]);
		return 0;
	}
	if (!*apart) {
		if (dw_vec_push(&s->apart, dw_alloc_store_get(s, row)))
			return -ENOMEM;
		*apart = (uint32_t)s->apart.n;
	}
	dw_alloc_values_add(&s->apart.v[*apart - 1], more);
	return 0;
}

void dw_alloc_store_release(struct dw_alloc_store *s)
{
	dw_vec_release(&s->plain);
	dw_vec_release(&s->apart_of);
	dw_vec_release(&s->apart);
}

struct type_lookup {
	const struct dw_allocations *table;
	const struct dw_alloc_type *type;
};

static bool is_equal_type(const void *ctx, uint32_t id)
{
	const struct type_lookup *l = ctx;
	const struct dw_alloc_type *a = &l->table->types.v[id - 1], *b = l->type;

	return a->name == b->name && a->module == b->module && a->process == b->process;
}

static uint32_t hash_of(uint32_t a, uint32_t b, uint32_t c)
{
	return (uint32_t)dw_hash_u64(dw_hash_u64((uint64_t)a << 32 | b) + c);
}

/* Append @row to @rows as a new id under @hash in @set. 0 or -ENOMEM. */
#define APPEND(rows, set, hash, row, ret)                                           \
	({                                                                          \
		int rc_ = (rows)->n >= UINT32_MAX - 1 || dw_vec_reserve(rows, 1) || \
			  dw_idset_add(set, hash, (uint32_t)(rows)->n + 1);         \
		if (!rc_) {                                                         \
			(rows)->v[(rows)->n++] = *(row);                            \
			*(ret) = (uint32_t)(rows)->n;                               \
		}                                                                   \
		rc_ ? -ENOMEM : 0;                                                  \
	})

int dw_allocations_type(struct dw_allocations *t, const struct dw_alloc_type *type, uint32_t *ret)
{
	struct type_lookup l = {t, type};
	uint32_t hash = hash_of(type->name, type->module, type->process);

	*ret = dw_idset_find(&t->type_set, hash, is_equal_type, &l);
	return *ret ? 0 : APPEND(&t->types, &t->type_set, hash, type, ret);
}

struct group_lookup {
	const struct dw_allocations *table;
	const struct dw_alloc_group *group;
};

static bool is_equal_group(const void *ctx, uint32_t id)
{
	const struct group_lookup *l = ctx;
	const struct dw_alloc_group *a = &l->table->groups.v[id - 1], *b = l->group;

	return a->stack == b->stack && a->type == b->type && a->thread == b->thread;
}

int dw_allocations_group(struct dw_allocations *t, const struct dw_alloc_group *group,
			 uint32_t *ret)
{
	struct group_lookup l = {t, group};
	uint32_t hash = hash_of(group->stack, group->type, group->thread);

	*ret = dw_idset_find(&t->group_set, hash, is_equal_group, &l);
	return *ret ? 0 : APPEND(&t->groups, &t->group_set, hash, group, ret);
}

struct method_lookup {
	const struct dw_allocations *table;
	const struct dw_alloc_method *method;
};

static bool is_equal_method(const void *ctx, uint32_t id)
{
	const struct method_lookup *l = ctx;
	const struct dw_alloc_method *a = &l->table->methods.v[id - 1], *b = l->method;

	return a->token == b->token && a->module == b->module;
}

int dw_allocations_method(struct dw_allocations *t, const struct dw_alloc_method *method,
			  uint32_t *ret)
{
	struct method_lookup l = {t, method};
	uint32_t hash = hash_of(method->module, method->token, 0);

	*ret = dw_idset_find(&t->method_set, hash, is_equal_method, &l);
	return *ret ? 0 : APPEND(&t->methods, &t->method_set, hash, method, ret);
}

void dw_allocations_release(struct dw_allocations *t)
{
	dw_vec_release(&t->types);
	dw_vec_release(&t->groups);
	dw_vec_release(&t->methods);
	dw_vec_release(&t->deltas);
	dw_alloc_store_release(&t->sums);
	dw_vec_release(&t->ranges);
	dw_vec_release(&t->news);
	dw_vec_release(&t->gcs);
	dw_idset_release(&t->type_set);
	dw_idset_release(&t->group_set);
	dw_idset_release(&t->method_set);
}
