/*
 * perf.data files as hostile files: opened, all records decoded, put in order and taken in, as
 * `dwell import` does, but no other file is opened. What comes of it is walked without checks, as
 * the session's writer does.
 */
#include "collect/import/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t walk(const struct dw_profile *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->samples.n; i++) {
		const struct dw_thread *t = &p->threads.rows.v[p->samples.thread[i]];

		sum += p->processes.rows.v[t->process].begin_ns;
		for (uint32_t s = p->samples.stack[i]; s; s = p->stacks.rows.v[s].parent)
			sum += p->frames.rows.v[p->stacks.rows.v[s].frame].svma;
	}
	return sum;
}

static void import(const char *path, const char *event)
{
	struct dw_import_config config = {.path = path, .event = event, .without_files = true};
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_backend_stats stats;
	struct dw_import *i = NULL;
	bool more = true;

	if (!dw_import_open(&config, &p, &i, NULL)) {
		while (more && !dw_import_some(i, &more))
			;
		dw_import_end(i);
		dw_import_stats(i, &stats);
		if (stats.samples_kept != p.samples.n)
			abort();
	}
	dw_import_free(i);
	if (walk(&p) == UINT64_MAX)
		putchar('\n');
	dw_profile_release(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("perf.data", MFD_CLOEXEC);
	char path[64];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (fd >= 0 && write(fd, data, size) == (ssize_t)size) {
		import(path, NULL);
		import(path, "all");
	}
	close(fd);
	return 0;
}
