/*
 * Fuzz target: a region as a hostile target leaves it. The input stands at the head of the file
 * (the fixed header, chunks, modules; zeros behind); its last bytes say how long the file is and
 * which bytes stand behind the header, where counts lie. Everything that reads a region reads it.
 */
#include "collect/region/read.h"

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
	close(fd);
	return 0;
}
