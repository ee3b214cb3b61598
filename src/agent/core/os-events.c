/*
 * The sources of the process and of its threads; looking.
 *
 * A thread takes the first source that it can have: the process may have proven the perf page while
 * this thread finds no locked memory left for it. From none it learns nothing, but its clocks still
 * tell the blocked part of a system call. A source is left for good when the program installs a
 * system-call filter (the clocks are system calls) or has restartable sequences of its own.
 */
#include "agent/core/os-events.h"

#include "agent/core/agent-internal.h"
#include "agent/core/memory.h"
#include "agent/core/ticks-x86-64.h"

enum {
	TRIES = 4,	     /* a tracer may switch us at every system call */
	WRITES_A_SWITCH = 2, /* to the counter of a perf page */
	LEAST_SWITCH_NS = 1000,
	PERF_BYTES = 4096,
};

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
	struct dw_os_choice *os = &dw_agent.os;
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
	__atomic_fetch_add(&dw_agent.region->os_sources[source], 1, __ATOMIC_RELAXED);
}

/* Learn no more. */
static void give_up(struct dw_tree_thread *t)
{
	if (t->os_source == DWELL_OS_NONE)
		return;
	__atomic_fetch_sub(&dw_agent.region->os_sources[t->os_source], 1, __ATOMIC_RELAXED);
	set_source(t, DWELL_OS_NONE, &never_changes);
}

static uint64_t *take_rseq(void)
{
	uint64_t *pointer = dw_os_rseq_find(dw_agent.os.rseq_offset);

	return pointer && !dw_os_rseq_is_foreign(pointer) ? pointer : NULL;
}

static void take_source(struct dw_tree_thread *t, struct dw_os_state *s)
{
	bool may_call = dw_agent_may_call();

	if (may_call && dw_agent.os.has_perf)
		s->page = open_perf();
	if (may_call && !s->page && dw_agent.os.has_rseq && !dw_agent.os.is_foreign)
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
	struct dw_os_choice *os = &dw_agent.os;

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
