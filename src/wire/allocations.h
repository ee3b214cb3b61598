/*
 * Allocations of managed objects: what the .NET agent measures, in the region.
 *
 * The region of such an agent has tables, each made of all chunks of its kind in their order, and
 * one chunk of kind DWELL_REGION_CHUNK_CLR with struct dw_clr_head. Rows are numbered from 0; row 0
 * of each is never used. Rows are written by threads of the target while the collector reads: a row
 * counts once its first word is not 0, which is written last and never changes, and its other words
 * but for counters never change after that. Numbers of rows in the head say how far to look; rows
 * below that may be empty for ever.
 *
 * A node is a call stack: its parent and one frame more, nodes without a parent are the stacks of
 * threads without frames. A group is all objects of one type allocated by one thread with one
 * stack. Texts are UTF-8 without NUL.
 */
#pragma once

#include <stdint.h>

enum {
	DWELL_CLR_CACHE_LINE = 64,
	DWELL_CLR_DRAW_BYTES = 102400, /* between samples of the runtime's, in the mean */
	DWELL_CLR_GENERATIONS = 5,     /* 0, 1, 2, large objects, pinned objects */
};

/* Tables; DWELL_REGION_CHUNK_CLR + 1 + this is the kind of their chunks. */
enum dw_clr_table {
	DWELL_CLR_NODES,
	DWELL_CLR_GROUPS,
	DWELL_CLR_OLDS,
	DWELL_CLR_TYPES,
	DWELL_CLR_FRAMES,
	DWELL_CLR_FUNCTIONS,
	DWELL_CLR_MODULES,
	DWELL_CLR_THREADS,
	DWELL_CLR_GCS,
	DWELL_CLR_TEXTS, /* bytes */
	DWELL_CLR_CODES, /* wire/managed-code.h, as the next */
	DWELL_CLR_IL,
	DWELL_CLR_NATIVES,
	DWELL_CLR_PROBED, /* wire/managed-code.h */
	DWELL_CLR_TABLES
};

/* Frames that are none: of a node without a parent, and of what memory was lacking for. */
#define DWELL_CLR_FRAME_ROOT	  0xfffffff0u
#define DWELL_CLR_FRAME_TRUNCATED 0xfffffff1u
/* Native code between managed functions, one frame whatever it is, but where it was asked for. */
#define DWELL_CLR_FRAME_NATIVE 0xfffffff2u

/*
 * Frames from DWELL_CLR_FRAME_PART on, by enum dw_clr_part: of a node below a thread's root, which
 * is no stack. What is below it is a frame with its caller, if it has one, of stacks that there was
 * no room for: objects count for that of which the frame was the first one on its stack, seen from
 * the outside. Those of other than leaves are counted elsewhere, too.
 */
#define DWELL_CLR_FRAME_PART 0xffffff80u

enum dw_clr_part {
	DWELL_CLR_PART_FUNCTION = 1,
	DWELL_CLR_PART_MODULE = 2,
	DWELL_CLR_PART_CALL = 4,
	DWELL_CLR_PART_LINE = 8,
	DWELL_CLR_PART_LEAF = 16, /* it has allocated the objects */
	DWELL_CLR_PARTS = 32
};

struct dw_clr_node {
	uint32_t frame; /* row, or one of the above */
	uint32_t parent;
	uint32_t child, sibling, group, is_last; /* the agent's own */
};

/* A group of samples has objects of one size, and counts those that were drawn. */
struct dw_clr_count {
	uint64_t objects, bytes;
};

struct dw_clr_group {
	uint32_t type;
	uint32_t node;
	uint32_t thread;
	uint32_t old;	/* row, 0 = none of it was collected but in generation 0 */
	uint32_t next;	/* the agent's own */
	uint32_t units; /* of samples: 8 bytes that each object has, 0 = counts are of all */
	uint32_t unused[2];
	struct dw_clr_count allocated;
	struct dw_clr_count collected; /* in generation 0 */
};

/* What of a group was collected elsewhere: by generation - 1. */
struct dw_clr_old {
	uint32_t group;
	uint32_t unused;
	struct dw_clr_count collected[DWELL_CLR_GENERATIONS - 1];
};

struct dw_clr_text {
	uint32_t at;	/* in the table of texts */
	uint32_t bytes; /* 0 = none */
};

struct dw_clr_type {
	struct dw_clr_text name; /* never empty; at is not 0 */
	uint32_t module;	 /* row, 0 = not known */
	uint32_t unused;
};

struct dw_clr_module {
	struct dw_clr_text path; /* at is not 0 */
	uint32_t is_dynamic;	 /* without a file: others may have its path */
	uint32_t is_native;	 /* not an assembly: path is that of an ELF file */
};

/* A method; its name is that of the metadata: Namespace.Type+Nested::Method. */
struct dw_clr_function {
	struct dw_clr_text name; /* at is not 0 */
	uint32_t module;	 /* row, 0 = not known */
	uint32_t token;		 /* of the method, 0 = made at run time */
};

struct dw_clr_frame {
	uint32_t function;  /* row; of natives if il_offset says so */
	uint32_t il_offset; /* of the call, UINT32_MAX = not known, or the next */
};
#define DWELL_CLR_IL_NATIVE 0xfffffffeu

/* A return address in native code between managed functions, if these were asked for. */
struct dw_clr_native {
	uint32_t module; /* row */
	uint32_t unused;
	uint64_t svma; /* as the module's file counts */
};

struct dw_clr_thread {
	int32_t tid; /* as the target sees it */
	uint32_t unused;
	uint64_t start_ns; /* CLOCK_MONOTONIC of its first allocation */
	struct dw_clr_count allocated;
	uint64_t counted_bytes; /* by the runtime's own counter of the thread, 0 = not known */
	uint64_t unused2;
};

struct dw_clr_gc {
	uint32_t number; /* from 1 */
	uint32_t generation;
	uint32_t is_induced;
	uint32_t is_compacting;
	uint32_t thread;   /* row, 0 = not known */
	uint32_t is_ended; /* what follows stands */
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t pause_ns;
	uint64_t before_bytes, after_bytes, promoted_bytes;
	uint32_t node;	   /* of the stack that triggered it, 0 = not known */
	uint32_t added_us; /* of the pause, at least: what it took to tell the agent */
};

/* What the agent knows of itself. */
enum dw_clr_fact {
	DWELL_CLR_VERSION_MAJOR, /* of the runtime, as the next */
	DWELL_CLR_VERSION_MINOR,
	DWELL_CLR_VERSION_BUILD,
	DWELL_CLR_HAS_LIFETIME,
	DWELL_CLR_HAS_STACKS,
	DWELL_CLR_ANNOUNCES_ALL, /* the runtime announces all objects, by itself or made to */
	DWELL_CLR_SNAPSHOTS,	 /* stacks that the runtime was asked for */
	DWELL_CLR_LOST_OBJECTS,	 /* not counted at all */
	DWELL_CLR_LOST_STACKS,	 /* counted without their stack */
	DWELL_CLR_FOLDED,	 /* counted with a stack without its recursion */
	DWELL_CLR_UNTRACKED,	 /* whose end is not known */
	DWELL_CLR_CHECKED,	 /* stacks that were compared with the runtime's */
	DWELL_CLR_DIFFERENT,	 /* of these: that are others */
	/* By the oracle, when one was asked for. */
	DWELL_CLR_LABELS_CHECKED,   /* objects whose generation was compared, at each collection */
	DWELL_CLR_LABELS_DIFFERENT, /* of these: that the runtime sees elsewhere */
	DWELL_CLR_HEAP_OBJECTS,	    /* on the heap at the end, by the runtime */
	DWELL_CLR_HEAP_UNANNOUNCED, /* of these: not known, or of another size */
	DWELL_CLR_HEAP_STALE,	    /* known, but not there */
	DWELL_CLR_FROZEN_BYTES,	    /* of objects outside all generations, as last seen */
	DWELL_CLR_LOST_CODE,	    /* pieces of code that were not told */
	DWELL_CLR_SAMPLE_BYTES,	    /* mean bytes between samples, 0 = all objects are counted */
	DWELL_CLR_OVERFLOW,	    /* counted by the parts of their stacks */
	DWELL_CLR_COLLECTED_AT_END, /* a last collection has ended */
	/* Of what measures calls: where its probes' own code lies, and methods, when they were
	 * first compiled or their assembly was loaded. */
	DWELL_CLR_PROBES_AT,
	DWELL_CLR_PROBES_BYTES,
	DWELL_CLR_METHODS_SMALL,   /* too small for a probe */
	DWELL_CLR_METHODS_REFUSED, /* left as they are: their code is not understood, or cannot be
				      replaced */
	DWELL_CLR_METHODS_LOST,	   /* likewise: no memory, or the runtime refused */
	DWELL_CLR_FACTS
};

struct dw_clr_head {
	uint32_t rows[DWELL_CLR_TABLES]; /* that may be in use */
	uint32_t unused[2];
	uint64_t facts[32];
};

_Static_assert(sizeof(struct dw_clr_node) == 24, "layout");
_Static_assert(sizeof(struct dw_clr_group) == 64, "one line");
_Static_assert(sizeof(struct dw_clr_old) == 72, "layout");
_Static_assert(sizeof(struct dw_clr_type) == 16, "layout");
_Static_assert(sizeof(struct dw_clr_module) == 16, "layout");
_Static_assert(sizeof(struct dw_clr_function) == 16, "layout");
_Static_assert(sizeof(struct dw_clr_frame) == 8, "layout");
_Static_assert(sizeof(struct dw_clr_native) == 16, "layout");
_Static_assert(sizeof(struct dw_clr_thread) == 48, "layout");
_Static_assert(sizeof(struct dw_clr_gc) == 72, "layout");
_Static_assert(sizeof(struct dw_clr_head) == 320, "layout");
