/* Sums of waits; see wait-totals.h. */
#include "analysis/wait-totals.h"

#include <errno.h>

int dw_wait_totals_init(struct dw_wait_totals *t, const struct dw_profile *p, bool with_functions,
			struct dw_wait_total *ret)
{
	*t = (struct dw_wait_totals){.of = ret, .with_functions = with_functions};
	return with_functions ? dw_wait_namer_init(&t->namer, p) : 0;
}

/* The function that @stack or @node is about, to *@ret. */
static int find_function(struct dw_wait_totals *t, uint32_t stack, uint32_t node, uint32_t *ret)
{
	uint32_t id = stack ? stack : node, known = dw_map_get(&t->functions, id);

	*ret = known ? known - 1 : dw_waiting_function(&t->namer, stack, node);
	return known || !id ? 0 : dw_map_put(&t->functions, id, *ret + 1);
}

static int add_share(struct dw_wait_totals *t, enum dw_wait_kind kind, uint64_t ns,
		     uint32_t function)
{
	uint64_t key = (uint64_t)kind << 32 | function;
	uint32_t at = dw_map_get(&t->share_of, key);

	if (!at) {
		if (dw_vec_push(&t->shares, (struct dw_function_waits){kind, function, 0}) ||
		    dw_map_put(&t->share_of, key, (uint32_t)t->shares.n))
			return -ENOMEM;
		at = (uint32_t)t->shares.n;
	}
	t->shares.v[at - 1].ns += ns;
	return 0;
}

int dw_wait_totals_add(struct dw_wait_totals *t, enum dw_wait_kind kind, uint64_t ns,
		       uint32_t thread, uint32_t stack, uint32_t node)
{
	uint64_t key = (uint64_t)kind << 32 | thread;
	uint32_t function;
	int rc = 0;

	t->of[kind].ns += ns;
	if (!t->with_functions || !ns)
		return 0;
	if (!dw_map_get(&t->threads, key)) {
		t->of[kind].threads++;
		rc = dw_map_put(&t->threads, key, 1);
	}
	if (!rc)
		rc = find_function(t, stack, node, &function);
	return rc || !function ? rc : add_share(t, kind, ns, function);
}

void dw_wait_totals_end(struct dw_wait_totals *t)
{
	dw_vec_each(share, &t->shares) {
		struct dw_wait_total *of = &t->of[share->kind];

		if (share->ns > of->function_ns) {
			of->function = share->function;
			of->function_ns = share->ns;
		}
	}
}

void dw_wait_totals_release(struct dw_wait_totals *t)
{
	dw_wait_namer_release(&t->namer);
	dw_vec_release(&t->shares);
	dw_map_release(&t->share_of);
	dw_map_release(&t->threads);
	dw_map_release(&t->functions);
}
