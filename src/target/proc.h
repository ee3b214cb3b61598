/*
 * Facts about a running process from /proc/PID: name, parent, CPU time, threads, and what each of
 * these does right now, whether it waits and where.
 *
 * Looking costs the process nothing, and races with it: it may be gone or be another one by the
 * time a function returns. [any-thread]
 */
#pragma once

#include "base/buf.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct dw_proc_stat {
	char name[64]; /* comm as it is, at most 63 bytes of it */
	pid_t parent;
	bool is_ending;	      /* it is a zombie, or about to be one */
	uint64_t user_cpu_ns; /* of all its threads, ended ones included */
	uint64_t kernel_cpu_ns;
	uint64_t start_ticks; /* when it was made, in the kernel's units; exec does not change it */
};

/* Numbers of threads. Release with dw_vec_release(). */
struct dw_tids {
	pid_t *v;
	size_t n;
	size_t cap;
};

/* Append the contents of /proc/@pid/@file to @ret, to its end. 0; -ENOENT or -ESRCH when the
 * process is gone, another -errno. */
int dw_proc_read(pid_t pid, const char *file, struct dw_buf *ret);

/* Put the name of thread @tid of @pid into @ret, which it replaces. 0, -ENOENT or -ESRCH when it is
 * gone, -ENOMEM. */
int dw_proc_thread_name(pid_t pid, pid_t tid, struct dw_buf *ret);

/* Append the threads that @pid has now. 0, -ENOENT or -ESRCH when it is gone, -ENOMEM. */
int dw_proc_threads(pid_t pid, struct dw_tids *ret);

/* Take @text, the contents of a stat file, apart. 0 or DWELL_ERR_FORMAT. */
int dw_proc_stat_parse(const char *text, struct dw_proc_stat *ret);

/* The stat of @pid. Works for a zombie too. 0, -ENOENT or -ESRCH, DWELL_ERR_FORMAT. */
int dw_proc_stat_read(pid_t pid, struct dw_proc_stat *ret);

/* The number that @pid has for itself, in the innermost namespace of numbers. @pid if the kernel
 * does not tell. 0, -ENOENT or -ESRCH. */
int dw_proc_ns_pid(pid_t pid, pid_t *ret);

/* When @pid began, CLOCK_REALTIME, up to 10 ms too early. Errors as above. */
int dw_proc_born_ns(pid_t pid, int64_t *ret);

enum { DWELL_TITLE_BYTES = 160 };

/*
 * Append to @ret the name of process @pid, whose main thread is called @name: that, and for
 * "dotnet" the rest of its command line, without the folders of assemblies and cut behind
 * DWELL_TITLE_BYTES. What cannot be read is left out. 0 or -ENOMEM.
 */
int dw_process_title(pid_t pid, const char *name, struct dw_buf *ret);

enum { DWELL_CALL_ARGUMENTS = 6 };

/* Where a thread that is off its processor entered the kernel (proc_pid_syscall(5)). */
struct dw_task_place {
	int64_t call; /* number of the system call, -1 = a fault or an interrupt */
	uint64_t argument[DWELL_CALL_ARGUMENTS];
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
