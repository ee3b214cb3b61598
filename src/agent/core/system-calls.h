/*
 * System calls made directly: no libc, so no errno, no cancellation point, no interposer. Each
 * returns what the kernel does: a value, or -errno. [async-signal-safe] [any-thread]
 */
#pragma once

#include "arch/system-call.h"
#include "arch/clock.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

/* dw_syscall(number, up to six arguments): pointers and integers of any type. */
#define dw_syscall(number, ...) DWELL_SYSCALL_PAD((number), ##__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define DWELL_SYSCALL_PAD(number, a, b, c, d, e, f, ...)                                  \
	dw_syscall6((number), (const long[6]){(long)(a), (long)(b), (long)(c), (long)(d), \
					      (long)(e), (long)(f)})

/* Whether @address is one that mmap() gives and not -errno. */
static inline int dw_is_mapped(const void *address)
{
	return (unsigned long)address < (unsigned long)-4095L;
}

/* openat() from the working folder, a path is absolute or the program's own. */
static inline int dw_sys_open(const char *path, int flags, int mode)
{
	return (int)dw_syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* close(), what it returns helps nobody. */
static inline void dw_sys_close(int fd)
{
	dw_syscall(SYS_close, fd);
}

/* fstat(). */
static inline int dw_sys_fstat(int fd, struct stat *ret_stat)
{
	return (int)dw_syscall(SYS_fstat, fd, ret_stat);
}

/* read(). */
static inline long dw_sys_read(int fd, void *to, size_t bytes)
{
	return dw_syscall(SYS_read, fd, to, bytes);
}

/* pread(). */
static inline long dw_sys_pread(int fd, void *to, size_t bytes, uint64_t at)
{
	return dw_syscall(SYS_pread64, fd, to, bytes, at);
}

/* mmap(), dw_is_mapped() tells an address from -errno. */
static inline void *dw_sys_mmap(void *at, size_t bytes, int rights, int flags, int fd,
				uint64_t offset)
{
	const long arg[6] = {(long)at, (long)bytes, rights, flags, fd, (long)offset};

	return (void *)dw_syscall6(SYS_mmap, arg);
}

/* munmap(). */
static inline void dw_sys_munmap(void *at, size_t bytes)
{
	dw_syscall(SYS_munmap, at, bytes);
}

/* mprotect(). */
static inline int dw_sys_mprotect(void *at, size_t bytes, int rights)
{
	return (int)dw_syscall(SYS_mprotect, at, bytes, rights);
}

/* The calling process, a child that shares memory has an id of its own. */
static inline uint32_t dw_sys_getpid(void)
{
	return (uint32_t)dw_syscall(SYS_getpid);
}

/* Tasks of this process, 0 = cannot tell. */
static inline uint64_t dw_sys_tasks(void)
{
	struct stat st;
	long error = dw_syscall(SYS_stat, "/proc/self/task", &st);

	return error || st.st_nlink < 3 ? 0 : st.st_nlink - 2;
}

/* Sleep, a signal ends it early. */
static inline void dw_sys_sleep_ns(long ns)
{
	const struct timespec wait = {ns / 1000000000, ns % 1000000000};

	dw_syscall(SYS_nanosleep, &wait, 0);
}

/* CLOCK_MONOTONIC in ns. */
static inline uint64_t dw_sys_now_ns(void)
{
	struct timespec now = {0, 0};

	dw_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
