/* Calls without times; see counted.h. */
#include "collect/calls/counted.h"

#include "collect/calls/increments.h"

#include <errno.h>
#include <string.h>

/* Marks of both kinds of lines stand behind their thread. */
static uint32_t thread_of(const struct dw_arena_line *from)
{
	struct dw_tree_counted counted;

	memcpy(&counted, from, sizeof counted);
	return counted.thread;
}

int dw_counted_lines_add(struct dw_call_lines *s, uint32_t line, const struct dw_arena_line *from)
{
	uint64_t mark = from->words[sizeof from->words / sizeof *from->words - 1];
	uint32_t thread = thread_of(from);

	if (thread >= s->lines.n || s->lines.v[thread].kind != DWELL_LINE_THREAD)
		return dw_call_lines_wait(s, line);
	return dw_call_lines_keep(
		s, line, mark == DWELL_MARK_COUNTED ? DWELL_LINE_COUNTED : DWELL_LINE_POINTERS,
		s->lines.v[thread].id, from);
}

/* Note that the thread of index @thread has called what @name says @n times more. */
static int add(struct dw_counted_reader *r, uint64_t name, uint32_t thread, uint64_t n)
{
	uint32_t id = dw_pairs_find(&r->ids, name, thread);
	struct dw_counted_row row = {0};

	if (!n)
		return 0;
	if (!id) {
		if (!(name & DWELL_KEY_ADDRESS))
			row.number = (uint32_t)name + 1;
		if (dw_vec_push(&r->rows, row))
			return -ENOMEM;
		id = dw_pairs_add(&r->ids, name, thread);
		r->rows.n -= !id;
		if (!id)
			return -ENOMEM;
	}
	r->rows.v[id - 1].calls += n;
	return 0;
}

static int add_counted(struct dw_counted_reader *r, const struct dw_call_lines *s, uint32_t line)
{
	struct dw_tree_counted now, old;
	int rc = 0;

	dw_call_lines_get(s, line, 1, &now);
	dw_call_lines_get_old(s, line, 1, &old);
	for (uint32_t i = 0; i < DWELL_COUNTERS && !rc; i++) {
		uint64_t number = (uint64_t)now.first + i;

		if (number < DWELL_REGION_COUNTED && now.calls[i] > old.calls[i])
			rc = add(r, number, s->lines.v[line].id, now.calls[i] - old.calls[i]);
	}
	return rc;
}

static int add_pointers(struct dw_counted_reader *r, const struct dw_call_lines *s, uint32_t line)
{
	struct dw_tree_pointers now, old;
	int rc = 0;

	dw_call_lines_get(s, line, 1, &now);
	dw_call_lines_get_old(s, line, 1, &old);
	for (uint32_t i = 0; i < DWELL_POINTERS && !rc; i++) {
		__auto_type c = &now.callees[i];

		if (!(c->calls & DWELL_POINTER_PROBED) && c->calls > old.callees[i].calls)
			rc = add(r, c->address | DWELL_KEY_ADDRESS, s->lines.v[line].id,
				 c->calls - old.callees[i].calls);
	}
	return rc;
}

static int add_changes(struct dw_counted_reader *r, const struct dw_call_lines *s)
{
	int rc = 0;

	dw_vec_each(c, &s->changes) {
		enum dw_line_kind kind = s->lines.v[c->line].kind;

		if (!rc && kind == DWELL_LINE_COUNTED)
			rc = add_counted(r, s, c->line);
		else if (!rc && kind == DWELL_LINE_POINTERS)
			rc = add_pointers(r, s, c->line);
	}
	return rc;
}

/* Find the region's list of keys. */
static void find_keys(struct dw_counted_reader *r, int fd, uint32_t chunks)
{
	struct dw_region_chunk c;

	for (; !r->keys_at && r->chunks_seen < chunks; r->chunks_seen++)
		if (!dw_region_read_chunk(fd, r->chunks_seen, &c) &&
		    c.kind == DWELL_REGION_CHUNK_COUNTED &&
		    c.bytes >= DWELL_REGION_COUNTED * sizeof(uint32_t))
			r->keys_at = c.at;
}

/* Read the keys as they are now: what has a number was told before it counted. What cannot be read
 * counts nothing. */
static int read_keys(struct dw_counted_reader *r, int fd, uint32_t chunks)
{
	find_keys(r, fd, chunks);
	if (!r->keys.n && dw_vec_reserve(&r->keys, DWELL_REGION_COUNTED))
		return -ENOMEM;
	r->keys.n = DWELL_REGION_COUNTED;
	if (!r->keys_at ||
	    dw_region_read_bytes(fd, r->keys.v, r->keys.n * sizeof *r->keys.v, r->keys_at))
		memset(r->keys.v, 0, r->keys.n * sizeof *r->keys.v);
	return 0;
}

/* The node for calls of @key by the thread of index @thread, beside its tree. */
static int add_node(struct dw_call_lines *s, uint64_t key, uint32_t thread, uint32_t *ret)
{
	const struct dw_call_thread *t = &s->threads.v[thread];
	struct dw_call_node row = {.thread = t->id,
				   .parent = t->root_node,
				   .flags = DWELL_CALL_OVERFLOW | DWELL_CALL_COUNTED};
	uint32_t callee = dw_call_lines_callee(s, key, thread);

	if (!callee)
		return -ENOMEM;
	row.entry = s->callees.v[callee - 1].entry;
	row.flags |= s->callees.v[callee - 1].is_external ? DWELL_CALL_EXTERNAL : 0;
	return dw_calls_add(&s->p->calls, &row, ret);
}

/* Give the calls of the row of @id, or let them wait. */
static int give(struct dw_counted_reader *r, struct dw_call_lines *s,
		const struct dw_region_reading *now, size_t id)
{
	struct dw_counted_row *row = &r->rows.v[id];
	struct dw_call_values values = {.calls = row->calls};
	uint64_t key = row->number ? r->keys.v[row->number - 1] : r->ids.v.v[id].a;
	int rc = 0;

	if (row->number && key & DWELL_COUNTED_OPEN && !now->is_last)
		return 0;
	row->calls = 0;
	if (row->number)
		key &= ~(uint64_t)DWELL_COUNTED_OPEN;
	if (!key)
		return 0;
	if (!row->node)
		rc = add_node(s, key, (uint32_t)r->ids.v.v[id].b, &row->node);
	if (rc)
		return rc;
	r->calls += values.calls;
	return dw_deltas_give(s->p, row->node, &values, now);
}

int dw_counted_give(struct dw_counted_reader *r, struct dw_call_lines *s,
		    const struct dw_region_reading *now)
{
	int rc = add_changes(r, s);

	if (rc || !r->rows.n)
		return rc;
	rc = read_keys(r, s->fd, now->head->chunk_n);
	for (size_t id = 0; id < r->rows.n && !rc; id++)
		if (r->rows.v[id].calls)
			rc = give(r, s, now, id);
	return rc;
}

void dw_counted_release(struct dw_counted_reader *r)
{
	dw_pairs_release(&r->ids);
	dw_vec_release(&r->rows);
	dw_vec_release(&r->keys);
}
