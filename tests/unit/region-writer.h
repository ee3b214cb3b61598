/*
 * A region written as an agent writes it, for tests that need no agent.
 */
#pragma once

#include "wire/region.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct region_writer {
	char path[DWELL_REGION_PATH];
	struct dw_region_header *h; /* mapped; NULL = could not be made */
	int fd;
	unsigned wake_ups;
};

/* Make the region @name in @folder, @more bytes longer than its header, and fill the header in. */
static inline struct region_writer region_write(const char *folder, const char *name, size_t more)
{
	struct region_writer w = {.fd = -1};
	void *p;

	snprintf(w.path, sizeof w.path, "%s/%s", folder, name);
	w.fd = open(w.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (w.fd < 0 || ftruncate(w.fd, (off_t)(sizeof *w.h + more)))
		return w;
	p = mmap(NULL, sizeof *w.h + more, PROT_READ | PROT_WRITE, MAP_SHARED, w.fd, 0);
	if (p == MAP_FAILED)
		return w;
	w.h = p;
	w.h->pid = (uint32_t)getpid();
	w.h->parent_pid = (uint32_t)getppid();
	w.h->header_bytes = sizeof *w.h;
	w.h->bytes = sizeof *w.h + more;
	w.h->version = DWELL_REGION_VERSION;
	memcpy(w.h->magic, DWELL_REGION_MAGIC, sizeof w.h->magic);
	close(open(w.path, O_RDWR | O_CLOEXEC)); /* the first close tells that it stands */
	return w;
}

/* Make the wake-up file. */
static inline void region_ring(struct region_writer *w)
{
	char path[DWELL_REGION_PATH + 16];

	snprintf(path, sizeof path, "%s.%u", w->path, w->wake_ups++);
	close(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
}

/* Publish one more module and ask for its image. Its index. */
static inline uint32_t region_ask(struct region_writer *w, const char *path, uint64_t start,
				  bool is_main)
{
	uint32_t i = w->h->module_n;
	struct dw_region_module *m = &w->h->modules[i];

	snprintf(m->path, sizeof m->path, "%s", path);
	m->start = start;
	m->is_main = is_main;
	m->state = DWELL_MODULE_ASKED;
	__atomic_store_n(&w->h->module_n, i + 1, __ATOMIC_RELEASE);
	region_ring(w);
	return i;
}

/* Close and unmap, as the end of a process does. */
static inline void region_leave(struct region_writer *w)
{
	struct stat st;

	if (w->h && !fstat(w->fd, &st))
		munmap(w->h, (size_t)st.st_size);
	close(w->fd);
	w->h = NULL;
	w->fd = -1;
}
