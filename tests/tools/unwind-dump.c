/*
 * Unwinds stops that another program wrote to a file, for comparison: unwind-dump FILE.
 *
 * FILE holds stops, one after the other, all numbers little-endian: "DWSTOP1\n"; 17 registers of 8
 * bytes in DWARF order; length (4) and text of /proc/PID/maps; number (4) of memory areas, each
 * with address (8), length (8) and bytes. The vdso must be one of them. For each stop prints
 * "stop END N", then N lines "PC CFA MODULE+SVMA" in hex.
 */
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/vec.h"
#include "code/elf/elf.h"
#include "unwind/unwind.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { MAX_FRAMES = 1 << 17, MAX_MODULES = 256 };

struct area {
	uint64_t base;
	const uint8_t *bytes;
	size_t n;
};

struct module {
	char *path;
	struct dw_elf *elf;
	struct dw_cfi_table *cfi;
};

struct stop {
	struct dw_unwind_regs regs;
	DW_VEC(struct area) areas;
	struct dw_space space;
};

static struct module modules[MAX_MODULES];
static uint32_t modules_n = 1; /* 0 = none */

/* unwind.h's extend: hand out the area that holds @addr. */
static int extend(void *ctx, struct dw_unwind_memory *m, uint64_t addr)
{
	const struct stop *s = ctx;

	dw_vec_each(a, &s->areas) {
		if (a->n >= 8 && addr - a->base <= a->n - 8) {
			m->base = a->base;
			m->bytes = a->bytes;
			m->n = a->n;
			return 0;
		}
	}
	return -1;
}

static void open_module(struct module *m, const struct stop *s, uint64_t start)
{
	dw_auto_close int fd = -1;

	if (!strcmp(m->path, "[vdso]")) {
		dw_vec_each(a, &s->areas) {
			if (a->base == start)
				dw_elf_open_bytes(a->bytes, a->n, true, &m->elf, NULL);
		}
	} else if (m->path[0] == '/') {
		fd = open(m->path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			dw_elf_open(fd, &m->elf, NULL);
	}
	if (m->elf)
		dw_cfi_table_load(m->elf, NULL, &m->cfi, NULL);
}

/* The number of the module at @path, opened at its first use. */
static uint32_t find_module(const char *path, const struct stop *s, uint64_t start)
{
	for (uint32_t i = 1; i < modules_n; i++)
		if (!strcmp(modules[i].path, path))
			return i;
	if (modules_n == MAX_MODULES)
		return 0;
	modules[modules_n].path = strdup(path);
	open_module(&modules[modules_n], s, start);
	return modules_n++;
}

/* Put the executable mapping that @line of maps describes into the space. */
static void map_line(struct stop *s, const char *line)
{
	uint64_t start, end, offset;
	char perms[8], path[1024] = "";
	struct dw_space_range r = {0};

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %1023[^\n]", &start, &end,
		   perms, &offset, path) < 4 ||
	    perms[2] != 'x')
		return;
	r.start = start;
	r.end = end;
	r.module = find_module(path, s, start);
	if (modules[r.module].elf && !dw_elf_bias(modules[r.module].elf, (struct dw_avma){start},
						  (struct dw_foff){offset}, &r.bias))
		r.cfi = modules[r.module].cfi;
	dw_space_map(&s->space, &r);
}

/* Read one stop. False at the end of the file. */
static bool read_stop(struct dw_cursor *c, struct stop *s)
{
	const uint8_t *magic = dw_cursor_left(c) ? dw_cursor_bytes(c, 8) : NULL, *maps;
	uint32_t n;

	if (!magic || memcmp(magic, "DWSTOP1\n", 8))
		return false;
	for (int i = 0; i < DWELL_REG_COUNT; i++)
		s->regs.r[i] = dw_cursor_u64(c);
	n = dw_cursor_u32(c);
	maps = dw_cursor_bytes(c, n);
	if (!maps)
		return false;
	dw_auto_free char *text = strndup((const char *)maps, n);
	s->areas.n = 0;
	for (uint32_t areas = dw_cursor_u32(c); areas && !c->failed; areas--) {
		struct area a = {.base = dw_cursor_u64(c), .n = dw_cursor_u64(c)};

		a.bytes = dw_cursor_bytes(c, a.n);
		if (a.bytes && dw_vec_push(&s->areas, a))
			return false;
	}
	dw_space_clear(&s->space);
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
		map_line(s, line);
	return !c->failed;
}

static void unwind_stop(struct stop *s, struct dw_unwind_frame *frames)
{
	static const char *const ends[] = {"complete", "cut", "no-rule", "broken", "limit"};
	struct dw_unwind_memory memory = {.extend = extend, .ctx = s};
	size_t n;
	enum dw_unwind_end end = dw_unwind(&s->space, &s->regs, &memory, frames, MAX_FRAMES, &n);

	printf("stop %s %zu\n", ends[end], n);
	for (size_t i = 0; i < n; i++) {
		const struct dw_space_range *r = frames[i].range;

		printf("%" PRIx64 " %" PRIx64 " %s+%" PRIx64 "\n", frames[i].pc.v, frames[i].cfa,
		       r && r->module ? modules[r->module].path : "?",
		       frames[i].pc.v - (r ? r->bias : 0));
	}
}

int main(int argc, char **argv)
{
	dw_auto_close int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	struct dw_unwind_frame *frames = malloc(MAX_FRAMES * sizeof *frames);
	struct stop s = {0};
	struct dw_cursor c;
	struct stat st;
	void *map;

	if (fd < 0 || fstat(fd, &st) || !frames) {
		fprintf(stderr, "usage: unwind-dump FILE\n");
		return 2;
	}
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	dw_cursor_init(&c, map, map == MAP_FAILED ? 0 : (size_t)st.st_size);
	while (read_stop(&c, &s))
		unwind_stop(&s, frames);
	dw_vec_release(&s.areas);
	dw_space_release(&s.space);
	for (uint32_t i = 1; i < modules_n; i++) {
		free(modules[i].path);
		dw_cfi_table_free(modules[i].cfi);
		dw_elf_free(modules[i].elf);
	}
	free(frames);
	return dw_cursor_left(&c) || c.failed ? 1 : 0;
}
