/*
 * /proc/PID files; see proc.h. The name in a stat file stands in parentheses and may hold any byte,
 * parentheses too, so the last ")" ends it (proc_pid_stat(5)). CPU times there are clock ticks.
 */
#include "target/proc.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	READ_BYTES = 16 << 10,
	FLAG_EXITING = 4, /* PF_EXITING of the kernel */
};

int dw_proc_read(pid_t pid, const char *file, struct dw_buf *ret)
{
	dw_auto_close int fd = -1;
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	for (;;) {
		ssize_t n;

		if (dw_buf_reserve(ret, READ_BYTES))
			return -ENOMEM;
		n = read(fd, ret->data + ret->len, READ_BYTES);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		ret->len += (size_t)n;
		ret->data[ret->len] = 0;
		if (!n)
			return 0;
	}
}

int dw_proc_thread_name(pid_t pid, pid_t tid, struct dw_buf *ret)
{
	char file[32];
	int rc;

	snprintf(file, sizeof file, "task/%d/comm", (int)tid);
	dw_buf_clear(ret);
	rc = dw_proc_read(pid, file, ret);
	/* A name may have newlines; the last one is the kernel's. */
	if (!rc && ret->len)
		ret->data[--ret->len] = 0;
	return rc;
}

int dw_proc_threads(pid_t pid, struct dw_tids *ret)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;
	int rc = 0;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (!rc && (entry = readdir(dir)) != NULL) {
		pid_t tid = atoi(entry->d_name);

		if (tid > 0)
			rc = dw_vec_push(ret, tid);
	}
	closedir(dir);
	return rc;
}

/* The @n bytes at @text with the kernel's escapes of newlines and backslashes undone. */
static void read_name(char *ret, size_t cap, const char *text, size_t n)
{
	size_t len = 0;

	for (size_t i = 0; i < n && len + 1 < cap; i++) {
		bool is_escape = text[i] == '\\' && i + 1 < n;

		i += is_escape;
		ret[len++] = is_escape && text[i] == 'n' ? '\n' : text[i];
	}
	ret[len] = 0;
}

int dw_proc_stat_parse(const char *text, struct dw_proc_stat *ret)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
	unsigned long long user, kernel, start = 0;
	unsigned int flags;
	int parent;

	/* Fields 3 (state), 4 (ppid), 9 (flags), then others up to 14 (utime) and 15 (stime); 22
	 * (starttime). */
	if (!open || !close || close < open ||
	    sscanf(close + 1,
		   " %*c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %llu %llu"
		   " %*d %*d %*d %*d %*d %*d %llu",
		   &parent, &flags, &user, &kernel, &start) < 4)
		return DWELL_ERR_FORMAT;
	*ret = (struct dw_proc_stat){.parent = parent,
				     .is_ending = flags & FLAG_EXITING,
				     .user_cpu_ns = user * tick_ns,
				     .kernel_cpu_ns = kernel * tick_ns,
				     .start_ticks = start};
	read_name(ret->name, sizeof ret->name, open + 1, (size_t)(close - open - 1));
	return 0;
}

int dw_proc_stat_read(pid_t pid, struct dw_proc_stat *ret)
{
	dw_auto(dw_buf) text = DW_BUF_INIT;
	int rc = dw_proc_read(pid, "stat", &text);

	return rc ? rc : dw_proc_stat_parse(dw_buf_str(&text), ret);
}

int dw_proc_ns_pid(pid_t pid, pid_t *ret)
{
	dw_auto(dw_buf) text = DW_BUF_INIT;
	int rc = dw_proc_read(pid, "status", &text);
	const char *line = rc ? NULL : strstr(dw_buf_str(&text), "\nNSpid:"), *last;

	if (rc)
		return rc;
	*ret = pid;
	if (!line)
		return 0;
	/* From the outermost namespace to the innermost. */
	last = line + strcspn(line + 1, "\n") + 1;
	while (last > line && last[-1] >= '0' && last[-1] <= '9')
		last--;
	if (sscanf(last, "%d", ret) != 1)
		*ret = pid;
	return 0;
}

int dw_proc_born_ns(pid_t pid, int64_t *ret)
{
	int64_t tick_ns = 1000000000 / sysconf(_SC_CLK_TCK);
	struct dw_proc_stat st;
	int rc = dw_proc_stat_read(pid, &st);

	if (!rc)
		*ret = (int64_t)(dw_clock_ns(CLOCK_REALTIME) - dw_clock_ns(CLOCK_BOOTTIME)) +
		       (int64_t)st.start_ticks * tick_ns - tick_ns;
	return rc;
}

#define HOST	 "dotnet"
#define ASSEMBLY ".dll"
#define CUT	 "..."

/* The word @text without its folders, if it is an assembly. */
static const char *shortened(const char *text)
{
	const char *slash = strrchr(text, '/');
	size_t n = strlen(text), end = strlen(ASSEMBLY);

	return slash && n > end && !strcmp(text + n - end, ASSEMBLY) ? slash + 1 : text;
}

/* Cut @title, which begins at @start in @b, where a character begins. */
static void cut(struct dw_buf *b, size_t start)
{
	size_t end = start + DWELL_TITLE_BYTES - strlen(CUT);

	if (b->len - start <= DWELL_TITLE_BYTES)
		return;
	while (end > start && ((unsigned char)b->data[end] & 0xc0) == 0x80)
		end--;
	b->len = end;
	dw_buf_puts(b, CUT);
}

int dw_process_title(pid_t pid, const char *name, struct dw_buf *ret)
{
	dw_auto(dw_buf) line = DW_BUF_INIT;
	size_t start = ret->len, at;

	dw_buf_puts(ret, name);
	if (!strcmp(name, HOST) && !dw_proc_read(pid, "cmdline", &line) && line.len) {
		for (at = strlen(line.data) + 1; at < line.len && !ret->failed;
		     at += strlen(line.data + at) + 1)
			dw_buf_printf(ret, " %s", shortened(line.data + at));
		if (!ret->failed)
			cut(ret, start);
	}
	return ret->failed || line.failed ? -ENOMEM : 0;
}

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
	uint64_t *a = ret->argument;

	if (!strncmp(text, "running", 7) || !strncmp(text, "0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0", 33))
		return DWELL_ERR_NOT_FOUND;
	*ret = (struct dw_task_place){.call = -1};
	if (sscanf(text, "-1 %" SCNx64 " %" SCNx64, &ret->sp, &ret->pc) == 2)
		return 0;
	if (sscanf(text,
		   "%" SCNd64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
		   " %" SCNx64 " %" SCNx64 " %" SCNx64,
		   &ret->call, a, a + 1, a + 2, a + 3, a + 4, a + 5, &ret->sp, &ret->pc) == 9)
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
