/*
 * Finding and making nodes; see tree.h. The table is open-addressed with linear probing, at most
 * half full.
 */
#include "agent/core/tree.h"

#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/memory.h"
#include "agent/core/syscall-x86-64.h"

enum {
	ROOM_MIN = 1024,
	GROWTH = 4,
	QUICK_MIN = 512,
	QUICK_MAX = 1 << 18,
	HUGE_BYTES = 2 << 20,
	QUICK_SHIFT = 15, /* as gates have it */
};

#define ROOM_MAX (1u << 30)
#define TWIN	 (1u << 31)

/* Zeroed memory, in huge pages where it fills some: what is read at random in small ones waits for
 * their addresses more than for the bytes. NULL = none. */
static void *map(uint64_t bytes)
{
	void *at = dw_agent_memory(bytes);

	if (at && !(bytes % HUGE_BYTES))
		dw_syscall(SYS_madvise, at, bytes, MADV_HUGEPAGE);
	return at;
}

static uint32_t hash(uint32_t parent, uint64_t key, uint32_t site)
{
	uint64_t h = (key ^ (uint64_t)parent << 32 ^ site) * 0x9e3779b97f4a7c15ull;

	return (uint32_t)((h ^ h >> 29) * 0xbf58476d1ce4e5b9ull >> 32);
}

/* The entry for the node of these, whose hash is @h, or the free one where it belongs. */
static struct dw_tree_entry *find(const struct dw_tree *t, uint32_t parent, uint64_t key,
				  uint32_t site, uint32_t h)
{
	const struct dw_tree_node *n;
	uint32_t i;

	for (i = h & (t->room - 1); t->table[i].line; i = (i + 1) & (t->room - 1)) {
		if (t->table[i].hash != h)
			continue;
		n = dw_arena_line(t->base, t->table[i].line);
		if (n->key == key && n->site == site && n->parent == parent)
			break;
	}
	return &t->table[i];
}

/* Put @entry, which is new, where it is found. */
static void insert(struct dw_tree *t, struct dw_tree_entry entry)
{
	uint32_t i = entry.hash & (t->room - 1);

	while (t->table[i].line)
		i = (i + 1) & (t->room - 1);
	t->table[i] = entry;
}

static void end_table(struct dw_tree *t)
{
	dw_agent_memory_free(t->table, t->room * sizeof(*t->table));
	t->table = NULL;
	t->room = 0;
}

/* Make the table larger. False: it stays as it is. */
static bool grow(struct dw_tree *t)
{
	struct dw_tree larger = *t;

	if (t->room >= ROOM_MAX)
		return false;
	larger.room = t->room ? t->room * GROWTH : ROOM_MIN;
	larger.table = map(larger.room * sizeof(*larger.table));
	if (!larger.table)
		return false;
	for (uint32_t i = 0; i < t->room; i++)
		if (t->table[i].line)
			insert(&larger, t->table[i]);
	end_table(t);
	*t = larger;
	return true;
}

/* Offsets of every second entry. */
static uint32_t quick_mask(uint32_t room)
{
	return (uint32_t)((room - 2) * sizeof(struct dw_tree_quick));
}

struct dw_tree_node *dw_tree_start(struct dw_tree *t, struct dw_tree_thread *line)
{
	static struct dw_tree_quick nothing[2];
	struct dw_tree_node *root;

	t->base = line->arena = dw_arena_base();
	t->links = dw_arena_links();
	t->nodes = t->quick_n = 0;
	line->quick = t->quick ? t->quick : nothing;
	line->quick_mask = t->quick ? quick_mask(t->quick_room) : 0;
	if (t->quick)
		memset(t->quick, 0, t->quick_room * sizeof(*t->quick));
	if (t->room)
		memset(t->table, 0, t->room * sizeof(*t->table));
	line->root = dw_arena_take(&t->lines, 1, DWELL_LINE_OTHER);
	if (!line->root || (!t->room && !grow(t)))
		return NULL;
	root = dw_arena_line(t->base, line->root);
	root->key = DWELL_KEY_ROOT;
	line->current = root;
	return root;
}

/* The node below which calls by @n hang. */
static struct dw_tree_node *unfold(const struct dw_tree *t, struct dw_tree_node *n)
{
	uint32_t link = n->parent ? t->links[dw_arena_index(t->base, n)] : 0;

	return link & TWIN ? dw_arena_line(t->base, link & ~TWIN) : n;
}

static struct dw_tree_node *parent_of(const struct dw_tree *t, const struct dw_tree_node *n)
{
	return n->parent ? dw_arena_line(t->base, n->parent) : NULL;
}

/* Whether @p is a call like that of @n by @caller: a site alone does not tell, where the code that
 * called is not instrumented. */
static bool is_same_call(const struct dw_tree *t, const struct dw_tree_node *p,
			 const struct dw_tree_node *n, const struct dw_tree_node *caller)
{
	return p->key == n->key && p->site == n->site && p->parent &&
	       parent_of(t, p)->key == caller->key;
}

/* Whether @key is on the path down to @p. */
static bool is_above(const struct dw_tree *t, uint64_t key, const struct dw_tree_node *p)
{
	while (p && p->key != key)
		p = p->parent ? dw_arena_line(t->base, p->parent) : NULL;
	return p;
}

/* What the link becomes of @n, new at @line, below @above. */
static uint32_t link_of(const struct dw_tree *t, const struct dw_tree_node *n, uint32_t line,
			struct dw_tree_node *above)
{
	struct dw_tree_node *p = above, *last_new;
	uint32_t link;

	while (p && !is_same_call(t, p, n, above))
		p = parent_of(t, p);
	if (!p)
		return line;
	/* Nothing is new here: so are the paths to all nodes down from the last where it was. */
	link = t->links[dw_arena_index(t->base, above)];
	last_new = dw_arena_line(t->base, link);
	for (p = above; p->key != n->key && p != last_new;)
		p = parent_of(t, p);
	return p->key == n->key ? dw_arena_index(t->base, p) | TWIN : link;
}

/* Make a node. */
static struct dw_tree_node *make(struct dw_tree *t, struct dw_tree_node *parent, uint64_t key,
				 uint32_t site)
{
	uint32_t line = dw_arena_take(&t->lines, 1, DWELL_LINE_NODE);
	struct dw_tree_node *n;

	if (!line)
		return NULL;
	n = dw_arena_line(t->base, line);
	n->key = key;
	n->site = site;
	t->links[line] = link_of(t, n, line, parent);
	n->is_inner = is_above(t, n->key, parent);
	__atomic_store_n(&n->parent, dw_arena_index(t->base, parent), __ATOMIC_RELEASE);
	return n;
}

struct dw_tree_node *dw_tree_child(struct dw_tree *t, struct dw_tree_node *parent, uint64_t key,
				   uint32_t site)
{
	struct dw_tree_entry *entry;
	struct dw_tree_node *n;
	uint32_t above, h;

	parent = unfold(t, parent);
	above = dw_arena_index(t->base, parent);
	h = hash(above, key, site);
	entry = find(t, above, key, site, h);
	if (entry->line)
		return dw_arena_line(t->base, entry->line);
	if (t->nodes >= t->room / 2 && !grow(t))
		return NULL;
	n = make(t, parent, key, site);
	if (!n)
		return NULL;
	insert(t, (struct dw_tree_entry){dw_arena_index(t->base, n), h});
	t->nodes++;
	return n;
}

/* Whether @parent has room left to remember its @child, and does so now. */
static bool remember_in_node(struct dw_tree_node *parent, const struct dw_tree_node *child,
			     uint32_t line)
{
	for (int i = 0; i < DWELL_TREE_WAYS; i++) {
		if (parent->children[i] && parent->children[i] != line)
			continue;
		parent->tags[i] = dw_tree_tag(child);
		parent->children[i] = line;
		return true;
	}
	return false;
}

/* Begin a larger table for gates, empty: what is used comes back. */
static void grow_quick(struct dw_tree *t, struct dw_tree_thread *line)
{
	uint32_t room = t->quick_room ? t->quick_room * GROWTH : QUICK_MIN;
	struct dw_tree_quick *quick = room > QUICK_MAX ? NULL : map(room * sizeof(*quick));

	t->quick_n = 0;
	if (!quick)
		return;
	line->quick = quick;
	line->quick_mask = quick_mask(room);
	dw_agent_memory_free(t->quick, t->quick_room * sizeof(*quick));
	t->quick = quick;
	t->quick_room = room;
}

void dw_tree_remember(struct dw_tree *t, struct dw_tree_thread *line, struct dw_tree_node *parent,
		      const struct dw_tree_node *child)
{
	uint32_t index = dw_arena_index(t->base, child), check;
	struct dw_tree_quick *q;

	if (remember_in_node(parent, child, index))
		return;
	if (t->quick_n >= t->quick_room / 2)
		grow_quick(t, line);
	if (!t->quick_room)
		return;
	check = (uint32_t)((uint64_t)parent / DWELL_LINE_BYTES) * DWELL_NODE_FACTOR +
		(uint32_t)child->key * DWELL_KEY_FACTOR + child->site;
	q = &t->quick[((check ^ check >> QUICK_SHIFT) & line->quick_mask) / sizeof(*q)];
	q[1] = q[0];
	q[0] = (struct dw_tree_quick){check, index};
	t->quick_n++;
}

struct dw_tree_os *dw_tree_os(struct dw_tree *t, struct dw_tree_node *node)
{
	struct dw_tree_os *os;

	if (!node->os) {
		uint32_t line = dw_arena_take(&t->lines, 1, DWELL_LINE_OTHER);

		if (!line)
			return NULL;
		os = dw_arena_line(t->base, line);
		__atomic_store_n(&os->mark, DWELL_MARK_OS, __ATOMIC_RELEASE);
		__atomic_store_n(&node->os, line, __ATOMIC_RELEASE);
	}
	return dw_arena_line(t->base, node->os);
}

void dw_tree_end(struct dw_tree *t)
{
	end_table(t);
	dw_agent_memory_free(t->quick, t->quick_room * sizeof(*t->quick));
	t->quick = NULL;
	t->quick_room = t->quick_n = 0;
}
