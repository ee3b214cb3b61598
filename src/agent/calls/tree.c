/*
 * Finding and making nodes; see tree.h. The table is open-addressed with linear probing, at most
 * three quarters full.
 */
#include "agent/calls/tree.h"

#include "agent/calls/call-extremes.h"
#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

enum {
	ROOM_MIN = 1024,
	QUICK_GROWTH = 4,
	QUICK_MIN = 512,
	QUICK_MAX = 1 << 18,
	QUICK_EACH = 1 << 14,	    /* that each thread may have; larger ones take a share of */
	QUICK_ALL_BYTES = 32 << 20, /* bytes */
	HUGE_BYTES = 2 << 20,
	QUICK_SHIFT = 15, /* as trampolines have it */
};

#define ROOM_MAX (1u << 30)
#define TWIN	 (1u << 31)

static uint32_t nodes_max = UINT32_MAX;
static int64_t quick_left = QUICK_ALL_BYTES; /* atomic */

void dw_tree_limit(uint32_t nodes)
{
	nodes_max = nodes;
}

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
	larger.room = t->room ? t->room * 2 : ROOM_MIN;
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

/* Let the table be a small one again, if one can be had. */
static void shrink(struct dw_tree *t)
{
	struct dw_tree_entry *table = t->room > ROOM_MIN ? map(ROOM_MIN * sizeof(*table)) : NULL;

	if (!table)
		return;
	end_table(t);
	t->table = table;
	t->room = ROOM_MIN;
}

/* Nothing that was made is found any more. Cells are far fewer than nodes. */
static void forget_all(struct dw_tree *t)
{
	if (t->quick)
		memset(t->quick, 0, t->quick_room * sizeof(*t->quick));
	shrink(t);
	if (t->room)
		memset(t->table, 0, t->room * sizeof(*t->table));
	t->nodes = t->quick_n = 0;
}

struct dw_tree_node *dw_tree_start(struct dw_tree *t, struct dw_tree_thread *line)
{
	static struct dw_tree_quick nothing[2];
	struct dw_tree_node *root;

	t->base = line->arena = dw_arena_base();
	t->links = dw_arena_links();
	t->cells = 0;
	t->thread = dw_arena_index(t->base, line);
	line->quick = t->quick ? t->quick : nothing;
	line->quick_mask = t->quick ? quick_mask(t->quick_room) : 0;
	forget_all(t);
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
	uint32_t line = t->nodes < nodes_max ? dw_arena_take(&t->lines, 1, DWELL_LINE_NODE) : 0;
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

/* Whether the table has room for one more, or for what cannot be found again. */
static bool has_room(struct dw_tree *t)
{
	return t->nodes < t->room / 4 * 3 || grow(t);
}

/* Let @line, new, be found by @h: there is room. */
static void enter(struct dw_tree *t, uint32_t line, uint32_t h)
{
	insert(t, (struct dw_tree_entry){line, h});
	t->nodes++;
}

enum { CALLEE_LINES = sizeof(struct dw_tree_callee) / DWELL_LINE_BYTES };

/* Let @line and the next be the record of callee @key. */
static void set_callee(struct dw_tree *t, uint32_t line, uint64_t key)
{
	struct dw_tree_callee *callee = dw_arena_line(t->base, line);

	callee->key = key;
	callee->thread = t->thread;
	dw_extremes_share(t->extremes, key, (struct dw_bounds *)callee->bounds);
	__atomic_store_n(&callee->mark, DWELL_MARK_CALLEE, __ATOMIC_RELEASE);
}

/* The line of the record of callee @key, made if it is new. 0 = no room. */
static uint32_t callee_of(struct dw_tree *t, uint64_t key)
{
	const uint32_t mark = (uint32_t)DWELL_MARK_CALLEE; /* where a node has its parent */
	uint32_t h = hash(mark, key, 0), line = find(t, mark, key, 0, h)->line;

	if (line)
		return line;
	line = has_room(t) ? dw_arena_take(&t->lines, CALLEE_LINES, DWELL_LINE_OTHER) : 0;
	if (!line)
		return 0;
	enter(t, line, h);
	set_callee(t, line, key);
	return line;
}

/* Let @line be the cell of @key, whose record is at @callee, called by the one at @caller. */
static struct dw_tree_node *set_cell(const struct dw_tree *t, uint32_t line, uint32_t caller,
				     uint32_t callee, uint64_t key, uint32_t site)
{
	struct dw_tree_cell *cell = dw_arena_line(t->base, line);

	cell->key = key;
	cell->site = site;
	cell->callee = callee;
	__atomic_store_n(&cell->caller, caller, __ATOMIC_RELEASE);
	return (struct dw_tree_node *)cell;
}

/* Make the cell of @key by the callee whose record is at @caller. NULL = no room. */
static struct dw_tree_node *make_cell(struct dw_tree *t, uint32_t caller, uint64_t key,
				      uint32_t site)
{
	bool is_call = site != DWELL_SITE_NONE || dw_key_is_line(key);
	enum dw_line_use use = is_call ? DWELL_LINE_CELL : DWELL_LINE_OTHER;
	uint32_t callee = callee_of(t, key);
	uint32_t line = callee ? dw_arena_take(&t->lines, 1, use) : 0;

	return line ? set_cell(t, line, caller, callee, key, site) : NULL;
}

/* What trampolines and the table find the children of @n by: itself, the node it is a twin of, or
 * its callee's record. */
static struct dw_tree_node *home_of(const struct dw_tree *t, struct dw_tree_node *n)
{
	return t->cells ? dw_arena_line(t->base, ((struct dw_tree_cell *)n)->callee) : unfold(t, n);
}

/* The child below @home, made if it is new. NULL = no room. */
static struct dw_tree_node *child(struct dw_tree *t, struct dw_tree_node *home, uint64_t key,
				  uint32_t site)
{
	uint32_t above = dw_arena_index(t->base, home), h = hash(above, key, site);
	uint32_t line = find(t, above, key, site, h)->line;
	struct dw_tree_node *n = NULL;

	if (line)
		return dw_arena_line(t->base, line);
	if (has_room(t))
		n = t->cells ? make_cell(t, above, key, site) : make(t, home, key, site);
	if (n)
		enter(t, dw_arena_index(t->base, n), h);
	return n;
}

struct dw_tree_node *dw_tree_child(struct dw_tree *t, struct dw_tree_node *parent, uint64_t key,
				   uint32_t site)
{
	struct dw_tree_node *n = child(t, home_of(t, parent), key, site);

	if (n || !t->cells || dw_key_is_line(key))
		return n;
	return child(t, home_of(t, dw_arena_line(t->base, t->cells)), key, DWELL_SITE_NONE);
}

struct dw_tree_node *dw_tree_make_cells(struct dw_tree *t, struct dw_tree_thread *line,
					struct dw_extremes *extremes)
{
	uint32_t callee = dw_arena_take(&t->lines, CALLEE_LINES + 1, DWELL_LINE_OTHER);

	if (!callee)
		return NULL;
	forget_all(t);
	t->extremes = extremes;
	t->cells = callee + CALLEE_LINES;
	set_callee(t, callee, DWELL_KEY_ROOT);
	line->has_cells = 1;
	return set_cell(t, t->cells, callee, callee, DWELL_KEY_ROOT, 0);
}

static const struct dw_tree_drawn *path_at(const struct dw_tree *t, uint32_t path)
{
	return dw_arena_line(t->base, path);
}

/* The line of the record of what @path leads to. */
static uint32_t end_of(const struct dw_tree *t, uint32_t path)
{
	uint32_t cell = (uint32_t)path_at(t, path)->cell;

	return ((const struct dw_tree_cell *)dw_arena_line(t->base, cell))->callee;
}

/* As link_of(), of the path @path, new, which goes on from @above: a cell is a call. */
static uint32_t link_of_path(const struct dw_tree *t, uint32_t path, uint32_t above)
{
	uint64_t cell = path_at(t, path)->cell;
	uint32_t p = above, link, end;

	while (p && path_at(t, p)->cell != cell)
		p = path_at(t, p)->parent;
	if (!p)
		return path;
	link = t->links[above];
	end = end_of(t, path);
	for (p = above; end_of(t, p) != end && p != link;)
		p = path_at(t, p)->parent;
	return end_of(t, p) == end ? p | TWIN : link;
}

uint32_t dw_tree_drawn(struct dw_tree *t, uint32_t parent, uint32_t cell)
{
	const uint32_t mark = (uint32_t)DWELL_MARK_DRAWN; /* as callee_of() */
	uint32_t above = parent && t->links[parent] & TWIN ? t->links[parent] & ~TWIN : parent;
	uint32_t h = hash(mark, cell, above), line = find(t, mark, cell, above, h)->line;
	struct dw_tree_drawn *drawn;

	if (line)
		return line;
	line = has_room(t) ? dw_arena_take(&t->lines, sizeof(*drawn) / DWELL_LINE_BYTES,
					   DWELL_LINE_PATH)
			   : 0;
	if (!line)
		return 0;
	enter(t, line, h);
	drawn = dw_arena_line(t->base, line);
	drawn->cell = cell;
	drawn->parent = above;
	drawn->thread = t->thread;
	t->links[line] = link_of_path(t, line, above);
	__atomic_store_n(&drawn->mark, DWELL_MARK_DRAWN, __ATOMIC_RELEASE);
	return line;
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

/* What trampolines' table of @room entries takes of what all threads have together. */
static int64_t shared_bytes(uint32_t room)
{
	return room > QUICK_EACH ? (int64_t)(room * sizeof(struct dw_tree_quick)) : 0;
}

/* Give the trampolines' table back. */
static void end_quick(struct dw_tree *t)
{
	dw_agent_memory_free(t->quick, t->quick_room * sizeof(*t->quick));
	__atomic_fetch_add(&quick_left, shared_bytes(t->quick_room), __ATOMIC_RELAXED);
	t->quick = NULL;
	t->quick_room = 0;
}

/* Begin a larger table for trampolines, empty: what is used comes back. */
static void grow_quick(struct dw_tree *t, struct dw_tree_thread *line)
{
	uint32_t room = t->quick_room ? t->quick_room * QUICK_GROWTH : QUICK_MIN;
	struct dw_tree_quick *quick = NULL;

	t->quick_n = 0;
	if (room <= QUICK_MAX &&
	    __atomic_load_n(&quick_left, __ATOMIC_RELAXED) >= shared_bytes(room))
		quick = map(room * sizeof(*quick));
	if (!quick)
		return;
	line->quick = quick;
	line->quick_mask = quick_mask(room);
	end_quick(t);
	__atomic_fetch_sub(&quick_left, shared_bytes(room), __ATOMIC_RELAXED);
	t->quick = quick;
	t->quick_room = room;
}

void dw_tree_remember(struct dw_tree *t, struct dw_tree_thread *line, struct dw_tree_node *parent,
		      const struct dw_tree_node *child)
{
	uint32_t index = dw_arena_index(t->base, child), check;
	struct dw_tree_quick *q;

	if (t->cells) {
		parent = home_of(t, parent);
		if (((const struct dw_tree_cell *)child)->caller != dw_arena_index(t->base, parent))
			return; /* trampolines would not find it by its site */
	}
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
	end_quick(t);
	t->quick_n = 0;
}
