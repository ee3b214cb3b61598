/*
 * A profile: all tables of one recording together. Each table has a header of its own with its
 * rules.
 *
 * While a recording runs, samples and waits hold only what has not been handed to the session yet;
 * after loading they hold all (or what the load asked for). Owned by one thread at a time.
 */
#pragma once

#include "base/strings.h"
#include "model/allocations.h"
#include "model/calls.h"
#include "model/facts.h"
#include "model/module.h"
#include "model/process.h"
#include "model/sample.h"
#include "model/source.h"
#include "model/stack.h"
#include "model/symbol.h"

struct dw_profile {
	struct dw_strings strings;
	struct dw_facts facts;
	struct dw_modules modules;
	struct dw_processes processes;
	struct dw_threads threads;
	struct dw_frames frames;
	struct dw_stacks stacks;
	struct dw_samples samples;
	struct dw_waits waits;
	struct dw_calls calls;
	struct dw_allocations allocations;
	struct dw_functions functions;
	struct dw_locations locations;
	struct dw_codes codes;
	struct dw_sources sources;
};

#define DW_PROFILE_INIT \
	{               \
		0       \
	}

/* What a recording consists of. */
enum dw_method { DWELL_METHOD_SAMPLING, DWELL_METHOD_INSTRUMENTATION, DWELL_METHOD_MEMORY };

/* How @p was recorded, however little of it there is. */
enum dw_method dw_profile_method(const struct dw_profile *p);

/* Whether @p comes from instrumentation. */
static inline bool dw_profile_has_calls(const struct dw_profile *p)
{
	return dw_profile_method(p) == DWELL_METHOD_INSTRUMENTATION;
}

/* Whether @p tells where threads waited. */
bool dw_profile_has_waits(const struct dw_profile *p);

/* Free all tables and leave an empty profile. */
void dw_profile_release(struct dw_profile *p);
