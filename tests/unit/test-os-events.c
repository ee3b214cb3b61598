/* How threads learn that they were switched, in a program of its own: each source against the
 * kernel's own counts and clocks. */
#include "agent/calls/os-events.h"
#include "agent/core/agent-internal.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/rseq.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

const struct dw_agent_part dw_agent_part;

static struct dw_region_header region;

/* What a thread was seen to do. */
struct seen {
	struct dw_tree_thread thread;
	struct dw_os_state state;
	uint64_t ticks, blocked, switches;
};

/* What the kernel says of the calling thread. */
struct truth {
	struct dw_os_clocks clocks;
	uint64_t switches;
};

static uint64_t count_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw);
}

/* The same moment on all clocks: no switch while they are read. */
static struct truth read_truth(void)
{
	struct truth t;

	do {
		t.switches = count_switches();
		dw_os_clocks_read(&t.clocks);
	} while (t.switches != count_switches());
	return t;
}

static void look(struct seen *s)
{
	uint64_t before = s->state.clocks.ticks;
	struct dw_os_look l;

	dw_os_look(&s->thread, &s->state, &l);
	if (s->state.clocks.ticks == before)
		return;
	s->ticks += l.blocked + l.on_cpu;
	s->blocked += l.blocked;
	s->switches += l.switches;
}

/* As a probe does: look only when the word has changed. */
static void probe(struct seen *s)
{
	if (*s->thread.os_word != s->thread.os_seen)
		look(s);
}

static void use(const char *source)
{
	memset(&region, 0, sizeof region);
	memset(&dw_os_choice, 0, sizeof dw_os_choice);
	dw_agent.region = &region;
	dw_os_start(source, NULL);
}

static void begin(struct seen *s)
{
	memset(s, 0, sizeof *s);
	dw_os_thread_start(&s->thread, &s->state);
}

/* Look until there is no switch between that and the truth of the same moment. */
static struct truth look_with_truth(struct seen *s)
{
	struct truth t;

	do {
		look(s);
		t = read_truth();
	} while (*s->thread.os_word != s->thread.os_seen);
	return t;
}

static struct truth begin_with_truth(struct seen *s)
{
	struct truth t;

	begin(s);
	t = look_with_truth(s);
	s->ticks = s->blocked = s->switches = 0;
	return t;
}

/* Why @source cannot be tested here, NULL = it can. */
static const char *lack_of(const char *source)
{
	use(source);
	if (!strcmp(source, "perf") && !dw_os_choice.has_perf)
		return "needs: perf events";
	if (!strcmp(source, "rseq") && !dw_os_choice.has_rseq)
		return "needs: rseq";
	return NULL;
}

#define NEED(source)                                     \
	do {                                             \
		const char *need_lack = lack_of(source); \
                                                         \
		if (need_lack)                           \
			SKIP(need_lack);                 \
	} while (0)

/* Block in ways of all kinds, with probes between them. */
static void block(struct seen *s)
{
	const struct timespec pause = {0, 3000000};
	int ends[2], word = 0;
	char byte;

	for (int i = 0; i < 10; i++) {
		nanosleep(&pause, NULL);
		probe(s);
	}
	syscall(SYS_futex, &word, FUTEX_WAIT, 0, &pause, NULL, 0);
	probe(s);
	if (pipe(ends))
		return;
	if (!fork()) {
		nanosleep(&pause, NULL);
		_exit(write(ends[1], "x", 1) != 1);
	}
	(void)!read(ends[0], &byte, 1);
	probe(s);
	wait(NULL);
	probe(s);
	close(ends[0]);
	close(ends[1]);
}

/* Use the processor for @cpu_ns. */
static void compute(struct seen *s, uint64_t cpu_ns)
{
	struct timespec t;
	uint64_t end = 0, now = 0;

	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
		end = end ? end : now + cpu_ns;
		for (volatile int i = 0; i < 1000; i++)
			probe(s);
	} while (now < end);
}

/*
 * What was seen is what the kernel says happened since @from, to 1 %. With @is_exact switches too,
 * else a signal or a stolen microsecond may look like one.
 */
static bool is_true(struct seen *s, const struct truth *from, bool is_exact)
{
	struct truth to = look_with_truth(s);
	uint64_t ticks = to.clocks.ticks - from->clocks.ticks;
	uint64_t blocked = dw_os_blocked(&from->clocks, &to.clocks);
	uint64_t switches = to.switches - from->switches;
	int64_t wrong = (int64_t)(s->blocked - blocked);
	bool is_counted = is_exact ? s->switches == switches
				   : s->switches && s->switches < switches + switches / 4 + 2;

	if (is_counted && llabs(wrong) < (int64_t)(ticks / 100))
		return true;
	printf("# switches %" PRIu64 " of %" PRIu64 ", blocked %" PRIu64 " of %" PRIu64
	       ", ticks %" PRIu64 "\n",
	       s->switches, switches, s->blocked, blocked, ticks);
	return false;
}

static bool sees_blocking(bool is_exact)
{
	struct seen s;
	struct truth from = begin_with_truth(&s);
	bool is_right;

	block(&s);
	is_right = is_true(&s, &from, is_exact);
	dw_os_thread_end(&s.thread, &s.state);
	return is_right;
}

TEST(perf_sees_what_blocks)
{
	NEED("perf");
	CHECK(sees_blocking(true));
	CHECK_INT(region.os_sources[DWELL_OS_PERF], 1);
}

TEST(rseq_sees_what_blocks)
{
	NEED("rseq");
	CHECK(sees_blocking(false));
	CHECK_INT(region.os_sources[DWELL_OS_RSEQ], 1);
}

/* Three processes that compute on as many or fewer processors. */
static bool sees_preemption(bool is_exact)
{
	struct truth from;
	struct seen s;
	cpu_set_t all, one;
	pid_t children[2];
	bool is_right;

	sched_getaffinity(0, sizeof all, &all);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof one, &one);
	for (int i = 0; i < 2; i++) {
		children[i] = fork();
		while (!children[i])
			;
	}
	from = begin_with_truth(&s);
	compute(&s, 200000000);
	is_right = is_true(&s, &from, is_exact);
	for (int i = 0; i < 2; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	sched_setaffinity(0, sizeof all, &all);
	dw_os_thread_end(&s.thread, &s.state);
	return is_right;
}

TEST(perf_sees_preemption)
{
	NEED("perf");
	CHECK(sees_preemption(true));
}

TEST(rseq_sees_preemption)
{
	NEED("rseq");
	CHECK(sees_preemption(false));
}

static void *run_thread(void *ctx)
{
	uint32_t *source = ctx;
	struct seen s;

	begin(&s);
	*source = sees_blocking(false) ? s.thread.os_source : DWELL_OS_NONE;
	dw_os_thread_end(&s.thread, &s.state);
	return NULL;
}

TEST(threads_have_words_of_their_own)
{
	pthread_t threads[8];
	uint32_t sources[8];

	NEED("perf");
	for (int i = 0; i < 8; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, run_thread, &sources[i]), 0);
	for (int i = 0; i < 8; i++) {
		pthread_join(threads[i], NULL);
		CHECK_INT(sources[i], DWELL_OS_PERF);
	}
	CHECK_INT(region.os_sources[DWELL_OS_PERF], 16);
}

/* The source of a thread when an ordinary user's locked memory has run out. */
static uint32_t source_without_memory(void)
{
	const struct rlimit none = {0, 0};
	struct seen s;
	int error = 0;

	if ((!geteuid() && setresuid(65534, 65534, 65534)) || setrlimit(RLIMIT_MEMLOCK, &none))
		return DWELL_OS_SOURCES;
	for (int i = 0; i < 100000 && dw_os_perf_open(NULL, &error);)
		i++;
	if (error != EPERM && error != EAGAIN)
		return DWELL_OS_SOURCES;
	begin(&s);
	return sees_blocking(false) ? s.thread.os_source : DWELL_OS_SOURCES;
}

TEST(without_locked_memory_the_next_source_is_taken)
{
	int status;
	pid_t child;

	NEED("rseq");
	use(NULL);
	if (!dw_os_choice.has_perf)
		SKIP("needs: perf events");
	fflush(stdout);
	child = fork();
	if (!child)
		_exit((int)source_without_memory());
	waitpid(child, &status, 0);
	CHECK_INT(WEXITSTATUS(status), DWELL_OS_RSEQ);
}

TEST(none_knows_what_calls_blocked)
{
	struct seen s;
	int rounds = 0;

	use("none");
	CHECK(!dw_os_choice.has_perf && !dw_os_choice.has_rseq);
	begin(&s);
	CHECK_INT(s.thread.os_source, DWELL_OS_NONE);
	/* Rounds in which the thread gave up its processor once, to sleep. */
	for (int tries = 0; rounds < 3 && tries < 100; tries++) {
		struct truth from = read_truth(), to;
		struct dw_os_look l;
		uint64_t blocked;

		dw_os_look(&s.thread, &s.state, &l);
		usleep(10000);
		dw_os_look(&s.thread, &s.state, &l);
		to = read_truth();
		CHECK_INT(l.switches, 0);
		if (to.switches - from.switches != 1)
			continue;
		blocked = dw_os_blocked(&from.clocks, &to.clocks);
		CHECK(l.blocked > blocked / 2);
		CHECK(l.blocked <= blocked + blocked / 10);
		rounds++;
	}
	CHECK_INT(rounds, 3);
}

TEST(a_program_with_sequences_of_its_own_is_left_alone)
{
	static const char code[16];
	static const struct rseq_cs other = {.start_ip = 4096, .abort_ip = (uint64_t)(code + 8)};
	struct dw_os_look l;
	struct seen s;

	NEED("rseq");
	begin(&s);
	CHECK_INT(s.thread.os_source, DWELL_OS_RSEQ);
	/* The kernel would look at it: no system call may follow in between. */
	*s.state.rseq = (uint64_t)&other;
	dw_agent.filters = 1; /* the look makes none either */
	dw_os_look(&s.thread, &s.state, &l);
	CHECK(*s.state.rseq == (uint64_t)&other || !*s.state.rseq);
	*s.state.rseq = 0;
	dw_agent.filters = 0;
	CHECK(dw_os_choice.is_foreign);
	CHECK_INT(s.thread.os_source, DWELL_OS_NONE);
	CHECK_INT(*s.thread.os_word, s.thread.os_seen);
	begin(&s);
	CHECK_INT(s.thread.os_source, DWELL_OS_NONE);
	CHECK_INT(region.os_sources[DWELL_OS_NONE], 2);
	CHECK_INT(region.os_sources[DWELL_OS_RSEQ], 0);
}

TEST(under_a_filter_nothing_is_asked)
{
	struct dw_os_look l;
	struct seen s;

	use(NULL);
	begin(&s);
	dw_agent.filters = 1;
	usleep(1000);
	dw_os_look(&s.thread, &s.state, &l);
	CHECK_INT(l.switches, 0);
	CHECK_INT(l.blocked, 0);
	CHECK(l.now);
	CHECK_INT(s.thread.os_source, DWELL_OS_NONE);
	begin(&s);
	dw_agent.filters = 0;
	CHECK_INT(s.thread.os_source, DWELL_OS_NONE);
	CHECK_INT(*s.thread.os_word, s.thread.os_seen);
}

TEST(system_calls_by_kind)
{
	CHECK_INT(dw_os_call_kind(SYS_read, 0), DWELL_CALL_IO);
	CHECK_INT(dw_os_call_kind(SYS_nanosleep, 0), DWELL_CALL_BLOCKING);
	CHECK_INT(dw_os_call_kind(SYS_getpid, 0), DWELL_CALL_NOT_COUNTED);
	CHECK_INT(dw_os_call_kind(SYS_exit_group, 0), DWELL_CALL_NOT_COUNTED);
	CHECK_INT(dw_os_call_kind(SYS_futex, FUTEX_WAIT_PRIVATE), DWELL_CALL_BLOCKING);
	CHECK_INT(dw_os_call_kind(SYS_futex, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME),
		  DWELL_CALL_BLOCKING);
	CHECK_INT(dw_os_call_kind(SYS_futex, FUTEX_WAKE_PRIVATE), DWELL_CALL_NOT_COUNTED);
	CHECK_INT(dw_os_call_kind(SYS_fcntl, F_SETLKW), DWELL_CALL_BLOCKING);
	CHECK_INT(dw_os_call_kind(SYS_fcntl, F_GETFL), DWELL_CALL_NOT_COUNTED);
	CHECK_INT(dw_os_call_kind(1ull << 40, 0), DWELL_CALL_NOT_COUNTED);
}

/* What dw_os_close() gave, for tables. */
struct closed {
	uint64_t elapsed, os, os_probe, os_cpu;
	uint32_t io_calls, blocking_calls;
};

static struct closed close_at(struct seen *s, uint64_t now, enum dw_os_event event)
{
	struct dw_interval i;
	uint64_t end = dw_os_close(&s->thread, &s->state, now, event, &i);

	s->thread.last = end;
	return (struct closed){i.elapsed, i.os, i.os_probe, i.os_cpu, i.io_calls, i.blocking_calls};
}

static bool is_closed(struct closed got, struct closed want)
{
	if (!memcmp(&got, &want, sizeof got))
		return true;
	printf("# elapsed %" PRIu64 " os %" PRIu64 " probe %" PRIu64 " cpu %" PRIu64
	       " calls %u %u\n",
	       got.elapsed, got.os, got.os_probe, got.os_cpu, got.io_calls, got.blocking_calls);
	return false;
}

/* A trace by hand: probes at 100, 200, 1000, a read from 300 to 900 with a handler from 500 to 600,
 * in which there is a probe at 550. */
TEST(intervals_by_both_rules)
{
	struct seen s;

	use("none");
	begin(&s);
	s.thread.state = DWELL_THREAD_RUNNING;
	s.thread.last = 100;
	CHECK(is_closed(close_at(&s, 200, DWELL_EVENT_PROBE), (struct closed){100, 0, 0, 0, 0, 0}));
	CHECK_INT(s.thread.os_seen, *s.thread.os_word);
	CHECK(is_closed(close_at(&s, 300, DWELL_EVENT_CALL), (struct closed){100, 0, 0, 0, 0, 0}));
	dw_os_call_begin(&s.thread, &s.state, DWELL_CALL_IO);
	CHECK_INT(s.thread.state, DWELL_THREAD_IN_CALL);
	CHECK(is_closed(close_at(&s, 500, DWELL_EVENT_CALL),
			(struct closed){200, 200, 0, 200, 1, 0}));
	CHECK(is_closed(close_at(&s, 550, DWELL_EVENT_PROBE),
			(struct closed){50, 0, 350, 0, 0, 0}));
	CHECK(is_closed(close_at(&s, 600, DWELL_EVENT_CALL), (struct closed){50, 0, 0, 0, 0, 0}));
	dw_os_call_begin(&s.thread, &s.state, DWELL_CALL_NOT_COUNTED);
	CHECK(is_closed(close_at(&s, 900, DWELL_EVENT_CALL),
			(struct closed){300, 300, 0, 300, 0, 0}));
	CHECK(s.thread.os_seen != *s.thread.os_word);
	CHECK_INT(s.thread.state, DWELL_THREAD_RUNNING);
	CHECK(is_closed(close_at(&s, 1000, DWELL_EVENT_PROBE),
			(struct closed){100, 0, 450, 0, 0, 0}));
	CHECK(is_closed(close_at(&s, 1100, DWELL_EVENT_PROBE),
			(struct closed){100, 0, 0, 0, 0, 0}));
}

/* A switch divides its interval; one in a slow path is taken off that. */
TEST(a_switch_in_an_interval)
{
	struct dw_interval i;
	uint64_t begin_ticks, end;
	struct seen s;

	NEED("perf");
	begin(&s);
	s.thread.state = DWELL_THREAD_RUNNING;
	s.thread.last = dw_ticks();
	usleep(2000);
	end = dw_os_close(&s.thread, &s.state, dw_ticks(), DWELL_EVENT_PROBE, &i);
	CHECK_INT(i.elapsed, end - s.thread.last);
	CHECK_INT(i.os, i.os_blocked);
	CHECK_INT(i.os_probe, i.elapsed);
	CHECK(i.switches >= 1 && i.os && i.os <= i.elapsed && !i.os_cpu);
	begin_ticks = dw_ticks();
	usleep(2000);
	end = dw_ticks();
	CHECK(dw_os_close_slow(&s.thread, &s.state, begin_ticks, &end, &i));
	CHECK(end <= dw_ticks());
	CHECK(i.switches >= 1 && i.os && i.os == i.elapsed && i.os <= dw_ticks() - begin_ticks);
	while (dw_os_close_slow(&s.thread, &s.state, begin_ticks, &end, &i))
		;
	CHECK_INT(*s.thread.os_word, s.thread.os_seen);
	dw_os_thread_end(&s.thread, &s.state);
}

__attribute__((constructor)) static void reserve(void)
{
	dw_memory_start();
}

TEST_MAIN()
