/*
 * The weighted tree of stacks; see trie.h.
 *
 * Parents have smaller ids than their children, so one pass over the ids from the largest down sums
 * up whole subtrees. The bitmap makes that pass cost a few microseconds for a process with few
 * stacks, even when the recording has millions.
 */
#include "analysis/trie.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int dw_trie_init(struct dw_trie *t, const struct dw_stacks *stacks)
{
	uint32_t n = dw_stacks_count(stacks) + 1;

	*t = (struct dw_trie){.rows = stacks->rows.v, .n = n};
	t->nodes = calloc(n, sizeof *t->nodes);
	t->marks = calloc(n / 64 + 1, sizeof *t->marks);
	return t->nodes && t->marks ? 0 : -ENOMEM;
}

static void mark(struct dw_trie *t, uint32_t stack)
{
	t->marks[stack / 64] |= 1ull << stack % 64;
}

void dw_trie_add(struct dw_trie *t, uint32_t stack)
{
	if (stack >= t->n)
		stack = 0;
	t->nodes[stack].self++;
	mark(t, stack);
}

int dw_trie_weigh(struct dw_trie *t)
{
	t->amounts = calloc(t->n, sizeof *t->amounts);
	return t->amounts ? 0 : -ENOMEM;
}

void dw_trie_add_amount(struct dw_trie *t, uint32_t stack, const struct dw_alloc_values *amount)
{
	if (stack >= t->n)
		stack = 0;
	t->nodes[stack].self = 1;
	dw_alloc_values_add(&t->amounts[stack].inclusive, amount);
	dw_alloc_count_add(&t->amounts[stack].exclusive, &amount->allocated);
	mark(t, stack);
}

int dw_trie_wait(struct dw_trie *t)
{
	t->blocked = calloc(t->n, sizeof *t->blocked);
	return t->blocked ? 0 : -ENOMEM;
}

void dw_trie_add_wait(struct dw_trie *t, uint32_t stack, uint64_t ns)
{
	struct dw_blocked *b = &t->blocked[stack < t->n ? stack : 0];

	b->ns.inclusive += ns;
	b->ns.exclusive += ns;
	b->waits.inclusive++;
	b->waits.exclusive++;
	dw_trie_add(t, stack);
}

struct dw_alloc_values dw_trie_own(const struct dw_trie *t, uint32_t stack)
{
	struct dw_alloc_values own = t->amounts[stack].inclusive;

	for (uint32_t c = t->nodes[stack].child; c; c = t->nodes[c].next)
		dw_alloc_values_subtract(&own, &t->amounts[c].inclusive);
	return own;
}

static void link_to_parent(struct dw_trie *t, uint32_t stack)
{
	uint32_t parent = dw_trie_parent(t, stack);
	struct dw_trie_node *node = &t->nodes[stack], *up = &t->nodes[parent];

	node->inclusive += node->self;
	up->inclusive += node->inclusive;
	if (t->amounts)
		dw_alloc_values_add(&t->amounts[parent].inclusive, &t->amounts[stack].inclusive);
	if (t->blocked)
		dw_blocked_add_inclusive(&t->blocked[parent], &t->blocked[stack]);
	node->next = up->child;
	up->child = stack;
	mark(t, parent);
}

void dw_trie_link(struct dw_trie *t)
{
	for (uint32_t word = t->n / 64 + 1; word--;) {
		uint64_t below = ~0ull, bits;

		/* Read again each time: a parent may be marked in the word at hand. */
		while ((bits = t->marks[word] & below)) {
			uint32_t bit = 63 - (uint32_t)__builtin_clzll(bits);

			below = (1ull << bit) - 1;
			if (word || bit)
				link_to_parent(t, word * 64 + bit);
		}
	}
	t->nodes[0].inclusive += t->nodes[0].self;
}

void dw_trie_clear(struct dw_trie *t)
{
	for (uint32_t word = 0; word <= t->n / 64; word++) {
		for (uint64_t bits = t->marks[word]; bits; bits &= bits - 1) {
			uint32_t stack = word * 64 + (uint32_t)__builtin_ctzll(bits);

			t->nodes[stack] = (struct dw_trie_node){0};
			if (t->amounts)
				t->amounts[stack] = (struct dw_alloc_total){0};
			if (t->blocked)
				t->blocked[stack] = (struct dw_blocked){0};
		}
		t->marks[word] = 0;
	}
}

void dw_trie_release(struct dw_trie *t)
{
	free(t->nodes);
	free(t->amounts);
	free(t->blocked);
	free(t->marks);
	*t = (struct dw_trie){0};
}
