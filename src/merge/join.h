/*
 * Joining: the rows of one session put behind those of others, with the ids that they get there.
 *
 * Strings, modules, functions, frames and stacks that are equal become one row. Processes and
 * threads stay apart, and so does what hangs on them: nodes, groups, types. Their new ids are the
 * old ones plus how many there were. Times are shifted: a session begins where the one before it
 * ends.
 */
#pragma once

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/profile.h"

#include <stdint.h>

/* Locations of a frame, among the rows of locations that were gathered. */
struct dw_chain {
	uint32_t first, n;
};

/* What sessions become together. Functions, code and sources are gathered in the profile, locations
 * beside it, and where threads start: who writes a session that runs has none of these. */
struct dw_joined {
	struct dw_profile profile;
	DW_VEC(struct dw_chain) chains;	      /* by frame id */
	DW_VEC(struct dw_location) locations; /* some of no chain any more */
	DW_VEC(uint32_t) starts;	      /* of threads, by id: function ids */
	struct dw_pairs codes;		      /* function, svma */
	struct dw_map sources;		      /* string -> 1 */
	uint64_t source_bytes;
	DW_VEC(uint32_t) next_modules; /* by module id: the next one that is called the same */
	struct dw_map first_modules, last_modules; /* by what they are called */
	uint64_t end_ns;			   /* of the sessions so far */
	uint32_t sessions;			   /* those of merged ones each */
};

/* One session on its way. Maps of ids are by the old one, with 0 for 0. */
struct dw_join {
	struct dw_joined *to;
	struct dw_profile *from; /* its code and sources are taken */
	uint64_t shift_ns, span_ns;
	uint32_t *strings, *modules, *functions, *frames, *stacks; /* owned */
	/* How many there were of what stays apart. */
	uint32_t processes, threads, nodes, slices, types, groups;
};

/* Begin to put @from, which is loaded, behind all of @to. 0; -ENOMEM; DWELL_ERR_FORMAT: its times
 * make no sense. */
int dw_join_begin(struct dw_join *j, struct dw_joined *to, struct dw_profile *from,
		  struct dw_error *err);

/* Put all but facts and what slices have behind the rows of j->to. 0 or -ENOMEM. */
int dw_join_tables(struct dw_join *j);

/* Find or make the modules of j->from: those of equal name are one if they have the same build-id,
 * or, without any, the same file in which no address is of another function. 0 or -ENOMEM. */
int dw_join_modules(struct dw_join *j);

/* Put functions, locations, code and sources behind those of j->to. 0 or -ENOMEM. */
int dw_join_symbols(struct dw_join *j);

/* Put facts together, before dw_join_end(): what can be added is, what has to be equal is asked
 * for.
 * @path, @first  what the session and the first one are called.
 * 0, -ENOMEM or DWELL_ERR_UNSUPPORTED: they do not go together. */
int dw_join_facts(struct dw_join *j, const char *path, const char *first, struct dw_error *err);

/* It is done: free the maps. */
void dw_join_end(struct dw_join *j);

/* Give all that was gathered to @p, which is the same tables loaded again, and facts that only the
 * whole can tell. 0 or -ENOMEM. */
int dw_joined_give(struct dw_joined *to, struct dw_profile *p);

/* Free everything. */
void dw_joined_release(struct dw_joined *to);

/* The function of the program's own file at @frame, into which others were inlined. 0 = none is
 * known. */
static inline uint32_t dw_outermost_function(const struct dw_location *chain, uint32_t n)
{
	return n ? chain[n - 1].function : 0;
}
