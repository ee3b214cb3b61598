/* Exit status of commands that run a target; see exit-status.h. */
#include "cli/exit-status.h"

#include "cli/command.h"
#include "collect/launch/launch.h"

#include <sys/wait.h>

static int status_code(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

int dw_exit_status(const struct dw_record_result *result, int rc)
{
	int status = result->wait_status;

	if (result->exec_error)
		return dw_launch_exit_code(result->exec_error);
	if (!result->pid)
		return DWELL_EXIT_FAILED;
	if (!result->ended && result->stop_signal)
		return rc ? DWELL_EXIT_FAILED : 128 + result->stop_signal;
	if (!result->ended)
		status = dw_record_wait(result->pid);
	return rc || status < 0 ? DWELL_EXIT_FAILED : status_code(status);
}
