/*
 * collect-run [-F HZ] [-s STACK_BYTES] [-f] COMMAND...: run a command under the perf backend alone,
 * without session or symbols, and print what came out: counters, rows, the most frequent innermost
 * frames. For tests of the collector and for measuring it.
 *
 * -f  also prints the share of stacks by their outermost frame and the deepest stack.
 */
#include "base/cleanup.h"
#include "collect/backend.h"
#include "collect/launch/launch.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FDS_MAX = 1024, DRAIN_MS = 10, TOP = 8 };

struct options {
	struct dw_backend_config config;
	bool frames;
	char *const *argv;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int fail(const struct dw_error *err)
{
	fprintf(stderr, "collect-run: %s\n", dw_error_message(err));
	return 125;
}

/* Drain until the command has ended. Its wait status. */
static int collect(struct dw_launch *l, struct dw_backend *b, struct dw_error *err)
{
	const struct dw_backend_ops *ops = &dw_backend_perf;
	struct pollfd fds[FDS_MAX];
	int status = 0;

	while (!dw_launch_wait(l, WNOHANG, &status, NULL)) {
		size_t n = ops->poll_fds(b, fds, FDS_MAX);

		poll(fds, n, DRAIN_MS);
		if (ops->drain(b, false, err))
			return -1;
	}
	ops->stop(b);
	return ops->drain(b, true, err) ? -1 : status;
}

static void print_counters(const struct dw_profile *p, const struct dw_backend *b)
{
	struct dw_backend_stats s;
	uint64_t stacks_deepest = 0;

	dw_backend_perf.stats(b, &s);
	for (uint32_t i = 1; i <= dw_stacks_count(&p->stacks); i++) {
		uint64_t depth = 0;

		if (i % 64 && i != dw_stacks_count(&p->stacks))
			continue;
		for (uint32_t at = i; at; at = dw_stacks_get(&p->stacks, at)->parent)
			depth++;
		stacks_deepest = depth > stacks_deepest ? depth : stacks_deepest;
	}
	printf("kept %" PRIu64 " lost %" PRIu64 " discarded %" PRIu64 " cut %" PRIu64
	       " records-lost %" PRIu64 " throttled %" PRIu64 "\n",
	       s.samples_kept, s.samples_lost, s.samples_discarded, s.stacks_cut, s.records_lost,
	       s.throttled);
	printf("processes %u threads %u modules %u frames %u stacks %u deepest %" PRIu64 "\n",
	       dw_processes_count(&p->processes), dw_threads_count(&p->threads),
	       dw_modules_count(&p->modules), dw_frames_count(&p->frames),
	       dw_stacks_count(&p->stacks), stacks_deepest);
	printf("event %s stack_bytes %" PRId64 " ring_bytes %" PRId64 "\n",
	       dw_facts_get_text(&p->facts, "event"), dw_facts_get(&p->facts, "stack_bytes", 0),
	       dw_facts_get(&p->facts, "ring_bytes", 0));
}

static void print_rows(const struct dw_profile *p, struct dw_backend *b)
{
	size_t n;
	const struct dw_module_source *sources = dw_backend_perf.sources(b, &n);

	for (uint32_t i = 1; i <= dw_modules_count(&p->modules); i++) {
		const struct dw_module *m = dw_modules_get(&p->modules, i);

		printf("module %s %s%s build-id %d\n", dw_strings_get(&p->strings, m->path),
		       sources[i].fd >= 0 ? "file" : (sources[i].image ? "memory" : "none"),
		       m->deleted ? " deleted" : "", m->build_id_bytes);
	}
	for (uint32_t i = 1; i <= dw_processes_count(&p->processes); i++) {
		const struct dw_process *r = dw_processes_get(&p->processes, i);

		printf("process %d parent %u name %s begin %" PRIu64 " end %" PRId64
		       " user %" PRId64 " kernel %" PRId64 "\n",
		       r->pid, r->parent, dw_strings_get(&p->strings, r->name),
		       r->begin_ns / 1000000, (int64_t)r->end_ns / 1000000,
		       (int64_t)r->user_cpu_ns / 1000000, (int64_t)r->kernel_cpu_ns / 1000000);
	}
}

static void print_frame(const struct dw_profile *p, uint32_t frame, const char *label,
			uint64_t count)
{
	const struct dw_frame *f = dw_frames_get(&p->frames, frame);
	const struct dw_module *m = dw_modules_get(&p->modules, f->module);

	if (f->kind == DWELL_FRAME_CUT)
		printf("%s %" PRIu64 " [cut]\n", label, count);
	else
		printf("%s %" PRIu64 " %s+0x%" PRIx64 "\n", label, count,
		       m ? dw_strings_get(&p->strings, m->name) : "?", f->svma);
}

/* Print the frames that most samples have innermost, or outermost. */
static int print_top(const struct dw_profile *p, bool outermost)
{
	uint32_t frames = dw_frames_count(&p->frames);
	uint64_t *counts = calloc(frames + 1, sizeof *counts);

	if (!counts)
		return -1;
	for (size_t i = 0; i < p->samples.n; i++) {
		uint32_t at = p->samples.stack[i];

		while (outermost && dw_stacks_get(&p->stacks, at)->parent)
			at = dw_stacks_get(&p->stacks, at)->parent;
		counts[dw_stacks_get(&p->stacks, at)->frame]++;
	}
	for (int i = 0; i < TOP; i++) {
		uint32_t best = 0;

		for (uint32_t f = 1; f <= frames; f++)
			best = counts[f] > counts[best] ? f : best;
		if (!best)
			break;
		print_frame(p, best, outermost ? "outermost" : "innermost", counts[best]);
		counts[best] = 0;
	}
	free(counts);
	return 0;
}

static void print_cost(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	printf("collector user_ms %ld kernel_ms %ld max_rss_kb %ld switches %ld\n",
	       u.ru_utime.tv_sec * 1000 + u.ru_utime.tv_usec / 1000,
	       u.ru_stime.tv_sec * 1000 + u.ru_stime.tv_usec / 1000, u.ru_maxrss, u.ru_nvcsw);
	getrusage(RUSAGE_CHILDREN, &u);
	printf("target user_us %ld kernel_us %ld\n",
	       u.ru_utime.tv_sec * 1000000 + u.ru_utime.tv_usec,
	       u.ru_stime.tv_sec * 1000000 + u.ru_stime.tv_usec);
}

static bool parse(int argc, char **argv, struct options *o)
{
	int c;

	while ((c = getopt(argc, argv, "+F:s:c:f")) > 0) {
		if (c == 'F')
			o->config.frequency_hz = (uint32_t)atoi(optarg);
		else if (c == 's')
			o->config.stack_bytes = (uint32_t)atoi(optarg);
		else if (c == 'c')
			o->config.cache_dir = optarg;
		else if (c == 'f')
			o->frames = true;
		else
			return false;
	}
	o->argv = argv + optind;
	return optind < argc;
}

static int run(struct options *o, struct dw_launch *l, struct dw_profile *p, struct dw_backend **b,
	       struct dw_error *err)
{
	int rc = dw_launch_prepare(l, o->argv, err);

	if (rc)
		return fail(err);
	signal(SIGPIPE, SIG_IGN); /* the command was forked before */
	o->config.pid = l->pid;
	o->config.start_ns = now_ns();
	if (dw_backend_perf.start(&o->config, p, b, err))
		return fail(err);
	rc = dw_launch_release(l, err);
	if (rc) {
		fail(err);
		return dw_launch_exit_code(rc);
	}
	rc = collect(l, *b, err);
	if (rc < 0)
		return fail(err);
	print_counters(p, *b);
	print_rows(p, *b);
	print_cost();
	if (print_top(p, false) || (o->frames && print_top(p, true)))
		return 125;
	return WIFEXITED(rc) ? WEXITSTATUS(rc) : 128 + WTERMSIG(rc);
}

int main(int argc, char **argv)
{
	struct options o = {.config.frequency_hz = 1000};
	struct dw_launch l = DW_LAUNCH_INIT;
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_error err = DW_ERROR_INIT;
	struct dw_backend *b = NULL;
	int rc = 125;

	if (parse(argc, argv, &o))
		rc = run(&o, &l, &p, &b, &err);
	else
		fprintf(stderr,
			"usage: collect-run [-F HZ] [-s BYTES] [-c CACHE] [-f] COMMAND...\n");
	dw_backend_perf.free(b);
	dw_launch_close(&l);
	dw_profile_release(&p);
	dw_error_clear(&err);
	return rc;
}
