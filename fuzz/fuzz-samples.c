/*
 * Fuzz target: the ring of a process that samples itself, as a hostile target leaves it. The input
 * begins with what of struct dw_sample_ring comes before its tail; the bytes behind it are the
 * ring. Seals are made good where the lowest bits of what stands in their place say so, or nothing
 * would ever get past them. The ring is read twice: as of a process that lives, then as of one that
 * has ended. Nothing else is looked at.
 */
#include "collect/in-process/process.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE_BYTES = offsetof(struct dw_sample_ring, unused) };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Seal the records of @ring: whole ones, those that were only begun, and strange ones. */
static void seal(uint8_t *ring, size_t n)
{
	struct dw_sample_record r;

	for (size_t at = 0; at + sizeof r <= n; at += r.bytes) {
		memcpy(&r, ring + at, sizeof r);
		if (r.seal & 2)
			r.seal = r.seal & 1 ? dw_sample_seal_end(at) : dw_sample_seal_begin(at);
		memcpy(ring + at, &r.seal, sizeof r.seal);
		if (!r.bytes)
			return;
	}
}

static void put(int fd, const void *from, size_t n, size_t at)
{
	if (pwrite(fd, from, n, (off_t)at) != (ssize_t)n)
		abort();
}

/* The file of a region with the ring of @size bytes at @ring, behind the first @page. */
static int make_region(const uint8_t *page, const uint8_t *ring, size_t size)
{
	static struct dw_region_header h = {.magic = DWELL_REGION_MAGIC,
					    .version = DWELL_REGION_VERSION,
					    .header_bytes = sizeof h,
					    .chunk_n = 1};
	int fd = memfd_create("region", MFD_CLOEXEC);

	h.chunks[0] = (struct dw_region_chunk){DWELL_REGION_CHUNK_SAMPLES, 0, sizeof h,
					       DWELL_SAMPLE_PAGE + size};
	if (fd < 0 || ftruncate(fd, (off_t)(sizeof h + DWELL_SAMPLE_PAGE + size)))
		abort();
	put(fd, &h, sizeof h, 0);
	put(fd, page, PAGE_BYTES, sizeof h);
	put(fd, ring, size, sizeof h + DWELL_SAMPLE_PAGE);
	return fd;
}

static void read_ring(struct dw_dispatcher *in, int fd)
{
	struct dw_sampled_process process = {.pid = 10, .fd = fd};
	struct dw_in_process_reader reader = {.dispatcher = in};

	if (dw_in_process_read(&reader, &process, false) ||
	    dw_in_process_read(&reader, &process, true))
		abort();
	free(reader.buffer.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct dw_unwind_frame *frames; /* 40 MB: not to be had anew for each input */
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_dispatcher in;
	uint8_t *ring;
	int fd;

	if (size <= PAGE_BYTES)
		return 0;
	ring = malloc(size - PAGE_BYTES);
	if (!ring)
		return 0;
	memcpy(ring, data + PAGE_BYTES, size - PAGE_BYTES);
	seal(ring, size - PAGE_BYTES);
	fd = make_region(data, ring, size - PAGE_BYTES);
	free(ring);
	dw_dispatcher_init(&in, &p, NULL, true);
	in.unwinder.frames = frames;
	if (!dw_track_command(&in.track, 10))
		read_ring(&in, fd);
	for (size_t i = 0; i < p.samples.n; i++)
		if (!dw_stacks_get(&p.stacks, p.samples.stack[i]))
			abort();
	frames = in.unwinder.frames;
	in.unwinder.frames = NULL;
	dw_dispatcher_release(&in);
	dw_profile_release(&p);
	close(fd);
	return 0;
}
