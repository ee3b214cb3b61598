/* Jitdumps from anywhere: records follow each other, names lie in the input, lines end. */
#include "code/jit/perf-map.h"
#include "code/jit/jitdump.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Read the record at @at as one of lines. */
static void read_lines(const uint8_t *at, size_t n, const struct dw_jitdump_header *h)
{
	struct dw_jitdump_lines lines;
	struct dw_jitdump_line line;
	size_t found = 0;

	dw_jitdump_lines_init(&lines, at, n, h);
	while (dw_jitdump_lines_next(&lines, &line)) {
		/* Sixteen bytes and a NUL each. */
		if (++found * 17 > n)
			abort();
		if (line.file_n && ((const uint8_t *)line.file < at ||
				    (const uint8_t *)line.file + line.file_n >= at + n))
			abort();
	}
}

static void check_load(const struct dw_jitdump_record *r, const uint8_t *at, size_t n)
{
	if (!r->code_bytes || r->start + r->code_bytes < r->start)
		abort();
	if (r->kind != DWELL_JITDUMP_LOAD)
		return;
	if (r->name_n &&
	    ((const uint8_t *)r->name < at || (const uint8_t *)r->name + r->name_n > at + n))
		abort();
	if (!dw_jit_name_read(r->name, r->name_n).name.n)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dw_jitdump_header h;
	struct dw_jitdump_record r;

	if (dw_jitdump_header_read(data, size, &h))
		return 0;
	for (size_t at = h.bytes; at < size; at += r.bytes) {
		size_t n = size - at;

		if (dw_jitdump_record_read(data + at, n, n, &r))
			break;
		if (!r.bytes || r.bytes > n)
			abort();
		if (r.kind == DWELL_JITDUMP_LOAD || r.kind == DWELL_JITDUMP_MOVE)
			check_load(&r, data + at, n);
		read_lines(data + at, r.bytes, &h);
		/* With less of it at hand. */
		if (!dw_jitdump_record_read(data + at, r.bytes / 2, r.bytes, &r) &&
		    r.kind == DWELL_JITDUMP_LOAD)
			check_load(&r, data + at, r.bytes / 2);
		if (dw_jitdump_record_read(data + at, n, n, &r))
			abort();
	}
	return 0;
}
