/*
 * Finding and making nodes; see tree.h. The table is open-addressed with linear probing, at most
 * half full.
 */
#include "agent/core/tree.h"

#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/syscall-x86-64.h"

enum { ROOM_MIN = 1024, GROWTH = 4 };

#define ROOM_MAX (1u << 30)
#define TWIN	 (1u << 31)

static struct dw_tree_entry *make_table(uint32_t room)
{
	void *table = dw_agent_may_call()
			      ? dw_sys_mmap(NULL, room * sizeof(struct dw_tree_entry),
					    PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
			      : NULL;

	return table && dw_is_mapped(table) ? table : NULL;
}

static uint32_t hash(uint32_t parent, uint64_t key, uint32_t site)
{
	uint64_t h = (key ^ (uint64_t)parent << 32 ^ site) * 0x9e3779b97f4a7c15ull;

	return (uint32_t)((h ^ h >> 29) * 0xbf58476d1ce4e5b9ull >> 32);
}

/* The entry for the node of these, or the free one where it belongs. */
static struct dw_tree_entry *find(const struct dw_tree *t, uint32_t parent, uint64_t key,
				  uint32_t site)
{
	uint32_t i = hash(parent, key, site) & (t->room - 1);
	const struct dw_tree_node *n;

	for (; t->table[i].line; i = (i + 1) & (t->room - 1)) {
		n = dw_arena_line(t->base, t->table[i].line);
		if (n->key == key && n->site == site && n->parent == parent)
			break;
	}
	return &t->table[i];
}

static struct dw_tree_entry *find_node(const struct dw_tree *t, const struct dw_tree_node *n)
{
	return find(t, n->parent, n->key, n->site);
}

/* Make the table larger. False: it stays as it is. */
static bool grow(struct dw_tree *t)
{
	struct dw_tree larger = *t;

	if (t->room >= ROOM_MAX)
		return false;
	larger.room = t->room ? t->room * GROWTH : ROOM_MIN;
	larger.table = make_table(larger.room);
	if (!larger.table)
		return false;
	for (uint32_t i = 0; i < t->room; i++)
		if (t->table[i].line)
			*find_node(&larger, dw_arena_line(t->base, t->table[i].line)) = t->table[i];
	dw_tree_end(t);
	*t = larger;
	return true;
}

struct dw_tree_node *dw_tree_start(struct dw_tree *t)
{
	uint32_t line = dw_arena_take(&t->lines, 1, DWELL_LINE_OTHER);
	struct dw_tree_node *root;

	t->base = dw_arena_base();
	t->nodes = 0;
	if (t->room)
		memset(t->table, 0, t->room * sizeof(*t->table));
	if (!line || (!t->room && !grow(t)))
		return NULL;
	root = dw_arena_line(t->base, line);
	root->key = DWELL_KEY_ROOT;
	return root;
}

/* The node below which calls by @n hang. */
static struct dw_tree_node *unfold(const struct dw_tree *t, struct dw_tree_node *n)
{
	uint32_t link = n->parent ? find_node(t, n)->link : 0;

	return link & TWIN ? dw_arena_line(t->base, link & ~TWIN) : n;
}

static struct dw_tree_node *parent_of(const struct dw_tree *t, const struct dw_tree_node *n)
{
	return n->parent ? dw_arena_line(t->base, n->parent) : NULL;
}

/* What @link of its entry becomes for @n, new at @line, below @above. */
static uint32_t link_of(const struct dw_tree *t, const struct dw_tree_node *n, uint32_t line,
			struct dw_tree_node *above)
{
	struct dw_tree_node *p = above, *last_new;
	uint32_t link;

	while (p && (p->key != n->key || p->site != n->site))
		p = parent_of(t, p);
	if (!p)
		return line;
	/* Nothing is new here: so are the paths to all nodes down from the last where it was. */
	link = find_node(t, above)->link;
	last_new = dw_arena_line(t->base, link);
	for (p = above; p->key != n->key && p != last_new;)
		p = parent_of(t, p);
	return p->key == n->key ? dw_arena_index(t->base, p) | TWIN : link;
}

/* Make a node and put it into the table. */
static struct dw_tree_node *make(struct dw_tree *t, struct dw_tree_node *parent, uint64_t key,
				 uint32_t site)
{
	uint32_t line = dw_arena_take(&t->lines, 1, DWELL_LINE_NODE);
	struct dw_tree_node *n;
	struct dw_tree_entry *entry;

	if (!line)
		return NULL;
	n = dw_arena_line(t->base, line);
	n->key = key;
	n->site = site;
	__atomic_store_n(&n->parent, dw_arena_index(t->base, parent), __ATOMIC_RELEASE);
	entry = find_node(t, n);
	entry->link = link_of(t, n, line, parent);
	entry->line = line;
	t->nodes++;
	return n;
}

struct dw_tree_node *dw_tree_child(struct dw_tree *t, struct dw_tree_node *parent, uint64_t key,
				   uint32_t site)
{
	const struct dw_tree_entry *entry;

	parent = unfold(t, parent);
	entry = find(t, dw_arena_index(t->base, parent), key, site);
	if (entry->line)
		return dw_arena_line(t->base, entry->line);
	if (t->nodes >= t->room / 2 && !grow(t))
		return NULL;
	return make(t, parent, key, site);
}

void dw_tree_remember(const struct dw_tree *t, struct dw_tree_node *parent,
		      const struct dw_tree_node *child)
{
	uint16_t tag = (uint16_t)((uint32_t)child->key * DWELL_TAG_FACTOR + child->site);
	int way = DWELL_TREE_WAYS - 1;

	/* One that has the same tag would hide it; else the one remembered first goes. */
	for (int i = 0; i < way; i++)
		if (parent->tags[i] == tag && parent->children[i])
			way = i;
	for (; way > 0; way--) {
		parent->tags[way] = parent->tags[way - 1];
		parent->children[way] = parent->children[way - 1];
	}
	parent->tags[0] = tag;
	parent->children[0] = dw_arena_index(t->base, child);
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
	if (t->table)
		dw_sys_munmap(t->table, t->room * sizeof(*t->table));
	t->table = NULL;
	t->room = 0;
}
