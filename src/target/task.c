/* Threads seen from outside; see task.h. */
#include "target/task.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "target/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES = 256, STATUS_BYTES = 4096 };

/* Read the file @name of the thread into @text, @room bytes at most. 0 or -errno. */
static int read_text(pid_t pid, pid_t tid, const char *name, char *text, size_t room)
{
	dw_auto_close int fd = -1;
	char path[64];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, room - 1);
	if (n < 0)
		return -errno;
	text[n] = 0;
	return 0;
}

int dw_task_place_parse(const char *text, struct dw_task_place *ret)
{
	if (!strncmp(text, "running", 7) || !strncmp(text, "0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0", 33))
		return DWELL_ERR_NOT_FOUND;
	if (sscanf(text, "-1 %" SCNx64 " %" SCNx64, &ret->sp, &ret->pc) == 2) {
		ret->call = -1;
		return 0;
	}
	if (sscanf(text, "%" SCNd64 " %*x %*x %*x %*x %*x %*x %" SCNx64 " %" SCNx64, &ret->call,
		   &ret->sp, &ret->pc) == 3)
		return 0;
	return DWELL_ERR_FORMAT;
}

int dw_task_place_read(pid_t pid, pid_t tid, struct dw_task_place *ret)
{
	char text[TEXT_BYTES];
	int rc = read_text(pid, tid, "syscall", text, sizeof text);

	return rc ? rc : dw_task_place_parse(text, ret);
}

int dw_task_times_parse(const char *text, struct dw_task_times *ret)
{
	return sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &ret->ran_ns, &ret->ready_ns,
		      &ret->runs) == 3
		       ? 0
		       : DWELL_ERR_FORMAT;
}

int dw_task_times_read(pid_t pid, pid_t tid, struct dw_task_times *ret)
{
	char text[TEXT_BYTES];
	int rc = read_text(pid, tid, "schedstat", text, sizeof text);

	return rc ? rc : dw_task_times_parse(text, ret);
}

int dw_task_times_sum(pid_t pid, struct dw_task_times *ret)
{
	struct dw_tids tids = {0};
	int rc = dw_proc_threads(pid, &tids);

	*ret = (struct dw_task_times){0};
	dw_vec_each(tid, &tids) {
		struct dw_task_times one;

		if (rc || dw_task_times_read(pid, *tid, &one))
			continue;
		ret->ran_ns += one.ran_ns;
		ret->ready_ns += one.ready_ns;
		ret->runs += one.runs;
	}
	dw_vec_release(&tids);
	return rc;
}

int dw_task_preempted_read(pid_t pid, pid_t tid, uint64_t *ret)
{
	static const char key[] = "\nnonvoluntary_ctxt_switches:";
	char text[STATUS_BYTES];
	int rc = read_text(pid, tid, "status", text, sizeof text);
	const char *line = rc ? NULL : strstr(text, key);

	if (rc)
		return rc;
	return line && sscanf(line + sizeof key - 1, "%" SCNu64, ret) == 1 ? 0 : DWELL_ERR_FORMAT;
}

int dw_task_last_ran_read(pid_t pid, pid_t tid, uint64_t *ret_ns)
{
	static const char key[] = "\nse.exec_start";
	char text[STATUS_BYTES];
	int rc = read_text(pid, tid, "sched", text, sizeof text);
	const char *line = rc ? NULL : strstr(text, key);
	uint64_t ms, ns;

	if (rc)
		return rc;
	line = line ? strchr(line, ':') : NULL;
	if (!line || sscanf(line, ": %" SCNu64 ".%6" SCNu64, &ms, &ns) != 2)
		return DWELL_ERR_FORMAT;
	*ret_ns = ms * 1000000 + ns;
	return 0;
}
