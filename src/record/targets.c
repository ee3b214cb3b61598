/* Running processes; see targets.h. A pidfd keeps naming the process when its number is reused. */
#include "record/targets.h"

#include "base/cleanup.h"
#include "record/environment.h"
#include "target/proc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

/* The process that the thread @tid belongs to, 0 = there is no such thread. */
static pid_t process_of(pid_t tid)
{
	dw_auto(dw_buf) text = DW_BUF_INIT;
	const char *line;
	int pid = 0;

	if (dw_proc_read(tid, "status", &text))
		return 0;
	line = strstr(dw_buf_str(&text), "\nTgid:");
	return line && sscanf(line, "\nTgid: %d", &pid) == 1 ? pid : 0;
}

int dw_targets_add(struct dw_targets *t, pid_t pid, struct dw_error *err)
{
	struct dw_target row = {pid, (int)syscall(SYS_pidfd_open, pid, 0)};
	pid_t process = process_of(pid);

	if (row.fd >= 0 && process == pid && !dw_vec_push(&t->v, row))
		return 0;
	if (row.fd >= 0)
		close(row.fd);
	if (process == pid)
		return -ENOMEM;
	if (process)
		return dw_error_set(err, DWELL_ERR_USAGE, "%d is a thread of process %d", (int)pid,
				    (int)process);
	return dw_error_set(err, DWELL_ERR_NOT_FOUND, "there is no process %d", (int)pid);
}

bool dw_targets_ended(struct dw_targets *t)
{
	bool ended = true;

	dw_vec_each(row, &t->v) {
		struct pollfd fd = {row->fd, POLLIN, 0};

		if (row->fd >= 0 && poll(&fd, 1, 0) > 0) {
			close(row->fd);
			row->fd = -1;
		}
		ended = ended && row->fd < 0;
	}
	return ended;
}

size_t dw_targets_poll_fds(const struct dw_targets *t, struct pollfd *fds, size_t max)
{
	size_t n = 0;

	dw_vec_each(row, &t->v) {
		if (row->fd >= 0 && n < max)
			fds[n++] = (struct pollfd){row->fd, POLLIN, 0};
	}
	return n;
}

/* Append the command line of @pid, or its name in brackets when it has none, as ps does. */
static void put_command(pid_t pid, struct dw_buf *ret)
{
	dw_auto(dw_buf) words = DW_BUF_INIT;
	struct dw_proc_stat st;
	size_t at = 0;

	if (dw_proc_read(pid, "cmdline", &words))
		return;
	if (!words.len && !dw_proc_stat_read(pid, &st))
		dw_buf_printf(ret, "[%s]", st.name);
	while (at < words.len) {
		const char *word = (const char *)words.data + at;

		if (at)
			dw_buf_putc(ret, ' ');
		dw_quote_word(ret, word);
		at += strlen(word) + 1;
	}
}

void dw_targets_commands(const struct dw_targets *t, struct dw_buf *ret)
{
	dw_vec_each(row, &t->v) {
		if (row != t->v.v)
			dw_buf_puts(ret, ", ");
		put_command(row->pid, ret);
	}
}

void dw_targets_numbers(const struct dw_targets *t, struct dw_buf *ret)
{
	dw_vec_each(row, &t->v)
		dw_buf_printf(ret, "%s%d", row == t->v.v ? "" : ",", (int)row->pid);
}

void dw_targets_release(struct dw_targets *t)
{
	dw_vec_each(row, &t->v) {
		if (row->fd >= 0)
			close(row->fd);
	}
	dw_vec_release(&t->v);
}
