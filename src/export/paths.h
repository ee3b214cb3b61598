/*
 * Where a profile's amounts lie, the same for every method: paths of locations.
 *
 * A location is an address in a module with the functions that it stands for, or what stands for a
 * thread outside its functions. A path is a parent path (the caller's side) and one location more.
 * Functions and pseudo-functions are numbered without gaps as symbols. Ids of parents are smaller
 * than those of their children.
 *
 * Of samples and allocations, paths are the profile's own stacks. Calls know instrumented functions
 * alone, so that a location of theirs has one function, and its line is the call's.
 */
#pragma once

#include "base/buf.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_paths {
	const struct dw_profile *profile;
	const struct dw_stack *rows; /* by path id */
	uint32_t n;		     /* path ids are below this; 0 = the empty path */
	uint32_t frames_n;	     /* smaller locations are frame ids; 0 = not known */
	uint32_t threads_n;    /* the next locations stand for threads; one more for "truncated" */
	uint32_t functions_n;  /* smaller symbols are function ids; 0 = not known */
	struct dw_stacks made; /* of calls */
	bool outermost;	       /* locations have their outermost function alone */
};

/* A function of a location, and where in it. */
struct dw_path_line {
	uint32_t symbol;
	uint32_t file; /* string id, 0 = not known */
	uint32_t line; /* 0 = not known */
	uint32_t column;
};

/* Prepare the paths of @profile (borrowed). Of calls there are none yet. */
void dw_paths_init(struct dw_paths *p, const struct dw_profile *profile);

/* Of calls: the path of @parent and @location, made when new. 0 or -ENOMEM. */
int dw_paths_add(struct dw_paths *p, uint32_t parent, uint32_t location, uint32_t *ret);

/* Number of functions at @location, at least 1. */
uint32_t dw_paths_lines(const struct dw_paths *p, uint32_t location);

/* The function number @i of @location, innermost first. */
struct dw_path_line dw_paths_line(const struct dw_paths *p, uint32_t location, uint32_t i);

/* What people call @symbol: borrowed from the profile, or made in @scratch. */
const char *dw_paths_name(const struct dw_paths *p, uint32_t symbol, struct dw_buf *scratch);

/* The function of @symbol, NULL for what only stands for one. */
const struct dw_function *dw_paths_function(const struct dw_paths *p, uint32_t symbol);

/* What people call @thread: its start function, else its own name. Borrowed, never NULL. */
const char *dw_paths_thread_name(const struct dw_paths *p, uint32_t thread);

/* The process of @thread, NULL = not known. */
const struct dw_process *dw_paths_process(const struct dw_paths *p, uint32_t thread);

/* Free everything. */
void dw_paths_release(struct dw_paths *p);

/* The caller's side of @path. */
static inline uint32_t dw_paths_parent(const struct dw_paths *p, uint32_t path)
{
	uint32_t parent = path ? p->rows[path].parent : 0;

	return parent < path ? parent : 0;
}

/* Where @path ends. The empty path ends where nobody knows. */
static inline uint32_t dw_paths_location(const struct dw_paths *p, uint32_t path)
{
	return path ? p->rows[path].frame : 0;
}

/* The location that stands for @thread outside its functions. */
static inline uint32_t dw_paths_thread_location(const struct dw_paths *p, uint32_t thread)
{
	return p->frames_n + (thread < p->threads_n ? thread : 0);
}

/* The location that stands for callees that a target had no memory for. */
static inline uint32_t dw_paths_truncated_location(const struct dw_paths *p)
{
	return p->frames_n + p->threads_n;
}

/* Ids of locations are below this. */
static inline uint32_t dw_paths_locations(const struct dw_paths *p)
{
	return dw_paths_truncated_location(p) + 1;
}

/* Symbols are below this. */
static inline uint32_t dw_paths_symbols(const struct dw_paths *p)
{
	return p->functions_n + 2 + p->threads_n;
}
