/*
 * Mappings: from records, or read from /proc when an address or a process is unknown; see track.h.
 *
 * Unmapping is not told, and need not be: code that is gone does not run, and what takes its place
 * is told. Reading again is worth it after lost records only, so a process for which it changed
 * nothing is asked less and less often.
 *
 * Where no records tell of mappings, runtimes that make code and libraries that are loaded late
 * have new ones all the time: then reading takes a part of the time, READ_PART at most.
 */
#include "collect/sampled/track-maps.h"

#include "base/clock.h"
#include "target/maps.h"

#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>

#define RESYNC_FIRST_NS 100000000ull
#define RESYNC_MOST_NS	10000000000ull
#define LATELY_NS	1000000000ull

enum { READ_PART = 20 };

int dw_track_map(struct dw_track *t, struct dw_tracked_process *p,
		 const struct dw_perf_mapping *mapping)
{
	struct dw_mapper who = {p->pid, &p->owner, &p->anon};
	struct dw_space_range range;
	int rc;

	if (!mapping->bytes || mapping->start + mapping->bytes < mapping->start)
		return 0;
	rc = dw_perf_modules_map(t->modules, &who, mapping, &range);
	if (!rc)
		rc = dw_space_map(&p->space, &range);
	p->generation++;
	if (!rc && dw_dump_file_is(mapping->path)) {
		rc = dw_track_book(t, p);
		if (p->book)
			dw_jit_use_dump(p->book, mapping);
	}
	return rc;
}

/* Whether @row is of the file @m. Of files on an overlay, some kernels tell the layer's device in
 * records and the overlay's here. */
static bool is_same_file(const struct dw_track *t, const struct dw_module *m,
			 const struct dw_mapping *row)
{
	return m->inode == row->inode &&
	       (m->device == row->device ||
		!strcmp(row->path, dw_strings_get(&t->profile->strings, m->path)));
}

/* Whether the space has @row, of the same file. */
static bool is_known(const struct dw_track *t, struct dw_tracked_process *p,
		     const struct dw_mapping *row)
{
	const struct dw_space_range *r = dw_space_find(&p->space, (struct dw_avma){row->start});
	const struct dw_module *m = r ? dw_modules_get(&t->profile->modules, r->module) : NULL;

	return m && r->start <= row->start && r->end >= row->end &&
	       (m->kind == DWELL_MODULE_FILE ? is_same_file(t, m, row) : !row->inode);
}

static int map_row(struct dw_track *t, struct dw_tracked_process *p, const struct dw_mapping *row)
{
	struct dw_perf_mapping m = {.start = row->start,
				    .bytes = row->end - row->start,
				    .offset = row->offset,
				    .major_no = major(row->device),
				    .minor_no = minor(row->device),
				    .inode = row->inode,
				    .path = row->path};

	return dw_track_map(t, p, &m);
}

int dw_track_mappings(struct dw_track *t, struct dw_tracked_process *p, const struct dw_mappings *m,
		      bool *ret_changed)
{
	int rc = 0;

	dw_vec_each(row, &m->rows) {
		if (rc || !row->executable || !strcmp(row->path, "[vsyscall]") ||
		    is_known(t, p, row))
			continue;
		rc = map_row(t, p, row);
		if (!rc && ret_changed)
			*ret_changed = true;
	}
	return rc;
}

/* When to read again, at the earliest, after records were lost. */
static void wait_long(struct dw_tracked_process *p, uint64_t time_ns, bool changed)
{
	p->resync_wait_ns = changed || !p->resync_wait_ns ? RESYNC_FIRST_NS : 2 * p->resync_wait_ns;
	if (p->resync_wait_ns > RESYNC_MOST_NS)
		p->resync_wait_ns = RESYNC_MOST_NS;
	p->resync_at_ns = time_ns + p->resync_wait_ns;
}

/* Likewise where nothing is told, after a reading that took @cost_ns of this thread's time: some
 * may follow each other at once if there were few lately. */
static void wait_shortly(struct dw_tracked_process *p, uint64_t cost_ns, bool changed)
{
	uint64_t now_ns = dw_clock_ns(CLOCK_MONOTONIC), from_ns = now_ns - LATELY_NS;

	p->resync_wait_ns =
		changed || !p->resync_wait_ns ? READ_PART * cost_ns : 2 * p->resync_wait_ns;
	if (p->resync_wait_ns > RESYNC_FIRST_NS)
		p->resync_wait_ns = RESYNC_FIRST_NS;
	p->resync_at_ns =
		(p->resync_at_ns > from_ns ? p->resync_at_ns : from_ns) + p->resync_wait_ns;
	p->resync_ns = now_ns;
}

/* Whether it is time to read the mappings of @p again for a sample of @time_ns. What is older than
 * the last reading gains nothing by another one. */
static bool is_due(const struct dw_track *t, const struct dw_tracked_process *p, uint64_t time_ns)
{
	if (!t->maps_untold)
		return time_ns >= p->resync_at_ns;
	return time_ns > p->resync_ns && dw_clock_ns(CLOCK_MONOTONIC) >= p->resync_at_ns;
}

bool dw_track_resync(struct dw_track *t, struct dw_tracked_process *p, uint64_t time_ns)
{
	struct dw_mappings m;
	uint64_t cost_ns;
	bool changed = false;
	int rc;

	if (t->modules->offline || !is_due(t, p, time_ns))
		return false;
	cost_ns = dw_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	rc = dw_mappings_read(p->pid, &m);
	cost_ns = dw_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cost_ns;
	if (!rc) {
		dw_track_mappings(t, p, &m, &changed);
		dw_mappings_release(&m);
	}
	if (t->maps_untold)
		wait_shortly(p, cost_ns, changed);
	else
		wait_long(p, time_ns, changed);
	return changed;
}
