/*
 * The collector as this process knows it: whether it lives, what it is asked, and life without it.
 *
 * A page of the session's folder tells whether somebody records, without a system call, wherever
 * the program has gone with its user, its root or its filters. It is mapped when the agent first
 * asks, and a fork's child has it from its parent.
 *
 * Asking for clone images of modules is bounded in every way: a collector that is stopped, dead or
 * busy costs the program the wait once for each module. Signals are blocked meanwhile, but those by
 * which people end programs end the wait.
 *
 * When nobody records any longer, what the agent has stays here, where threads may still be in
 * trampolines and slow paths. The child of a fork is in neither, so it gets none of those mappings,
 * which would cost each fork more than all that the program has: MADV_DONTFORK. Nor do addresses
 * that were reserved for more stay. From then on the agent does without its region, and gets memory
 * that children have, too (memory.h).
 */
#include "agent/core/agent-internal.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>

enum { DWELL_ASK_NAME = 16 }; /* bytes that an ask's file name adds */

static const uint64_t silence_limit_ns = 2000000000, whole_limit_ns = 30000000000;
static const uint64_t look_ns = 50000000; /* whether the collector lives, every so often */

/* Map the page. -ENOENT: it has gone with its folder. */
static int map_alive(void)
{
	char path[sizeof(dw_agent.path)] = "";
	struct stat st = {0};
	void *mapped;
	int fd;

	dw_text_append(path, sizeof(path), dw_agent.folder);
	dw_text_append(path, sizeof(path), "/" DWELL_REGION_ALIVE);
	fd = dw_sys_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	mapped = (void *)-ENXIO;
	if (!dw_sys_fstat(fd, &st) && st.st_size >= DWELL_PAGE)
		mapped = dw_sys_mmap(NULL, DWELL_PAGE, PROT_READ, MAP_SHARED, fd, 0);
	dw_sys_close(fd);
	if (!dw_is_mapped(mapped))
		return (int)(long)mapped;
	dw_agent.alive = mapped;
	return 0;
}

bool dw_agent_files_are_alike(void)
{
	return dw_agent.alive && dw_agent.alive->files_are_alike;
}

DWELL_HOT bool dw_agent_is_over(void)
{
	const struct dw_region_alive *alive = dw_agent.alive;

	if (dw_agent_is_retired())
		return true;
	return alive && (__atomic_load_n(&alive->is_over, __ATOMIC_RELAXED) ||
			 __atomic_load_n(&alive->owner, __ATOMIC_RELAXED) & FUTEX_OWNER_DIED);
}

bool dw_region_is_abandoned(void)
{
	if (!dw_agent_is_over() && !dw_agent.alive && map_alive() == -ENOENT)
		return true;
	return dw_agent_is_over();
}

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
		if (state >= DWELL_ANSWER_IMAGE || now - heard > silence_limit_ns ||
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

bool dw_agent_is_retired(void)
{
	return __atomic_load_n(&dw_agent.is_retired, __ATOMIC_ACQUIRE);
}

void dw_agent_retire(void)
{
	if (dw_agent.is_retired)
		return;
	dw_agent.is_on = false;
	/* First: a child that another thread makes meanwhile must not look for what it lacks. */
	__atomic_store_n(&dw_agent.is_retired, true, __ATOMIC_SEQ_CST);
	dw_region_window_close();
	dw_syscall(SYS_madvise, dw_agent.region, dw_whole_pages(sizeof(*dw_agent.region)),
		   MADV_DONTFORK);
	if (dw_agent.alive)
		dw_syscall(SYS_madvise, dw_agent.alive, DWELL_PAGE, MADV_DONTFORK);
	dw_memory_retire();
}
