/* The progress line; see progress.h. It is rewritten in place and gone before anything else is
 * printed. */
#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

bool dw_progress_wanted(void)
{
	struct stat out, terminal;

	if (!isatty(STDERR_FILENO) || fstat(STDERR_FILENO, &terminal))
		return false;
	return fstat(STDOUT_FILENO, &out) || out.st_rdev != terminal.st_rdev;
}

void dw_progress_show(void *ctx, const struct dw_record_progress *p)
{
	struct dw_progress_line *line = ctx;

	fprintf(stderr, "\r\033[Kdwell: %.1f s, %" PRIu64 " samples", (double)p->elapsed_ns / 1e9,
		p->stats.samples_kept);
	if (p->stats.samples_lost)
		fprintf(stderr, ", %" PRIu64 " lost", p->stats.samples_lost);
	fflush(stderr);
	line->shown = true;
}

void dw_progress_show_time(void *ctx, const struct dw_record_progress *p)
{
	struct dw_progress_line *line = ctx;

	fprintf(stderr, "\r\033[Kdwell: %.1f s", (double)p->elapsed_ns / 1e9);
	fflush(stderr);
	line->shown = true;
}

void dw_progress_clear(struct dw_progress_line *line)
{
	if (line->shown)
		fputs("\r\033[K", stderr);
	line->shown = false;
}
