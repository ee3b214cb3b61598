/*
 * Reading rings; see process.h. What was written since the last time is copied in one piece, or two
 * where it wraps around; then records are looked at in the copy, up to the first that is not whole.
 */
#include "collect/in-process/process.h"

#include "base/clock.h"
#include "base/error.h"
#include "collect/region/read.h"
#include "collect/samples/track-procfs.h"
#include "target/maps.h"
#include "target/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Find the chunk of the region @fd. Whether it is ready. */
static bool find(struct dw_in_process_ring *r, int fd)
{
	struct dw_region_head head;
	struct dw_region_chunk chunk;

	if (r->at || dw_region_read_head(fd, &head))
		return r->at;
	for (uint32_t i = 0; i < head.chunk_n; i++)
		if (!dw_region_read_chunk(fd, i, &chunk) &&
		    chunk.kind == DWELL_REGION_CHUNK_SAMPLES)
			r->at = chunk.at;
	return r->at;
}

/* Read the ring's page: *@ret_head. False: there is nothing to read. */
static bool read_page(struct dw_in_process_ring *r, int fd, uint64_t *ret_head)
{
	struct dw_sample_ring page;

	if (r->is_bad || !find(r, fd) || dw_region_read_bytes(fd, &page, sizeof page, r->at))
		return false;
	if (!r->bytes)
		r->bytes = page.bytes;
	r->lost = page.lost;
	r->threads_refused = page.threads_refused;
	r->off = page.off;
	r->is_bad = r->bytes > DWELL_SAMPLE_RING_MAX || (r->bytes & (r->bytes - 1)) ||
		    page.head % DWELL_SAMPLE_ALIGN || page.head - r->position > r->bytes;
	*ret_head = page.head;
	r->is_read = page.head == r->position;
	return !r->is_bad && !r->is_read;
}

static bool make_room(struct dw_in_process_buffer *buffer, size_t n)
{
	uint8_t *bytes = n > buffer->cap ? realloc(buffer->bytes, n) : buffer->bytes;

	if (!bytes)
		return false;
	buffer->bytes = bytes;
	buffer->cap = n > buffer->cap ? n : buffer->cap;
	return true;
}

/* Copy @n bytes from the position on. */
static int copy(const struct dw_in_process_ring *r, int fd, uint8_t *to, size_t n)
{
	uint64_t at = r->position & (r->bytes - 1), data = r->at + DWELL_SAMPLE_PAGE;
	size_t first = n < r->bytes - at ? n : (size_t)(r->bytes - at);
	int rc = dw_region_read_bytes(fd, to, first, data + at);

	if (!rc && first < n)
		rc = dw_region_read_bytes(fd, to + first, n - first, data);
	return rc;
}

enum state { WHOLE, BEGUN, NONE };

/* The record at @position, at @bytes of which @n are known. */
static enum state look(uint64_t position, const uint8_t *bytes, size_t n,
		       struct dw_sample_record *ret)
{
	memcpy(ret, bytes, sizeof *ret);
	if (ret->seal != dw_sample_seal_end(position) &&
	    ret->seal != dw_sample_seal_begin(position))
		return NONE;
	if (ret->bytes < sizeof *ret || ret->bytes > n || ret->bytes % DWELL_SAMPLE_ALIGN ||
	    ret->content > ret->bytes - sizeof *ret)
		return NONE;
	return ret->seal == dw_sample_seal_end(position) ? WHOLE : BEGUN;
}

/* Tell the target how far we are. A file that it has truncated grows again, which harms nobody. */
static void give_back(const struct dw_in_process_ring *r, int fd)
{
	ssize_t n = pwrite(fd, &r->position, sizeof r->position,
			   (off_t)(r->at + offsetof(struct dw_sample_ring, tail)));

	(void)n;
}

/* Records that were copied. */
struct batch {
	const uint8_t *bytes;
	size_t n;
	bool is_last;
	int (*take)(void *ctx, const struct dw_in_process_record *record);
	void *ctx;
};

/* The record at @at of @b, which begins at @position of the ring. False: there is none that is
 * whole or can be left out. */
static bool find_next(const struct batch *b, uint64_t position, size_t at,
		      struct dw_sample_record *ret, enum state *ret_state)
{
	if (at >= b->n)
		return false;
	*ret_state = look(position + at, b->bytes + at, b->n - at, ret);
	return *ret_state == WHOLE || (*ret_state == BEGUN && b->is_last);
}

static int take_one(const struct batch *b, size_t at, const struct dw_sample_record *record)
{
	const struct dw_in_process_record whole = {record->kind, record->tid, record->time_ns,
						   b->bytes + at + sizeof *record, record->content};

	return b->take(b->ctx, &whole);
}

/*
 * Take the mappings that are told next from @at on: of what was loaded and is gone again they are
 * the only ones that tell, and what samples before them need. *@ret: where that record is, or the
 * end.
 */
static int take_mappings(const struct batch *b, uint64_t begin, size_t at, size_t *ret)
{
	struct dw_sample_record record;
	enum state state;

	for (; find_next(b, begin, at, &record, &state); at += record.bytes) {
		if (state == WHOLE && record.kind == DWELL_SAMPLE_MAPS) {
			*ret = at;
			return take_one(b, at, &record);
		}
	}
	*ret = b->n;
	return 0;
}

/* Take the records of @b, and move the position behind them. */
static int take_all(struct dw_in_process_ring *r, const struct batch *b)
{
	const uint64_t begin = r->position;
	struct dw_sample_record record;
	enum state state;
	size_t told;
	int rc = take_mappings(b, begin, 0, &told);

	for (size_t at = 0; !rc && find_next(b, begin, at, &record, &state);) {
		if (at == told)
			rc = take_mappings(b, begin, at + record.bytes, &told);
		else if (state == WHOLE)
			rc = take_one(b, at, &record);
		at += record.bytes;
		r->position = begin + at;
	}
	return rc;
}

int dw_in_process_ring_read(struct dw_in_process_ring *r, int fd,
			    struct dw_in_process_buffer *buffer, bool is_last,
			    int (*take)(void *ctx, const struct dw_in_process_record *record),
			    void *ctx)
{
	struct batch batch = {.is_last = is_last, .take = take, .ctx = ctx};
	uint64_t head, before = r->position;
	int rc;

	if (!read_page(r, fd, &head))
		return 0;
	batch.n = (size_t)(head - r->position);
	if (!make_room(buffer, batch.n))
		return -ENOMEM;
	batch.bytes = buffer->bytes;
	if (copy(r, fd, buffer->bytes, batch.n)) {
		r->is_bad = true;
		return 0;
	}
	rc = take_all(r, &batch);
	r->is_read = r->position == head;
	if (r->position != before)
		give_back(r, fd);
	return rc;
}

/*
 * What perf would tell by itself is put together from what there is: a region that a fork's child
 * has made is a fork, a new one of a process that is known is an exec, mappings come as the
 * target's own list, threads begin with their first record. That one has ended, or has another
 * name, is seen by looking.
 */

enum { TOLD_MAX = 200000 }; /* threads of one process that are believed */

/* Reading one process's ring. */
struct reading {
	struct dw_in_process_reader *r;
	struct dw_sampled_process *p;
};

static int take(struct dw_in_process_reader *r, const struct dw_perf_record *record)
{
	return dw_dispatcher_take(r->dispatcher, record, record->type != PERF_RECORD_SAMPLE);
}

static int tell_name(struct dw_in_process_reader *r, pid_t pid, pid_t tid, const char *name,
		     bool exec, uint64_t time_ns)
{
	const struct dw_perf_record record = {.type = PERF_RECORD_COMM,
					      .time_ns = time_ns,
					      .pid = pid,
					      .tid = tid,
					      .comm = {name, exec}};

	return take(r, &record);
}

/* The process in which @head's was forked, if it is followed. */
static pid_t parent_of(const struct dw_in_process_reader *r, const struct dw_region_head *head)
{
	pid_t parent = head->parent_pid <= INT32_MAX ? (pid_t)head->parent_pid : 0;
	const struct dw_tracked_thread *th = dw_track_find(&r->dispatcher->track, parent);

	return th && !th->ended ? parent : 0;
}

int dw_in_process_fork(struct dw_in_process_reader *r, const struct dw_sampled_process *p,
		       pid_t parent)
{
	const struct dw_perf_record record = {.type = PERF_RECORD_FORK,
					      .time_ns = p->start_ns,
					      .pid = p->pid,
					      .tid = p->pid,
					      .parent = {parent, parent}};

	return take(r, &record);
}

int dw_in_process_begin(struct dw_in_process_reader *r, struct dw_sampled_process *p,
			const struct dw_region_head *head, bool is_forked)
{
	const struct dw_tracked_thread *th = dw_track_find(&r->dispatcher->track, p->pid);
	bool is_known = th && !th->ended;
	struct dw_proc_stat st = {.name = ""};
	pid_t parent = parent_of(r, head);
	int rc = 0;

	if (parent && parent != p->pid && !is_forked && (!is_known || head->is_fork))
		rc = dw_in_process_fork(r, p, parent);
	if (rc || head->is_fork)
		return rc;
	p->is_named = !dw_proc_stat_read(p->pid, &st);
	return tell_name(r, p->pid, p->pid, st.name, true, p->start_ns);
}

/* Take @record, whose registers and stack are the @n bytes at @stack. */
static int take_stack(const struct reading *g, const struct dw_in_process_record *record,
		      const uint8_t *stack, size_t n, const struct dw_interpreter_sample *frames)
{
	enum { REGS_BYTES = DWELL_SAMPLE_REGS * sizeof(uint64_t) };
	struct dw_perf_record sample = {.type = PERF_RECORD_SAMPLE,
					.time_ns = record->time_ns,
					.pid = g->p->pid,
					.tid = record->tid};

	_Static_assert((int)DWELL_SAMPLE_REGS == (int)DWELL_REG_COUNT, "the same registers");
	if (n < REGS_BYTES) {
		g->r->malformed++;
		return 0;
	}
	sample.sample.abi = PERF_SAMPLE_REGS_ABI_64;
	memcpy(sample.sample.regs.r, stack, REGS_BYTES);
	sample.sample.stack = stack + REGS_BYTES;
	sample.sample.stack_bytes = n - REGS_BYTES;
	sample.sample.interpreter = *frames;
	return take(g->r, &sample);
}

/* Say where the code of @p's interpreter is, once its mappings are known: those of a fork's child
 * may come later than what it tells. 0 or -ENOMEM. */
static int place_interpreter(const struct reading *g, struct dw_tracked_process *p,
			     uint64_t time_ns)
{
	const struct dw_avma eval = {p->interpreter->told.eval};
	const struct dw_space_range *range = dw_space_find(&p->space, eval);

	if (!range && dw_track_resync(&g->r->dispatcher->track, p, time_ns))
		range = dw_space_find(&p->space, eval);
	if (!range)
		return 0;
	return dw_interpreter_place(p->interpreter,
				    dw_perf_modules_elf(&g->r->dispatcher->modules, range->module),
				    range->bias);
}

/* Take a sample of a thread that runs an interpreter. */
static int take_frames(const struct reading *g, const struct dw_in_process_record *record)
{
	struct dw_interpreter_sample frames = {.is_told = true};
	const struct dw_tracked_thread *th = dw_track_find(&g->r->dispatcher->track, record->tid);
	struct dw_interpreter_stack head = {0};
	size_t n = sizeof head;
	int rc;

	if (record->content_bytes >= n)
		memcpy(&head, record->content, n);
	n += head.n * sizeof *frames.frames;
	if (head.n > DWELL_INTERPRETER_FRAMES_MAX || n > record->content_bytes) {
		g->r->malformed++;
		return 0;
	}
	frames.frames = (const void *)(record->content + sizeof head);
	frames.n = head.n;
	frames.state = head.state;
	if (th && th->process->interpreter && !th->process->interpreter->is_placed) {
		rc = place_interpreter(g, th->process, record->time_ns);
		if (rc)
			return rc;
	}
	return take_stack(g, record, record->content + n, record->content_bytes - n, &frames);
}

/* The process has an interpreter, which it tells in its constructor, or when it was forked. */
static int begin_interpreter(const struct reading *g, struct dw_tracked_process *p,
			     const struct dw_interpreter_runtime *told, uint64_t time_ns)
{
	if (!told->language || told->language >= DWELL_LANGUAGES_END)
		return DWELL_ERR_FORMAT;
	if (p->interpreter && (p->interpreter->told.language != told->language ||
			       p->interpreter->told.version || p->interpreter->is_known))
		return DWELL_ERR_FORMAT;
	if (p->interpreter) { /* its version, where that could not be told before */
		p->interpreter->told.version = told->version;
		p->interpreter->is_known = true;
	}
	if (!told->eval) {
		g->r->dispatcher->unwinder.interpreters.counts[told->language].unknown++;
		return 0;
	}
	if (p->interpreter)
		return 0;
	p->interpreter = dw_interpreter_begin(told);
	return p->interpreter ? place_interpreter(g, p, time_ns) : -ENOMEM;
}

/* Take what is told of an interpreter but for samples. */
static int take_interpreter(const struct reading *g, const struct dw_in_process_record *record)
{
	struct dw_interpreters *all = &g->r->dispatcher->unwinder.interpreters;
	struct dw_interpreter_runtime told;
	struct dw_tracked_thread *th;
	int rc = dw_track_thread(&g->r->dispatcher->track, g->p->pid, g->p->pid, record->time_ns,
				 &th);

	if (rc || !all->jit)
		return rc;
	rc = DWELL_ERR_FORMAT;
	if (record->kind == DWELL_SAMPLE_INTERPRETER && record->content_bytes == sizeof told) {
		memcpy(&told, record->content, sizeof told);
		rc = begin_interpreter(g, th->process, &told, record->time_ns);
	} else if (record->kind == DWELL_SAMPLE_INTERPRETER_CODE && th->process->interpreter) {
		rc = dw_interpreter_tell(all, th->process->interpreter, record->content,
					 record->content_bytes);
	}
	g->r->malformed += rc && rc != -ENOMEM;
	return rc == -ENOMEM ? rc : 0;
}

/* Name the process after the first file it has mapped, if it ended before its name was read. */
static int name_after(const struct reading *g, const struct dw_mappings *m, uint64_t time_ns)
{
	const char *path = m->rows.n ? m->rows.v[0].path : "", *slash = strrchr(path, '/');

	if (g->p->is_named || !slash)
		return 0;
	g->p->is_named = true;
	return tell_name(g->r, g->p->pid, g->p->pid, slash + 1, false, time_ns);
}

static int take_maps(const struct reading *g, const struct dw_in_process_record *record)
{
	struct dw_tracked_thread *th;
	struct dw_mappings m;
	char *text;
	int rc;

	if (record->content_bytes > DWELL_SAMPLE_MAPS_MAX) {
		g->r->malformed++;
		return 0;
	}
	text = malloc(record->content_bytes + 1);
	if (!text)
		return -ENOMEM;
	memcpy(text, record->content, record->content_bytes);
	text[record->content_bytes] = 0;
	rc = dw_mappings_parse(text, record->content_bytes, &m);
	if (rc)
		return rc;
	rc = dw_track_thread(&g->r->dispatcher->track, g->p->pid, g->p->pid, record->time_ns, &th);
	if (!rc)
		rc = dw_track_mappings(&g->r->dispatcher->track, th->process, &m, NULL);
	if (!rc)
		rc = name_after(g, &m, record->time_ns);
	dw_mappings_release(&m);
	return rc;
}

/* Whether @tid may be a thread of the process: it is no other's, nor one of too many. */
static bool is_own(const struct reading *g, int32_t tid)
{
	const struct dw_tracked_thread *th = dw_track_find(&g->r->dispatcher->track, tid);

	if (th && !th->ended)
		return th->process->pid == g->p->pid;
	return tid > 0 && g->p->told++ < TOLD_MAX;
}

static int take_record(void *ctx, const struct dw_in_process_record *record)
{
	const struct reading *g = ctx;
	struct dw_track *t = &g->r->dispatcher->track;
	struct dw_tracked_thread *th;
	int rc;

	dw_track_end_gone(t, g->p->pid, record->tid, record->time_ns);
	if (!is_own(g, record->tid)) {
		g->r->malformed++;
		return 0;
	}
	switch (record->kind) {
	case DWELL_SAMPLE_STACK:
		return take_stack(g, record, record->content, record->content_bytes,
				  &(struct dw_interpreter_sample){0});
	case DWELL_SAMPLE_INTERPRETER_STACK:
		return take_frames(g, record);
	case DWELL_SAMPLE_INTERPRETER:
	case DWELL_SAMPLE_INTERPRETER_CODE:
		return take_interpreter(g, record);
	case DWELL_SAMPLE_MAPS:
		return take_maps(g, record);
	case DWELL_SAMPLE_THREAD:
		rc = dw_track_thread(t, g->p->pid, record->tid, record->time_ns, &th);
		if (!rc)
			th->untold = 0;
		if (!rc && record->content_bytes == sizeof th->pointer)
			memcpy(&th->pointer, record->content, sizeof th->pointer);
		return rc;
	default:
		g->r->malformed++;
		return 0;
	}
}

int dw_in_process_read(struct dw_in_process_reader *r, struct dw_sampled_process *p, bool is_last)
{
	uint64_t now_ns = dw_clock_ns(CLOCK_MONOTONIC);
	struct reading g = {r, p};
	int rc;

	if (p->fd < 0)
		return 0;
	rc = dw_in_process_ring_read(&p->ring, p->fd, &r->buffer, is_last, take_record, &g);
	if (p->ring.is_read || p->ring.is_bad)
		p->read_ns = now_ns;
	return rc;
}
