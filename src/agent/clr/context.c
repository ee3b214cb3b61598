/*
 * Contexts; see context.h.
 *
 * A private structure of the runtime, so nothing about it is assumed that was not seen: in the
 * thread-local storage of its module the end of an announced object must stand at one place only,
 * between a limit before it and the memory's end behind it, several times at the same offset; and
 * the counters that follow must rise by what was announced. Only then is the limit written, and
 * only while the end of the very object stands beside it. Where this is not found the contexts are
 * left alone, and the session says that objects may be missing.
 */
#include "agent/clr/context.h"

#include "agent/clr/loader.h"
#include "agent/clr/runtime.h"
#include "agent/clr/tables.h"
#include "agent/core/agent.h"

enum {
	HITS = 8,	   /* objects that must show the same place */
	PROOFS = 8,	   /* pairs of objects between which the counter rises by the second */
	TRIES = 20000,	   /* objects after which nothing is searched for any more */
	TLS_MAX = 1 << 16, /* bytes that are searched */
	CONTEXT_MAX = 1 << 20,
};

/* Words of a context. */
enum { COMBINED, NEXT, LIMIT, BYTES, BYTES_LARGE, WORDS };

/* What is found and when. */
enum { STATE_SEARCHED, STATE_FOUND, STATE_PROVEN, STATE_GIVEN_UP };

struct tls_place {
	uint64_t module, offset;
};

struct contexts {
	void *(*tls)(const struct tls_place *place); /* __tls_get_addr() */
	uint64_t module, words;
	/* Atomic, relaxed: threads may be late to know, or count one another's proofs twice. */
	uint32_t state, offset, hits, proofs, tries;
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

/* The runtime's storage of this thread. */
static uint64_t *storage(void)
{
	const struct tls_place place = {contexts.module, 0};

	return contexts.tls(&place);
}

/* Whether @words may be a context whose last object ends at @end. */
static bool may_be(const uint64_t *words, uint64_t end)
{
	return words[NEXT] == end && words[LIMIT] >= end && words[LIMIT] - end < CONTEXT_MAX &&
	       words[COMBINED] >= end && words[COMBINED] <= words[LIMIT];
}

/* The only place in this thread's storage that may be a context; 0 = none or several. */
static uint32_t find(uint64_t end)
{
	const uint64_t *words = storage();
	uint32_t found = 0;

	for (uint32_t i = 1; i + WORDS <= contexts.words; i++) {
		if (!may_be(words + i, end))
			continue;
		if (found)
			return 0;
		found = i;
	}
	return found;
}

static void search(uint64_t end)
{
	uint32_t offset = find(end);

	if (++contexts.tries > TRIES)
		contexts.state = STATE_GIVEN_UP;
	if (!offset)
		return;
	contexts.hits = offset == contexts.offset ? contexts.hits + 1 : 1;
	contexts.offset = offset;
	if (contexts.hits >= HITS)
		contexts.state = STATE_FOUND;
}

/* What the runtime has counted of the thread. */
static uint64_t counted(const uint64_t *context)
{
	return context[BYTES] + context[BYTES_LARGE] - (context[LIMIT] - context[NEXT]);
}

/* Compare the counter with what was announced since the object before. */
static void prove(struct dw_clr_self *t, uint64_t bytes)
{
	uint64_t now = counted(t->context), rise = now - t->context_counted;

	if (t->context_counted && rise == bytes)
		contexts.proofs++;
	else if (t->context_counted && (rise < bytes || rise > (uint64_t)1 << 40))
		contexts.state = STATE_GIVEN_UP;
	if (++contexts.tries > TRIES)
		contexts.state = STATE_GIVEN_UP;
	t->context_counted = now;
	if (contexts.proofs < PROOFS || contexts.state != STATE_FOUND)
		return;
	contexts.state = STATE_PROVEN;
	dw_tables_head()->facts[DWELL_CLR_ANNOUNCES_ALL] = 1;
}

void dw_context_announced(struct dw_clr_self *t, uint64_t object, uint64_t bytes)
{
	uint32_t state = __atomic_load_n(&contexts.state, __ATOMIC_RELAXED);

	if (state == STATE_GIVEN_UP)
		return;
	if (state == STATE_SEARCHED) {
		search(object + bytes);
		return;
	}
	if (!t->context)
		t->context = storage() + contexts.offset;
	if (state == STATE_FOUND) {
		if (t->context[NEXT] == object + bytes)
			prove(t, bytes);
		return;
	}
	t->shown->counted_bytes = counted(t->context);
	if (t->context[NEXT] == object + bytes)
		__atomic_store_n(&t->context[COMBINED], object + bytes, __ATOMIC_RELAXED);
}
