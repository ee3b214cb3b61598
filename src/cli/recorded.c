/* Sessions that were recorded; see recorded.h. */
#include "cli/recorded.h"

#include "analysis/totals.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "format/summary.h"
#include "record/finish.h"
#include "session/read.h"
#include "view/views.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

char *dw_recorded_path(const char *command)
{
	const char *slash = strrchr(command, '/');
	char *path;

	return asprintf(&path, "%s.dwell", slash ? slash + 1 : command) < 0 ? NULL : path;
}

void dw_recorded_summary(const char *path)
{
	struct dw_summary_style style = {
		.path = path,
		.width = dw_terminal_width(STDERR_FILENO),
		.colour = dw_terminal_colour(STDERR_FILENO),
	};
	struct dw_session_range whole = {0};
	struct dw_filter all = {.focus.hot_path = true};
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals totals = {0};
	struct dw_out out;

	if (!dw_open_profile(path, &whole, &p, NULL) &&
	    !dw_totals_compute(&p, &all, dw_view_parts(&dw_view_summary, &p), &totals)) {
		dw_out_init_fd(&out, STDERR_FILENO);
		dw_summary_print(&out, &p, &totals, &style);
		dw_out_close(&out);
	}
	dw_totals_release(&totals);
	dw_profile_release(&p);
}

void dw_recorded_failure(struct dw_error *err, const struct dw_record_result *result,
			 const char *path)
{
	if (result->pid)
		dw_error_set(err, err->code, "%s; what was recorded until then is in %s.partial",
			     dw_error_message(err), path);
	dw_command_fail(err, DWELL_EXIT_FAILED);
}
