/* The command of a recording; see run.h. */
#include "record/run.h"

#include "base/clock.h"
#include "record/environment.h"
#include "record/priority.h"

#include <sys/wait.h>

enum { UNKNOWN_STATUS = 125 }; /* as of a command that was not recorded */

#define GRACE_NS 3000000000ull /* for a command that was told to stop */
#define LOOK_NS	 200000000ull  /* between looks whether we come in time */

void dw_run_tick(struct dw_run *r, uint64_t now)
{
	if (r->is_raised || r->is_refused || now < r->next_look_ns)
		return;
	r->next_look_ns = now + LOOK_NS;
	if (!dw_priority_is_needed())
		return;
	r->is_raised = dw_priority_raise();
	r->is_refused = !r->is_raised;
}

int dw_run_prepare(struct dw_run *r, char *const *argv, struct dw_error *err)
{
	int rc = dw_launch_prepare(&r->launch, argv, err);

	dw_run_tick(r, dw_clock_ns(CLOCK_MONOTONIC));
	return rc ? rc : dw_signals_take(&r->signals, err);
}

int dw_run_attach(struct dw_run *r, const pid_t *pids, size_t n, struct dw_error *err)
{
	int rc = 0;

	r->is_attached = true;
	dw_run_tick(r, dw_clock_ns(CLOCK_MONOTONIC));
	for (size_t i = 0; i < n && !rc; i++)
		rc = dw_targets_add(&r->targets, pids[i], err);
	return rc ? rc : dw_signals_take(&r->signals, err);
}

int dw_run_begin(struct dw_run *r, const char *name, struct dw_error *err)
{
	pid_t pid = r->launch.pid;
	int rc = dw_launch_release(&r->launch, err);

	r->result->exec_error = rc;
	if (rc)
		return dw_error_prefix(err, "%s", name);
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
		dw_signal_pass_on(r->result->pid, signal);
		return;
	}
	if (r->is_attached) {
		r->grace_end_ns = now;
		r->result->stop_signal = signal.number;
		return;
	}
	if (!r->result->ended && !r->result->stop_signal)
		dw_signal_pass_on(r->result->pid, signal);
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

	while (dw_signals_next(&r->signals, &signal))
		if (signal.number != SIGCHLD)
			on_signal(r, signal);
	if (r->is_attached)
		r->result->ended = r->targets.v.n && dw_targets_ended(&r->targets);
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
	dw_signals_release(&r->signals);
	dw_launch_close(&r->launch);
	dw_targets_release(&r->targets);
}
