/* Deciding what to switch off; see overhead.h. */
#include "collect/calls/overhead.h"

#include "collect/calls/call-values.h"

#include <errno.h>

#define TICKS_MAX 1e18 /* years */

/* What a program loses by probes is more than the time that they take: its own code waits for what
 * they have displaced (1.6 times as much, measured with lua and perl), and by what a recording
 * takes to start and end. */
static const double weight = 2;

/* What is left may take this part of what is allowed: other calls come. */
static const double aim = 0.7;

/* This part of it they may always take: a program of which nothing is measured tells nothing. */
static const double always = 0.2;

/* Where the limit is passed, what takes this many times more to measure than it does itself goes as
 * well, however seldom it is called as yet: the next part of the program may be full of it. */
static const double hopeless = 2;

/* Calls whose probes take less than this part of all are left alone until no others are left, and
 * those below this part of what is allowed always. */
static const double matters = 0.001, counts = 0.0001;

/* The row of @key, added when it is new. NULL = no memory. */
static struct dw_overhead_calls *get(struct dw_overhead *o, uint32_t key)
{
	struct dw_overhead_calls *row = dw_row_of(&o->calls, &o->index, key);

	if (row)
		row->key = key;
	return row;
}

/* @ticks as far as they make sense: sums and products of them stay finite. */
static double sane(double ticks)
{
	return ticks > 0 && ticks < TICKS_MAX ? ticks : 0;
}

int dw_overhead_add(struct dw_overhead *o, uint32_t key, double probes, double time)
{
	struct dw_overhead_calls *c = get(o, key);

	if (!c)
		return -ENOMEM;
	time = sane(time);
	c->probes += sane(probes);
	c->time += time;
	o->time += time;
	return 0;
}

void dw_overhead_count(struct dw_overhead *o, double ticks)
{
	o->counted += sane(ticks);
}

/* The one that measured less for what its probes took comes first. */
static int by_worth(const void *a, const void *b)
{
	const struct dw_overhead_calls *x = *(struct dw_overhead_calls *const *)a;
	const struct dw_overhead_calls *y = *(struct dw_overhead_calls *const *)b;
	double p = x->probes * y->time, q = y->probes * x->time;

	if (p != q)
		return p < q ? 1 : -1;
	if (x->probes != y->probes)
		return x->probes < y->probes ? 1 : -1;
	return (x->key > y->key) - (x->key < y->key);
}

/* The program's own part of the time since the last decision. */
static double own_time(const struct dw_overhead *o)
{
	return o->time > o->counted ? o->time - o->counted : 0;
}

/* What probes may take of @time of the program's, beside @counted, which displaces little. */
static double share_of(const struct dw_overhead *o, double time, double counted)
{
	return (o->limit * time - counted) / weight;
}

/*
 * Ticks that probes may take of the time since the last decision. What they took too much before is
 * paid back while the program runs as long as it has run; some of them may always go on.
 */
static double allowed(const struct dw_overhead *o)
{
	double time = own_time(o), all = share_of(o, time, 0);
	double debt = o->past_probes - share_of(o, o->past_time, o->past_counted);
	double share = o->past_time > time ? time / o->past_time : 1;
	double left = share_of(o, time, o->counted) - (debt > 0 ? debt * share : 0);

	return left > always * all ? left : always * all;
}

/* Disable calls of the @n @rows whose probes take @least and more, until all take little enough of
 * *@probes, and what is hopeless. */
static int disable(struct dw_overhead *o, struct dw_overhead_calls **rows, size_t n, double least,
		   double *probes, uint32_t max)
{
	double may = allowed(o);

	for (size_t i = 0; i < n && o->disabled.n < max; i++) {
		bool is_hopeless = rows[i]->probes > hopeless * rows[i]->time;

		if (!is_hopeless && *probes <= aim * may)
			break;
		if (rows[i]->is_disabled || rows[i]->probes < (is_hopeless ? counts * may : least))
			continue;
		if (dw_vec_push(&o->disabled, rows[i]->key))
			return -ENOMEM;
		rows[i]->is_disabled = true;
		*probes -= rows[i]->probes;
	}
	return 0;
}

/* Disable what is worth least of all calls, whose probes take @probes. */
static int choose(struct dw_overhead *o, double probes, uint32_t max)
{
	struct dw_overhead_calls **rows = calloc(o->calls.n, sizeof(struct dw_overhead_calls *));
	double least = probes * matters;
	size_t n = 0;
	int rc;

	if (!rows)
		return -ENOMEM;
	dw_vec_each(c, &o->calls) {
		if (c->key && !c->is_disabled && c->probes > 0)
			rows[n++] = c;
	}
	qsort(rows, n, sizeof *rows, by_worth);
	rc = disable(o, rows, n, least, &probes, max);
	if (!rc)
		rc = disable(o, rows, n, counts * allowed(o), &probes, max);
	free(rows);
	return rc;
}

int dw_overhead_decide(struct dw_overhead *o, double enough, uint32_t max)
{
	double probes = 0, ended = 0;
	int rc = 0;

	dw_vec_each(c, &o->calls)
		*(c->is_disabled ? &ended : &probes) += c->probes;
	if (o->time + probes < enough)
		return 0;
	if (probes > allowed(o))
		rc = choose(o, probes, max);
	o->past_probes += probes + ended;
	o->past_time += own_time(o);
	o->past_counted += o->counted;
	dw_vec_each(c, &o->calls) {
		c->past_probes += c->probes;
		c->past_time += c->time;
		c->probes = c->time = 0;
	}
	o->time = o->counted = 0;
	return rc;
}

bool dw_overhead_is_disabled(const struct dw_overhead *o, uint32_t key)
{
	uint32_t at = dw_map_get(&o->index, key);

	return at && o->calls.v[at - 1].is_disabled;
}

int dw_overhead_leave(struct dw_overhead *o, uint32_t key)
{
	struct dw_overhead_calls *c = get(o, key);

	if (!c)
		return -ENOMEM;
	c->is_disabled = true;
	return 0;
}

bool dw_overhead_is_worth(const struct dw_overhead *o, uint32_t key)
{
	uint32_t at = dw_map_get(&o->index, key);
	const struct dw_overhead_calls *c = at ? &o->calls.v[at - 1] : NULL;

	return c && !c->is_disabled &&
	       o->limit * (c->past_time + c->time) > weight * (c->past_probes + c->probes);
}

bool dw_overhead_is_waste(const struct dw_overhead *o, const struct dw_overhead_calls *c)
{
	double probes = c->past_probes + c->probes;

	return c->key && !c->is_disabled && probes > hopeless * (c->past_time + c->time) &&
	       probes > counts * o->limit * o->past_time / weight;
}

int dw_overhead_inherit(struct dw_overhead *o, uint32_t key)
{
	struct dw_overhead_calls *c = get(o, key);

	if (!c)
		return -ENOMEM;
	if (c->is_disabled)
		return 0;
	c->is_disabled = true;
	return dw_vec_push(&o->disabled, key);
}

void dw_overhead_release(struct dw_overhead *o)
{
	dw_vec_release(&o->calls);
	dw_vec_release(&o->disabled);
	dw_map_release(&o->index);
}
