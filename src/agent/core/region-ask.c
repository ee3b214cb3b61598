/*
 * Asking the collector for clone images of modules, and waiting for the answers. Bounded in every
 * way: a collector that is stopped, dead or busy costs the program the wait once for each module.
 * Signals are blocked meanwhile, but those by which people end programs end the wait.
 */
#include "agent/core/agent-internal.h"
#include "agent/core/syscall-x86-64.h"

#include <signal.h>

enum { DWELL_ASK_NAME = 16 }; /* bytes that an ask's file name adds */

static const uint64_t quiet_limit_ns = 2000000000, whole_limit_ns = 30000000000;
static const uint64_t look_ns = 50000000; /* whether the collector lives, every so often */

/* Wake the collector: a new file beside the region. False when its folder is gone, as at the end of
 * the session. */
static bool ring(uint32_t i)
{
	char path[sizeof(dw_agent.path) + DWELL_ASK_NAME] = "";
	int fd;

	dw_text_append(path, sizeof(path), dw_agent.path);
	dw_text_append(path, sizeof(path), ".");
	dw_text_append_number(path, sizeof(path), i, 10);
	fd = dw_sys_open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0600);
	if (fd >= 0)
		dw_sys_close(fd);
	return fd >= 0;
}

/* Whether one waits that shall end the program, as far as we know. */
static bool is_interrupted(void)
{
	const uint64_t ending =
		1u << (SIGHUP - 1) | 1u << (SIGINT - 1) | 1u << (SIGQUIT - 1) | 1u << (SIGTERM - 1);
	uint64_t pending = 0;

	dw_syscall(SYS_rt_sigpending, &pending, sizeof(pending));
	return dw_agent.is_started && pending & ending & ~dw_agent.mask;
}

/* Wait until answers[@i] is final. Its state, as far as it has come. */
static uint32_t wait_for(uint32_t i)
{
	struct dw_region_answer *answer = &dw_agent.region->answers[i];
	uint64_t start = dw_sys_now_ns(), heard = start, looked = start, now = start;
	uint32_t state, heartbeat = 0, beat;

	for (;;) {
		state = __atomic_load_n(&answer->state, __ATOMIC_ACQUIRE);
		beat = __atomic_load_n(&answer->heartbeat, __ATOMIC_RELAXED);
		if (beat != heartbeat)
			heard = now;
		heartbeat = beat;
		if (state >= DWELL_ANSWER_IMAGE || now - heard > quiet_limit_ns ||
		    now - start > whole_limit_ns || is_interrupted())
			return state;
		if (now - looked > look_ns) {
			if (dw_region_is_abandoned())
				return state;
			looked = now;
		}
		dw_sys_sleep_ns(now - start < 5000000 ? 100000 : 1000000);
		now = dw_sys_now_ns();
	}
}

void dw_agent_ask(uint32_t first, uint32_t n)
{
	struct dw_region_header *region = dw_agent.region;

	if (!dw_agent.is_on || n > DWELL_REGION_MODULES - first)
		return;
	for (uint32_t i = first; i < first + n; i++)
		region->modules[i].state = DWELL_MODULE_ASKED;
	if (dw_agent.module_n < first + n)
		dw_agent.module_n = first + n;
	__atomic_store_n(&region->module_n, dw_agent.module_n, __ATOMIC_RELEASE);
	if (ring(first))
		return;
	for (uint32_t i = first; i < first + n; i++)
		region->modules[i].state =
			dw_agent_is_over() ? DWELL_MODULE_LATE : DWELL_MODULE_APART;
}

bool dw_agent_answer(uint32_t i, const char **path)
{
	struct dw_region_header *region = dw_agent.region;
	uint32_t answer;

	if (!dw_agent.is_on || i >= dw_agent.module_n ||
	    region->modules[i].state != DWELL_MODULE_ASKED)
		return false;
	answer = wait_for(i);
	*path = region->answers[i].image;
	if (answer == DWELL_ANSWER_IMAGE)
		return true;
	region->modules[i].state =
		answer == DWELL_ANSWER_NONE ? DWELL_MODULE_NONE : DWELL_MODULE_LATE;
	return false;
}
