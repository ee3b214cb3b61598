/*
 * Sums of open activations; see os-inside.h. A stack beside the shadow stack: an activation that
 * ends gives what it has to the one below, so each event costs as many steps as activations end
 * after it, and none while they are open.
 */
#include "agent/calls/os-inside.h"

#include "agent/calls/os-events.h"
#include "agent/core/bytes.h"
#include "agent/core/memory.h"

enum { ROOM_MIN = 32 };

struct dw_os_open {
	uint32_t entry;
	struct dw_os_sums sums;
	struct dw_os_sums before; /* of these: before dw_os_inside_mark() */
};

static struct dw_os_open *top_of(const struct dw_os_inside *o, uint32_t entry)
{
	return o->n && o->open[o->n - 1].entry == entry ? &o->open[o->n - 1] : NULL;
}

/* New sums of @entry on top. NULL = no memory. */
static struct dw_os_open *push(struct dw_os_inside *o, uint32_t entry)
{
	uint32_t room = o->room ? 2 * o->room : ROOM_MIN;
	struct dw_os_open *open;

	if (o->n == o->room) {
		open = dw_agent_memory_more(o->open, o->room * sizeof(*open), room * sizeof(*open));
		if (!open)
			return NULL;
		o->open = open;
		o->room = room;
	}
	o->open[o->n] = (struct dw_os_open){.entry = entry};
	return &o->open[o->n++];
}

bool dw_os_inside_add(struct dw_os_inside *o, uint32_t entry, const struct dw_interval *interval)
{
	struct dw_os_open *open = top_of(o, entry);
	struct dw_os_sums *sums;

	if (!open)
		open = push(o, entry);
	if (!open)
		return false;
	sums = &open->sums;
	sums->os[interval->os_kind] += interval->os;
	sums->probe += interval->os_probe;
	sums->cpu += interval->os_cpu;
	sums->blocked += interval->os_blocked;
	sums->ready += interval->os_ready;
	sums->own += interval->os;
	sums->own_blocked += interval->os_blocked;
	sums->switches += interval->switches;
	sums->io_calls += interval->io_calls;
	sums->blocking_calls += interval->blocking_calls;
	return true;
}

const struct dw_os_sums *dw_os_inside_of(const struct dw_os_inside *o, uint32_t entry)
{
	const struct dw_os_open *open = top_of(o, entry);

	return open ? &open->sums : NULL;
}

void dw_os_inside_mark(struct dw_os_inside *o)
{
	for (uint32_t i = 0; i < o->n; i++)
		o->open[i].before = o->open[i].sums;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static void add_since(struct dw_tree_os *sum, const struct dw_os_open *open)
{
	const struct dw_os_sums *now = &open->sums, *before = &open->before;

	for (int i = 0; i < DWELL_OS_KINDS; i++)
		sum->ticks += less(now->os[i], before->os[i]);
	sum->probe_ticks += less(now->probe, before->probe);
	sum->cpu_ticks += less(now->cpu, before->cpu);
	sum->blocked_ticks += less(now->blocked, before->blocked);
	sum->ready_ticks += less(now->ready, before->ready);
	sum->switches += less(now->switches, before->switches);
	sum->io_calls += less(now->io_calls, before->io_calls);
	sum->blocking_calls += less(now->blocking_calls, before->blocking_calls);
}

struct dw_tree_os dw_os_inside_since(const struct dw_os_inside *o, uint32_t entry)
{
	const struct dw_os_open *open = top_of(o, entry);
	struct dw_tree_os since = {0};

	if (open)
		add_since(&since, open);
	return since;
}

uint32_t dw_os_inside_sum(const struct dw_os_inside *o, uint32_t i, uint32_t entry,
			  struct dw_tree_os *sum)
{
	i = i < o->n ? i : o->n;
	while (i && o->open[i - 1].entry >= entry)
		add_since(sum, &o->open[--i]);
	return i;
}

const struct dw_os_sums *dw_os_inside_at(const struct dw_os_inside *o, uint32_t entry)
{
	uint32_t i = o->n;

	while (i && o->open[i - 1].entry > entry)
		i--;
	return i && o->open[i - 1].entry == entry ? &o->open[i - 1].sums : NULL;
}

/* Add what @more has inside to @to, in which it is. */
static void add(struct dw_os_sums *to, const struct dw_os_sums *more)
{
	for (int i = 0; i < DWELL_OS_KINDS; i++)
		to->os[i] += more->os[i];
	to->probe += more->probe;
	to->cpu += more->cpu;
	to->blocked += more->blocked;
	to->ready += more->ready;
	to->switches += more->switches;
	to->io_calls += more->io_calls;
	to->blocking_calls += more->blocking_calls;
}

bool dw_os_inside_move(struct dw_os_inside *o, uint32_t entry, uint32_t below)
{
	struct dw_os_open *open = top_of(o, entry), *to;

	if (!open)
		return false;
	o->n--;
	to = top_of(o, below);
	if (to) {
		add(&to->sums, &open->sums);
		add(&to->before, &open->before);
		return true;
	}
	open->entry = below;
	open->sums.own = open->sums.own_blocked = 0;
	o->n++;
	return true;
}

void dw_os_inside_rename(struct dw_os_inside *o, uint32_t entry, uint32_t to)
{
	struct dw_os_open *open;
	uint32_t i = 0;

	while (i < o->n && o->open[i].entry < entry)
		i++;
	if (entry == to || i == o->n || o->open[i].entry != entry)
		return;
	open = &o->open[i];
	open->entry = to;
	if (!i || open[-1].entry != to)
		return;
	add(&open[-1].sums, &open->sums);
	add(&open[-1].before, &open->before);
	open[-1].sums.own += open->sums.own;
	open[-1].sums.own_blocked += open->sums.own_blocked;
	o->n--;
	memmove(open, open + 1, (o->n - i) * sizeof(*open));
}

void dw_os_inside_end(struct dw_os_inside *o)
{
	dw_agent_memory_free(o->open, o->room * sizeof(*o->open));
	*o = (struct dw_os_inside){0};
}
