/* Perf maps from anywhere: each line that is found lies in the input, and so do the parts of its
 * name; reading in two parts finds the same lines. */
#include "code/jit/perf-map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_inside(struct dw_jit_text part, const char *name, size_t n)
{
	uintptr_t at = (uintptr_t)part.at, start = (uintptr_t)name;

	return !part.n || (at >= start && at - start <= n && n - (at - start) >= part.n);
}

static void check_name(const struct dw_perf_map_line *line)
{
	struct dw_jit_name name = dw_jit_name_read(line->name, line->name_n);

	/* One that is not there has another. */
	if (!name.name.n || !is_inside(name.file, line->name, line->name_n) ||
	    !is_inside(name.assembly, line->name, line->name_n))
		abort();
	if (name.name.at[0] != '(' && !is_inside(name.name, line->name, line->name_n))
		abort();
}

/* Read what is complete. Bytes that are done with. */
static size_t read_all(const char *text, size_t n, size_t *lines)
{
	struct dw_perf_map_line line;
	size_t at = 0, done;

	while ((done = dw_perf_map_next(text + at, n - at, &line))) {
		if (done > n - at)
			abort();
		at += done;
		if (!line.bytes)
			continue;
		if (line.start + line.bytes < line.start || !line.name_n)
			abort();
		check_name(&line);
		++*lines;
	}
	return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	size_t whole = 0, parts = 0, at;

	if (!size)
		return 0;
	read_all(text, size, &whole);
	at = read_all(text, size / 2, &parts);
	read_all(text + at, size - at, &parts);
	if (whole != parts)
		abort();
	return 0;
}
