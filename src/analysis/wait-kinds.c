/* Kinds of waiting; see wait-kinds.h. Stacks are looked at once each. */
#include "analysis/wait-kinds.h"

#include "analysis/just-my-code.h"
#include "analysis/lock-holders.h"
#include "analysis/wait-idle.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "model/measure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	FRAMES_MAX = 16, /* of a stack that are looked at, */
	USERS_MAX = 5,	 /* and of these from the first one of the user's on: runtimes wait there */
	/* What a name says: a kind, with all if callers can add nothing. */
	NOT_ASKED = 0,
	SAYS_NOTHING = 1,
	SAYS_KIND = 2,
	SAYS_ALL = 128,
	INTERPRETER = DWELL_NAMES, /* code of one: names of the system's */
	INTERPRETER_OF_RUBY,
};

/* What the functions of a stack say, from the innermost frame on. */
struct saying {
	enum dw_wait_kind kind;
	bool is_known;
	bool is_on_condition; /* the C library's: of pthread_cond_wait() and the like */
	bool is_above_system; /* beyond the innermost frames, which are of the C library */
	int users;	      /* frames from the first one of the user's code on */
};

static uint8_t classify(const struct dw_profile *p, uint32_t module)
{
	if (dw_is_python_library(p, module))
		return DWELL_NAMES_OF_PYTHON;
	if (dw_is_interpreter(p, module))
		return dw_is_ruby(p, module) ? INTERPRETER_OF_RUBY : INTERPRETER;
	if (dw_is_ruby(p, module))
		return DWELL_NAMES_OF_RUBY;
	return dw_is_system_module(p, module) ? DWELL_NAMES_OF_SYSTEM : DWELL_NAMES_OF_USERS;
}

int dw_wait_namer_init(struct dw_wait_namer *n, const struct dw_profile *p)
{
	*n = (struct dw_wait_namer){.profile = p};
	n->code_of = calloc(dw_modules_count(&p->modules) + 1ul, sizeof *n->code_of);
	if (!n->code_of)
		return -ENOMEM;
	for (int i = 0; i < DWELL_NAMES; i++) {
		n->says[i] = calloc(p->functions.rows.n + 1, sizeof *n->says[i]);
		if (!n->says[i])
			return -ENOMEM;
	}
	for (uint32_t id = 1; id <= dw_modules_count(&p->modules); id++)
		n->code_of[id] = classify(p, id);
	return 0;
}

void dw_wait_namer_release(struct dw_wait_namer *n)
{
	free(n->code_of);
	for (int i = 0; i < DWELL_NAMES; i++)
		free(n->says[i]);
	*n = (struct dw_wait_namer){0};
}

bool dw_wait_frame_is_system(const struct dw_wait_namer *n, uint32_t frame)
{
	const struct dw_frame *f = dw_frames_get(&n->profile->frames, frame);

	return f && f->module <= dw_modules_count(&n->profile->modules) && n->code_of[f->module];
}

/* What the name of the function @id says. */
static uint8_t ask_name(const struct dw_profile *p, uint32_t id, enum dw_wait_names of)
{
	const struct dw_function *f = dw_functions_get(&p->functions, id);
	const char *name = f ? dw_strings_get(&p->strings, f->name) : "";
	enum dw_wait_kind kind;

	if (dw_wait_kind_of_function(name, DWELL_NAMES_OF_USERS, &kind))
		return (uint8_t)(SAYS_ALL + SAYS_KIND + kind);
	if (of != DWELL_NAMES_OF_USERS && dw_wait_kind_of_function(name, of, &kind))
		return (uint8_t)(SAYS_KIND + kind);
	return SAYS_NOTHING;
}

/* Take in what the function @id says. Whether all is known by it. Of functions of the C library
 * that call one another the outermost tells most. */
static bool take_function(struct dw_wait_namer *n, uint32_t id, enum dw_wait_names of,
			  struct saying *s)
{
	uint8_t *says;

	if (id >= n->profile->functions.rows.n)
		return false;
	says = &n->says[of][id];
	if (*says == NOT_ASKED)
		*says = ask_name(n->profile, id, of);
	if (*says == SAYS_NOTHING || (*says < SAYS_ALL && s->users))
		return false;
	s->kind = *says % SAYS_ALL - SAYS_KIND;
	s->is_known = true;
	return *says >= SAYS_ALL;
}

/* Whether @function is the C library's for waiting on a condition variable. */
static bool is_of_condition(const struct dw_profile *p, uint32_t function)
{
	static const char prefix[] = "pthread_cond_";
	const struct dw_function *f = dw_functions_get(&p->functions, function);
	const char *name;

	if (!f)
		return false;
	name = dw_strings_get(&p->strings, f->name);
	return !strncmp(name + strspn(name, "_"), prefix, sizeof prefix - 1);
}

/* Take in what the functions of @frame say. Whether nothing can be added. */
static bool take_frame(struct dw_wait_namer *n, uint32_t frame, struct saying *s)
{
	const struct dw_frame *f = dw_frames_get(&n->profile->frames, frame);
	bool in_system = dw_wait_frame_is_system(n, frame), is_all = false;
	uint8_t code_of = in_system ? n->code_of[f->module] : DWELL_NAMES_OF_USERS;
	enum dw_wait_names of = code_of >= INTERPRETER ? DWELL_NAMES_OF_SYSTEM : code_of;
	uint32_t chain_n;
	const struct dw_location *chain = dw_locations_get(&n->profile->locations, frame, &chain_n);

	if (!in_system || s->users)
		s->users++;
	for (uint32_t i = 0; i < chain_n && !is_all; i++) {
		if (code_of == DWELL_NAMES_OF_SYSTEM && !s->is_above_system)
			s->is_on_condition |= is_of_condition(n->profile, chain[i].function);
		is_all = take_function(n, chain[i].function, of, s);
	}
	/* The locks that it makes are semaphores: for a condition it waits itself, for its own one.
	 */
	if (code_of == INTERPRETER && !s->is_above_system && s->is_on_condition) {
		s->kind = DWELL_WAIT_INTERPRETER;
		is_all = true;
	}
	/* Of Ruby's methods those that wait for threads do so by conditions, too: the method tells.
	 */
	if (code_of == INTERPRETER_OF_RUBY && !s->is_above_system && s->is_on_condition) {
		s->kind = DWELL_WAIT_INTERPRETER;
		s->is_known = true;
	}
	s->is_above_system |= code_of != DWELL_NAMES_OF_SYSTEM;
	return is_all || s->users == USERS_MAX;
}

static struct saying ask_stack(struct dw_wait_namer *n, uint32_t stack)
{
	const struct dw_stack *at;
	struct saying s = {0};

	for (int i = 0; i < FRAMES_MAX && (at = dw_stacks_get(&n->profile->stacks, stack)); i++) {
		if (take_frame(n, at->frame, &s))
			break;
		stack = at->parent < stack ? at->parent : 0;
	}
	return s;
}

enum dw_wait_kind dw_wait_kind_of_node(struct dw_wait_namer *n, uint32_t id)
{
	const struct dw_call_node *at;
	struct saying s = {0};

	for (int i = 0; i < FRAMES_MAX && (at = dw_calls_get(&n->profile->calls, id)); i++) {
		if (take_frame(n, at->entry, &s))
			break;
		id = at->parent < id ? at->parent : 0;
	}
	return s.kind;
}

uint32_t dw_waiting_function(const struct dw_wait_namer *n, uint32_t stack, uint32_t node)
{
	const struct dw_profile *p = n->profile;
	const struct dw_call_node *call;
	const struct dw_stack *at;
	uint32_t last = 0, function;

	while ((at = dw_stacks_get(&p->stacks, stack))) {
		function = dw_locations_innermost(&p->locations, at->frame);
		last = function ? function : last;
		if (last && !dw_wait_frame_is_system(n, at->frame))
			return last;
		stack = at->parent < stack ? at->parent : 0;
	}
	while ((call = dw_calls_get(&p->calls, node))) {
		function = dw_locations_innermost(&p->locations, call->entry);
		last = function ? function : last;
		if (last && !dw_wait_frame_is_system(n, call->entry))
			return last;
		node = call->parent < node ? call->parent : 0;
	}
	return last;
}

/* What @was becomes by what functions say. The kernel's word on a descriptor stands. */
static enum dw_wait_kind combine(enum dw_wait_kind was, const struct saying *s)
{
	if (!s->is_known || was == DWELL_WAIT_READY)
		return was;
	if (was == DWELL_WAIT_OTHER || s->kind == DWELL_WAIT_COLLECTION)
		return s->kind;
	/* As make does, which waits for what its children write. */
	if (was == DWELL_WAIT_PIPE && s->kind == DWELL_WAIT_CHILD)
		return s->kind;
	if (was == DWELL_WAIT_CONDITION &&
	    (s->kind == DWELL_WAIT_LOCK || s->kind == DWELL_WAIT_CHILD ||
	     s->kind == DWELL_WAIT_IDLE || s->kind == DWELL_WAIT_INTERPRETER ||
	     s->kind == DWELL_WAIT_SLEEP)) /* runtimes sleep in a condition that nobody signals */
		return s->kind;
	return was == DWELL_WAIT_IDLE && s->kind == DWELL_WAIT_SOCKET ? s->kind : was;
}

static int complete_by_names(struct dw_profile *p)
{
	size_t n = dw_stacks_count(&p->stacks) + 1ul;
	dw_auto_free struct saying *by_stack = calloc(n, sizeof *by_stack);
	dw_auto_free bool *is_asked = calloc(n, sizeof *is_asked);
	struct dw_wait_namer namer;
	int rc = dw_wait_namer_init(&namer, p);

	if (!by_stack || !is_asked)
		rc = -ENOMEM;
	for (size_t i = 0; i < p->extras.rows.n && !rc; i++) {
		struct dw_extra *x = &p->extras.rows.v[i];

		if (x->measure != DWELL_MEASURE_BLOCKED || x->stack >= n)
			continue;
		if (!is_asked[x->stack])
			by_stack[x->stack] = ask_stack(&namer, x->stack);
		is_asked[x->stack] = true;
		x->kind = combine(x->kind, &by_stack[x->stack]);
	}
	dw_wait_namer_release(&namer);
	return rc;
}

static int complete_by_threads(struct dw_profile *p)
{
	size_t n = p->extras.rows.n;
	dw_auto_free struct dw_wait_at *waits = calloc(n, sizeof *waits);
	int rc;

	if (!waits)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct dw_extra *x = &p->extras.rows.v[i];
		bool is_wait = x->measure == DWELL_MEASURE_BLOCKED;

		waits[i] = (struct dw_wait_at){.thread = x->thread,
					       .place = x->stack,
					       .kind = is_wait ? x->kind : DWELL_WAIT_OTHER,
					       .ns = is_wait ? x->n : 0};
	}
	rc = dw_find_idle_threads(p, waits, n);
	rc = rc ? rc : dw_find_parked_threads(p, waits);
	for (size_t i = 0; i < n && !rc; i++)
		if (p->extras.rows.v[i].measure == DWELL_MEASURE_BLOCKED)
			p->extras.rows.v[i].kind = waits[i].kind;
	return rc;
}

int dw_complete_waits(struct dw_profile *p)
{
	int rc = dw_locate_lock_holders(p);

	rc = rc || !p->extras.rows.n ? rc : complete_by_names(p);
	return rc || !p->extras.rows.n ? rc : complete_by_threads(p);
}
