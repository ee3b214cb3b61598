/*
 * The sources of the process and of its threads, looking, dividing intervals, and which system
 * calls count; see os-events.h.
 *
 * A thread takes the first source that it can have: the process may have proven the perf page while
 * this thread finds no locked memory left for it. From none it learns nothing, but its clocks still
 * tell the blocked part of a system call. A source is left for good when the program installs a
 * system-call filter (the clocks are system calls) or has restartable sequences of its own.
 *
 * What the clocks say was off the processor since the look before is at most the interval: what a
 * host or interrupts took in earlier ones, which nobody noticed, is left out. Without a source the
 * clocks are read only after long system calls and long slow paths.
 *
 * A child that shares the memory (vfork(), posix_spawn(), raw clone()) comes by here, and by other
 * probes, with its parent's thread-local storage: after a call that may have made one, the caller's
 * id decides.
 */
#include "agent/calls/os-events.h"

#include "agent/calls/threads.h"
#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum {
	TRIES = 4,	     /* a tracer may switch us at every system call */
	WRITES_A_SWITCH = 2, /* to the counter of a perf page */
	LEAST_SWITCH_NS = 1000,
	PERF_BYTES = 4096,
};

struct dw_os_choice dw_os_choice;

/* The word of those who learn nothing. */
static const uint32_t never_changes;

static bool may_try(const char *forced, const char *source)
{
	return !forced || dw_text_after(forced, source);
}

static void *open_perf(void)
{
	void *at = dw_agent_addresses(PERF_BYTES), *page;
	int error;

	if (!at)
		return NULL;
	dw_memory_apart(at); /* the kernel gives no perf page to a fork's child */
	page = dw_os_perf_open(at, &error);
	if (!page)
		dw_agent_addresses_free(at, PERF_BYTES);
	return page;
}

static bool prove_perf(void)
{
	void *page = open_perf();
	bool is_proven = page && dw_os_prove(dw_os_perf_word(page), NULL);

	dw_agent_addresses_free(page, PERF_BYTES);
	return is_proven;
}

/* This thread's restartable sequence, NULL = there is none that is free. */
static uint64_t *find_rseq(struct dw_os_choice *os)
{
	const ptrdiff_t *offset = dw_real("__rseq_offset");
	const unsigned int *size = dw_real("__rseq_size");
	uint64_t *pointer;

	if (!offset || !size || !*size)
		return NULL;
	os->rseq_offset = *offset;
	pointer = dw_os_rseq_find(*offset);
	return pointer && !dw_os_rseq_is_foreign(pointer) ? pointer : NULL;
}

static bool prove_rseq(uint64_t *pointer)
{
	bool is_proven = dw_os_prove((const uint32_t *)pointer, pointer);

	dw_os_rseq_disarm(pointer);
	return is_proven;
}

/* Let the programs that this process executes believe what has been proven. */
static void tell_children(const struct dw_os_choice *os)
{
	if (os->has_perf && os->has_rseq)
		dw_agent_tell_children(" os-proven=perf,rseq");
	else if (os->has_perf)
		dw_agent_tell_children(" os-proven=perf");
	else if (os->has_rseq)
		dw_agent_tell_children(" os-proven=rseq");
}

void dw_os_start(const char *forced, const char *proven)
{
	struct dw_os_choice *os = &dw_os_choice;
	uint64_t *rseq = may_try(forced, "rseq") ? find_rseq(os) : NULL;

	if (proven) {
		os->has_perf = dw_text_after(proven, "perf");
		os->has_rseq = rseq && (dw_text_after(proven, "rseq") ||
					dw_text_after(proven, "perf,rseq"));
		return;
	}
	os->has_perf = may_try(forced, "perf") && prove_perf();
	os->has_rseq = rseq && prove_rseq(rseq);
	tell_children(os);
}

/* The sources of threads, counted. */
static void set_source(struct dw_tree_thread *t, uint32_t source, const uint32_t *word)
{
	t->os_word = word;
	t->os_source = source;
	__atomic_fetch_add(&dw_agent_region()->os_sources[source], 1, __ATOMIC_RELAXED);
}

/* Learn no more. */
static void give_up(struct dw_tree_thread *t)
{
	if (t->os_source == DWELL_OS_NONE)
		return;
	__atomic_fetch_sub(&dw_agent_region()->os_sources[t->os_source], 1, __ATOMIC_RELAXED);
	set_source(t, DWELL_OS_NONE, &never_changes);
}

static uint64_t *take_rseq(void)
{
	uint64_t *pointer = dw_os_rseq_find(dw_os_choice.rseq_offset);

	return pointer && !dw_os_rseq_is_foreign(pointer) ? pointer : NULL;
}

static void take_source(struct dw_tree_thread *t, struct dw_os_state *s)
{
	bool may_call = dw_agent_may_call();

	if (may_call && dw_os_choice.has_perf)
		s->page = open_perf();
	if (may_call && !s->page && dw_os_choice.has_rseq && !dw_os_choice.is_foreign)
		s->rseq = take_rseq();
	if (s->page)
		set_source(t, DWELL_OS_PERF, dw_os_perf_word(s->page));
	else if (s->rseq)
		set_source(t, DWELL_OS_RSEQ, (const uint32_t *)s->rseq);
	else
		set_source(t, DWELL_OS_NONE, &never_changes);
}

static uint32_t word_of(const struct dw_tree_thread *t)
{
	return __atomic_load_n(t->os_word, __ATOMIC_RELAXED);
}

/* Watch for switches from now on: what *os_word is until there is one. */
static uint32_t watch(struct dw_tree_thread *t, struct dw_os_state *s)
{
	return t->os_source == DWELL_OS_RSEQ ? dw_os_rseq_arm(s->rseq) : word_of(t);
}

/*
 * Arm the source and read the clocks, with no switch in between. Where reading them is one, as
 * under strace, that is not looked for: what it took is found at the next look.
 */
static void arm(struct dw_tree_thread *t, struct dw_os_state *s)
{
	int left = TRIES;

	do {
		s->word = watch(t, s);
		dw_os_clocks_read(&s->clocks);
	} while (word_of(t) != s->word && --left);
	if (!left)
		s->word = watch(t, s);
	t->os_seen = s->word;
	t->cpu_ns = s->clocks.cpu_ns;
	t->cpu_at = s->clocks.ticks;
}

void dw_os_thread_start(struct dw_tree_thread *t, struct dw_os_state *s)
{
	memset(s, 0, sizeof(*s));
	take_source(t, s);
	if (dw_agent_may_call()) {
		arm(t, s);
		t->start_cpu_ns = s->clocks.cpu_ns;
		s->waits = dw_os_waits_read();
	}
	t->os_seen = s->word;
}

void dw_os_thread_end(struct dw_tree_thread *t, struct dw_os_state *s)
{
	t->os_word = &never_changes;
	dw_agent_addresses_free(s->page, PERF_BYTES);
	s->page = NULL;
	s->rseq = NULL;
}

/* Whether the source may not be used any more. */
static bool is_lost(const struct dw_tree_thread *t, const struct dw_os_state *s)
{
	struct dw_os_choice *os = &dw_os_choice;

	if (t->os_source == DWELL_OS_RSEQ && dw_os_rseq_is_foreign(s->rseq))
		os->is_foreign = true;
	return !dw_agent_may_call() || (t->os_source == DWELL_OS_RSEQ && os->is_foreign);
}

/* How often the thread was switched since @word and @from, by its source and the clocks. */
static uint32_t switches(const struct dw_tree_thread *t, const struct dw_os_state *s, uint32_t word,
			 const struct dw_os_clocks *from)
{
	int64_t off_ns = (int64_t)(s->clocks.mono_ns - from->mono_ns) -
			 (int64_t)(s->clocks.cpu_ns - from->cpu_ns);

	if (t->os_source == DWELL_OS_PERF)
		return (s->word - word + WRITES_A_SWITCH - 1) / WRITES_A_SWITCH;
	/* To a restartable sequence a signal looks like a switch, but takes no time. */
	return t->os_source == DWELL_OS_RSEQ && off_ns > LEAST_SWITCH_NS;
}

void dw_os_look(struct dw_tree_thread *t, struct dw_os_state *s, struct dw_os_look *ret)
{
	struct dw_os_clocks before = s->clocks;
	uint32_t word;

	memset(ret, 0, sizeof(*ret));
	if (is_lost(t, s)) {
		give_up(t);
		s->word = word_of(t);
	}
	word = s->word;
	if (!dw_agent_may_call() || (t->os_source != DWELL_OS_NONE && word_of(t) == word)) {
		t->os_seen = word;
		ret->now = dw_ticks();
		return;
	}
	arm(t, s);
	ret->now = s->clocks.ticks;
	ret->blocked = dw_os_blocked(&before, &s->clocks);
	ret->on_cpu = ret->now - before.ticks - ret->blocked;
	ret->switches = switches(t, s, word, &before);
}

enum {
	LONG_CALL_TICKS = 1 << 15, /* some 10 us */
	LATE_TICKS = 1 << 15,
	SHORT_WAIT_TICKS = 1 << 17, /* some 50 us */
};

static uint64_t at_most(uint64_t value, uint64_t limit)
{
	return value < limit ? value : limit;
}

/* Look, where it may say anything. */
static void look(struct dw_tree_thread *t, struct dw_os_state *s, uint64_t now,
		 struct dw_os_look *ret)
{
	bool is_long = t->state == DWELL_THREAD_IN_CALL && now - t->last > LONG_CALL_TICKS;

	if (t->os_source != DWELL_OS_NONE || is_long) {
		dw_os_look(t, s, ret);
		return;
	}
	memset(ret, 0, sizeof(*ret));
	t->os_seen = s->word;
}

/* By the classic rule: the pieces since the last probe are one interval. */
static void close_probe(struct dw_os_state *s, enum dw_os_event event, struct dw_interval *ret)
{
	bool has_event = ret->os || ret->switches || event == DWELL_EVENT_CALL;

	s->probe_ticks += ret->elapsed;
	s->has_event |= has_event;
	if (event != DWELL_EVENT_PROBE)
		return;
	ret->os_probe = s->has_event ? s->probe_ticks : 0;
	s->probe_ticks = 0;
	s->has_event = false;
}

/*
 * What of @blocked ticks in a system call was not waiting for what it was called for: all, if the
 * thread has never left the processor of itself since it was asked last. So it is a wait where it
 * may be one: short ones are not worth a system call. What it takes to get a processor after a wait
 * is part of that.
 */
static uint64_t ready_in_call(struct dw_os_state *s, uint64_t blocked)
{
	uint32_t before = s->waits;

	if (blocked < SHORT_WAIT_TICKS || !dw_agent_may_call())
		return 0;
	s->waits = dw_os_waits_read();
	return s->waits == before ? blocked : 0;
}

uint64_t dw_os_close(struct dw_tree_thread *t, struct dw_os_state *s, uint64_t now,
		     enum dw_os_event event, struct dw_interval *ret)
{
	bool is_call = t->state == DWELL_THREAD_IN_CALL;
	struct dw_os_look l;

	memset(ret, 0, sizeof(*ret));
	now = now > t->last ? now : t->last;
	look(t, s, now, &l);
	if (l.now > now + LATE_TICKS) /* switched after @now */
		now = l.now;
	ret->elapsed = now - t->last;
	ret->os_blocked = at_most(l.blocked, ret->elapsed);
	ret->os_ready = is_call ? ready_in_call(s, ret->os_blocked) : ret->os_blocked;
	ret->os = is_call ? ret->elapsed : ret->os_blocked;
	ret->os_cpu = ret->os - ret->os_blocked;
	ret->os_kind = is_call ? s->call == DWELL_CALL_IO ? DWELL_OS_IO : DWELL_OS_BLOCKING
			       : DWELL_OS_SWITCHED;
	ret->switches = l.switches;
	if (is_call) {
		ret->io_calls = s->call == DWELL_CALL_IO;
		ret->blocking_calls = s->call == DWELL_CALL_BLOCKING;
		s->call = DWELL_CALL_NOT_COUNTED;
		t->state = DWELL_THREAD_RUNNING;
	}
	close_probe(s, event, ret);
	if (event == DWELL_EVENT_CALL)
		t->os_seen = ~s->word;
	return now;
}

/* Whether the thread may have been switched since the last look; without a source, when @taken
 * ticks are long. */
static bool may_be_switched(const struct dw_tree_thread *t, const struct dw_os_state *s,
			    uint64_t taken)
{
	if (t->os_source == DWELL_OS_NONE)
		return taken > LATE_TICKS;
	return __atomic_load_n(t->os_word, __ATOMIC_RELAXED) != s->word;
}

bool dw_os_close_slow(struct dw_tree_thread *t, struct dw_os_state *s, uint64_t begin,
		      uint64_t *now, struct dw_interval *ret)
{
	struct dw_os_look l;

	if (!may_be_switched(t, s, *now - begin))
		return false;
	memset(ret, 0, sizeof(*ret));
	dw_os_look(t, s, &l);
	*now = l.now > *now ? l.now : *now;
	ret->elapsed = at_most(l.blocked, *now - begin);
	ret->os = ret->os_blocked = ret->os_ready = ret->elapsed;
	ret->os_kind = DWELL_OS_SWITCHED;
	ret->switches = l.switches;
	close_probe(s, s->has_event ? DWELL_EVENT_CALL : DWELL_EVENT_PROBE, ret);
	if (s->has_event)
		t->os_seen = ~s->word;
	return true;
}

void dw_os_call_begin(struct dw_tree_thread *t, struct dw_os_state *s, enum dw_call_kind kind)
{
	s->call = (uint8_t)kind;
	t->call = kind;
	t->state = DWELL_THREAD_IN_CALL;
	t->os_seen = ~s->word;
}

enum { NUMBERS = 512 };

#define KIND(name, kind) [SYS_##name] = DWELL_CALL_##kind,

static const uint8_t kinds[NUMBERS] = {DWELL_SYSTEM_CALLS(KIND)};

static bool is_futex_wait(uint64_t operation)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return true;
	default:
		return false;
	}
}

static bool is_fcntl_wait(uint64_t command)
{
	return (int)command == F_SETLKW || (int)command == F_OFD_SETLKW;
}

enum dw_call_kind dw_os_call_kind(uint64_t number, uint64_t argument)
{
	uint8_t kind = number < NUMBERS ? kinds[number] : DWELL_CALL_NOT_COUNTED;

	if (kind == DWELL_CALL_BLOCKING_FUTEX)
		kind = is_futex_wait((uint32_t)argument) ? DWELL_CALL_BLOCKING
							 : DWELL_CALL_NOT_COUNTED;
	if (kind == DWELL_CALL_BLOCKING_FCNTL)
		kind = is_fcntl_wait(argument) ? DWELL_CALL_BLOCKING : DWELL_CALL_NOT_COUNTED;
	return (enum dw_call_kind)kind;
}

enum {
	FOREIGN_BYTES = 1 << 16, /* of a stack around where another task was seen on it */
	FOREIGN_EVENTS = 1024,	 /* there, before it is looked again who it is */
	FAR_BYTES = 1 << 20,	 /* from all that the thread has open */
};

/* Leak checkers clone a task with a stack of its own that does millions of calls: it is known by
 * that. A child of vfork() runs on its parent's. */
static void remember(struct dw_thread *t, uint64_t sp)
{
	uint64_t own = ((const struct dw_shadow *)t->line->top)->record;

	t->os.foreign_sp = sp;
	t->os.foreign_left = sp - own + FAR_BYTES < 2 * FAR_BYTES ? 0 : FOREIGN_EVENTS;
}

bool dw_system_call_is_other(struct dw_thread *t, uint64_t sp)
{
	if (!t->os.is_shared || !dw_agent_may_call())
		return false;
	if (t->os.foreign_left && sp - t->os.foreign_sp + FOREIGN_BYTES < 2 * FOREIGN_BYTES) {
		t->os.foreign_left--;
		return true;
	}
	t->os.is_shared = dw_syscall(SYS_gettid) != t->line->tid;
	if (t->os.is_shared)
		remember(t, sp);
	return t->os.is_shared;
}

static bool may_share(uint64_t number)
{
	return number == SYS_vfork || number == SYS_clone || number == SYS_clone3;
}

void dw_system_call_share(struct dw_thread *t)
{
	t->os.is_shared = true;
	t->line->os_seen = ~t->os.word;
}

struct dw_thread *dw_system_call_thread(uint64_t sp, uint64_t number, uint64_t second,
					enum dw_call_kind *ret_kind)
{
	struct dw_thread *t = dw_thread_known();

	*ret_kind = dw_os_call_kind(number, second);
	if (!t)
		return NULL;
	if (*ret_kind == DWELL_CALL_NOT_COUNTED) {
		if (may_share(number))
			dw_system_call_share(t);
		return NULL;
	}
	return dw_system_call_is_other(t, sp) ? NULL : t;
}

bool dw_system_call_blinds(uint64_t number, uint64_t first, uint64_t second)
{
	if (number == SYS_prctl)
		return (first == PR_SET_SECCOMP && second == SECCOMP_MODE_STRICT) ||
		       (first == PR_SET_TSC && second == PR_TSC_SIGSEGV);
	return number == SYS_seccomp && first == SECCOMP_SET_MODE_STRICT;
}
