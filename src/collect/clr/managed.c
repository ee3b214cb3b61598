/*
 * Managed code; see managed.h.
 *
 * Code is told before it runs, so a region that is read when samples are taken from their rings has
 * all that they lie in. A process that has ended is remembered for a while, as its last samples
 * come later. A frame is its method and the offset in its IL, as for allocations.
 */
#include "collect/clr/managed.h"

#include "collect/clr/tables.h"
#include "collect/region/process.h"
#include "target/memory.h"
#include "unwind/prolog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define REMEMBERED_NS 5000000000ull
#define TICK_NS	      200000000ull

enum { EPILOG_BYTES = 32 };

static void free_process(struct dw_managed_process *process)
{
	if (process->fd >= 0)
		close(process->fd);
	dw_clr_metadata_release(&process->metadata);
	dw_clr_tables_release(&process->tables);
	dw_code_map_release(&process->map);
	dw_vec_release(&process->known);
	free(process);
}

static void note_failure(struct dw_managed *m, int rc)
{
	if (rc == -ENOMEM)
		m->rc = rc;
}

/* Read what is new. A region that makes no sense is its program's matter: what was good stays. */
static void read_region(struct dw_managed *m, struct dw_managed_process *process)
{
	struct dw_region_head head;
	int rc;

	process->look = m->look;
	if (process->fd < 0)
		return;
	rc = dw_region_read_head(process->fd, &head);
	if (!rc)
		rc = dw_clr_tables_more(&process->tables, process->fd, &head);
	if (!rc)
		rc = dw_clr_codes_take(&process->map, &process->codes_taken, &process->tables);
	note_failure(m, rc);
}

static int add_process(struct dw_managed *m, const struct dw_region_look *look, pid_t pid)
{
	struct dw_managed_process *process = calloc(1, sizeof *process);

	if (!process)
		return -ENOMEM;
	*process = (struct dw_managed_process){
		.pid = pid,
		.region = look->region,
		.uid = look->owner.uid,
		.gid = look->owner.gid,
		.start_ns = look->head->start_ns,
		.end_ns = UINT64_MAX,
		.fd = fcntl(look->fd, F_DUPFD_CLOEXEC, 0),
		.tables.budget = DWELL_MANAGED_BUDGET,
	};
	process->metadata = (struct dw_clr_metadata){.p = m->p, .tables = &process->tables};
	if (dw_vec_push(&m->processes, process)) {
		free_process(process);
		return -ENOMEM;
	}
	m->began++;
	return 0;
}

static void on_began(void *ctx, const struct dw_region_look *look)
{
	struct dw_managed *m = ctx;
	struct dw_region_process p = {0};
	int rc = dw_region_process_read(&look->owner, &p);

	if (rc == DWELL_ERR_REFUSED && dw_regions_is_held(&m->regions, look->region)) {
		dw_region_process_release(&p);
		rc = dw_region_process_search(&look->owner, &p);
	}
	/* One that has ended already is believed: its number is all that is told of it. */
	if (!rc || rc == -ENOENT || rc == -ESRCH)
		note_failure(m, add_process(m, look, rc ? look->owner.pid : p.pid));
	dw_region_process_release(&p);
}

static void on_ended(void *ctx, const struct dw_region_look *look)
{
	struct dw_managed *m = ctx;

	dw_vec_each(at, &m->processes) {
		struct dw_managed_process *process = *at;

		if (process->region != look->region || process->fd < 0)
			continue;
		read_region(m, process);
		m->lost += process->tables.head.facts[DWELL_CLR_LOST_CODE];
		close(process->fd);
		process->fd = -1;
	}
}

int dw_managed_open(struct dw_managed *m, struct dw_profile *p, const char *fallback,
		    struct dw_error *err)
{
	const struct dw_regions_events events = {NULL, on_began, on_ended, m};

	*m = (struct dw_managed){.p = p, .regions.folder = DW_REGION_FOLDER_INIT};
	return dw_regions_open(&m->regions, fallback, &events, err);
}

/* Forget processes that ended a while ago. */
static void forget(struct dw_managed *m, uint64_t now_ns)
{
	size_t n = 0;

	dw_vec_each(at, &m->processes) {
		struct dw_managed_process *process = *at;

		if (process->fd < 0 && process->end_ns == UINT64_MAX)
			process->end_ns = now_ns;
		if (process->end_ns < now_ns && now_ns - process->end_ns > REMEMBERED_NS)
			free_process(process);
		else
			m->processes.v[n++] = process;
	}
	m->processes.n = n;
}

/* Whether a region has come whose head did not stand yet. */
static bool is_waiting(const struct dw_managed *m)
{
	size_t open = 0;

	dw_vec_each(at, &m->processes)
		open += (*at)->fd >= 0;
	return m->regions.open.n > open;
}

int dw_managed_drain(struct dw_managed *m, uint64_t now_ns)
{
	m->look++;
	dw_regions_drain(&m->regions, now_ns);
	if (now_ns >= m->next_tick_ns || is_waiting(m)) {
		m->next_tick_ns = now_ns + TICK_NS;
		dw_regions_tick(&m->regions, now_ns);
		forget(m, now_ns);
	}
	return m->rc;
}

struct dw_managed_process *dw_managed_at(struct dw_managed *m, pid_t pid, uint64_t time_ns,
					 bool *is_other)
{
	struct dw_managed_process *found = NULL;
	const struct dw_code_map *map;

	*is_other = false;
	dw_vec_each(at, &m->processes) {
		if ((*at)->pid == pid && (*at)->start_ns <= time_ns)
			found = *at;
	}
	if (!found)
		return NULL;
	if (found->look != m->look)
		read_region(m, found);
	map = &found->map;
	for (;
	     found->changes_seen < map->changes.n && map->changes.v[found->changes_seen] <= time_ns;
	     found->changes_seen++)
		*is_other = true;
	return found;
}

static int note_module(struct dw_managed *m, const struct dw_managed_process *process,
		       uint32_t module)
{
	const struct dw_managed_module row = {module, process->pid, process->uid, process->gid};

	dw_vec_each(known, &m->modules) {
		if (known->module == module)
			return 0;
	}
	return dw_vec_push(&m->modules, row);
}

static int find_method(struct dw_managed *m, struct dw_managed_process *process, uint32_t row,
		       struct dw_alloc_method *ret)
{
	int rc = 0;

	if (!row || row >= process->tables.all[DWELL_CLR_FUNCTIONS].n)
		return DWELL_ERR_FORMAT;
	while (process->known.n <= row)
		if (dw_vec_push(&process->known, (struct dw_alloc_method){0}))
			return -ENOMEM;
	if (!process->known.v[row].module) {
		rc = dw_clr_method(&process->metadata, row, &process->known.v[row]);
		if (!rc)
			rc = note_module(m, process, process->known.v[row].module);
	}
	*ret = process->known.v[row];
	return rc;
}

/* The offset in the IL that the code at @offset of @code comes from, 0 = not known. */
static uint32_t il_offset(const struct dw_clr_tables *t, const struct dw_clr_code *code,
			  uint64_t offset)
{
	uint32_t found = 0, nearest = 0;
	struct dw_clr_il row;

	for (uint32_t i = 0;
	     i < code->il_n && dw_clr_tables_get(t, DWELL_CLR_IL, code->il + i, &row); i++) {
		if (row.offset > offset || row.offset < nearest || (int32_t)row.il < 0)
			continue;
		nearest = row.offset;
		found = row.il;
	}
	return found;
}

int dw_managed_frame(struct dw_managed *m, struct dw_managed_process *process, uint64_t avma,
		     uint64_t time_ns, struct dw_frame *ret)
{
	const struct dw_code_piece *piece = dw_code_map_find(&process->map, avma, time_ns);
	struct dw_alloc_method method;
	struct dw_clr_code code;
	int rc;

	if (!piece || !dw_clr_tables_get(&process->tables, DWELL_CLR_CODES, piece->row, &code))
		return DWELL_ERR_NOT_FOUND;
	rc = find_method(m, process, code.function, &method);
	if (rc)
		return rc == -ENOMEM ? rc : DWELL_ERR_NOT_FOUND;
	*ret = (struct dw_frame){
		.module = method.module,
		.kind = DWELL_FRAME_CODE,
		.svma = (uint64_t)method.token << 32 |
			il_offset(&process->tables, &code, avma - code.start),
	};
	return 0;
}

/* The row at @avma in @piece, if the code that is executed next there ends its method. */
static bool find_epilog(const struct dw_managed_process *process, const struct dw_code_piece *piece,
			uint64_t avma, struct dw_cfi_row *ret)
{
	size_t wanted = piece->end - avma < EPILOG_BYTES ? piece->end - avma : EPILOG_BYTES;
	uint8_t bytes[EPILOG_BYTES];
	ssize_t n = process->fd < 0 ? -1 : dw_memory_read(process->pid, avma, bytes, wanted);

	return n > 0 && dw_epilog_row(bytes, (size_t)n, ret);
}

bool dw_managed_row(const struct dw_managed_process *process, uint64_t avma, uint64_t time_ns,
		    enum dw_space_place place, struct dw_cfi_row *ret)
{
	const struct dw_code_piece *piece = dw_code_map_find(&process->map, avma, time_ns);
	uint64_t offset = UINT64_MAX;
	struct dw_clr_code code;
	size_t n;

	if (!piece || !dw_clr_tables_get(&process->tables, DWELL_CLR_CODES, piece->row, &code))
		return false;
	if (place == DWELL_PLACE_NEXT && find_epilog(process, piece, avma, ret))
		return true;
	if (place == DWELL_PLACE_NEXT && !(code.flags & DWELL_CLR_CODE_COLD))
		offset = avma - code.start;
	n = code.bytes < sizeof code.prolog ? code.bytes : sizeof code.prolog;
	*ret = dw_prolog_row(code.prolog, n, offset,
			     place == DWELL_PLACE_LEFT ? DWELL_BASE_STACK : DWELL_BASE_USUAL);
	return true;
}

void dw_managed_finish(struct dw_managed *m)
{
	m->look++;
	dw_regions_finish(&m->regions);
}

void dw_managed_release(struct dw_managed *m)
{
	dw_vec_each(at, &m->processes)
		free_process(*at);
	dw_vec_release(&m->processes);
	dw_vec_release(&m->modules);
	dw_regions_release(&m->regions);
}
