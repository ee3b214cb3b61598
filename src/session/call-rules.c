/* Nodes of calls; see call-rules.h. What links rows is checked here, once. */
#include "session/call-rules.h"

enum {
	OVERFLOW_FLAGS = DWELL_CALL_INCLUSIVE | DWELL_CALL_OUTERMOST_FUNCTION |
			 DWELL_CALL_OUTERMOST_MODULE | DWELL_CALL_OUTERMOST_EDGE |
			 DWELL_CALL_OUTERMOST_SITE,
	COUNTED_FLAGS = DWELL_CALL_OVERFLOW | DWELL_CALL_COUNTED,
	NO_CALLEE_FLAGS = DWELL_CALL_ROOT | DWELL_CALL_TRUNCATED,
};

/* Whether the flags of a node go together. */
static bool flags_fit(uint32_t flags)
{
	if (flags & DWELL_CALL_COUNTED)
		return (flags & ~(uint32_t)DWELL_CALL_OUTSIDE) == COUNTED_FLAGS;
	if ((flags & OVERFLOW_FLAGS) && !(flags & DWELL_CALL_OVERFLOW))
		return false;
	if (flags & DWELL_CALL_ESTIMATED)
		return !(flags & (NO_CALLEE_FLAGS | DWELL_CALL_OVERFLOW));
	if (flags & DWELL_CALL_LINE)
		return !(flags & ~(uint32_t)(DWELL_CALL_LINE | DWELL_CALL_OVERFLOW));
	return !(flags & NO_CALLEE_FLAGS) || flags == DWELL_CALL_ROOT ||
	       flags == DWELL_CALL_TRUNCATED;
}

/* Whether @node may hang on @parent, NULL = on nothing. */
static bool parent_fits(const struct dw_call_node *node, const struct dw_call_node *parent)
{
	if (!parent)
		return node->flags == DWELL_CALL_ROOT && !node->site;
	if (node->flags & DWELL_CALL_ROOT || parent->thread != node->thread)
		return false;
	if (node->flags & DWELL_CALL_OVERFLOW)
		return parent->flags & DWELL_CALL_ROOT;
	if ((node->flags ^ parent->flags) & DWELL_CALL_ESTIMATED &&
	    !(node->flags & DWELL_CALL_ESTIMATED ? parent->flags & DWELL_CALL_ROOT
						 : node->flags & DWELL_CALL_TRUNCATED))
		return false;
	if (node->flags & DWELL_CALL_LINE) /* statements stand in functions */
		return !node->site &&
		       !(parent->flags & ~(uint32_t)(DWELL_CALL_OUTSIDE | DWELL_CALL_ESTIMATED));
	return !(parent->flags & (DWELL_CALL_OVERFLOW | DWELL_CALL_TRUNCATED));
}

bool dw_call_node_fits(const struct dw_call_node *node, const struct dw_calls *t)
{
	return node->thread && flags_fit(node->flags) &&
	       (!(node->flags & NO_CALLEE_FLAGS) || !node->entry) &&
	       parent_fits(node, dw_calls_get(t, node->parent));
}
