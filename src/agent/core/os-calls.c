/*
 * The kinds of system calls by number: a table of bytes, and the two calls whose second argument
 * decides.
 */
#include "agent/core/os-events.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>

enum { NUMBERS = 512 };

#define KIND(name, kind) [SYS_##name] = DWELL_CALL_##kind,

static const uint8_t kinds[NUMBERS] = {DWELL_SYSTEM_CALLS(KIND)};

static bool is_futex_wait(uint64_t operation)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return true;
	default:
		return false;
	}
}

static bool is_fcntl_wait(uint64_t command)
{
	return (int)command == F_SETLKW || (int)command == F_OFD_SETLKW;
}

enum dw_call_kind dw_os_call_kind(uint64_t number, uint64_t argument)
{
	uint8_t kind = number < NUMBERS ? kinds[number] : DWELL_CALL_NOT_COUNTED;

	if (kind == DWELL_CALL_BLOCKING_FUTEX)
		kind = is_futex_wait((uint32_t)argument) ? DWELL_CALL_BLOCKING
							 : DWELL_CALL_NOT_COUNTED;
	if (kind == DWELL_CALL_BLOCKING_FCNTL)
		kind = is_fcntl_wait(argument) ? DWELL_CALL_BLOCKING : DWELL_CALL_NOT_COUNTED;
	return (enum dw_call_kind)kind;
}
