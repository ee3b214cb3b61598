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
