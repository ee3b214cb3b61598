/*
 * Merging; see interpreter-stack.h.
 *
 * Both sides are counted: calls from C into the evaluation of frames are native frames on one side,
 * and ends of groups of frames on the other. A whole stack is merged from the outermost on. There
 * may be one native frame more, the innermost, which has no frame yet or any more; of interpreters
 * that make a frame before they call its evaluation there may be one group more. Of a cut stack the
 * inner ones go together, and what is left of frames goes on outside. So do frames that are on
 * another native stack: those of whoever runs a fiber.
 */
#include "collect/samples/interpreter-stack.h"

#include <string.h>

struct merging {
	const struct dw_interpreter_merge *m;
	const struct dw_interpreter_sample *sample;
	size_t left;	/* frames of the interpreter, the outer ones of which are done */
	uint32_t stack; /* so far */
	bool is_unnamed;
	bool has_frames; /* of the interpreter, which go with the native ones */
};

static int push(struct merging *g, uint32_t frame)
{
	return dw_stacks_add(&g->m->profile->stacks, g->stack, frame, &g->stack);
}

static int push_own(struct merging *g, const struct dw_interpreter_frame *frame)
{
	struct dw_frame row;
	uint32_t id;
	int rc;

	if (!(frame->code & ~(uint64_t)DWELL_INTERPRETER_FLAGS))
		return 0; /* what C calls from has no function */
	if (!dw_interpreter_frame(g->m->process, frame, &row)) {
		g->is_unnamed = true;
		return 0;
	}
	rc = dw_frames_add(&g->m->profile->frames, row, &id);
	return rc ? rc : push(g, id);
}

static bool is_outermost(const struct merging *g, size_t at)
{
	return g->sample->frames[at].code & DWELL_INTERPRETER_OUTERMOST;
}

/* Push the next group: from one that was called from C inward to the next such. */
static int push_group(struct merging *g)
{
	int rc = 0;

	do {
		rc = push_own(g, &g->sample->frames[--g->left]);
	} while (!rc && g->left && !is_outermost(g, g->left - 1));
	return rc;
}

/* The frames of the native stack, the first ones. */
static size_t count_inner(const struct dw_interpreter_sample *sample)
{
	size_t n = 0;

	while (n < sample->n && !(sample->frames[n].code & DWELL_INTERPRETER_SWITCH))
		n++;
	return n;
}

bool dw_interpreter_stack_has_callers(const struct dw_interpreter_sample *sample)
{
	return count_inner(sample) < sample->n;
}

static size_t count_groups(const struct merging *g)
{
	size_t inner = g->left ? count_inner(g->sample) : 0,
	       n = inner && !is_outermost(g, inner - 1);

	for (size_t i = 0; i < inner; i++)
		n += is_outermost(g, i);
	return n;
}

static size_t count_evaluations(const struct merging *g, const struct dw_walk *w)
{
	size_t n = 0;

	dw_vec_each(f, &w->frames)
		n += dw_interpreter_evaluates(g->m->process, f->pc);
	return n;
}

/* Whether the native @frame is code that the interpreter made of its functions, which these stand
 * for. CPython makes only what calls one function, and names it. */
static bool is_made(const struct merging *g, uint32_t frame)
{
	const struct dw_profile *p = g->m->profile;
	const struct dw_frame *f = dw_frames_get(&p->frames, frame);
	const struct dw_module *m;

	if (g->m->process->told.language == DWELL_PYTHON || !f->module)
		return false;
	m = dw_modules_get(&p->modules, f->module);
	return m->kind == DWELL_MODULE_ANON ||
	       !strcmp(dw_strings_get(&p->strings, m->path), "/dev/zero"); /* shared memory */
}

static int push_all(struct merging *g, const struct dw_walk *w, size_t at)
{
	int rc = 0;

	for (; at < w->frames.n && !rc; at++) {
		const struct dw_walk_frame *f = &w->frames.v[at];

		if (g->left && dw_interpreter_evaluates(g->m->process, f->pc))
			rc = push_group(g);
		else if (!g->has_frames || !is_made(g, f->frame))
			rc = push(g, f->frame);
	}
	return rc;
}

/* The outermost frames are not told: begin with a mark of that, and leave out what is
 * outside of them, which has @more evaluations. *@ret = the first row of @w to push. */
static int begin_deep(struct merging *g, const struct dw_walk *w, size_t more, size_t *ret)
{
	uint32_t frame;
	int rc = dw_frames_add(&g->m->profile->frames, (struct dw_frame){.kind = DWELL_FRAME_CUT},
			       &frame);
	size_t at = 0;

	for (more++; at < w->frames.n; at++)
		if (dw_interpreter_evaluates(g->m->process, w->frames.v[at].pc) && !--more)
			break;
	*ret = at;
	return rc ? rc : push(g, frame);
}

/* Push the frames of other native stacks. */
static int push_callers(struct merging *g)
{
	size_t inner = count_inner(g->sample);
	int rc = 0;

	while (g->left > inner && !rc)
		rc = push_own(g, &g->sample->frames[--g->left]);
	return rc;
}

/* Whether a whole stack with so many groups and evaluations is one. */
static bool is_match(const struct merging *g, size_t groups, size_t evaluations)
{
	return evaluations == groups || evaluations == groups + 1 ||
	       (g->m->process->told.language != DWELL_PYTHON && groups == evaluations + 1);
}

/* Whether code that the interpreter made is in @w: it runs frames where no evaluation does, and its
 * own native callers may not be found rightly. */
static bool has_made(const struct merging *g, const struct dw_walk *w)
{
	dw_vec_each(f, &w->frames)
		if (is_made(g, f->frame))
			return true;
	return false;
}

int dw_interpreter_stack_merge(const struct dw_interpreter_merge *m, const struct dw_walk *w,
			       const struct dw_interpreter_sample *sample, uint32_t *ret)
{
	struct merging g = {.m = m, .sample = sample, .left = sample->n};
	bool is_cut = w->frames.v[0].pc == DWELL_WALK_CUT;
	size_t groups = count_groups(&g), evaluations = count_evaluations(&g, w), at = is_cut;
	bool is_unmatched = false;
	int rc = 0;

	m->counts->torn += sample->state == DWELL_INTERPRETER_TORN;
	if (is_cut && !dw_interpreter_stack_has_callers(sample))
		g.stack = w->frames.v[0].stack;
	else if (!is_cut && sample->state == DWELL_INTERPRETER_DEEP)
		rc = begin_deep(&g, w, evaluations > groups ? evaluations - groups : 0, &at);
	is_cut |= sample->state == DWELL_INTERPRETER_DEEP;
	if (!is_cut && groups > evaluations && !is_match(&g, groups, evaluations))
		is_cut = has_made(&g, w); /* frames that have no evaluation come first */
	if (!is_cut && !is_match(&g, groups, evaluations)) {
		is_unmatched = groups != 0;
		g.left = 0;
	}
	g.has_frames = g.left;
	if (!rc)
		rc = push_callers(&g);
	for (; is_cut && groups > evaluations && !rc; groups--)
		rc = push_group(&g);
	if (!rc)
		rc = push_all(&g, w, at);
	if (!rc && g.left && !is_cut) /* made, and not evaluated yet */
		rc = push_group(&g);
	m->counts->samples += sample->n && !g.left && !is_unmatched;
	m->counts->unmatched += is_unmatched;
	m->counts->unnamed += g.is_unnamed;
	*ret = g.stack;
	return rc;
}
