/*
 * The stacks of one process as a weighted tree: how many samples lie at or below each stack, and
 * its children.
 *
 * With allocations a stack also has amounts, and a "sample" says that there are some.
 *
 * Works on the profile's own stack table, by stack id; id 0, the empty stack, is the root. The
 * memory is reused from process to process, and only the stacks that a process has cost time.
 */
#pragma once

#include "analysis/blocked.h"
#include "model/stack.h"
#include "model/totals.h"

#include <stdint.h>

struct dw_trie_node {
	uint32_t inclusive; /* samples at or below; 0 = not in this process */
	uint32_t self;	    /* samples that ended exactly here */
	uint32_t child;	    /* first child, 0 = none */
	uint32_t next;	    /* next sibling, 0 = none */
};

struct dw_trie {
	const struct dw_stack *rows;
	uint32_t n;			/* stack ids are below this */
	struct dw_trie_node *nodes;	/* by stack id */
	struct dw_alloc_total *amounts; /* by stack id; NULL = samples are counted */
	struct dw_blocked *blocked;	/* by stack id; NULL = there are no waits */
	uint64_t *marks;		/* one bit per stack: in this process */
};

/* An empty tree over @stacks (borrowed). 0 or -ENOMEM, to be released in either case. */
int dw_trie_init(struct dw_trie *t, const struct dw_stacks *stacks);

/* Make the tree one of amounts. 0 or -ENOMEM. */
int dw_trie_weigh(struct dw_trie *t);

/* Count @amount at @stack. Unknown ids count as the empty stack. */
void dw_trie_add_amount(struct dw_trie *t, uint32_t stack, const struct dw_alloc_values *amount);

/* Of a linked tree of amounts: what @stack has of its own, what became of it included. */
struct dw_alloc_values dw_trie_own(const struct dw_trie *t, uint32_t stack);

/* Make the tree one of samples and waits. 0 or -ENOMEM. */
int dw_trie_wait(struct dw_trie *t);

/* Count a wait of @ns at @stack. Unknown ids count as the empty stack. */
void dw_trie_add_wait(struct dw_trie *t, uint32_t stack, uint64_t ns);

/* Count one sample of @stack. Unknown ids count as the empty stack. */
void dw_trie_add(struct dw_trie *t, uint32_t stack);

/* After the last sample: sum up from the leaves and make the lists of children. */
void dw_trie_link(struct dw_trie *t);

/* Forget all samples. */
void dw_trie_clear(struct dw_trie *t);

/* Free everything. */
void dw_trie_release(struct dw_trie *t);

/* The caller's side of @stack, 0 at the root. A parent that breaks the order of ids is none. */
static inline uint32_t dw_trie_parent(const struct dw_trie *t, uint32_t stack)
{
	uint32_t parent = t->rows[stack].parent;

	return parent < stack ? parent : 0;
}
