/*
 * The shadow stacks of a thread: the activations that are open on each stack that it runs on.
 *
 * Trampolines push and pop at the top of the current one as long as the stack pointer says that
 * nothing else has happened. All else comes here: activations that ended without a probe (longjmp,
 * exceptions, cancellation), coroutines, handlers on alternate stacks, room.
 *
 * Records of a stack fall from its first entry on, all below its bottom. They are multiples of 4;
 * others match no stack pointer, so that whatever comes next takes the slow path:
 * - What may go on on another stack (DWELL_CLONE_SWITCHES, DWELL_IMPORT_SWITCHES) is followed by a
 *   guard, an entry with the same node and the record DWELL_RECORD_GUARD. The tree must not
 *   remember such a callee for the trampolines. vfork() and clone() are among them: events of a
 *   child on this thread's memory come here too and are told by its id.
 * - A handler on an alternate stack has a segment of its own above what it interrupted, behind a
 *   link (an entry with the same node that knows the base of the segment below).
 *
 * Which stack a stack pointer belongs to: the one whose bottom is the nearest above it, when it is
 * among its records or at most a window's bytes (DWELL_STACK_WINDOW) below them. Otherwise the
 * current one, where nothing speaks against it (a large frame), else a new one, whose tree begins
 * at the root, as that of a stack that is an array in a caller's frame. Trampolines may push as
 * long as thread->top is below thread->limit. Limits: switches by unknown names between stacks that
 * lie closer than the window are seen late.
 *
 * All is the thread's own, between dw_slow_begin() and dw_slow_end(). Room is made while
 * system calls are allowed; without it activations are not pushed and their time is the caller's.
 */
#pragma once

#include "agent/calls/os-inside.h"
#include "wire/call-tree.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_extremes;
struct dw_lines;
struct dw_tree;

enum {
	/* Probes go slow when the stack pointer is farther below the top's record (thread->window):
	 * RETURN with top.record - (sp - 4) of 0 pops, in (0, window) means that nothing was
	 * pushed. The second holds while no other stack is known: where functions with large frames
	 * have no probes, all below them would be slow. */
	DWELL_STACK_WINDOW = 16384,
	DWELL_STACK_WINDOW_ALONE = 262144,
	/* How far below the sp of RETURN the records lie of a function that has ended in a jump
	 * out, and of what it has jumped to: RETURN ends them too. */
	DWELL_RETURN_FUNCTION = 8,
	DWELL_RETURN_TAIL = 12,
	DWELL_RECORD_GUARD = 1,
	DWELL_RECORD_CALL_OUT = 4, /* set in records of calls out, clear in others */
	DWELL_STACKS = 16384,	   /* of a thread; then the first ones are forgotten */
};

/* In the record of a link; the index of the base of the segment below stands behind bit 0. */
#define DWELL_RECORD_LINK (1ull << 63)

/*
 * One open activation; one line. The array of a thread is its shadow stack; entry 0 is the root's.
 * The times are of the thread's own clock, but for @began: see call-extremes.h.
 */
struct dw_shadow {
	struct dw_tree_node *node; /* current while it is on top */
	uint64_t record; /* sp as the trampoline sees it at the entry; of calls out 4 less; odd
			    values send the leaving probe to the slow path */
	struct dw_tree_node *function; /* the activation's own; @node is that of the statement it
					  is at, if that has one */
	uint64_t start;
	uint64_t spent; /* @start and the inclusive times of callees that have ended */
	uint64_t began; /* TSC; of cells the highest two bits say what it adds to: activation.h */
	uint64_t inclusive, probes; /* of cells: activation.h */
} __attribute__((aligned(DWELL_LINE_BYTES)));

/* In dw_shadow.spent: its end is for the slow path. */
#define DWELL_SHADOW_SLOW (1ull << 63)
/* In dw_shadow.start, SLOW beside it: nobody knows how long it takes. */
#define DWELL_SHADOW_LEFT_OUT (1ull << 63)

/* In dw_shadow.began: another activation of its callee is open below it on its stack, and what it
 * adds to is its cell's struct dw_tree_inner; without the latter it adds to nothing. */
#define DWELL_SHADOW_INNER    (1ull << 63)
#define DWELL_SHADOW_REPEATED (1ull << 62)

/* When the activation of @e began: TSC. */
#define dw_shadow_began(e) ((e)->began & ~(DWELL_SHADOW_INNER | DWELL_SHADOW_REPEATED))

/* Whether the entry is a guard or a link. */
static inline bool dw_shadow_is_mark(const struct dw_shadow *e)
{
	return e->record == DWELL_RECORD_GUARD || e->record & DWELL_RECORD_LINK;
}

/* An entry for @node that has no times. */
static inline struct dw_shadow dw_shadow_of(struct dw_tree_node *node, uint64_t record)
{
	return (struct dw_shadow){.node = node, .record = record, .function = node};
}

/* A stack that the thread runs on. */
struct dw_stack {
	struct dw_shadow *entries; /* [0] is the bottom: node = the root, record above all others */
	struct dw_shadow *top;	   /* when it is not current; else thread->top */
	struct dw_shadow *base;	   /* the bottom of the topmost segment, entries[0] without one */
	uint32_t room;		   /* entries */
	uint64_t left;		   /* its clock when it was left */
	struct dw_os_inside os;
} __attribute__((aligned(DWELL_LINE_BYTES)));

/* The stacks of a thread, by falling bottoms. Zero-initialised before dw_stacks_start(); what an
 * ended thread has left may be started again. */
struct dw_stacks {
	struct dw_tree_thread *thread; /* has the current one's top and limit */
	struct dw_tree_node *root;
	struct dw_extremes *extremes; /* is told what ends; NULL = nobody is */
	uint64_t now; /* of the event, by the current stack's clock: dw_stacks_at() */
	struct dw_stack **list;
	uint32_t n, room;
	uint32_t hand; /* where the next one to be used again is looked for */
	struct dw_stack *current;
	struct dw_lines *lines; /* for what cells need (borrowed), once there are cells */
	struct dw_kept *kept;	/* what is open, while a fork's child changes its arena */
	uint32_t kept_n;
};

/* What thread->window is to be. */
static inline uint32_t dw_stacks_window(const struct dw_stacks *s)
{
	return s->n == 1 && s->current->base == s->current->entries ? DWELL_STACK_WINDOW_ALONE
								    : DWELL_STACK_WINDOW;
}

/* An activation without a node. */
struct dw_kept {
	uint64_t key;
	uint64_t line; /* key of the statement that it is at, 0 = none */
	uint32_t site;
};

enum dw_stack_event {
	DWELL_AT_ENTER,
	DWELL_AT_EXIT,
	DWELL_AT_OUT,
	DWELL_AT_RETURN,
	DWELL_AT_LANDING,
	DWELL_AT_LINE,
};

/* What is to be done with an event. */
enum dw_fit {
	DWELL_FIT_EVENT, /* ENTER, OUT: the top is the caller. EXIT, RETURN: it is what ends. LINE:
			    it may be where the statement is */
	DWELL_FIT_NONE,	 /* nothing was pushed for it, or there is nothing more to do */
	DWELL_FIT_FOREIGN, /* another task's that shares this thread's memory: drop it */
};

/*
 * The first stack of @t, whose first event has @record and whose root is @root: sets top, limit and
 * current. False: no memory, the thread cannot be measured.
 */
bool dw_stacks_start(struct dw_stacks *s, struct dw_tree_thread *t, struct dw_tree_node *root,
		     uint64_t record);

/* What follows happens at @ticks of the TSC. */
void dw_stacks_at(struct dw_stacks *s, uint64_t ticks);

/*
 * Let the current stack and its top be those of an event at @record (sp in the trampoline; OUT and
 * RETURN: 4 less; landing pads: sp). The interval before must have been charged to
 * thread->current: this changes it.
 */
enum dw_fit dw_stacks_fit(struct dw_stacks *s, enum dw_stack_event event, uint64_t record);

/* Push an activation of @node, which counts it, and make that current; with @switches a guard too.
 * False: no room, nothing is pushed. */
bool dw_stacks_push(struct dw_stacks *s, struct dw_tree_node *node, uint64_t record, bool switches);

/* The activation on top is at the statement of @node, NULL: at none that is known. */
void dw_stacks_set_line(struct dw_stacks *s, struct dw_tree_node *node);

/* Pop the topmost activation, a guard with it, which has ended. What lies below is current. */
void dw_stacks_pop(struct dw_stacks *s);

/* Likewise, but it was none: its time is that of what lies below. */
void dw_stacks_take_back(struct dw_stacks *s);

/*
 * Take out the activations of all stacks for which @is_over holds, as if their callers did what
 * they do: they end without probes. The interval before must have been charged. Those that a
 * handler has interrupted stay until something finds them ended.
 */
void dw_stacks_drop(struct dw_stacks *s, bool (*is_over)(const struct dw_tree_node *node));

/* A handler on an alternate stack below @bottom begins: it nests under what is current. False: it
 * cannot be told apart. */
bool dw_stacks_handler_begin(struct dw_stacks *s, uint64_t bottom);

/* The handler below @bottom has returned. False: it has gone on elsewhere. */
bool dw_stacks_handler_end(struct dw_stacks *s, uint64_t bottom);

/* Close what is open, at the end of the process. */
void dw_stacks_close(struct dw_stacks *s);

/* How many entries @k has up to @top. */
static inline uint64_t dw_stack_depth(const struct dw_stack *k, const struct dw_shadow *top)
{
	return (uint64_t)(top - k->entries);
}

/* Whether @e of @k is an activation, and no copy of the one below. */
bool dw_is_activation(const struct dw_stack *k, const struct dw_shadow *e);

/* The activation at or below @e, and whether there is one: entries of other kinds are skipped, in
 * @k's order downwards. */
bool dw_stack_activation(const struct dw_stack *k, struct dw_shadow **e);

/* In a fork's child that can still read its parent's nodes, and uses its stack from @sp on: keep
 * what is open. */
void dw_stacks_keep(struct dw_stacks *s, uint64_t sp);

/*
 * Then, with an arena of the child's own: open it again below @root for @t, whose nodes @child
 * finds, each below the one before. False: nothing was kept.
 */
bool dw_stacks_reopen(struct dw_stacks *s, struct dw_tree_thread *t, struct dw_tree_node *root,
		      struct dw_tree_node *(*child)(void *ctx, struct dw_tree_node *parent,
						    const struct dw_kept *kept),
		      void *ctx);

/* Go over to @k, one of @s or its only one. */
void dw_stacks_go_to(struct dw_stacks *s, struct dw_stack *k);

/* Give back everything, of a thread that has ended. From any thread. */
void dw_stacks_end(struct dw_stacks *s);
