/* Make the clone image of a program or library: clone-image FILE [OUT]
 * [none|count|time|system-calls] [all]. Prints how long it took, sizes, and why functions are left
 * alone. */
#include "base/cleanup.h"
#include "clone/clone.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void print(const uint8_t *image, size_t n, double ms)
{
	const struct dw_clone_header *h = (const void *)(image + DWELL_CLONE_HEADER_OFFSET);
	const struct dw_clone_function_entry *f = (const void *)(image + h->functions.at);
	unsigned reasons[DWELL_LEFT_REASONS] = {0}, cold = 0, probed = 0;

	for (uint32_t i = 0; i < h->functions.n; i++) {
		reasons[f[i].reason]++;
		cold += !!(f[i].flags & DWELL_CLONE_COLD);
		probed += !!(f[i].flags & DWELL_CLONE_PROBED);
	}
	printf("%.1f ms, %zu bytes, code %u bytes for %lu, distance %ld MB\n", ms, n, h->code_bytes,
	       h->module.code_bytes, (long)(h->distance >> 20));
	printf("functions %u: cold %u, probed %u, patches %u, returns %u, relocations %u %u %u %u\n",
	       h->functions.n, cold, probed, h->patches.n, h->returns.n, h->relocations[0].n,
	       h->relocations[1].n, h->relocations[2].n, h->relocations[3].n);
	printf("imports %u, system calls %u, without trampolines %u\n", h->imports.n,
	       h->system_calls, h->system_calls_left);
	for (uint32_t i = 0; i < DWELL_LEFT_REASONS; i++)
		if (reasons[i])
			printf("%8u %s\n", reasons[i], dw_clone_reason_text(i));
}

static int write_file(const char *path, const uint8_t *image, size_t n)
{
	FILE *out = fopen(path, "we");
	int rc = !out || fwrite(image, 1, n, out) != n;

	if (out && fclose(out))
		rc = 1;
	if (rc)
		perror(path);
	return rc;
}

static uint32_t probes_of(const char *word)
{
	if (!strcmp(word, "time"))
		return DWELL_PROBES_TIME;
	if (!strcmp(word, "system-calls"))
		return DWELL_PROBES_SYSTEM_CALLS;
	return strcmp(word, "count") ? DWELL_PROBES_NONE : DWELL_PROBES_COUNT;
}

int main(int argc, char **argv)
{
	struct dw_clone_options options = {.probes = DWELL_PROBES_NONE};
	dw_auto_free uint8_t *image = NULL;
	dw_auto_close int fd = -1;
	struct dw_error err = DW_ERROR_INIT;
	struct dw_elf *elf = NULL;
	size_t n = 0;
	double start;
	int rc;

	if (argc < 2 || argc > 5) {
		fprintf(stderr, "usage: clone-image FILE [OUT] [none|count|time|system-calls] "
				"[all]\n");
		return 2;
	}
	options.probes = argc > 3 ? probes_of(argv[3]) : DWELL_PROBES_NONE;
	options.all_functions = argc > 4;
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	start = now_ms();
	rc = dw_elf_open(fd, &elf, &err);
	if (!rc)
		rc = dw_clone_make(elf, &options, &image, &n, &err);
	dw_elf_free(elf);
	if (rc) {
		fprintf(stderr, "%s: %s (%d)\n", argv[1], err.message ? err.message : "?", rc);
		dw_error_clear(&err);
		return 1;
	}
	print(image, n, now_ms() - start);
	return argc > 2 ? write_file(argv[2], image, n) : 0;
}
