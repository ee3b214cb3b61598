/*
 * costs: print for each region beside the program's own, of its parents that wait, what probes cost
 * there, a line each.
 * costs own: print what the program's own loops say that a function's probes cost, picoseconds.
 */
#include "wire/region.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct dw_region_header header;

static void print_costs(const char *folder, const char *name)
{
	char path[600];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return;
	if (pread(fd, &header, sizeof(header), 0) == sizeof(header)) {
		for (int i = 0; i < DWELL_PROBE_KINDS; i++)
			printf("%d ", header.probe_cost[i]);
		printf("%d\n", header.pass_cost);
	}
	close(fd);
}

/* The file of this program's region. */
static char *find_region(void)
{
	static char line[1024];
	FILE *maps = fopen("/proc/self/maps", "r");
	char *path;

	while (maps && fgets(line, sizeof(line), maps)) {
		path = strstr(line, " rw-s ") ? strchr(line, '/') : NULL;
		if (path && strstr(path, "/dwell-")) {
			path[strcspn(path, "\n")] = '\0';
			return path;
		}
	}
	return NULL;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Over some milliseconds. */
static double picoseconds_per_tick(void)
{
	double start = seconds();
	unsigned long long ticks = __builtin_ia32_rdtsc();

	usleep(20000);
	ticks = __builtin_ia32_rdtsc() - ticks;
	return (seconds() - start) * 1e12 / (double)ticks;
}

static int print_own(const char *path)
{
	int fd = path ? open(path, O_RDONLY) : -1;
	const int32_t *cost = header.probe_cost;

	if (fd < 0 || pread(fd, &header, sizeof(header), 0) != sizeof(header))
		return 1;
	close(fd);
	printf("%.0f\n", (cost[DWELL_PROBE_ENTER] + cost[DWELL_PROBE_LEAVE]) *
				 picoseconds_per_tick() / DWELL_TICK_PARTS);
	return 0;
}

int main(int argc, char **argv)
{
	char *folder = find_region();
	DIR *files;
	struct dirent *e;

	if (argc > 1 && !strcmp(argv[1], "own"))
		return print_own(folder);
	if (folder)
		*strrchr(folder, '/') = '\0';
	files = folder ? opendir(folder) : NULL;
	while (files && (e = readdir(files)))
		if (!strchr(e->d_name, '.'))
			print_costs(folder, e->d_name);
	return files ? 0 : 1;
}
