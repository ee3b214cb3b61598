/*
 * What the program unmaps is noted before it is free, so that no clone image comes to lie in a hole
 * that the program fills again (rooms.h). Limits: what it unmaps by system-call instructions of its
 * own is not seen.
 */
#include "agent/clones/rooms.h"
#include "agent/core/agent.h"

#include <sys/mman.h>
#include <sys/shm.h>

DWELL_STAND_IN int munmap(void *at, size_t bytes)
{
	__typeof__(&munmap) real = DW_REAL(munmap);

	dw_rooms_unmapped((uint64_t)at, bytes);
	return real ? real(at, bytes) : -1;
}

/* Without the ellipsis of its header: the registers are the same. */
extern void *dw_own_mremap(void *at, size_t old_bytes, size_t bytes, int flags,
			   void *to) __asm__("mremap");

DWELL_STAND_IN void *dw_own_mremap(void *at, size_t old_bytes, size_t bytes, int flags, void *to)
{
	__typeof__(&dw_own_mremap) real = DW_REAL_AS(__typeof__(&dw_own_mremap), "mremap");

	dw_rooms_unmapped((uint64_t)at, old_bytes);
	return real ? real(at, old_bytes, bytes, flags, to) : MAP_FAILED;
}

DWELL_STAND_IN int shmdt(const void *at)
{
	__typeof__(&shmdt) real = DW_REAL(shmdt);

	/* How long it is, is not known here. */
	dw_rooms_unmapped((uint64_t)at, DWELL_ROOM_REACH);
	return real ? real(at) : -1;
}
