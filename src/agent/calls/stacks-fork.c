/*
 * What is open when a process forks: its child goes on with the stacks, but has an arena of its
 * own, whose nodes are others. So activations are kept by their keys and opened again.
 */
#include "agent/calls/stacks.h"

#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

enum { CALL_BYTES_MAX = 16 }; /* of a call, with what aligns it */

/* Whether the stack, in use from @sp on, holds the return address of @e. */
static bool is_open(const struct dw_shadow *e, uint64_t sp)
{
	const struct dw_tree_node *node = e->function;
	uint64_t record = e->record;
	bool is_out = record & DWELL_RECORD_CALL_OUT;
	uint32_t address;

	if (record < sp)
		return false;
	address = *(const uint32_t *)(record + (is_out ? 4 : 8));
	return is_out ? address - node->site <= CALL_BYTES_MAX : address == node->site;
}

/*
 * Where the top of the current stack was at the fork. The line that says so is the parent's, which
 * goes on with it; so what it says is believed of guards and handlers only. What lies above the top
 * is left of activations that have ended.
 */
static struct dw_shadow *find_top(const struct dw_stacks *s, uint64_t sp)
{
	struct dw_shadow *told = s->thread->top, *e = s->current->entries;
	uint64_t above = e->record;

	if (s->current->base != e)
		return told;
	for (e++; e < s->current->entries + s->current->room && e->node; e++) {
		if (dw_shadow_is_mark(e) ? e > told : e->record >= above || !is_open(e, sp))
			break;
		above = dw_shadow_is_mark(e) ? above : e->record;
	}
	return e - 1;
}

void dw_stacks_keep(struct dw_stacks *s, uint64_t sp)
{
	uint32_t n = 0;

	s->current->top = find_top(s, sp);
	for (uint32_t i = 0; i < s->n; i++)
		n += (uint32_t)(s->list[i]->top - s->list[i]->entries);
	s->kept = n ? dw_agent_memory(n * sizeof(*s->kept)) : NULL;
	s->kept_n = n;
	for (uint32_t i = 0, at = 0; i < s->n && s->kept; i++)
		for (struct dw_shadow *e = s->list[i]->entries + 1; e <= s->list[i]->top; e++)
			s->kept[at++] = (struct dw_kept){e->function->key,
							 e->node == e->function ? 0 : e->node->key,
							 e->function->site};
}

bool dw_stacks_reopen(struct dw_stacks *s, struct dw_tree_thread *t, struct dw_tree_node *root,
		      struct dw_tree_node *(*child)(void *ctx, struct dw_tree_node *parent,
						    const struct dw_kept *kept),
		      void *ctx)
{
	const struct dw_kept *kept = s->kept;
	struct dw_stack *current = s->current;
	struct dw_tree_node *node, *function;

	if (!kept)
		return false;
	s->thread = t;
	s->root = root;
	dw_stacks_at(s, dw_ticks());
	for (uint32_t i = 0; i < s->n; i++) {
		struct dw_stack *k = s->list[i];

		function = node = root;
		for (struct dw_shadow *e = k->entries; e <= k->top; e++) {
			if (dw_is_activation(k, e) && node) {
				function = node = child(ctx, node, kept);
				if (node && kept->line)
					node = child(ctx, node,
						     &(struct dw_kept){.key = kept->line});
			}
			kept += e > k->entries;
			*e = dw_shadow_of(node, e->record);
			e->function = function;
			if (!dw_is_activation(k, e))
				continue;
			e->start = DWELL_SHADOW_LEFT_OUT;
			e->spent = DWELL_SHADOW_SLOW;
		}
		k->left = s->now;
		k->os.n = 0;
		if (!node) /* no room for all: nothing is open then */
			k->top = k->base = k->entries;
	}
	s->current = NULL;
	dw_stacks_go_to(s, current);
	dw_agent_memory_free(s->kept, s->kept_n * sizeof(*s->kept));
	s->kept = NULL;
	return true;
}
