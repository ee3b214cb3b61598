/*
 * Small facts about a running process from /proc/PID: name, parent, CPU time, threads.
 *
 * Everything here races with the process: it may be gone or be another one by the time a function
 * returns. [any-thread]
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
