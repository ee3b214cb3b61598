/*
 * Regions made behind the agent's back, for programs that talk to the collector honestly or not.
 */
#pragma once

#include "wire/region.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct region {
	char name[32];
	struct dw_region_header *h;
	int wake_ups;
};

static char folder[256];

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* The folder of the region that the agent has mapped, or that a static program is told. */
static int find_folder(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	const char *told = getenv(DWELL_ENV_FOLDER);
	char line[512], *path, *slash;

	while (maps && !folder[0] && fgets(line, sizeof line, maps)) {
		path = strchr(line, '/');
		if (!path || !strstr(path, "/dwell-") || !strstr(line, "rw-s"))
			continue;
		slash = strrchr(path, '/');
		snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
	}
	if (maps)
		fclose(maps);
	if (!folder[0] && told)
		snprintf(folder, sizeof folder, "%s", told);
	return folder[0] ? 0 : -1;
}

static void make_file(const char *name, const void *bytes, size_t n)
{
	int fd = open(name, O_WRONLY | O_CREAT, 0600);

	if (fd >= 0 && write(fd, bytes, n) < 0)
		perror(name);
	close(fd);
}

static void ring(struct region *r)
{
	char name[64];

	snprintf(name, sizeof name, "%s.%d", r->name, r->wake_ups++);
	make_file(name, "", 0);
}

/* A region with a valid header and @more bytes behind it in the current folder. */
static struct region make_region(const char *name, size_t more)
{
	struct region r = {.h = MAP_FAILED};
	int fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);

	snprintf(r.name, sizeof r.name, "%s", name);
	if (fd >= 0 && !ftruncate(fd, (off_t)(sizeof *r.h + more)))
		r.h = mmap(NULL, sizeof *r.h + more, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (r.h == MAP_FAILED) {
		perror(name);
		exit(2);
	}
	close(fd);
	r.h->pid = (uint32_t)getpid();
	r.h->version = DWELL_REGION_VERSION;
	r.h->header_bytes = sizeof *r.h;
	memcpy(r.h->magic, DWELL_REGION_MAGIC, sizeof r.h->magic);
	return r;
}
