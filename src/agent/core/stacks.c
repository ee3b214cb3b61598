/*
 * Shadow stacks; see stacks.h.
 */
#include "agent/core/stacks.h"

#include "agent/core/syscall-x86-64.h"

enum { ENTRIES = 1 << 20, BOTTOM_ABOVE = 8192 };

static struct dw_shadow *top_of(const struct dw_stacks *s)
{
	return s->thread->top;
}

bool dw_stacks_start(struct dw_stacks *s, struct dw_tree_thread *t, struct dw_tree_node *root,
		     uint64_t record)
{
	struct dw_shadow *entries =
		dw_sys_mmap(NULL, ENTRIES * sizeof(*entries), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (!dw_is_mapped(entries))
		return false;
	entries[0] = (struct dw_shadow){root, (record + BOTTOM_ABOVE) | 1};
	s->thread = t;
	s->root = root;
	t->top = entries;
	t->limit = entries + ENTRIES - 1;
	t->current = root;
	return true;
}

enum dw_fit dw_stacks_fit(struct dw_stacks *s, enum dw_stack_event event, uint64_t record)
{
	struct dw_shadow *top = top_of(s);
	bool is_push = event == DWELL_AT_ENTER || event == DWELL_AT_OUT;

	while (top->node != s->root && (is_push ? top->record <= record : top->record < record))
		top--;
	if (top->node == s->root && top->record <= record)
		top->record = (record + BOTTOM_ABOVE) | 1;
	s->thread->top = top;
	s->thread->current = top->node;
	return is_push || top->record == record ? DWELL_FIT_EVENT : DWELL_FIT_NONE;
}

bool dw_stacks_push(struct dw_stacks *s, struct dw_tree_node *node, uint64_t record, bool switches)
{
	struct dw_shadow *top = top_of(s);

	(void)switches;
	if (top + 1 >= (struct dw_shadow *)s->thread->limit)
		return false;
	top[1] = (struct dw_shadow){node, record};
	s->thread->top = top + 1;
	s->thread->current = node;
	return true;
}

void dw_stacks_pop(struct dw_stacks *s)
{
	struct dw_shadow *top = top_of(s) - 1;

	s->thread->top = top;
	s->thread->current = top->node;
}
