/* The runtime's agent, preloaded before this one, asks here whether it belongs into the process. */
#include "agent/core/agent.h"

const char *dwell_second(void);

__attribute__((visibility("default"))) const char *dwell_second(void)
{
	return dw_agent_second();
}
