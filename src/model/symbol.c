/* Modules, functions, locations, code and sources; see symbol.h. */
#include "model/symbol.h"

#include <errno.h>
#include <stdlib.h>

int dw_modules_add(struct dw_modules *t, const struct dw_module *m, uint32_t *ret)
{
	if (!t->rows.n && dw_vec_push(&t->rows, (struct dw_module){0}))
		return -ENOMEM;
	if (t->rows.n >= UINT32_MAX || dw_vec_push(&t->rows, *m))
		return -ENOMEM;
	*ret = (uint32_t)t->rows.n - 1;
	return 0;
}

void dw_modules_release(struct dw_modules *t)
{
	dw_vec_release(&t->rows);
}

struct function_lookup {
	const struct dw_functions *table;
	const struct dw_function *f;
};

static bool is_declared(const struct dw_function *f)
{
	return f->file && f->line;
}

static bool is_same_function(const void *ctx, uint32_t id)
{
	const struct function_lookup *l = ctx;
	const struct dw_function *a = &l->table->rows.v[id], *b = l->f;

	if (a->module != b->module || a->name != b->name)
		return false;
	if (is_declared(a) && is_declared(b))
		return a->file == b->file && a->line == b->line;
	return a->svma == b->svma;
}

/* A copy with an entry of its own tells more than an inlined one. */
static void merge(struct dw_function *into, const struct dw_function *f)
{
	if (into->flags & DWELL_FUNCTION_INLINED && !(f->flags & DWELL_FUNCTION_INLINED)) {
		into->svma = f->svma;
		into->bytes = f->bytes;
		into->flags &= ~(uint32_t)DWELL_FUNCTION_INLINED;
	}
}

int dw_functions_add(struct dw_functions *t, const struct dw_function *f, uint32_t *ret)
{
	struct function_lookup l = {t, f};
	uint32_t hash = (uint32_t)dw_hash_u64((uint64_t)f->module << 32 | f->name);
	uint32_t id = dw_idset_find(&t->set, hash, is_same_function, &l);

	if (id) {
		merge(&t->rows.v[id], f);
	} else {
		if (!t->rows.n && dw_vec_push(&t->rows, (struct dw_function){0}))
			return -ENOMEM;
		id = (uint32_t)t->rows.n;
		if (id == UINT32_MAX || dw_vec_reserve(&t->rows, 1) ||
		    dw_idset_add(&t->set, hash, id))
			return -ENOMEM;
		t->rows.v[t->rows.n++] = *f;
	}
	*ret = id;
	return 0;
}

const struct dw_location *dw_locations_get(const struct dw_locations *t, uint32_t frame,
					   uint32_t *n)
{
	if ((size_t)frame + 1 >= t->first.n) {
		*n = 0;
		return NULL;
	}
	*n = t->first.v[frame + 1] - t->first.v[frame];
	return *n ? &t->rows.v[t->first.v[frame]] : NULL;
}

void dw_functions_release(struct dw_functions *t)
{
	dw_vec_release(&t->rows);
	dw_idset_release(&t->set);
}

void dw_locations_release(struct dw_locations *t)
{
	dw_vec_release(&t->rows);
	dw_vec_release(&t->first);
}

void dw_codes_release(struct dw_codes *t)
{
	dw_vec_each(row, &t->rows) {
		free(row->bytes);
		free(row->listed);
		free(row->texts);
	}
	dw_vec_release(&t->rows);
}

const struct dw_source *dw_sources_get(const struct dw_sources *t, uint32_t file)
{
	dw_vec_each(s, &t->rows)
		if (s->file == file)
			return s;
	return NULL;
}

void dw_sources_release(struct dw_sources *t)
{
	dw_vec_each(s, &t->rows)
		free(s->text);
	dw_vec_release(&t->rows);
}
