/*
 * Sessions as hostile files. An input that begins as a SQLite database goes through
 * dw_session_load() whole. Others, which no checksum stops, are chunks: u8 kind, u32 items, u32
 * bytes, the raw bytes; they go to the decoder. Whatever loads is then walked without checks, as
 * all consumers do, and merged with itself.
 */
#include "analysis/disassembly.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "merge/join.h"
#include "model/measure.h"
#include "session/decode.h"
#include "session/read.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t walk_samples(const struct dw_profile *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->samples.n; i++) {
		const struct dw_thread *t = &p->threads.rows.v[p->samples.thread[i]];

		sum += p->processes.rows.v[t->process].begin_ns;
		sum += t->start ? p->functions.rows.v[t->start].svma : 0;
		for (uint32_t s = p->samples.stack[i]; s; s = p->stacks.rows.v[s].parent)
			sum += p->frames.rows.v[p->stacks.rows.v[s].frame].svma;
	}
	dw_vec_each(w, &p->extras.rows) {
		sum += p->threads.rows.v[w->thread].begin_ns + dw_extra_within(w, 1, 2);
		sum += w->stack ? p->frames.rows.v[p->stacks.rows.v[w->stack].frame].svma : 0;
		if (w->measure >= DWELL_MEASURES)
			abort();
	}
	return sum;
}

static uint64_t walk_symbols(const struct dw_profile *p)
{
	uint64_t sum = 0;

	for (size_t i = 1; p->locations.first.n && i < p->frames.rows.n; i++) {
		uint32_t end = p->locations.first.v[i + 1];

		for (uint32_t l = p->locations.first.v[i]; l < end; l++)
			sum += p->functions.rows.v[p->locations.rows.v[l].function].svma;
	}
	for (size_t i = 1; i < p->functions.rows.n; i++) {
		const struct dw_function *f = &p->functions.rows.v[i];

		sum += f->name ? (uint64_t)*p->strings.text[f->name] : 0;
		sum += f->module ? p->modules.rows.v[f->module].inode : 0;
	}
	dw_vec_each(c, &p->codes.rows)
		sum += p->functions.rows.v[c->function].line +
		       (c->bytes_n ? c->bytes[c->bytes_n - 1] : 0);
	dw_vec_each(s, &p->sources.rows)
		sum += (uint64_t)*dw_strings_get(&p->strings, s->file) +
		       (s->bytes_n ? (uint64_t)s->text[s->bytes_n - 1] : 0);
	return sum;
}

/* Disassemble what stands at each frame. */
static uint64_t walk_code(struct dw_profile *p)
{
	dw_auto(dw_buf) text = DW_BUF_INIT;
	struct dw_disassembly d;

	if (dw_disassembly_tell(p) || dw_disassembly_init(&d, p))
		abort();
	for (uint32_t id = 1; id <= dw_frames_count(&p->frames); id++) {
		const struct dw_frame *f = dw_frames_get(&p->frames, id);
		struct dw_frame_instruction at = dw_frames_instruction(&p->frames, id);

		if (at.svma > f->svma || !dw_frames_get(&p->frames, at.frame))
			abort();
		dw_buf_clear(&text);
		dw_disassembly_put(&d, f->module, at.svma, id & 1, &text);
	}
	dw_disassembly_release(&d);
	return text.len;
}

static uint64_t walk_calls(const struct dw_profile *p)
{
	uint64_t sum = 0;

	dw_vec_each(n, &p->calls.nodes) {
		const struct dw_call_node *parent = dw_calls_get(&p->calls, n->parent);

		sum += p->threads.rows.v[n->thread].begin_ns + (parent ? parent->thread : 0);
		if (!(n->flags & DWELL_CALL_ROOT) && parent >= n)
			abort();
		sum += n->entry ? p->frames.rows.v[n->entry].svma : 0;
		sum += n->site ? p->frames.rows.v[n->site].svma : 0;
		sum += n->caller ? p->frames.rows.v[n->caller].svma : 0;
	}
	dw_vec_each(d, &p->calls.deltas)
		sum += p->calls.slices.v[d->slice].end_ns + p->calls.nodes.v[d->node - 1].thread;
	dw_vec_each(e, &p->calls.extremes)
		sum += p->threads.rows.v[e->thread].begin_ns +
		       (e->entry ? p->frames.rows.v[e->entry].svma : 0);
	dw_vec_each(s, &p->calls.slow)
		sum += p->calls.nodes.v[s->node - 1].thread;
	dw_vec_each(m, &p->calls.disabled)
		sum += p->processes.rows.v[m->process].begin_ns + m->flags +
		       (m->entry ? p->frames.rows.v[m->entry].svma : 0);
	return sum;
}

static uint64_t walk_allocations(const struct dw_profile *p)
{
	const struct dw_allocations *t = &p->allocations;
	uint64_t sum = 0;

	dw_vec_each(type, &t->types)
		sum += p->processes.rows.v[type->process].begin_ns +
		       (type->module ? p->modules.rows.v[type->module].inode : 0) +
		       (type->name ? (uint64_t)*p->strings.text[type->name] : 0);
	dw_vec_each(g, &t->groups)
		sum += p->threads.rows.v[g->thread].begin_ns + t->types.v[g->type - 1].name +
		       (g->stack ? p->stacks.rows.v[g->stack].frame : 0);
	dw_vec_each(m, &t->methods)
		sum += p->modules.rows.v[m->module].inode +
		       (m->name ? (uint64_t)*p->strings.text[m->name] : 0);
	dw_vec_each(d, &t->deltas)
		sum += p->calls.slices.v[d->slice].end_ns + t->groups.v[d->group - 1].type;
	dw_vec_each(gc, &t->gcs)
		sum += p->processes.rows.v[gc->process].begin_ns +
		       (gc->reason ? (uint64_t)*p->strings.text[gc->reason] : 0) +
		       (gc->thread ? p->threads.rows.v[gc->thread].begin_ns : 0) +
		       (gc->stack ? p->stacks.rows.v[gc->stack].frame : 0);
	return sum;
}

/* Merge it with itself: what is the same becomes one, the rest is there twice. */
static uint64_t walk_merged(struct dw_profile *p)
{
	struct dw_joined joined = {0};
	uint64_t sum = 0;
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++) {
		struct dw_join j;

		rc = dw_join_begin(&j, &joined, p, NULL);
		rc = rc ? rc : dw_join_facts(&j, "second", "first", NULL);
		if (!rc && dw_join_tables(&j))
			abort();
		dw_join_end(&j);
	}
	if (!rc) {
		const struct dw_profile *all = &joined.profile;

		sum = walk_samples(all);
		if (dw_threads_count(&all->threads) != 2 * dw_threads_count(&p->threads) ||
		    all->samples.n != 2 * p->samples.n ||
		    all->calls.nodes.n != 2 * p->calls.nodes.n ||
		    dw_frames_count(&all->frames) > 2 * dw_frames_count(&p->frames))
			abort();
	}
	dw_joined_release(&joined);
	return sum;
}

/* @range: as dw_session_load_summed() takes it; NULL = calls are not added up. */
static int decode_chunks(const uint8_t *data, size_t size, const struct dw_session_range *range,
			 struct dw_profile *p)
{
	static const uint8_t selected[] = {0, 1, 0, 1};
	struct dw_call_sums sums = {0};
	struct dw_cursor c;
	int rc = 0;

	if (range && range->to_ns)
		sums = (struct dw_call_sums){selected, sizeof selected};
	dw_cursor_init(&c, data, size);
	while (!rc && dw_cursor_left(&c)) {
		struct dw_raw_chunk chunk = {.kind = dw_cursor_u8(&c) % DWELL_CHUNK_KINDS};
		struct dw_session_index index;
		uint32_t n;

		chunk.items = dw_cursor_u32(&c);
		n = dw_cursor_u32(&c);
		n = n < dw_cursor_left(&c) ? n : (uint32_t)dw_cursor_left(&c);
		dw_buf_put(&chunk.raw, dw_cursor_bytes(&c, n), n);
		rc = chunk.kind == DWELL_CHUNK_INDEX
			     ? dw_decode_index(&chunk, &index, NULL)
			     : dw_decode_chunk(&chunk, range ? &sums : NULL, p, NULL);
		dw_buf_release(&chunk.raw);
	}
	return rc ? rc : dw_decode_finish(p, NULL);
}

static int load_file(const uint8_t *data, size_t size, const struct dw_session_range *range,
		     struct dw_profile *p)
{
	char path[64];
	ssize_t n;
	int fd, rc;

	snprintf(path, sizeof path, "/dev/shm/fuzz-session-%d", (int)getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	n = write(fd, data, size);
	close(fd);
	rc = n != (ssize_t)size ? -1
	     : range		? dw_session_load_summed(path, range, p, NULL, NULL)
				: dw_session_load(path, p, NULL, NULL);
	unlink(path);
	return rc;
}

static void feed(const uint8_t *data, size_t size, const struct dw_session_range *range)
{
	struct dw_profile p = DW_PROFILE_INIT;
	volatile uint64_t sum = 0; /* the walks must not be optimised away */
	int rc;

	if (size >= 6 && !memcmp(data, "SQLite", 6))
		rc = load_file(data, size, range, &p);
	else
		rc = decode_chunks(data, size, range, &p);
	if (!rc)
		sum = walk_samples(&p) + walk_symbols(&p) + walk_code(&p) + walk_calls(&p) +
		      walk_allocations(&p) + walk_merged(&p);
	(void)sum;
	dw_profile_release(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct dw_session_range whole, part = {5000000, 1ull << 32};

	feed(data, size, NULL);
	feed(data, size, &whole);
	feed(data, size, &part);
	return 0;
}
