/*
 * Beyond the tree; see overflow-table.h.
 *
 * Whether a frame is the first one of its function, module, call or line on the way from the
 * outside is asked of a map from these to where they were first: right if that place is further out
 * and still is theirs. So nothing needs to be undone when a stack is left, and what two stacks
 * after each other have in common is not looked up again.
 */
#include "agent/clr/overflow-table.h"

#include "agent/clr/tables.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

#include <stdbool.h>
#include <stdint.h>

struct word {
	uint64_t a;
	uint32_t b;
	uint32_t value; /* 0 = unused */
};

/* A map from pairs of numbers to numbers, of one thread. Twice as large when half full. */
struct words {
	struct word *all; /* NULL = none yet */
	uint64_t mask;	  /* places, less one */
	uint64_t n;
};

enum { FIRST = 1 << 10 }; /* places of a map */

static struct word *find_word(const struct words *w, uint64_t a, uint32_t b)
{
	uint64_t at = (a + b * 0x632be59bd9b4e019u) * 0x9e3779b97f4a7c15u >> 24;
	struct word *word;

	while ((word = &w->all[at & w->mask])->value && (word->a != a || word->b != b))
		at++;
	return word;
}

/* How many are there, counted: what was given out may not have been set. */
static uint64_t count_words(const struct words *w)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i <= w->mask; i++)
		n += w->all[i].value != 0;
	return n;
}

/* Take all away. */
static void words_clear(struct words *w)
{
	dw_agent_memory_free(w->all, (w->mask + 1) * sizeof(*w->all));
	*w = (struct words){0};
}

static bool grow_words(struct words *w)
{
	uint64_t places = w->all ? 2 * (w->mask + 1) : FIRST;
	struct words more = {dw_agent_memory(places * sizeof(*more.all)), places - 1, 0};

	if (!more.all)
		return false;
	for (uint64_t i = 0; w->all && i <= w->mask; i++)
		if (w->all[i].value)
			*find_word(&more, w->all[i].a, w->all[i].b) = w->all[i];
	words_clear(w);
	*w = more;
	w->n = count_words(w);
	return true;
}

/* The value of @a, @b, to be set when it is 0: then it is new, and counts as there once set. Good
 * until the next call. NULL = no memory. */
static uint32_t *words_at(struct words *w, uint64_t a, uint32_t b)
{
	struct word *word = w->all ? find_word(w, a, b) : NULL;

	if (word && word->value)
		return &word->value;
	if ((!w->all || w->n > w->mask / 2) && !grow_words(w))
		return NULL;
	word = find_word(w, a, b);
	word->a = a;
	word->b = b;
	w->n++;
	return &word->value;
}

enum key {
	KEY_METHOD = 1,
	KEY_FUNCTION,
	KEY_MODULE,
	KEY_CALL,
	KEY_LINE,
	KEY_ROOT,
	KEY_CALLER,
	KEY_NODE
};

#define NONE   UINT32_MAX  /* in place of a node: the part says nothing */
#define NATIVE 0x80000000u /* no number of a managed function has it */

/* A frame of the stack. */
struct place {
	uint32_t frame;
	uint32_t function, module; /* numbers that are the same for what reports show as one */
	uint32_t il_offset;
	uint32_t first; /* enum dw_clr_part: of what it is the first on the stack */
	uint32_t node;	/* of the part, 0 = not known yet */
	uint32_t leaf;	/* likewise, if the stack ends here */
};

struct dw_overflow {
	struct words words;
	uint32_t n; /* places */
	struct place places[DWELL_STACK_FRAMES];
};

/* A number for the function in row @row: generic methods are one, whatever their types are. */
static uint32_t function_of(struct dw_overflow *b, uint32_t row, uint32_t *ret_module)
{
	const struct dw_clr_function *f = dw_table_row(DWELL_CLR_FUNCTIONS, row);
	uint32_t *known;

	*ret_module = f->module;
	if (!f->token)
		return row;
	known = words_at(&b->words, (uint64_t)f->module << 32 | f->token, KEY_METHOD);
	if (known && !*known)
		*known = row;
	return known ? *known : row;
}

static struct place place_of(struct dw_overflow *b, uint32_t frame)
{
	struct place p = {.frame = frame, .function = frame, .module = frame};
	const struct dw_clr_frame *f;

	if (frame >= DWELL_CLR_FRAME_PART)
		return p;
	f = dw_table_row(DWELL_CLR_FRAMES, frame);
	p.il_offset = f->il_offset;
	if (f->il_offset == DWELL_CLR_IL_NATIVE) { /* which function it is of nobody knows yet */
		p.function = frame | NATIVE;
		p.module =
			((const struct dw_clr_native *)dw_table_row(DWELL_CLR_NATIVES, f->function))
				->module;
	} else {
		p.function = function_of(b, f->function, &p.module);
	}
	return p;
}

/* Whether place @at is the first of what @a and @key say, which @is_same knows of two places. */
static bool is_first(struct dw_overflow *b, uint32_t at, uint64_t a, enum key key,
		     bool (*is_same)(const struct place *, const struct place *))
{
	uint32_t *first = words_at(&b->words, a, key);

	if (!first ||
	    (*first && *first - 1 < at && is_same(&b->places[*first - 1], &b->places[at])))
		return false;
	*first = at + 1;
	return true;
}

static bool is_same_function(const struct place *a, const struct place *b)
{
	return a->function == b->function;
}

static bool is_same_module(const struct place *a, const struct place *b)
{
	return a->module == b->module;
}

/* The first place of a stack is no call: only others are asked about. */
static bool is_same_call(const struct place *a, const struct place *b)
{
	return a->function == b->function && a[-1].function == b[-1].function;
}

static bool is_same_line(const struct place *a, const struct place *b)
{
	return a->function == b->function && a->il_offset == b->il_offset;
}

/* Of what place @at is the first. */
static uint32_t find_first(struct dw_overflow *b, uint32_t at)
{
	const struct place *p = &b->places[at];
	uint32_t first = 0;

	if (is_first(b, at, p->function, KEY_FUNCTION, is_same_function))
		first |= DWELL_CLR_PART_FUNCTION;
	if (is_first(b, at, p->module, KEY_MODULE, is_same_module))
		first |= DWELL_CLR_PART_MODULE;
	if (!at ||
	    is_first(b, at, (uint64_t)p[-1].function << 32 | p->function, KEY_CALL, is_same_call))
		first |= DWELL_CLR_PART_CALL;
	if (is_first(b, at, (uint64_t)p->function << 32 | p->il_offset, KEY_LINE, is_same_line))
		first |= DWELL_CLR_PART_LINE;
	return first;
}

/* Bring the places to what the stack is. */
static void take_path(struct dw_overflow *b, const struct dw_clr_path *path)
{
	uint32_t k = 0;

	while (k < b->n && k < path->n && b->places[k].frame == path->frames[k])
		k++;
	for (; k < path->n; k++) {
		b->places[k] = place_of(b, path->frames[k]);
		b->places[k].first = find_first(b, k);
	}
	b->n = path->n;
}

/* The node @frame below @parent, which @a and @key stand for. 0 = no room. */
static uint32_t find_node(struct dw_overflow *b, uint64_t a, uint32_t key, uint32_t parent,
			  uint32_t frame)
{
	uint32_t *node = parent ? words_at(&b->words, a, key) : NULL;

	if (node && !*node)
		*node = dw_clr_tree_last_node(parent, frame);
	return node ? *node : 0;
}

/* The node of the part at @at, the stack's innermost one if it @is_leaf. */
static uint32_t find_part(struct dw_clr_self *t, uint32_t at, bool is_leaf)
{
	struct dw_overflow *b = t->overflow;
	const struct place *p = &b->places[at];
	uint32_t part = p->first | (is_leaf ? DWELL_CLR_PART_LEAF : 0), caller = 0, node;

	if (!part)
		return NONE;
	node = find_node(b, part, KEY_ROOT, t->root, DWELL_CLR_FRAME_PART + part);
	if (at) {
		caller = p[-1].frame;
		node = find_node(b, (uint64_t)part << 32 | caller, KEY_CALLER, node, caller);
	}
	return find_node(b, (uint64_t)caller << 32 | p->frame, KEY_NODE + part, node, p->frame);
}

/* Count for the parts of all callers. */
static void count_callers(struct dw_clr_self *t, struct dw_clr_kind kind, uint64_t bytes)
{
	struct dw_overflow *b = t->overflow;
	bool is_lost = false;

	for (uint32_t k = 0; k + 1 < b->n; k++) {
		struct place *p = &b->places[k];
		struct dw_clr_group *group;
		uint32_t row;

		if (!p->node)
			p->node = find_part(t, k, false);
		if (p->node == NONE)
			continue;
		row = p->node ? dw_clr_tree_group(t, p->node, kind) : 0;
		is_lost |= !row;
		group = dw_table_row(DWELL_CLR_GROUPS, row);
		if (row) {
			group->allocated.objects++;
			group->allocated.bytes += bytes;
		}
	}
	dw_tables_count(is_lost ? DWELL_CLR_LOST_STACKS : DWELL_CLR_OVERFLOW, 1);
}

uint32_t dw_overflow_count(struct dw_clr_self *t, struct dw_clr_kind kind, uint64_t bytes)
{
	struct place *leaf;
	uint32_t row;

	if (!t->overflow)
		t->overflow = dw_agent_memory(sizeof(*t->overflow));
	if (!t->overflow || !t->path.n)
		return 0;
	take_path(t->overflow, &t->path);
	leaf = &t->overflow->places[t->path.n - 1];
	if (!leaf->leaf)
		leaf->leaf = find_part(t, t->path.n - 1, true);
	row = leaf->leaf ? dw_clr_tree_group(t, leaf->leaf, kind) : 0;
	if (row)
		count_callers(t, kind, bytes);
	return row;
}

void dw_overflow_forget(struct dw_clr_self *t)
{
	if (!t->overflow)
		return;
	words_clear(&t->overflow->words);
	t->overflow->n = 0;
}
