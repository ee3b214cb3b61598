/*
 * Synthetic profiles: any number of samples over any number of stacks, the same for the same seed.
 *
 * Stacks grow like those of a compiler: a random walk over a trie, most of them sharing a long way
 * from main. For tests, benches and the tool make-session.
 */
#pragma once

#include "model/profile.h"

#include <stdbool.h>
#include <stdint.h>

struct synthetic {
	uint32_t samples;
	uint32_t stacks;    /* distinct, at most */
	uint32_t depth;	    /* frames of a stack on average */
	uint32_t addresses; /* distinct frames */
	uint32_t functions;
	uint32_t modules;
	uint32_t threads;
	uint32_t processes;
	uint32_t rate_hz;
	uint64_t seed;
	uint32_t call_nodes; /* with calls, not samples */
	uint32_t slices;
	uint32_t disabled;     /* functions that were switched off, with calls */
	uint32_t alloc_groups; /* with allocations, not samples or calls */
	uint32_t alloc_types;
	bool functions_without_code;
	bool waits; /* beside the samples: one in four has one, of half its period */
};

/* A small session with some of everything. */
#define SYNTHETIC_SMALL                                                                          \
	{                                                                                        \
		.samples = 2000, .stacks = 300, .depth = 12, .addresses = 500, .functions = 120, \
		.modules = 5, .threads = 4, .processes = 2, .rate_hz = 1000, .seed = 1           \
	}

/* The same with waits. */
#define SYNTHETIC_WAITS                                                                          \
	{                                                                                        \
		.samples = 2000, .stacks = 300, .depth = 12, .addresses = 500, .functions = 120, \
		.modules = 5, .threads = 4, .processes = 2, .rate_hz = 1000, .seed = 1,          \
		.waits = true                                                                    \
	}

/* A small session of calls. */
#define SYNTHETIC_CALLS                                                                    \
	{                                                                                  \
		.stacks = 1, .depth = 2, .addresses = 500, .functions = 120, .modules = 5, \
		.threads = 4, .processes = 2, .rate_hz = 1, .seed = 1, .call_nodes = 1000, \
		.slices = 6                                                                \
	}

/* A small session of allocations. */
#define SYNTHETIC_ALLOCS                                                                      \
	{                                                                                     \
		.stacks = 200, .depth = 12, .addresses = 500, .functions = 120, .modules = 5, \
		.threads = 4, .processes = 2, .rate_hz = 1, .seed = 1, .alloc_groups = 1000,  \
		.alloc_types = 40, .slices = 6                                                \
	}

/* The random numbers behind it (splitmix64). */
uint64_t synthetic_random(uint64_t *state);

/* Fill @p (empty) with everything but samples and symbols; *@leaves becomes s->stacks stack ids,
 * malloc()ed. 0 or -ENOMEM. */
int synthetic_tables(const struct synthetic *s, struct dw_profile *p, uint32_t **leaves);

/* Append samples [from, to) of @s to @p. 0 or -ENOMEM. */
int synthetic_samples(const struct synthetic *s, const uint32_t *leaves, uint32_t from, uint32_t to,
		      struct dw_profile *p);

/* Append slices [from, to) of the calls of @s to @p, and with the last what is known at the end. 0
 * or -ENOMEM. */
int synthetic_calls(const struct synthetic *s, uint32_t from, uint32_t to, struct dw_profile *p);

/* Append slices [from, to) of the allocations of @s to @p. 0 or -ENOMEM. */
int synthetic_allocs(const struct synthetic *s, const uint32_t *leaves, uint32_t from, uint32_t to,
		     struct dw_profile *p);

/* Add functions, lines with inlined functions, and code to a profile made by synthetic_tables(). 0
 * or -ENOMEM. */
int synthetic_symbols(const struct synthetic *s, struct dw_profile *p);
