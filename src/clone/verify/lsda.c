/*
 * The verifier's reader of LSDAs; see state.h. Types are compared by where their entry leads: to a
 * type's description, or to a word that holds its address. An absolute entry that the loader fills
 * in is such a word itself.
 */
#include "clone/verify/state.h"

#include "base/cursor.h"
#include "code/cfi/entry.h"

#include <dwarf.h>

enum { CHAIN_MAX = 10000, FORMAT_MASK = 0x0f, BASE_MASK = 0x70 };

/* A cursor at some svma, whose position can be told. */
struct at {
	struct dw_cursor c;
	struct dw_cfi_section s; /* what the pointer reader wants */
};

static bool start_at(const struct dw_verify *v, uint64_t svma, struct at *ret)
{
	size_t left;
	const uint8_t *bytes = dw_verify_bytes(v, svma, &left);

	*ret = (struct at){.s = {.bytes = bytes, .n = left, .svma = svma}};
	dw_cursor_init(&ret->c, bytes, bytes ? left : 0);
	return bytes;
}

static uint64_t svma_of(const struct at *a)
{
	return a->s.svma + dw_cursor_offset(&a->c);
}

bool dw_verify_lsda_open(const struct dw_verify *v, uint64_t svma, uint64_t start,
			 struct dw_verify_lsda *ret)
{
	uint8_t encoding;
	struct at a;
	uint64_t n;

	*ret = (struct dw_verify_lsda){.v = v, .start = start, .pads = start};
	if (!start_at(v, svma, &a))
		return false;
	encoding = dw_cursor_u8(&a.c);
	if (encoding != DW_EH_PE_omit && dw_cfi_read_pointer(&a.c, &a.s, encoding, &ret->pads))
		return false;
	ret->type_encoding = dw_cursor_u8(&a.c);
	if (ret->type_encoding != DW_EH_PE_omit) {
		n = dw_cursor_uleb(&a.c);
		ret->types = svma_of(&a) + n;
	}
	ret->site_encoding = dw_cursor_u8(&a.c);
	n = dw_cursor_uleb(&a.c);
	ret->sites = ret->next = svma_of(&a);
	ret->actions = ret->sites + n;
	return !a.c.failed;
}

bool dw_verify_lsda_next(struct dw_verify_lsda *l, struct dw_verify_site *ret)
{
	uint64_t start, n, pad, action;
	struct at a;

	do {
		if (l->next >= l->actions || !start_at(l->v, l->next, &a) ||
		    dw_cfi_read_pointer(&a.c, &a.s, l->site_encoding, &start) ||
		    dw_cfi_read_pointer(&a.c, &a.s, l->site_encoding, &n) ||
		    dw_cfi_read_pointer(&a.c, &a.s, l->site_encoding, &pad))
			return false;
		action = dw_cursor_uleb(&a.c);
		l->next = svma_of(&a);
	} while (!n && !a.c.failed);
	*ret = (struct dw_verify_site){.start = l->start + start,
				       .end = l->start + start + n,
				       .pad = pad ? l->pads + pad : 0,
				       .action = action ? l->actions + action - 1 : 0};
	return !a.c.failed;
}

/* A type as its entry tells: where it leads, and whether that is a word that holds the address. */
struct type {
	uint64_t svma;
	bool is_word;
};

static bool read_type(const struct dw_verify_lsda *l, uint64_t index, struct type *ret)
{
	uint8_t encoding = l->type_encoding, format = encoding & FORMAT_MASK;
	bool is_short = format == DW_EH_PE_udata4 || format == DW_EH_PE_sdata4;
	bool by_loader = (encoding & BASE_MASK) == DW_EH_PE_absptr && !l->v->is_fixed;
	uint64_t at = l->types - index * (is_short ? 4 : 8);
	struct at a;

	if (!start_at(l->v, at, &a) ||
	    dw_cfi_read_pointer(&a.c, &a.s, encoding & FORMAT_MASK, &ret->svma))
		return false;
	ret->is_word = (encoding & DW_EH_PE_indirect) || by_loader;
	if (by_loader)
		ret->svma = at;
	else if (!ret->svma)
		ret->is_word = false; /* catches all */
	else if ((encoding & BASE_MASK) == DW_EH_PE_pcrel)
		ret->svma += at;
	return true;
}

static bool same_type(const struct dw_verify_lsda *la, uint64_t a, const struct dw_verify_lsda *lb,
		      uint64_t b)
{
	struct type ta, tb;

	return read_type(la, a, &ta) && read_type(lb, b, &tb) && ta.svma == tb.svma &&
	       ta.is_word == tb.is_word;
}

/* Whether the lists of types that the negative @filter names are the same. */
static bool same_lists(const struct dw_verify_lsda *la, const struct dw_verify_lsda *lb,
		       int64_t filter)
{
	struct at a, b;

	if (!start_at(la->v, la->types - (uint64_t)filter - 1, &a) ||
	    !start_at(lb->v, lb->types - (uint64_t)filter - 1, &b))
		return false;
	for (int i = 0; i < CHAIN_MAX; i++) {
		uint64_t x = dw_cursor_uleb(&a.c), y = dw_cursor_uleb(&b.c);

		if (!x != !y || a.c.failed || b.c.failed)
			return false;
		if (!x)
			return true;
		if (!same_type(la, x, lb, y))
			return false;
	}
	return true;
}

static bool same_filter(const struct dw_verify_lsda *la, int64_t a, const struct dw_verify_lsda *lb,
			int64_t b)
{
	if (a != b || (la->type_encoding == DW_EH_PE_omit) != (lb->type_encoding == DW_EH_PE_omit))
		return false;
	if (!a || la->type_encoding == DW_EH_PE_omit)
		return true;
	return a > 0 ? same_type(la, (uint64_t)a, lb, (uint64_t)b) : same_lists(la, lb, a);
}

/* Read the action record at *@svma and go to the next one, 0 = it was the last. */
static bool next_action(const struct dw_verify_lsda *l, uint64_t *svma, int64_t *filter)
{
	struct at a;
	uint64_t from;
	int64_t next;

	if (!start_at(l->v, *svma, &a))
		return false;
	*filter = dw_cursor_sleb(&a.c);
	from = svma_of(&a);
	next = dw_cursor_sleb(&a.c);
	*svma = next ? from + (uint64_t)next : 0;
	return !a.c.failed;
}

bool dw_verify_same_actions(const struct dw_verify_lsda *la, uint64_t a,
			    const struct dw_verify_lsda *lb, uint64_t b)
{
	for (int i = 0; i < CHAIN_MAX && a && b; i++) {
		int64_t x, y;

		if (!next_action(la, &a, &x) || !next_action(lb, &b, &y) ||
		    !same_filter(la, x, lb, y))
			return false;
	}
	return !a == !b;
}
