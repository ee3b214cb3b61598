/*
 * Trees; see tree.h. The path of the allocation before is kept: what both have in common is not
 * looked up again. Where memory is short, new stacks are kept without their recursion: a frame that
 * stands further out already takes the place of that one, if nothing in between is lost: all calls
 * on the way, the one to the frame too, happen further out. Where there is no room for that, or for
 * a group, objects are counted by parts of their stacks (overflow-table.h).
 */
#include "agent/clr/tree.h"

#include "agent/clr/tables.h"
#include "agent/core/agent.h"

#include <stdbool.h>

enum { NODES_AT_ONCE = 32, GROUPS_AT_ONCE = 16 };

static struct dw_clr_node *node_at(uint32_t row)
{
	return dw_table_row(DWELL_CLR_NODES, row);
}

static struct dw_clr_group *group_at(uint32_t row)
{
	return dw_table_row(DWELL_CLR_GROUPS, row);
}

/* A row of @table, of those from *@next to *@end or more. 0 = no room. */
static uint32_t take(enum dw_clr_table table, uint32_t *next, uint32_t *end, uint32_t n)
{
	if (*next == *end) {
		*next = dw_table_take(table, n);
		*end = *next ? *next + n : 0;
	}
	return *next ? (*next)++ : 0;
}

/* The child of @parent by @frame, made unless @is_short; 0 = no room. */
static uint32_t child_of(struct dw_clr_self *t, uint32_t parent, uint32_t frame, bool is_short)
{
	struct dw_clr_node *above = node_at(parent), *node;
	uint32_t row;

	for (row = above->child; row; row = node->sibling) {
		node = node_at(row);
		if (node->frame == frame)
			return row;
	}
	row = is_short ? 0 : take(DWELL_CLR_NODES, &t->nodes, &t->nodes_end, NODES_AT_ONCE);
	if (!row)
		return 0;
	node = node_at(row);
	node->parent = parent;
	node->sibling = above->child;
	__atomic_store_n(&node->frame, frame, __ATOMIC_RELEASE);
	above->child = row;
	return row;
}

/* The node of the stack without its recursion, 0 = no room. */
static uint32_t folded_node(struct dw_clr_self *t)
{
	uint32_t row = t->root, n = t->path.n;

	for (uint32_t k = 0; k < n; k++)
		t->folded[k] = t->path.frames[k];
	n = dw_fold(t->folded, n);
	for (uint32_t k = 0; k < n && row; k++)
		row = child_of(t, row, t->folded[k], false);
	t->is_tree_full = !row;
	if (row)
		dw_tables_count(DWELL_CLR_FOLDED, 1);
	return row;
}

/* Let t->path be the stack in t->frames. */
static void take_path(struct dw_clr_self *t)
{
	struct dw_clr_path *path = &t->path;
	uint32_t n = t->frames_n + t->shared, k = t->shared;

	while (k < n && k < path->n && path->frames[k] == t->frames[n - 1 - k])
		k++;
	path->nodes_n = k < path->nodes_n ? k : path->nodes_n;
	for (; k < n; k++)
		path->frames[k] = t->frames[n - 1 - k];
	path->n = n;
}

DWELL_HOT uint32_t dw_clr_tree_node(struct dw_clr_self *t)
{
	struct dw_clr_path *path = &t->path;
	bool is_short = dw_tables_are_short();
	uint32_t row;

	take_path(t);
	row = path->nodes_n ? path->nodes[path->nodes_n - 1] : t->root;
	while (path->nodes_n < path->n) {
		row = child_of(t, row, path->frames[path->nodes_n], is_short);
		if (!row)
			break;
		path->nodes[path->nodes_n++] = row;
	}
	return row || t->is_tree_full ? row : folded_node(t);
}

uint32_t dw_clr_tree_last_node(uint32_t parent, uint32_t frame)
{
	uint32_t row = dw_table_take_last(DWELL_CLR_NODES, 1);

	if (!row)
		return 0;
	node_at(row)->parent = parent;
	node_at(row)->is_last = 1;
	__atomic_store_n(&node_at(row)->frame, frame, __ATOMIC_RELEASE);
	return row;
}

static uint32_t new_group(struct dw_clr_self *t, uint32_t node, struct dw_clr_kind kind)
{
	bool is_last = node_at(node)->is_last || node == t->truncated;
	uint32_t row = is_last ? dw_table_take_last(DWELL_CLR_GROUPS, 1)
			       : take(DWELL_CLR_GROUPS, &t->groups, &t->groups_end, GROUPS_AT_ONCE);
	struct dw_clr_group *g = group_at(row);

	if (!row)
		return 0;
	g->node = node;
	g->thread = t->row;
	g->next = node_at(node)->group;
	g->units = kind.units;
	__atomic_store_n(&g->type, kind.type, __ATOMIC_RELEASE);
	node_at(node)->group = row;
	return row;
}

/* Find the group among those of @node, and put it first. */
static uint32_t find_group(uint32_t node, struct dw_clr_kind kind)
{
	uint32_t *from = &node_at(node)->group, row = *from;

	while (row && (group_at(row)->type != kind.type || group_at(row)->units != kind.units)) {
		from = &group_at(row)->next;
		row = *from;
	}
	if (row && from != &node_at(node)->group) {
		*from = group_at(row)->next;
		group_at(row)->next = node_at(node)->group;
		node_at(node)->group = row;
	}
	return row;
}

DWELL_HOT uint32_t dw_clr_tree_group(struct dw_clr_self *t, uint32_t node, struct dw_clr_kind kind)
{
	uint32_t row = find_group(node, kind);

	return row ? row : new_group(t, node, kind);
}

/* Whether @from calls @to within the first @n frames. */
static bool calls(const uint32_t *frames, uint32_t n, uint32_t from, uint32_t to)
{
	for (uint32_t i = 0; i + 1 < n; i++)
		if (frames[i] == from && frames[i + 1] == to)
			return true;
	return false;
}

/* Whether the first @n frames have all calls of those from @n - 1 to @end, and the one to @next. */
static bool is_covered(const uint32_t *frames, uint32_t n, uint32_t end, uint32_t next)
{
	for (uint32_t i = n - 1; i + 1 < end; i++)
		if (!calls(frames, n, frames[i], frames[i + 1]))
			return false;
	return calls(frames, n, frames[end - 1], next);
}

uint32_t dw_fold(uint32_t *frames, uint32_t n)
{
	uint32_t end = 0;

	for (uint32_t at = 0; at < n; at++) {
		uint32_t next = frames[at], i = 0;

		while (i < end && (frames[i] != next || !is_covered(frames, i + 1, end, next)))
			i++;
		frames[i] = next;
		end = i + 1;
	}
	return end;
}
