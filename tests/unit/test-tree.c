/* Trees of calls: what folding keeps, what trampolines find, and what stands in the region's file.
 * The program is random calls among a few functions; by hand every path is walked in full. */
#include "agent/calls/threads.h"
#include "agent/core/agent-internal.h"
#include "agent/core/memory.h"
#include "check.h"
#include "scratch.h"

#include <fcntl.h>

enum {
	FUNCTIONS = 8, /* by key, from 1 on */
	SITES = 3,     /* of each pair of functions */
	DEPTH_MAX = 40,
	STEPS = 300000,
	ARENA_BYTES = 64 << 20,
	FIB_DEPTH = 22,
};

static void nothing(void)
{
}

const struct dw_agent_part dw_agent_part = {.forked = nothing, .end = nothing};

/* Values of one callee, one edge, one call site. */
struct sums {
	uint64_t functions[FUNCTIONS + 1], edges[FUNCTIONS + 1][FUNCTIONS + 1];
	uint64_t sites[FUNCTIONS + 1][FUNCTIONS + 1][SITES];
	uint64_t calls[FUNCTIONS + 1][FUNCTIONS + 1][SITES];
	uint64_t exclusive[FUNCTIONS + 1];
};

struct program {
	struct dw_thread t;
	struct dw_tree_node *nodes[DEPTH_MAX + 1]; /* [0] is the root */
	uint32_t keys[DEPTH_MAX + 1], sites[DEPTH_MAX + 1], n;
	uint32_t random;
	struct sums by_hand;
};

static uint32_t at_random(struct program *p, uint32_t n)
{
	p->random = p->random * 1664525 + 1013904223;
	return (p->random >> 8) % n;
}

static bool start(struct program *p)
{
	uint32_t line;

	if (!dw_agent.region->arena_base && !dw_arena_start(ARENA_BYTES))
		return false;
	line = dw_arena_take(&p->t.tree.lines, DWELL_THREAD_LINES, DWELL_LINE_OTHER);
	if (!line)
		return false;
	p->t.line = dw_arena_line(dw_arena_base(), line);
	p->nodes[0] = dw_tree_start(&p->t.tree, p->t.line);
	p->keys[0] = 0;
	return p->nodes[0];
}

__attribute__((constructor)) static void start_region(void)
{
	if (!getcwd(dw_agent.folder, sizeof dw_agent.folder) ||
	    ftruncate(creat(DWELL_REGION_ALIVE, 0600), 4096) || !dw_region_start())
		abort();
}

static bool call(struct program *p, uint32_t key, uint32_t site)
{
	struct dw_tree_node *parent = p->nodes[p->n], *node;

	node = dw_tree_child(&p->t.tree, parent, key, site);
	if (!node)
		return false;
	dw_tree_remember(&p->t.tree, p->t.line, parent, node);
	node->calls++;
	p->by_hand.calls[p->keys[p->n]][key][site % SITES]++;
	p->n++;
	p->nodes[p->n] = node;
	p->keys[p->n] = key;
	p->sites[p->n] = site;
	return true;
}

/* Let @time pass: all that is on the path gets it once. */
static void spend(struct program *p, uint64_t time)
{
	bool function[FUNCTIONS + 1] = {0}, edge[FUNCTIONS + 1][FUNCTIONS + 1] = {0};
	bool site[FUNCTIONS + 1][FUNCTIONS + 1][SITES] = {0};

	p->nodes[p->n]->elapsed += time;
	p->by_hand.exclusive[p->keys[p->n]] += time;
	for (uint32_t i = 1; i <= p->n; i++) {
		uint32_t caller = p->keys[i - 1], key = p->keys[i], s = p->sites[i] % SITES;

		p->by_hand.functions[key] += function[key] ? 0 : time;
		p->by_hand.edges[caller][key] += edge[caller][key] ? 0 : time;
		p->by_hand.sites[caller][key][s] += site[caller][key][s] ? 0 : time;
		function[key] = edge[caller][key] = site[caller][key][s] = true;
	}
}

/* The same sums by what the tree says, read from the region's file. */
struct reader {
	const struct dw_tree_node *lines;
	uint32_t n;
	struct sums sums;
	uint32_t nodes;
};

static uint32_t caller_of(const struct reader *r, const struct dw_tree_node *n)
{
	uint64_t key = r->lines[n->parent].key;

	return key == DWELL_KEY_ROOT ? 0 : (uint32_t)key;
}

/* Give the time of @n to all on its path. */
static void add_path(struct reader *r, const struct dw_tree_node *n)
{
	bool function[FUNCTIONS + 1] = {0}, edge[FUNCTIONS + 1][FUNCTIONS + 1] = {0};
	bool site[FUNCTIONS + 1][FUNCTIONS + 1][SITES] = {0};
	uint64_t time = n->elapsed;

	for (; n->key != DWELL_KEY_ROOT; n = &r->lines[n->parent]) {
		uint32_t caller = caller_of(r, n), key = (uint32_t)n->key, s = n->site % SITES;

		r->sums.functions[key] += function[key] ? 0 : time;
		r->sums.edges[caller][key] += edge[caller][key] ? 0 : time;
		r->sums.sites[caller][key][s] += site[caller][key][s] ? 0 : time;
		function[key] = edge[caller][key] = site[caller][key][s] = true;
	}
}

static void *read_arena(void)
{
	const struct dw_region_header *h = dw_agent.region;
	uint8_t *lines = malloc((size_t)h->arena_lines * DWELL_LINE_BYTES + (64 << 20));
	int fd = open(dw_agent.path, O_RDONLY);
	size_t n = 0;

	for (uint32_t i = 0; i < h->chunk_n && lines; i++)
		if (h->chunks[i].kind == DWELL_REGION_CHUNK_ARENA)
			n += (size_t)pread(fd, lines + n, h->chunks[i].bytes,
					   (off_t)h->chunks[i].at);
	close(fd);
	return lines;
}

static void read_tree(struct reader *r, uint32_t root)
{
	bool *is_ours;

	r->lines = read_arena();
	r->n = dw_agent.region->arena_lines;
	is_ours = calloc(r->n, 1);
	is_ours[root] = true;
	for (uint32_t i = 1; i < r->n; i++) {
		const struct dw_tree_node *n = &r->lines[i];

		if (!n->parent || n->parent >= i || !is_ours[n->parent])
			continue;
		is_ours[i] = true;
		r->nodes++;
		r->sums.calls[caller_of(r, n)][n->key][n->site % SITES] += n->calls;
		r->sums.exclusive[n->key] += n->elapsed;
		add_path(r, n);
	}
	r->sums.exclusive[0] = r->lines[root].elapsed;
	free(is_ours);
	free((void *)r->lines);
}

/* Which functions a function calls: few enough that recursion is of all kinds. */
static uint32_t callee_of(struct program *p, uint32_t caller)
{
	return 1 + (caller * 3 + at_random(p, 4)) % FUNCTIONS;
}

TEST(folded_sums_are_exact)
{
	static struct program p = {.random = 5};
	static struct reader r;

	CHECK(start(&p));
	for (int i = 0; i < STEPS && !*check_failed; i++) {
		uint32_t key = callee_of(&p, p.keys[p.n]);

		if (p.n && (p.n == DEPTH_MAX || at_random(&p, 100) < 48))
			p.n--;
		else
			CHECK(call(&p, key, 16 * key + at_random(&p, SITES)));
		spend(&p, at_random(&p, 100));
	}
	read_tree(&r, p.t.line->root);
	CHECK(!memcmp(&r.sums, &p.by_hand, sizeof r.sums));
	CHECK_INT(r.nodes, p.t.tree.nodes);
}

/* Calls itself from two places, as often as there are paths. */
static void fib(struct program *p, uint32_t n, uint32_t site)
{
	if (!call(p, 1, site))
		return;
	spend(p, 1);
	if (n > 1) {
		fib(p, n - 1, 1);
		fib(p, n - 2, 2);
	}
	p->n--;
}

TEST(a_node_for_each_path_would_be_one_for_each_call)
{
	static struct program p;
	static struct reader r;

	CHECK(start(&p));
	fib(&p, FIB_DEPTH, 0);
	read_tree(&r, p.t.line->root);
	CHECK(!memcmp(&r.sums, &p.by_hand, sizeof r.sums));
	CHECK(r.nodes < 20);
	CHECK_INT(r.sums.exclusive[1], p.by_hand.functions[1]);
}

/* Whether the trampolines would find @child below @parent, by their own rules. */
static bool trampolines_find(const struct program *p, const struct dw_tree_node *parent,
			     const struct dw_tree_node *child)
{
	const struct dw_tree_thread *t = p->t.line;
	uint32_t line = dw_arena_index(t->arena, child);
	uint32_t check = (uint32_t)((uint64_t)parent >> 6) * 0x85ebca6bu +
			 (uint32_t)child->key * 0x9e3779b1u + child->site;
	const struct dw_tree_quick *q;

	for (int i = 0; i < DWELL_TREE_WAYS; i++)
		if (parent->tags[i] == (uint16_t)(child->key * 0x9e3b + child->site)) {
			if (parent->children[i] == line)
				return true;
			break;
		}
	q = (const void *)((const char *)t->quick + ((check ^ check >> 15) & t->quick_mask));
	return (q[0].check == check && q[0].line == line) ||
	       (q[1].check == check && q[1].line == line);
}

TEST(trampolines_find_what_was_called)
{
	enum { CALLEES = 2000 };
	static struct program p;
	static struct dw_tree_node *callees[CALLEES];
	uint32_t found = 0;

	CHECK(start(&p));
	for (int round = 0; round < 3; round++)
		for (uint32_t i = 0; i < CALLEES; i++) {
			callees[i] = dw_tree_child(&p.t.tree, p.nodes[0], 1 + i, 5 * i);
			CHECK(callees[i]);
			if (!trampolines_find(&p, p.nodes[0], callees[i]))
				dw_tree_remember(&p.t.tree, p.t.line, p.nodes[0], callees[i]);
			CHECK(trampolines_find(&p, p.nodes[0], callees[i]));
		}
	CHECK_INT(p.t.tree.nodes, CALLEES);
	for (uint32_t i = 0; i < CALLEES; i++)
		found += trampolines_find(&p, p.nodes[0], callees[i]);
	CHECK(found > CALLEES * 9 / 10);
}

__attribute__((constructor)) static void reserve(void)
{
	dw_memory_start();
}

TEST_MAIN()
