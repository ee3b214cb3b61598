/* Holders of locks; see lock.h. */
#include "collect/waits/lock.h"

#include "target/memory.h"

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>

/* How pthread_mutex_t begins. Source: glibc, sysdeps/nptl/bits/struct_mutex.h, 64 bits. */
struct mutex {
	int32_t lock; /* 2 = taken, and somebody waits */
	uint32_t count;
	int32_t owner;
	uint32_t users;
	int32_t kind;
};

enum { LOCK_CONTENDED = 2, KIND_MAX = 0x1ff };

pid_t dw_lock_holder(pid_t pid, const struct dw_task_place *place)
{
	unsigned op = place->argument[1] & FUTEX_CMD_MASK;
	struct mutex m;

	if (place->call != SYS_futex ||
	    dw_memory_read(pid, place->argument[0], &m, sizeof m) != sizeof m)
		return 0;
	if (op == FUTEX_LOCK_PI || op == FUTEX_LOCK_PI2)
		return (pid_t)((uint32_t)m.lock & FUTEX_TID_MASK);
	/* Others use the same words for their locks, and have no owner there. */
	if ((op != FUTEX_WAIT && op != FUTEX_WAIT_BITSET) || place->argument[2] != LOCK_CONTENDED ||
	    m.lock != LOCK_CONTENDED || !m.users || m.kind < 0 || m.kind > KIND_MAX)
		return 0;
	return m.owner > 0 ? m.owner : 0;
}
