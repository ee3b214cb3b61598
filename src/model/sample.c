/* Frames, stacks, samples and extras; see sample.h. The first two are append-only, so ids are also
 * the order of first sight. */
#include "model/sample.h"

#include <errno.h>

enum {
	PART_FRAMES = 3,      /* at most */
	LONG_WAIT_BREAKS = 5, /* one part in so many of a long wait may be none */
};

#define LONG_WAIT_NS 20000000ull /* several times as long as between two looks */

struct frame_lookup {
	const struct dw_frames *table;
	struct dw_frame frame;
};

static bool is_equal_frame(const void *ctx, uint32_t id)
{
	const struct frame_lookup *l = ctx;
	const struct dw_frame *f = &l->table->rows.v[id];

	return f->svma == l->frame.svma && f->module == l->frame.module && f->kind == l->frame.kind;
}

static uint32_t hash_of_frame(struct dw_frame frame)
{
	uint64_t mixed = frame.svma ^ (uint64_t)frame.module << 40 ^ (uint64_t)frame.kind << 62;

	return (uint32_t)dw_hash_u64(mixed);
}

uint32_t dw_frames_find(const struct dw_frames *t, struct dw_frame frame)
{
	struct frame_lookup l = {t, frame};

	return dw_idset_find(&t->set, hash_of_frame(frame), is_equal_frame, &l);
}

int dw_frames_add(struct dw_frames *t, struct dw_frame frame, uint32_t *ret)
{
	uint32_t hash = hash_of_frame(frame), id = dw_frames_find(t, frame);

	if (!id) {
		if (!t->rows.n && dw_vec_push(&t->rows, (struct dw_frame){0}))
			return -ENOMEM;
		id = (uint32_t)t->rows.n;
		if (id == UINT32_MAX || dw_vec_reserve(&t->rows, 1) ||
		    dw_idset_add(&t->set, hash, id))
			return -ENOMEM;
		t->rows.v[t->rows.n++] = frame;
	}
	*ret = id;
	return 0;
}

struct dw_frame_instruction dw_frames_instruction(const struct dw_frames *t, uint32_t id)
{
	const struct dw_frame *f = dw_frames_get(t, id);

	if (id < t->instructions.n)
		return t->instructions.v[id];
	return (struct dw_frame_instruction){f ? f->svma : 0, id};
}

void dw_frames_release(struct dw_frames *t)
{
	dw_vec_release(&t->instructions);
	dw_vec_release(&t->rows);
	dw_idset_release(&t->set);
}

/* Most stacks come again, and their rows stand one behind the other since they came first: cheaper
 * to see than to look up. */
static bool is_next(const struct dw_stacks *t, uint32_t parent, uint32_t frame)
{
	const struct dw_stack *next = t->rows.v;

	if ((size_t)parent + 1 >= t->rows.n)
		return false;
	next += (size_t)parent + 1;
	return next->parent == parent && next->frame == frame;
}

int dw_stacks_add(struct dw_stacks *t, uint32_t parent, uint32_t frame, uint32_t *ret)
{
	uint64_t key = (uint64_t)parent << 32 | frame;
	uint32_t id = is_next(t, parent, frame) ? parent + 1 : dw_map_get(&t->children, key);

	if (!id) {
		if (!t->rows.n && dw_vec_push(&t->rows, (struct dw_stack){0}))
			return -ENOMEM;
		id = (uint32_t)t->rows.n;
		if (id == UINT32_MAX || dw_vec_reserve(&t->rows, 1) ||
		    dw_map_put(&t->children, key, id))
			return -ENOMEM;
		t->rows.v[t->rows.n++] = (struct dw_stack){parent, frame};
	}
	*ret = id;
	return 0;
}

unsigned dw_stacks_part(const struct dw_stacks *t, const struct dw_frames *frames, uint32_t id)
{
	const struct dw_stack *up = dw_stacks_get(t, id);
	const struct dw_frame *f;

	for (int depth = 1; up && up->parent && depth < PART_FRAMES; depth++)
		up = dw_stacks_get(t, up->parent);
	if (!up || up->parent)
		return 0;
	f = dw_frames_get(frames, up->frame);
	return f && f->kind == DWELL_FRAME_PART ? (unsigned)f->svma & DWELL_PART_MAX : 0;
}

void dw_stacks_release(struct dw_stacks *t)
{
	dw_vec_release(&t->rows);
	dw_map_release(&t->children);
}

static int grow(struct dw_samples *s)
{
	size_t cap_time = s->cap, cap_thread = s->cap;

	if (dw_vec_grow((void **)&s->time_ns, &cap_time, s->n + 1, sizeof *s->time_ns) ||
	    dw_vec_grow((void **)&s->thread, &cap_thread, s->n + 1, sizeof *s->thread))
		return -ENOMEM;
	return dw_vec_grow((void **)&s->stack, &s->cap, s->n + 1, sizeof *s->stack);
}

int dw_samples_add(struct dw_samples *s, uint64_t time_ns, uint32_t thread, uint32_t stack)
{
	if (s->n == s->cap && grow(s))
		return -ENOMEM;
	s->time_ns[s->n] = time_ns;
	s->thread[s->n] = thread;
	s->stack[s->n] = stack;
	s->n++;
	return 0;
}

void dw_samples_clear(struct dw_samples *s)
{
	s->n = 0;
}

void dw_samples_release(struct dw_samples *s)
{
	free(s->time_ns);
	free(s->thread);
	free(s->stack);
	*s = (struct dw_samples){0};
}

bool dw_extra_is_one_long_wait(const struct dw_extra *x)
{
	return x->span_ns >= LONG_WAIT_NS && x->n >= x->span_ns - x->span_ns / LONG_WAIT_BREAKS;
}

uint64_t dw_extra_within(const struct dw_extra *x, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t end = x->begin_ns + x->span_ns, begin = x->begin_ns;

	if (end < begin)
		end = UINT64_MAX;
	if (!x->span_ns)
		return begin >= from_ns && (!to_ns || begin < to_ns) ? x->n : 0;
	if (begin < from_ns)
		begin = from_ns;
	if (to_ns && end > to_ns)
		end = to_ns;
	if (end <= begin)
		return 0;
	if (end - begin >= x->span_ns)
		return x->n;
	return (uint64_t)((unsigned __int128)x->n * (end - begin) / x->span_ns);
}
