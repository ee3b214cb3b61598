/*
 * Where the files of agents are.
 */
#pragma once

/* The path of the agent's file @name, beside this program or where it is installed; the caller
 * frees it. NULL = nowhere. */
char *dw_agent_file(const char *name);
