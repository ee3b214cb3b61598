/*
 * costs: print for each region beside the program's own, of its parents that wait, what probes cost
 * there, a line each.
 */
#include "wire/region.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* The folder of this program's region. */
static char *find_folder(void)
{
	static char line[1024];
	FILE *maps = fopen("/proc/self/maps", "r");
	char *path;

	while (maps && fgets(line, sizeof(line), maps)) {
		path = strstr(line, " rw-s ") ? strchr(line, '/') : NULL;
		if (path && strstr(path, "/dwell-")) {
			*strrchr(path, '/') = '\0';
			return path;
		}
	}
	return NULL;
}

int main(void)
{
	char *folder = find_folder();
	DIR *files = folder ? opendir(folder) : NULL;
	struct dirent *e;

	while (files && (e = readdir(files)))
		if (!strchr(e->d_name, '.'))
			print_costs(folder, e->d_name);
	return files ? 0 : 1;
}
