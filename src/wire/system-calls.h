/*
 * The system calls whose time is the operating system's: one table for the agent, which sees them
 * go by, and for `dwell doctor`, which prints it. All others are part of the program's own work.
 *
 * I/O moves bytes to or from a file, a socket or a disk; blocking waits for somebody or for a time.
 */
#pragma once

/* X(name, kind): SYS_##name, DWELL_CALL_##kind. */
#define DWELL_SYSTEM_CALLS(X)        \
	X(read, IO)                  \
	X(pread64, IO)               \
	X(readv, IO)                 \
	X(preadv, IO)                \
	X(preadv2, IO)               \
	X(write, IO)                 \
	X(pwrite64, IO)              \
	X(writev, IO)                \
	X(pwritev, IO)               \
	X(pwritev2, IO)              \
	X(sendto, IO)                \
	X(sendmsg, IO)               \
	X(sendmmsg, IO)              \
	X(recvfrom, IO)              \
	X(recvmsg, IO)               \
	X(recvmmsg, IO)              \
	X(sendfile, IO)              \
	X(splice, IO)                \
	X(vmsplice, IO)              \
	X(tee, IO)                   \
	X(copy_file_range, IO)       \
	X(getdents, IO)              \
	X(getdents64, IO)            \
	X(fsync, IO)                 \
	X(fdatasync, IO)             \
	X(sync, IO)                  \
	X(syncfs, IO)                \
	X(sync_file_range, IO)       \
	X(msync, IO)                 \
	X(readahead, IO)             \
	X(io_getevents, IO)          \
	X(io_submit, IO)             \
	X(io_uring_enter, IO)        \
	X(nanosleep, BLOCKING)       \
	X(clock_nanosleep, BLOCKING) \
	X(pause, BLOCKING)           \
	X(poll, BLOCKING)            \
	X(ppoll, BLOCKING)           \
	X(select, BLOCKING)          \
	X(pselect6, BLOCKING)        \
	X(epoll_wait, BLOCKING)      \
	X(epoll_pwait, BLOCKING)     \
	X(epoll_pwait2, BLOCKING)    \
	X(futex, BLOCKING_FUTEX)     \
	X(futex_waitv, BLOCKING)     \
	X(accept, BLOCKING)          \
	X(accept4, BLOCKING)         \
	X(connect, BLOCKING)         \
	X(wait4, BLOCKING)           \
	X(waitid, BLOCKING)          \
	X(flock, BLOCKING)           \
	X(fcntl, BLOCKING_FCNTL)     \
	X(semop, BLOCKING)           \
	X(semtimedop, BLOCKING)      \
	X(msgsnd, BLOCKING)          \
	X(msgrcv, BLOCKING)          \
	X(mq_timedsend, BLOCKING)    \
	X(mq_timedreceive, BLOCKING) \
	X(rt_sigsuspend, BLOCKING)   \
	X(rt_sigtimedwait, BLOCKING) \
	X(sched_yield, BLOCKING)

/* Kinds in that table; the last two are blocking by what their second argument asks for. */
enum dw_call_kind {
	DWELL_CALL_NOT_COUNTED,
	DWELL_CALL_IO,
	DWELL_CALL_BLOCKING,
	DWELL_CALL_BLOCKING_FUTEX, /* operations that wait or lock */
	DWELL_CALL_BLOCKING_FCNTL, /* commands that wait for a lock */
};
