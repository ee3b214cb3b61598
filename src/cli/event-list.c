/* The list of events; see event-list.h. Each is tried, and those of PMUs are listed as sysfs has
 * them. */
#include "cli/event-list.h"

#include "base/out.h"
#include "cli/command.h"
#include "collect/perf/events.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#define PMUS "/sys/bus/event_source/devices"

/* One line: the name, and why it cannot be had. */
static void print_known(struct dw_out *out, const char *name)
{
	struct dw_perf_options o = {.frequency_hz = 1000, .stack_bytes = 4096};
	struct dw_error err = DW_ERROR_INIT;
	int rc = dw_perf_event_find(name, &o.event, &err);

	if (!rc)
		rc = dw_perf_events_try(&o, &err);
	dw_out_printf(out, "%s%s\n", name,
		      rc == DWELL_ERR_NOT_FOUND ? "  (no counter here)"
		      : rc			? "  (not allowed here)"
						: "");
	dw_error_clear(&err);
}

static void print_pmu(struct dw_out *out, const char *pmu)
{
	char path[512];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof path, PMUS "/%s/events", pmu);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			dw_out_printf(out, "%s/%s/\n", pmu, entry->d_name);
	if (dir)
		closedir(dir);
}

int dw_event_list(void)
{
	struct dirent *entry;
	struct dw_out out;
	const char *name;
	DIR *dir = opendir(PMUS);

	dw_out_init_fd(&out, STDOUT_FILENO);
	for (unsigned i = 0; (name = dw_perf_event_name(i)) != NULL; i++)
		print_known(&out, name);
	while (dir && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			print_pmu(&out, entry->d_name);
	if (dir)
		closedir(dir);
	return dw_out_close(&out) ? DWELL_EXIT_FAILED : DWELL_EXIT_OK;
}
