/*
 * Contexts; see thread.h.
 *
 * A private structure of the runtime, so nothing about it is assumed that was not seen: the end of
 * an announced object must stand at one place only, before the memory's end, several times at the
 * same offset in the thread-local storage of the runtime's module (.NET 9, 10) or in its thread
 * (.NET 8); and the counters that follow must rise by what was announced. Where a limit between the
 * two stands before them (.NET 10) it is written then, and only while the end of the very object
 * stands beside it; where none does, the counters must go on to rise by what is announced. Where
 * this is not found the contexts are left alone, and the session says that objects may be missing.
 */
#include "agent/clr/thread.h"

#include "agent/clr/loader.h"
#include "agent/clr/runtime.h"
#include "agent/clr/tables.h"
#include "agent/core/agent.h"

enum {
	HITS = 8,	   /* objects that must show the same place */
	PROOFS = 8,	   /* pairs of objects between which the counter rises by the second */
	TRIES = 20000,	   /* objects after which nothing is searched for any more */
	TLS_MAX = 1 << 16, /* bytes that are searched */
	THREAD_WORDS = 64, /* of the runtime's thread that are searched: it is larger */
	CONTEXT_MAX = 1 << 20,
};

/* Words of a context. The first is there in some runtimes only. */
enum { COMBINED, NEXT, LIMIT, BYTES, BYTES_LARGE, WORDS };

/* What is found and when. */
enum { STATE_SEARCHED, STATE_FOUND, STATE_PROVEN, STATE_GIVEN_UP };

struct tls_place {
	uint64_t module, offset;
};

/* Where a thread has its context. */
struct place {
	uint32_t offset; /* in words, 0 = nowhere */
	bool is_in_thread, has_combined;
};

struct contexts {
	void *(*tls)(const struct tls_place *place); /* __tls_get_addr() */
	uint64_t module, words;
	/* Atomic, relaxed: threads may be late to know, or count one another's proofs twice. */
	uint32_t state, hits, proofs, tries;
	struct place place;
};

static struct contexts contexts;

void dw_context_start(void)
{
	struct dw_loader_module m;

	contexts.state = STATE_GIVEN_UP;
	contexts.tls = (void *(*)(const struct tls_place *))dw_loader_first("__tls_get_addr");
	if (!contexts.tls || !dw_loader_module_at(dw_runtime_address(), &m) || !m.tls_id)
		return;
	contexts.module = m.tls_id;
	contexts.words = (m.tls_bytes < TLS_MAX ? m.tls_bytes : TLS_MAX) / sizeof(uint64_t);
	contexts.state = STATE_SEARCHED;
}

/* What has this thread's context at some offset: its storage, or the runtime's thread. */
static uint64_t *words_of_thread(bool is_in_thread)
{
	const struct tls_place place = {contexts.module, 0};

	return is_in_thread ? dw_runtime_thread() : contexts.tls(&place);
}

/* Whether @words may be a context whose last object ends at @end. */
static bool may_be(const uint64_t *words, uint64_t end)
{
	return words[NEXT] == end && words[LIMIT] > end && words[LIMIT] - end < CONTEXT_MAX;
}

/* The only place in the @n words at @words that may be a context; 0 = none or several. */
static uint32_t find(const uint64_t *words, uint64_t n, uint64_t end)
{
	uint32_t found = 0;

	for (uint32_t i = 1; words && i + WORDS <= n; i++) {
		if (!may_be(words + i, end))
			continue;
		if (found)
			return 0;
		found = i;
	}
	return found;
}

/* The context of this thread, whose last object ends at @end. */
static struct place find_place(uint64_t end)
{
	const uint64_t *words = words_of_thread(false);
	struct place p = {.offset = find(words, contexts.words, end)};

	if (!p.offset) {
		words = words_of_thread(true);
		p.is_in_thread = true;
		p.offset = find(words, THREAD_WORDS, end);
	}
	words += p.offset;
	p.has_combined = p.offset && words[COMBINED] >= end && words[COMBINED] <= words[LIMIT];
	return p;
}

static bool is_same(const struct place *a, const struct place *b)
{
	return a->offset == b->offset && a->is_in_thread == b->is_in_thread &&
	       a->has_combined == b->has_combined;
}

static void search(uint64_t end)
{
	struct place p = find_place(end);

	if (++contexts.tries > TRIES)
		contexts.state = STATE_GIVEN_UP;
	if (!p.offset)
		return;
	contexts.hits = is_same(&p, &contexts.place) ? contexts.hits + 1 : 1;
	contexts.place = p;
	if (contexts.hits >= HITS)
		contexts.state = STATE_FOUND;
}

/* What the runtime has counted of the thread. */
static uint64_t counted(const uint64_t *context)
{
	return context[BYTES] + context[BYTES_LARGE] - (context[LIMIT] - context[NEXT]);
}

/* How much the counter has grown since the object before, 0 = that is not known. */
static uint64_t growth(struct dw_clr_self *t)
{
	uint64_t now = counted(t->context), before = t->context_counted;

	t->context_counted = now;
	return before ? now - before : 0;
}

/* Compare the counter with what was announced since the object before. */
static void prove(uint64_t increment, uint64_t bytes)
{
	if (increment == bytes)
		contexts.proofs++;
	else if (increment && (increment < bytes || increment > (uint64_t)1 << 40))
		contexts.state = STATE_GIVEN_UP;
	if (++contexts.tries > TRIES)
		contexts.state = STATE_GIVEN_UP;
	if (contexts.proofs < PROOFS || contexts.state != STATE_FOUND)
		return;
	contexts.state = STATE_PROVEN;
	dw_tables_head()->facts[DWELL_CLR_ANNOUNCES_ALL] = 1;
}

/* Have the next object announced, too, where that can be done; else see whether all are. */
static DWELL_HOT void use(struct dw_clr_self *t, uint64_t end, uint64_t bytes)
{
	uint64_t increment = contexts.place.has_combined ? 0 : growth(t);

	t->shown->counted_bytes = counted(t->context);
	if (contexts.place.has_combined && t->context[NEXT] == end)
		__atomic_store_n(&t->context[COMBINED], end, __ATOMIC_RELAXED);
	if (increment > bytes)
		dw_tables_head()->facts[DWELL_CLR_ANNOUNCES_ALL] = 0;
}

DWELL_HOT void dw_context_announced(struct dw_clr_self *t, uint64_t object, uint64_t bytes)
{
	uint32_t state = __atomic_load_n(&contexts.state, __ATOMIC_RELAXED);

	if (state == STATE_GIVEN_UP)
		return;
	if (state == STATE_SEARCHED) {
		search(object + bytes);
		return;
	}
	if (!t->context)
		t->context = words_of_thread(contexts.place.is_in_thread) + contexts.place.offset;
	if (state == STATE_PROVEN)
		use(t, object + bytes, bytes);
	else if (t->context[NEXT] == object + bytes)
		prove(growth(t), bytes);
}
