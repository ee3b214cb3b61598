/*
 * A program that knows where its processor time went: truth MODE SECONDS [THREADS].
 *
 * Three functions share the time 50 : 30 : 20. Work runs in chunks of about 1 ms, between two
 * readings of the thread's CPU clock; every second chunk, by chance, goes to the part that is
 * furthest behind, the others to any. Their lengths vary at random, too, so that neither they nor
 * their order can beat with a sampler's period. At the end it prints its own truth as JSON:
 * nanoseconds of each part and thread, and where each function stands in source and module.
 *
 * Modes: plain; recursion (the first part works at each of 20 levels of itself); inlined (the work
 * sits in functions inlined into others); libraries (second and third part in shared libraries).
 */
#include "truth.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PARTS = 3, MAX_THREADS = 64, LEVELS = 20, CHUNK_NS = 1000000 };

enum { alpha_first = __LINE__ };
OWN_FUNCTION uint64_t alpha(uint64_t x, long steps)
{
	for (long i = 0; i < steps; i++)
		x = STEP(x);
	return x;
}
enum { alpha_last = __LINE__ };

enum { beta_first = __LINE__ };
OWN_FUNCTION uint64_t beta(uint64_t x, long steps)
{
	for (long i = 0; i < steps; i++)
		x = STEP(x);
	return x;
}
enum { beta_last = __LINE__ };

enum { gamma_first = __LINE__ };
OWN_FUNCTION uint64_t gamma_part(uint64_t x, long steps)
{
	for (long i = 0; i < steps; i++)
		x = STEP(x);
	return x;
}
enum { gamma_last = __LINE__ };

enum { descend_first = __LINE__ };
OWN_FUNCTION uint64_t descend(uint64_t x, long steps, int level)
{
	for (long i = 0; i < steps; i++)
		x = STEP(x);
	if (level > 1)
		x = descend(x, steps, level - 1) + 1;
	__asm__ volatile("" : "+r"(x)); /* keeps the call from becoming a loop */
	return x;
}
enum { descend_last = __LINE__ };

static uint64_t start_descent(uint64_t x, long steps)
{
	return descend(x, steps / LEVELS, LEVELS);
}

enum { inner_alpha_first = __LINE__ };
INLINED uint64_t inner_alpha(uint64_t x, long steps)
{
	for (long i = 0; i < steps; i++)
		x = STEP(x);
	return x;
}
enum { inner_alpha_last = __LINE__ };

enum { inner_beta_first = __LINE__ };
INLINED uint64_t inner_beta(uint64_t x, long steps)
{
	for (long i = 0; i < steps; i++)
		x = STEP(x);
	return x;
}
enum { inner_beta_last = __LINE__ };

OWN_FUNCTION uint64_t outer_alpha(uint64_t x, long steps)
{
	return inner_alpha(x ^ 1, steps);
}

OWN_FUNCTION uint64_t outer_beta(uint64_t x, long steps)
{
	return inner_beta(x ^ 2, steps);
}

extern const struct part part_library_beta, part_library_gamma;

#define SPAN(name) name##_first, name##_last, __FILE__

static const struct part parts_here[] = {
	{"alpha", NULL, alpha, CODE(alpha), 50, SPAN(alpha)},
	{"beta", NULL, beta, CODE(beta), 30, SPAN(beta)},
	{"gamma_part", NULL, gamma_part, CODE(gamma_part), 20, SPAN(gamma)},
	{"descend", NULL, start_descent, CODE(descend), 50, SPAN(descend)},
	{"inner_alpha", "outer_alpha", outer_alpha, CODE(outer_alpha), 50, SPAN(inner_alpha)},
	{"inner_beta", "outer_beta", outer_beta, CODE(outer_beta), 30, SPAN(inner_beta)},
};

static const struct {
	const char *name;
	const struct part *parts[PARTS];
} modes[] = {
	{"plain", {&parts_here[0], &parts_here[1], &parts_here[2]}},
	{"recursion", {&parts_here[3], &parts_here[1], &parts_here[2]}},
	{"inlined", {&parts_here[4], &parts_here[5], &parts_here[2]}},
	{"libraries", {&parts_here[0], &part_library_beta, &part_library_gamma}},
};

struct worker {
	pthread_t thread;
	pid_t tid;
	const struct part *const *parts;
	int64_t budget_ns;
	int64_t part_ns[PARTS];
	uint64_t result;
};

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* The part that got least of what is due to it. */
static int next_part(const struct worker *w)
{
	int best = 0;

	for (int i = 1; i < PARTS; i++)
		if (w->part_ns[i] * w->parts[best]->percent <
		    w->part_ns[best] * w->parts[i]->percent)
			best = i;
	return best;
}

static void *work(void *data)
{
	struct worker *w = data;
	long steps[PARTS] = {10000, 10000, 10000};
	uint64_t random = 1 + (uint64_t)(w->tid = (pid_t)syscall(SYS_gettid));
	int64_t start = cpu_ns(), before = start, now;

	do {
		int i;

		random = random * MULTIPLIER + 1442695040888963407u;
		i = random >> 63 ? next_part(w) : (int)((random >> 40) % PARTS);
		w->result += w->parts[i]->run(
			w->result, steps[i] / 2 + (long)((random >> 33) % (uint64_t)steps[i]));
		now = cpu_ns();
		w->part_ns[i] += now - before;
		if (now - before < CHUNK_NS / 2)
			steps[i] += steps[i] / 4;
		before = now;
	} while (now - start < w->budget_ns);
	return NULL;
}

static void print_part(const struct part *part, int64_t ns, const char *separator)
{
	Dl_info info = {0};

	dladdr((void *)(uintptr_t)part->code, &info);
	printf("%s\n  {\"function\": \"%s\", \"outer\": \"%s\", \"percent\": %d, \"cpu_ns\": %lld,"
	       " \"source\": \"%s\", \"first_line\": %d, \"last_line\": %d, \"module\": \"%s\","
	       " \"offset\": %llu}",
	       separator, part->function, part->outer ? part->outer : "", part->percent,
	       (long long)ns, part->source, part->first_line, part->last_line, info.dli_fname,
	       (unsigned long long)((uintptr_t)part->code - (uintptr_t)info.dli_fbase));
}

static void print_truth(const struct worker *workers, int n)
{
	int64_t total = 0;

	printf("{\"pid\": %d, \"parts\": [", getpid());
	for (int i = 0; i < PARTS; i++) {
		int64_t ns = 0;

		for (int t = 0; t < n; t++)
			ns += workers[t].part_ns[i];
		print_part(workers->parts[i], ns, i ? "," : "");
		total += ns;
	}
	printf("],\n \"threads\": [");
	for (int t = 0; t < n; t++) {
		int64_t ns = 0;

		for (int i = 0; i < PARTS; i++)
			ns += workers[t].part_ns[i];
		printf("%s{\"tid\": %d, \"cpu_ns\": %lld}", t ? ", " : "", workers[t].tid,
		       (long long)ns);
	}
	printf("],\n \"cpu_ns\": %lld}\n", (long long)total);
}

int main(int argc, char **argv)
{
	static struct worker workers[MAX_THREADS];
	int n = argc > 3 ? atoi(argv[3]) : 1;
	const struct part *const *parts = NULL;

	for (size_t i = 0; argc > 2 && i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(argv[1], modes[i].name))
			parts = modes[i].parts;
	if (!parts || n < 1 || n > MAX_THREADS) {
		fprintf(stderr,
			"usage: truth plain|recursion|inlined|libraries SECONDS [THREADS]\n");
		return 2;
	}
	for (int t = 0; t < n; t++) {
		workers[t].parts = parts;
		workers[t].budget_ns = (int64_t)(atof(argv[2]) * 1e9 / n);
		if (n > 1 && pthread_create(&workers[t].thread, NULL, work, &workers[t]))
			return 3;
	}
	if (n == 1)
		work(&workers[0]);
	for (int t = 0; n > 1 && t < n; t++)
		pthread_join(workers[t].thread, NULL);
	print_truth(workers, n);
	return 0;
}
