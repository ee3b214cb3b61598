/*
 * Fuzz target: a region as a hostile target leaves it. The input stands at the head of the file
 * (the fixed header, chunks, modules; zeros behind); its last bytes say how long the file is and
 * which bytes stand behind the header, where counts lie. Everything that reads a region reads it.
 * Then the input is taken for the lines of a call tree, which come in two halves.
 */
#include "collect/calls/calls.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TAIL_BYTES = 1 << 16, FUNCTIONS_MAX = 1 << 13 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Read all that the region in @fd claims to have. */
static void read_region(int fd, uint32_t functions)
{
	static uint64_t sums[FUNCTIONS_MAX];
	struct dw_region_head head;
	struct dw_region_module m;

	if (dw_region_read_head(fd, &head))
		return;
	if (head.module_n > DWELL_REGION_MODULES || head.chunk_n > DWELL_REGION_CHUNKS)
		abort();
	for (uint32_t i = 0; i < head.module_n; i++) {
		if (dw_region_read_module(fd, i, &m))
			continue;
		if (strlen(m.path) >= sizeof m.path)
			abort();
		dw_region_add_counts(fd, &m, functions, sums);
		dw_region_write_answer(fd, i, DWELL_ANSWER_IMAGE, i, m.path);
	}
}

static int name_callee(void *ctx, uint64_t key, uint32_t *entry, bool *is_external)
{
	(void)ctx;
	*entry = (uint32_t)key;
	*is_external = key & 1;
	return 0;
}

static int name_site(void *ctx, uint64_t caller, uint32_t low, bool is_return,
		     struct dw_region_site *ret)
{
	(void)ctx;
	*ret = (struct dw_region_site){(uint32_t)caller + low + is_return, low & 1};
	return 0;
}

/* What the rows of files keep to. */
static void check_files(const struct dw_profile *p)
{
	dw_vec_each(f, &p->calls.files) {
		if (!f->id || f->id > p->calls.file_ids ||
		    f->file >= p->strings.n + !p->strings.n ||
		    !dw_threads_get(&p->threads, f->thread))
			abort();
	}
}

/* What every profile keeps to. */
static void check_profile(const struct dw_profile *p)
{
	for (uint32_t id = 1; id <= dw_calls_count(&p->calls); id++) {
		const struct dw_call_node *n = dw_calls_get(&p->calls, id);

		if (n->parent >= id || !n->parent != !!(n->flags & DWELL_CALL_ROOT) ||
		    !dw_threads_get(&p->threads, n->thread))
			abort();
	}
	dw_vec_each(d, &p->calls.deltas) {
		if (!dw_calls_get(&p->calls, d->node))
			abort();
	}
	dw_vec_each(e, &p->calls.extremes) {
		if (!e->id || e->id > p->calls.extremes_ids ||
		    !dw_threads_get(&p->threads, e->thread))
			abort();
	}
	dw_vec_each(s, &p->calls.slow) {
		if (!s->id || s->id > p->calls.slow_ids || !dw_calls_get(&p->calls, s->node) ||
		    s->io_ns + s->blocking_ns + s->switched_ns + s->inclusive.application_ns !=
			    s->inclusive.elapsed_ns)
			abort();
	}
	check_files(p);
}

/* Read the region @fd as a tree. */
static void read_calls(int fd, struct dw_region_calls *r, uint32_t slice, bool is_last)
{
	static const struct dw_region_clock clock = {.ns_per_tick = 0.5};
	struct dw_region_head head;
	struct dw_region_reading now = {.head = &head,
					.until = is_last ? 0 : 1ull << 40,
					.clock = &clock,
					.slice = slice,
					.is_last = is_last};

	if (!dw_region_read_head(fd, &head))
		dw_region_calls_read(r, fd, &now);
}

/* Lay the lines @data into a region with two threads, read it after each half, and once more after
 * each line took the place of another. */
static void read_tree(const uint8_t *data, size_t size)
{
	static struct dw_region_header h = {.magic = DWELL_REGION_MAGIC,
					    .version = DWELL_REGION_VERSION,
					    .header_bytes = sizeof h,
					    .chunk_n = 1,
					    .threads_n = 2,
					    .threads = {1, 5},
					    .system_calls_seen = 1};
	static const struct dw_region_names names = {name_callee, name_site, NULL};
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_region_calls *r = NULL;
	size_t half = size / 2 / DWELL_LINE_BYTES * DWELL_LINE_BYTES;
	int fd = memfd_create("region", MFD_CLOEXEC);

	h.chunks[0] = (struct dw_region_chunk){DWELL_REGION_CHUNK_ARENA, 0, sizeof h, size};
	h.arena_lines = (uint32_t)(size / DWELL_LINE_BYTES);
	if (fd < 0 || dw_region_calls_new(&p, 1, &names, &r) ||
	    pwrite(fd, &h, sizeof h, 0) != sizeof h || ftruncate(fd, (off_t)(sizeof h + size)))
		abort();
	for (uint32_t i = 0; i < 2; i++) {
		size_t at = i ? half : 0, n = i ? size - half : half;

		if (pwrite(fd, data + at, n, (off_t)(sizeof h + at)) != (ssize_t)n)
			abort();
		read_calls(fd, r, i, false);
		check_profile(&p);
	}
	if (pwrite(fd, data, size - half, (off_t)(sizeof h + half)) != (ssize_t)(size - half))
		abort();
	read_calls(fd, r, 2, true);
	check_profile(&p);
	dw_region_calls_free(r);
	dw_profile_release(&p);
	close(fd);
}

/* Read whatever tree the region @fd claims to have. */
static void read_claimed_tree(int fd)
{
	static const struct dw_region_names names = {name_callee, name_site, NULL};
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_region_calls *r = NULL;

	if (dw_region_calls_new(&p, 1, &names, &r))
		abort();
	read_calls(fd, r, 0, true);
	check_profile(&p);
	dw_region_calls_free(r);
	dw_profile_release(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char zero[8];
	uint16_t tail[2];
	int fd;

	if (size < sizeof tail)
		return 0;
	fd = memfd_create("region", MFD_CLOEXEC);
	if (fd < 0)
		return 0;
	size -= sizeof tail;
	memcpy(tail, data + size, sizeof tail);
	if (pwrite(fd, data, size, 0) == (ssize_t)size &&
	    pwrite(fd, zero, sizeof zero, (off_t)sizeof(struct dw_region_header) + tail[0]) > 0)
		read_region(fd, tail[1] % FUNCTIONS_MAX);
	if (!ftruncate(fd, (off_t)size))
		read_region(fd, tail[1] % FUNCTIONS_MAX);
	read_claimed_tree(fd);
	read_tree(data, size);
	close(fd);
	return 0;
}
