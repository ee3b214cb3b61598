/*
 * The start of the agent inside a .NET process: not by the loader as other agents, but when the
 * runtime asks for its profiler.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What the user wants, from DWELL_ENV_MODE. */
struct dw_clr_wishes {
	bool is_code; /* for sampling: what code is where, and nothing else */
	bool has_stacks;
	bool has_natives; /* which native functions lie between managed ones */
	bool has_lifetime;
	bool collects_at_end;  /* so that what is alive then is no garbage */
	bool has_oracle;       /* compare generations and the heap with the runtime's */
	uint64_t sample_bytes; /* draw one object in so many bytes, 0 = take all */
	uint32_t check;	       /* compare one stack in so many with the runtime's, 0 = none */
};

/*
 * Make the region and the tables, if dwell started this process and a collector lives. False:
 * nothing was done. The variables go from the environment unless children shall have the agent.
 */
bool dw_clr_start(struct dw_clr_wishes *ret);
