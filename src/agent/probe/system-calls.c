/*
 * Which system calls count; see system-calls.h.
 *
 * A child that shares the memory (vfork(), posix_spawn(), raw clone()) comes by here, and by other
 * gates, with its parent's thread-local storage: after a call that may have made one, the caller's
 * id decides.
 */
#include "agent/probe/system-calls.h"

#include "agent/core/agent.h"
#include "agent/core/syscall-x86-64.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>

/* Where the gate keeps arguments (src/clone/trampolines/time-x86-64.S). */
enum { SAVED_RSI = -32, SAVED_RDI = -40 };

enum {
	FOREIGN_BYTES = 1 << 16, /* of a stack around where another task was seen on it */
	FOREIGN_EVENTS = 1024,	 /* there, before it is looked again who it is */
	FAR_BYTES = 1 << 20,	 /* from all that the thread has open */
};

/* Leak checkers clone a task with a stack of its own that does millions of calls: it is known by
 * that. A child of vfork() runs on its parent's. */
static void remember(struct dw_thread *t, uint64_t rsp)
{
	uint64_t own = ((const struct dw_shadow *)t->line->top)->record;

	t->os.foreign_sp = rsp;
	t->os.foreign_left = rsp - own + FAR_BYTES < 2 * FAR_BYTES ? 0 : FOREIGN_EVENTS;
}

bool dw_system_call_is_other(struct dw_thread *t, uint64_t rsp)
{
	if (!t->os.is_shared || !dw_agent_may_call())
		return false;
	if (t->os.foreign_left && rsp - t->os.foreign_sp + FOREIGN_BYTES < 2 * FOREIGN_BYTES) {
		t->os.foreign_left--;
		return true;
	}
	t->os.is_shared = dw_syscall(SYS_gettid) != t->line->tid;
	if (t->os.is_shared)
		remember(t, rsp);
	return t->os.is_shared;
}

static bool may_share(uint64_t number)
{
	return number == SYS_vfork || number == SYS_clone || number == SYS_clone3;
}

void dw_system_call_share(struct dw_thread *t)
{
	t->os.is_shared = true;
	t->line->os_seen = ~t->os.word;
}

struct dw_thread *dw_system_call_thread(uint64_t rsp, uint64_t number, enum dw_call_kind *ret_kind)
{
	struct dw_thread *t = dw_thread_known();

	*ret_kind = dw_os_call_kind(number, *(const uint64_t *)(rsp + SAVED_RSI));
	if (!t)
		return NULL;
	if (*ret_kind == DWELL_CALL_NOT_COUNTED) {
		if (may_share(number))
			dw_system_call_share(t);
		return NULL;
	}
	return dw_system_call_is_other(t, rsp) ? NULL : t;
}

bool dw_system_call_blinds(uint64_t rsp, uint64_t number)
{
	uint64_t first = *(const uint64_t *)(rsp + SAVED_RDI);
	uint64_t second = *(const uint64_t *)(rsp + SAVED_RSI);

	if (number == SYS_prctl)
		return (first == PR_SET_SECCOMP && second == SECCOMP_MODE_STRICT) ||
		       (first == PR_SET_TSC && second == PR_TSC_SIGSEGV);
	return number == SYS_seccomp && first == SECCOMP_SET_MODE_STRICT;
}
