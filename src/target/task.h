/*
 * What a thread does right now, by /proc/PID/task/TID: whether it waits and where, and its times so
 * far.
 *
 * Looking costs the thread nothing. All of it races with the thread. [any-thread]
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* Where a thread that is off its processor entered the kernel (proc_pid_syscall(5)). */
struct dw_task_place {
	int64_t call; /* number of the system call, -1 = a fault or an interrupt */
	uint64_t sp;
	uint64_t pc; /* behind the system call, or where the fault was */
};

/* Times of a thread (proc_pid_schedstat, Documentation/scheduler/sched-stats.rst). */
struct dw_task_times {
	uint64_t ran_ns;   /* on a processor; of a running thread up to a tick old */
	uint64_t ready_ns; /* it could have run, but waited for a processor */
	uint64_t runs;	   /* how often it was given one */
};

/* Take @text, the contents of a syscall file, apart. 0 and *@ret, DWELL_ERR_NOT_FOUND when the
 * thread runs or is of the kernel, or DWELL_ERR_FORMAT. */
int dw_task_place_parse(const char *text, struct dw_task_place *ret);

/* Where @tid of @pid is. As above, or -errno: -EPERM or -EACCES when we may not look, -ENOENT or
 * -ESRCH when it is gone. */
int dw_task_place_read(pid_t pid, pid_t tid, struct dw_task_place *ret);

/* How often @tid of @pid was taken from its processor while it could have run on. 0 or -errno;
 * DWELL_ERR_FORMAT. */
int dw_task_preempted_read(pid_t pid, pid_t tid, uint64_t *ret);

/* When @tid of @pid was on a processor last, by the scheduler's clock, which is CLOCK_MONOTONIC but
 * for an offset and a slow drift. Of a running thread up to a tick old. 0 or -errno;
 * DWELL_ERR_FORMAT where the kernel does not tell. */
int dw_task_last_ran_read(pid_t pid, pid_t tid, uint64_t *ret_ns);

/* Take @text, the contents of a schedstat file, apart. 0 or DWELL_ERR_FORMAT. */
int dw_task_times_parse(const char *text, struct dw_task_times *ret);

/* The times of @tid of @pid. As above, or -errno. */
int dw_task_times_read(pid_t pid, pid_t tid, struct dw_task_times *ret);

/* The sums of the times of all threads that @pid has now, as far as the kernel tells. 0, -ENOENT or
 * -ESRCH when it is gone, -ENOMEM. */
int dw_task_times_sum(pid_t pid, struct dw_task_times *ret);
