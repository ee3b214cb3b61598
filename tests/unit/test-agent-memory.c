/* The agent's own memory (src/agent/core/memory.c): pieces are apart, zeroed, and used again. */
#include "agent/core/memory.h"

#include "agent/core/agent.h"
#include "check.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

const struct dw_agent_part dw_agent_part;

enum { THREADS = 4, PIECES = 64, ROUNDS = 3000, PAGE = 4096, BYTES_MAX = 40 * PAGE };

struct piece {
	uint8_t *at;
	size_t bytes;
};

struct user {
	pthread_t thread;
	uint8_t mark;
	int bad;
	struct piece pieces[PIECES];
};

static bool is_all(const uint8_t *at, size_t bytes, uint8_t value)
{
	for (size_t i = 0; i < bytes; i += 512)
		if (at[i] != value)
			return false;
	return at[bytes - 1] == value;
}

/* A piece that comes, goes or grows; all are full of their user's mark. */
static void step(struct user *u, unsigned int random)
{
	struct piece *p = &u->pieces[random % PIECES];
	size_t bytes = (random >> 8) % BYTES_MAX + 1;
	uint8_t *more;

	if (p->at && !is_all(p->at, p->bytes, u->mark))
		u->bad++;
	if (p->at && random >> 31) {
		dw_agent_memory_free(p->at, p->bytes);
		*p = (struct piece){NULL, 0};
		return;
	}
	bytes += p->bytes;
	if (bytes > 4 * BYTES_MAX)
		return;
	more = dw_agent_memory_more(p->at, p->bytes, bytes);
	if (!more || !is_all(more + p->bytes, bytes - p->bytes, 0) ||
	    (p->bytes && !is_all(more, p->bytes, u->mark)))
		u->bad++;
	if (!more)
		return;
	memset(more, u->mark, bytes);
	*p = (struct piece){more, bytes};
}

static void *use(void *ctx)
{
	struct user *u = ctx;
	unsigned int random = u->mark * 2654435761u;

	for (int i = 0; i < ROUNDS; i++) {
		random = random * 1664525u + 1013904223u;
		step(u, random ^ random >> 16);
	}
	return NULL;
}

TEST(pieces_are_apart)
{
	static struct user users[THREADS];

	for (int i = 0; i < THREADS; i++) {
		users[i].mark = (uint8_t)(i + 1);
		CHECK(!pthread_create(&users[i].thread, NULL, use, &users[i]));
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(users[i].thread, NULL);
	for (int i = 0; i < THREADS; i++)
		CHECK_INT(users[i].bad, 0);
}

TEST(what_is_free_is_used_again)
{
	void *first = dw_agent_memory(3 * PAGE), *again;

	CHECK(first);
	dw_agent_memory_free(first, 3 * PAGE);
	again = dw_agent_memory(4 * PAGE);
	CHECK(again == first);
	dw_agent_memory_free(again, 4 * PAGE);
	for (int i = 0; i < 20000; i++) { /* 20 GB in all */
		void *at = dw_agent_memory(1 << 20);

		CHECK(at);
		dw_agent_memory_free(at, 1 << 20);
	}
}

/* Whether @holds in a child, which may change what the process has for good. */
static bool in_child(bool (*holds)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(!holds());
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

static uint8_t *before[3];

static bool is_mapped(void *at)
{
	uint8_t resident;

	return !mincore(at, PAGE, &resident);
}

/* As a program that finds the addresses of what it lacks free, and the agent beside it. */
static bool is_without(void)
{
	uint8_t *own, *more;

	for (int i = 0; i < 3; i++)
		if (is_mapped(before[i]) != (i == 1))
			return false;
	own = mmap(before[0], PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		   -1, 0);
	*own = 7;
	dw_agent_memory_free(before[0], PAGE);
	more = dw_agent_memory(PAGE);
	if (!more || more == own || *own != 7)
		return false;
	*more = 8;
	dw_agent_memory_free(more, PAGE);
	return dw_agent_memory(PAGE) == more && !*more;
}

static bool is_retired(void)
{
	for (int i = 0; i < 3; i++)
		before[i] = dw_agent_memory(PAGE);
	/* Another one's, perhaps, in a process that lacks it. */
	dw_memory_apart(before[1]);
	dw_memory_retire();
	*before[0] = *before[2] = 1;
	return in_child(is_without) && *before[0] == 1 && is_mapped(before[2]);
}

/* Before others map something into the range. */
TEST(children_lack_what_is_retired)
{
	CHECK(in_child(is_retired));
}

TEST(addresses_of_others_are_left_alone)
{
	void *at = dw_agent_addresses(PAGE), *other;

	CHECK(at && !munmap(at, PAGE));
	CHECK(dw_agent_addresses_take_back(at, PAGE));
	CHECK(!munmap(at, PAGE));
	other = mmap(at, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	CHECK(other == at && !dw_agent_addresses_take_back(at, PAGE));
}

static uint8_t *shared;

static bool writes_to_shared(void)
{
	*shared = 7;
	return true;
}

TEST(shared_with_children)
{
	shared = dw_agent_memory_shared(3 * PAGE);
	CHECK(shared && !shared[3 * PAGE - 1]);
	CHECK(in_child(writes_to_shared));
	CHECK_INT(*shared, 7);
	dw_agent_memory_free(shared, 3 * PAGE);
	shared = dw_agent_memory(3 * PAGE); /* its addresses again, or others */
	CHECK(shared && !*shared);
	CHECK(in_child(writes_to_shared));
	CHECK_INT(*shared, 0);
	dw_agent_memory_free(shared, 3 * PAGE);
}

static bool is_limited(void)
{
	void *at;

	dw_memory_limit(2 * PAGE);
	if (dw_agent_memory(3 * PAGE))
		return false;
	at = dw_agent_memory(2 * PAGE);
	if (!at || dw_agent_memory(1) || dw_agent_memory_more(at, 2 * PAGE, 3 * PAGE))
		return false;
	dw_agent_memory_free(at, 2 * PAGE);
	return dw_agent_memory(PAGE);
}

TEST(no_more_than_the_limit)
{
	CHECK(in_child(is_limited));
}

static bool is_given_back(void)
{
	int n = 0;

	dw_memory_give_back(2 << 20);
	if (!dw_agent_memory(1 << 20) || dw_agent_memory(64 << 20))
		return false;
	dw_memory_give_back(0);
	while (n < 1000 && dw_agent_memory(PAGE)) /* what was free before */
		n++;
	return n < 1000;
}

TEST(what_is_given_back_is_not_used)
{
	CHECK(in_child(is_given_back));
}

__attribute__((constructor)) static void reserve(void)
{
	dw_memory_start();
}

TEST_MAIN()
