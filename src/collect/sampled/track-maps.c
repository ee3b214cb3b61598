/*
 * Mappings: from records, or read from /proc when an address or a process is unknown; see track.h.
 *
 * Unmapping is not told, and need not be: code that is gone does not run, and what takes its place
 * is told. Reading again is worth it after lost records only, so a process for which it changed
 * nothing is asked less and less often.
 */
#include "collect/sampled/track-maps.h"

#include "target/maps.h"

#include <string.h>
#include <sys/sysmacros.h>

#define RESYNC_FIRST_NS 100000000ull
#define RESYNC_MOST_NS	10000000000ull

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

/* Whether the space has @row, and with the same bytes behind it. */
static bool is_known(struct dw_tracked_process *p, const struct dw_mapping *row)
{
	const struct dw_space_range *r = dw_space_find(&p->space, (struct dw_avma){row->start});

	return r && r->start <= row->start && r->end >= row->end;
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
		if (rc || !row->executable || !strcmp(row->path, "[vsyscall]") || is_known(p, row))
			continue;
		rc = map_row(t, p, row);
		if (!rc && ret_changed)
			*ret_changed = true;
	}
	return rc;
}

bool dw_track_resync(struct dw_track *t, struct dw_tracked_process *p, uint64_t time_ns)
{
	struct dw_mappings m;
	bool changed = false;

	if (t->modules->offline || time_ns < p->resync_at_ns)
		return false;
	if (!dw_mappings_read(p->pid, &m)) {
		dw_track_mappings(t, p, &m, &changed);
		dw_mappings_release(&m);
	}
	p->resync_wait_ns = changed || !p->resync_wait_ns ? RESYNC_FIRST_NS : 2 * p->resync_wait_ns;
	if (p->resync_wait_ns > RESYNC_MOST_NS)
		p->resync_wait_ns = RESYNC_MOST_NS;
	p->resync_at_ns = time_ns + p->resync_wait_ns;
	return changed;
}
