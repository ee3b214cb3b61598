/* Modules by id; see module.h. */
#include "model/module.h"

#include <errno.h>

int dw_modules_add(struct dw_modules *t, const struct dw_module *m, uint32_t *ret)
{
	if (!t->rows.n && dw_vec_push(&t->rows, (struct dw_module){0}))
		return -ENOMEM;
	if (t->rows.n >= UINT32_MAX || dw_vec_push(&t->rows, *m))
		return -ENOMEM;
	*ret = (uint32_t)t->rows.n - 1;
	return 0;
}

struct dw_module *dw_modules_get(const struct dw_modules *t, uint32_t id)
{
	return id && id < t->rows.n ? &t->rows.v[id] : NULL;
}

uint32_t dw_modules_count(const struct dw_modules *t)
{
	return t->rows.n ? (uint32_t)t->rows.n - 1 : 0;
}

void dw_modules_release(struct dw_modules *t)
{
	dw_vec_release(&t->rows);
}
