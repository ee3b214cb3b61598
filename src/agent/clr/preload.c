/*
 * The agent as the loader brings it into the program and all its children: it hides what brought
 * it, gives itself to what is executed, and waits for a runtime to ask for its variables
 * (getenv.c).
 *
 * This file stands beside the library of the others: what it shows would stand in for the C
 * library's in tests.
 */
#include "agent/clr/blocks.h"
#include "agent/clr/tables.h"
#include "agent/clr/variables.h"
#include "agent/core/agent.h"
#include "agent/core/deferred-start.h"

static void give_back(uint64_t keep, bool is_private)
{
	(void)is_private;
	dw_tables_give_back(keep);
	dw_blocks_give_back(keep);
}

const struct dw_agent_part dw_agent_part = {.give_back = give_back, .hides = dw_variables_are};

__attribute__((constructor)) static void preload(int argc, char **argv, char **envp)
{
	(void)argc;
	(void)argv;
	dw_deferred_preload(envp);
}
