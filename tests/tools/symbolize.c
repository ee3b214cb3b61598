/*
 * dw_symbolize() on its own: symbolize FILE [SVMA...] prints, for each address (hexadecimal, also
 * from standard input with "-"), one line "0xSVMA" and one line per function, innermost first:
 * "NAME<TAB>FILE:LINE:COLUMN-LINE:COLUMN<TAB>DECLARED:LINE<TAB>0xENTRY+BYTES". The number of failed
 * modules and of code bytes ends the output.
 *
 * Options before FILE: --as UID:GID opens files with these rights, --dirs DIRS sets the debug
 * folders, --root DIR the target's root, --cache DIR keeps there what it finds out, --time prints
 * nothing but the time.
 */
#include "symbol/symbolize.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct request {
	struct dw_module_source source;
	struct dw_symbol_options options;
	const char *path;
	bool only_time;
};

static int parse_option(struct request *r, char **argv)
{
	if (!strcmp(argv[0], "--time")) {
		r->only_time = true;
		return 1;
	}
	if (!argv[1])
		return 0;
	if (!strcmp(argv[0], "--as")) {
		char *colon;

		r->source.uid = (uid_t)strtoul(argv[1], &colon, 10);
		r->source.gid = *colon ? (gid_t)strtoul(colon + 1, NULL, 10) : r->source.uid;
	} else if (!strcmp(argv[0], "--dirs")) {
		r->options.debug_dirs = argv[1];
	} else if (!strcmp(argv[0], "--cache")) {
		r->options.cache_dir = argv[1];
	} else if (!strcmp(argv[0], "--root")) {
		r->source.root_fd = open(argv[1], O_PATH | O_CLOEXEC);
	} else if (!strcmp(argv[0], "--timeout-ms")) {
		r->options.timeout_ms = (uint32_t)strtoul(argv[1], NULL, 10);
	} else {
		return 0;
	}
	return 2;
}

static int add_frame(struct dw_profile *p, const char *text)
{
	uint32_t id;
	struct dw_frame f = {.module = 1, .svma = strtoull(text, NULL, 16)};

	return dw_frames_add(&p->frames, f, &id);
}

static int fill(struct dw_profile *p, const struct request *r, char **svmas)
{
	struct dw_module m = {.kind = DWELL_MODULE_FILE};
	const char *slash = strrchr(r->path, '/');
	char line[64];
	uint32_t id;
	int rc = dw_strings_adds(&p->strings, r->path, &m.path);

	if (!rc)
		rc = dw_strings_adds(&p->strings, slash ? slash + 1 : r->path, &m.name);
	if (!rc)
		rc = dw_modules_add(&p->modules, &m, &id);
	for (; *svmas && !rc; svmas++) {
		if (strcmp(*svmas, "-"))
			rc = add_frame(p, *svmas);
		else
			while (!rc && fgets(line, sizeof line, stdin))
				rc = add_frame(p, line);
	}
	return rc;
}

static void print_frame(const struct dw_profile *p, uint32_t frame)
{
	uint32_t n;
	const struct dw_location *l = dw_locations_get(&p->locations, frame, &n);

	printf("0x%" PRIx64 "\n", dw_frames_get(&p->frames, frame)->svma);
	for (uint32_t i = 0; i < n; i++) {
		const struct dw_function *f = &p->functions.rows.v[l[i].function];

		printf("%s\t%s:%u:%u-%u:%u\t%s:%u\t0x%" PRIx64 "+%" PRIu64 "\n",
		       dw_strings_get(&p->strings, f->name), dw_strings_get(&p->strings, l[i].file),
		       l[i].line, l[i].column, l[i].line_end, l[i].column_end,
		       dw_strings_get(&p->strings, f->file), f->line, f->svma, f->bytes);
	}
}

static double seconds_of(struct timeval a, struct timeval b)
{
	return (double)(a.tv_sec + b.tv_sec) + (double)(a.tv_usec + b.tv_usec) / 1e6;
}

static void print_time(const struct dw_profile *p, const struct dw_symbol_stats *stats,
		       const struct timespec *start)
{
	struct timespec end;
	struct rusage self, children;

	clock_gettime(CLOCK_MONOTONIC, &end);
	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	printf("%.3f s, CPU %.3f s (helpers %.3f s), helper peak %ld MB: %" PRIu64
	       " frames, %" PRIu64 " named, %" PRIu64 " with lines, %u functions\n",
	       (double)(end.tv_sec - start->tv_sec) + (double)(end.tv_nsec - start->tv_nsec) / 1e9,
	       seconds_of(self.ru_utime, self.ru_stime) +
		       seconds_of(children.ru_utime, children.ru_stime),
	       seconds_of(children.ru_utime, children.ru_stime), children.ru_maxrss / 1024,
	       stats->frames, stats->frames_named, stats->frames_lines,
	       dw_functions_count(&p->functions));
}

static int run(struct request *r, char **svmas)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_module_source sources[2] = {{.fd = -1}, r->source};
	struct dw_symbol_stats stats = {0};
	struct dw_error err = DW_ERROR_INIT;
	struct timespec start;
	uint64_t code_bytes = 0;
	int rc = fill(&p, r, svmas);

	clock_gettime(CLOCK_MONOTONIC, &start);
	if (!rc)
		rc = dw_symbolize(&p, sources, 2, &r->options, &stats, &err);
	if (rc)
		fprintf(stderr, "symbolize: %s\n", dw_error_message(&err));
	for (uint32_t i = 1; !r->only_time && !rc && i <= dw_frames_count(&p.frames); i++)
		print_frame(&p, i);
	dw_vec_each(code, &p.codes.rows)
		code_bytes += code->bytes_n;
	if (r->only_time)
		print_time(&p, &stats, &start);
	else
		printf("failed %" PRIu64 " code %" PRIu64 "\n", stats.modules_failed, code_bytes);
	dw_profile_release(&p);
	dw_error_clear(&err);
	return rc ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct request r = {
		.source = {.fd = -1, .root_fd = -1, .uid = geteuid(), .gid = getegid()}};
	int i = 1, used;

	while (i < argc && argv[i][0] == '-' && (used = parse_option(&r, argv + i)))
		i += used;
	if (i >= argc) {
		fprintf(stderr, "usage: symbolize [OPTIONS] FILE SVMA...\n");
		return 2;
	}
	r.path = argv[i];
	r.source.fd = open(r.path, O_RDONLY | O_CLOEXEC);
	if (r.source.fd < 0) {
		fprintf(stderr, "symbolize: cannot open '%s': %s\n", r.path, strerror(errno));
		return 1;
	}
	return run(&r, argv + i + 1);
}
