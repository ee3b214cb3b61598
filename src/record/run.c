/*
 * What a recording is about; see run.h.
 *
 * The kernel marks signals that the terminal driver sent with SI_KERNEL (kernel: isig() in
 * drivers/tty/n_tty.c sends to the foreground process group), which tells them from kill(2). A
 * pidfd keeps naming a process when its number is reused.
 */
#include "record/run.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "record/environment.h"
#include "target/command-line.h"
#include "target/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CROWD = 10 }; /* threads for each processor */

enum { HIGHEST = -20, USUAL = 0, LIMIT_BASE = 20 };

/* The highest that getrlimit(2) leaves us: its values are 20 - nice. */
static int allowed_nice(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NICE, &limit) || limit.rlim_cur <= LIMIT_BASE)
		return USUAL;
	return limit.rlim_cur < LIMIT_BASE - HIGHEST ? LIMIT_BASE - (int)limit.rlim_cur : HIGHEST;
}

/* Whether more threads want the processors than can have their part soon: more than ten each. */
static bool priority_is_needed(void)
{
	dw_auto_close int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	char text[128];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	long ready;

	if (n <= 0)
		return false;
	text[n] = 0;
	return sscanf(text, "%*s %*s %*s %ld/", &ready) == 1 &&
	       ready > CROWD * sysconf(_SC_NPROCESSORS_ONLN);
}

static bool set_nice(int nice)
{
	return !setpriority(PRIO_PROCESS, (id_t)gettid(), nice);
}

bool dw_priority_raise(void)
{
	const struct sched_param param = {0};

	errno = 0;
	if (sched_getscheduler(0) != SCHED_OTHER ||
	    getpriority(PRIO_PROCESS, (id_t)gettid()) != USUAL || errno)
		return false;
	if (sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &param))
		return false;
	return set_nice(HIGHEST) || (allowed_nice() < USUAL && set_nice(allowed_nice()));
}

void dw_priority_restore(void)
{
	const struct sched_param param = {0};

	set_nice(USUAL);
	/* Who had a limit only may not take this back, nor needs to. */
	(void)!sched_setscheduler(0, SCHED_OTHER, &param);
}

struct dw_signal {
	int number;
	bool to_group; /* the terminal sent it to our whole process group */
};

/* Take the signals over. Call after the target is forked, which keeps the old mask. 0 or -errno. */
static int signals_take(struct dw_signals *s, struct dw_error *err)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	pthread_sigmask(SIG_BLOCK, &set, &s->old);
	s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->fd < 0) {
		int rc = dw_error_set_errno(err, errno, "signalfd");

		pthread_sigmask(SIG_SETMASK, &s->old, NULL);
		return rc;
	}
	sigaction(SIGIO, &ignore, &s->old_io);
	return 0;
}

/* The next waiting signal. False = none. Never blocks. */
static bool signals_next(struct dw_signals *s, struct dw_signal *ret)
{
	struct signalfd_siginfo info;

	if (read(s->fd, &info, sizeof info) != sizeof info)
		return false;
	ret->number = (int)info.ssi_signo;
	ret->to_group = info.ssi_code == SI_KERNEL;
	return true;
}

/* Hand @signal on to the command @pid, unless the terminal has sent it there too. */
static void signal_pass_on(pid_t pid, struct dw_signal signal)
{
	if (!signal.to_group || getpgid(pid) != getpgrp())
		kill(pid, signal.number);
}

/* Give the old mask back and close the descriptor. Signals that were not read are dropped. */
static void signals_release(struct dw_signals *s)
{
	struct dw_signal dropped;

	if (s->fd < 0)
		return;
	while (signals_next(s, &dropped))
		;
	close(s->fd);
	s->fd = -1;
	sigaction(SIGIO, &s->old_io, NULL);
	pthread_sigmask(SIG_SETMASK, &s->old, NULL);
}

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

/* Take hold of @pid. 0; DWELL_ERR_NOT_FOUND or DWELL_ERR_USAGE (it is no process) with one line;
 * -ENOMEM. */
static int targets_add(struct dw_targets *t, pid_t pid, struct dw_error *err)
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

static bool targets_ended(struct dw_targets *t)
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

	if (dw_proc_read(pid, "cmdline", &words))
		return;
	if (!words.len && !dw_proc_stat_read(pid, &st))
		dw_buf_printf(ret, "[%s]", st.name);
	dw_command_line_quote(dw_buf_str(&words), words.len, ret);
}

/* Append the command lines of all, as a shell would take them, ", " in between. */
static void targets_commands(const struct dw_targets *t, struct dw_buf *ret)
{
	dw_vec_each(row, &t->v) {
		if (row != t->v.v)
			dw_buf_puts(ret, ", ");
		put_command(row->pid, ret);
	}
}

/* Append the numbers of all, "," in between. */
static void targets_numbers(const struct dw_targets *t, struct dw_buf *ret)
{
	dw_vec_each(row, &t->v)
		dw_buf_printf(ret, "%s%d", row == t->v.v ? "" : ",", (int)row->pid);
}

/* Close all. */
static void targets_release(struct dw_targets *t)
{
	dw_vec_each(row, &t->v) {
		if (row->fd >= 0)
			close(row->fd);
	}
	dw_vec_release(&t->v);
}

enum { UNKNOWN_STATUS = 125 }; /* as of a command that was not recorded */

#define GRACE_NS 3000000000ull /* for a command that was told to stop */
#define LOOK_NS	 200000000ull  /* between looks whether we come in time */

void dw_run_tick(struct dw_run *r, uint64_t now)
{
	if (r->is_raised || r->is_refused || now < r->next_look_ns)
		return;
	r->next_look_ns = now + LOOK_NS;
	if (!priority_is_needed())
		return;
	r->is_raised = dw_priority_raise();
	r->is_refused = !r->is_raised;
}

int dw_run_prepare(struct dw_run *r, char *const *argv, struct dw_error *err)
{
	int rc = dw_launch_prepare(&r->launch, argv, err);

	dw_run_tick(r, dw_clock_ns(CLOCK_MONOTONIC));
	return rc ? rc : signals_take(&r->signals, err);
}

int dw_run_attach(struct dw_run *r, const pid_t *pids, size_t n, struct dw_error *err)
{
	int rc = 0;

	r->is_attached = true;
	dw_run_tick(r, dw_clock_ns(CLOCK_MONOTONIC));
	for (size_t i = 0; i < n && !rc; i++)
		rc = targets_add(&r->targets, pids[i], err);
	return rc ? rc : signals_take(&r->signals, err);
}

/* Facts of processes that run already. */
static int note_targets(const struct dw_targets *t, struct dw_facts *facts)
{
	dw_auto(dw_buf) commands = DW_BUF_INIT;
	dw_auto(dw_buf) numbers = DW_BUF_INIT;
	int rc;

	if (!t->v.n)
		dw_buf_puts(&commands, "[all processes]");
	targets_commands(t, &commands);
	targets_numbers(t, &numbers);
	if (commands.failed || numbers.failed)
		return -ENOMEM;
	rc = dw_facts_set_text(facts, "command", dw_buf_str(&commands));
	return rc ? rc : dw_facts_set_text(facts, "attached", dw_buf_str(&numbers));
}

int dw_run_begin(struct dw_run *r, char *const *argv, struct dw_facts *facts, struct dw_error *err)
{
	pid_t pid = r->launch.pid;
	int rc;

	if (r->is_attached) {
		r->result->pid = r->targets.v.n ? r->targets.v.v[0].pid : getpid();
		return note_targets(&r->targets, facts);
	}
	rc = dw_launch_release(&r->launch, err);
	r->result->exec_error = rc;
	if (rc)
		return dw_error_prefix(err, "%s", argv[0]);
	r->result->pid = pid;
	return 0;
}

/* Whether @signal is no order to stop: runtimes answer SIGQUIT with a dump, and go on. */
static bool is_for_command(const struct dw_run *r, struct dw_signal signal)
{
	return signal.number == SIGQUIT && !r->is_attached && !r->result->ended;
}

static void on_signal(struct dw_run *r, struct dw_signal signal)
{
	uint64_t now = dw_clock_ns(CLOCK_MONOTONIC);

	if (is_for_command(r, signal)) {
		signal_pass_on(r->result->pid, signal);
		return;
	}
	if (r->is_attached) {
		r->grace_end_ns = now;
		r->result->stop_signal = signal.number;
		return;
	}
	if (!r->result->ended && !r->result->stop_signal)
		signal_pass_on(r->result->pid, signal);
	r->grace_end_ns = r->result->stop_signal ? now : now + GRACE_NS;
	r->result->stop_signal = signal.number;
}

/* See whether the command has ended. One that nobody can wait for has, in a way not known. */
static void look_for_end(struct dw_run *r)
{
	int rc = dw_launch_wait(&r->launch, WNOHANG, &r->result->wait_status, &r->usage);

	r->result->ended = rc != 0;
	if (rc)
		r->ended_ns = dw_clock_ns(CLOCK_MONOTONIC);
	if (rc < 0)
		r->result->wait_status = W_EXITCODE(UNKNOWN_STATUS, 0);
}

void dw_run_take_signals(struct dw_run *r)
{
	struct dw_signal signal;

	while (signals_next(&r->signals, &signal))
		if (signal.number != SIGCHLD)
			on_signal(r, signal);
	if (r->is_attached)
		r->result->ended = r->targets.v.n && targets_ended(&r->targets);
	else if (!r->result->ended)
		look_for_end(r);
}

bool dw_run_is_over(const struct dw_run *r, uint64_t now, bool goes_on)
{
	if (r->duration_ns && now - r->start_ns >= r->duration_ns)
		return true;
	if (r->grace_end_ns && now >= r->grace_end_ns)
		return true;
	return r->result->ended && (!goes_on || r->grace_end_ns);
}

static void lower(struct dw_run *r)
{
	if (r->is_raised)
		dw_priority_restore();
	r->is_raised = false;
}

int dw_run_end(struct dw_run *r, struct dw_facts *facts, uint64_t duration_ns)
{
	int rc = dw_facts_set(facts, "duration_ns", (int64_t)duration_ns);

	lower(r);
	if (r->is_attached)
		return rc;
	if (!rc && r->result->ended)
		rc = dw_facts_set(facts, "wait_status", r->result->wait_status);
	if (!rc && r->result->ended)
		rc = dw_note_cpu(facts, &r->usage);
	return rc;
}

void dw_run_release(struct dw_run *r)
{
	lower(r);
	signals_release(&r->signals);
	dw_launch_close(&r->launch);
	targets_release(&r->targets);
}

int dw_record_wait(pid_t pid)
{
	struct dw_signals signals = {.fd = -1};
	int status, flags = signals_take(&signals, NULL) ? 0 : WNOHANG;
	pid_t got;

	while ((got = waitpid(pid, &status, flags)) == 0 || (got < 0 && errno == EINTR)) {
		struct pollfd fd = {.fd = signals.fd, .events = POLLIN};
		struct dw_signal signal;

		if (signals.fd >= 0)
			poll(&fd, 1, -1);
		while (signals.fd >= 0 && signals_next(&signals, &signal))
			if (signal.number != SIGCHLD)
				signal_pass_on(pid, signal);
	}
	signals_release(&signals);
	return got < 0 ? DWELL_ERR_NOT_FOUND : status;
}
