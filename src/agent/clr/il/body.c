/*
 * Headers and sections; see body.h. Compilers have written the size of small sections with and
 * without its own four bytes: as the runtime does, clauses are counted by dividing, which leaves
 * these out either way.
 */
#include "agent/clr/il/body.h"

#include "agent/clr/il/opcodes.h"

enum {
	FORMAT_TINY = 2,
	FORMAT_FAT = 3,
	HAS_SECTIONS = 0x8,
	HAS_INIT_LOCALS = 0x10,
	TINY_STACK = 8,
	FAT_WORDS = 3, /* the header's size */
	FAT_BYTES = FAT_WORDS * 4,
	SECTION_KIND = 0x3f,
	SECTION_EXCEPTIONS = 1,
	SECTION_FAT = 0x40,
	SECTION_MORE = 0x80,
	SECTION_HEAD_BYTES = 4,
	SMALL_CLAUSE_BYTES = 12,
	FAT_CLAUSE_BYTES = 24,
};

struct section {
	const uint8_t *clauses;
	uint32_t n;	     /* of clauses */
	const uint8_t *next; /* NULL = it is the last one */
	bool is_fat;
};

/* False: it does not lie before @end. */
static bool read_section(const uint8_t *at, const uint8_t *end, struct section *ret)
{
	uint32_t bytes, each, room;

	if (end - at < SECTION_HEAD_BYTES)
		return false;
	room = (uint32_t)(end - at) - SECTION_HEAD_BYTES;
	ret->is_fat = at[0] & SECTION_FAT;
	bytes = (uint32_t)dw_il_get(at + 1, ret->is_fat ? 3 : 1);
	each = ret->is_fat ? FAT_CLAUSE_BYTES : SMALL_CLAUSE_BYTES;
	ret->n = (at[0] & SECTION_KIND) == SECTION_EXCEPTIONS ? bytes / each : 0;
	ret->clauses = at + SECTION_HEAD_BYTES;
	ret->next = NULL;
	if (ret->n > room / each)
		return false;
	if (at[0] & SECTION_MORE) {
		bytes = (bytes + 3) & ~3u;
		if (bytes < SECTION_HEAD_BYTES || bytes > room + SECTION_HEAD_BYTES)
			return false;
		ret->next = at + bytes;
	}
	return true;
}

static enum dw_il_refusal count_clauses(struct dw_il_body *body)
{
	struct section section = {.next = body->sections};

	while (section.next) {
		if (!read_section(section.next, body->end, &section))
			return DWELL_IL_BAD_SECTION;
		body->clauses += section.n;
		if (body->clauses > DWELL_IL_CLAUSES_MAX)
			return DWELL_IL_BAD_SECTION;
	}
	return DWELL_IL_OK;
}

static bool open_fat(const uint8_t *bytes, size_t n, struct dw_il_body *ret)
{
	uint32_t flags;

	if (n < FAT_BYTES)
		return false;
	flags = (uint32_t)dw_il_get(bytes, 2);
	if (flags >> 12 != FAT_WORDS)
		return false;
	ret->stack_max = (uint16_t)dw_il_get(bytes + 2, 2);
	ret->code_bytes = (uint32_t)dw_il_get(bytes + 4, 4);
	ret->locals = (uint32_t)dw_il_get(bytes + 8, 4);
	ret->has_init_locals = flags & HAS_INIT_LOCALS;
	ret->code = bytes + FAT_BYTES;
	if (!ret->code_bytes || ret->code_bytes > n - FAT_BYTES)
		return false;
	if (flags & HAS_SECTIONS) {
		size_t at = (FAT_BYTES + (size_t)ret->code_bytes + 3) & ~(size_t)3;

		ret->end = bytes + n;
		ret->sections = at < n ? bytes + at : ret->end;
	}
	return true;
}

enum dw_il_refusal dw_il_open(const void *bytes, size_t n, struct dw_il_body *ret)
{
	const uint8_t *at = bytes;
	struct dw_il_body body = {0};
	enum dw_il_refusal why;

	if (!n)
		return DWELL_IL_BAD_HEADER;
	if ((*at & 3) == FORMAT_TINY) {
		body.stack_max = TINY_STACK;
		body.code = at + 1;
		body.code_bytes = *at >> 2;
		if (!body.code_bytes || body.code_bytes > n - 1)
			return DWELL_IL_BAD_HEADER;
	} else if ((*at & 7) != FORMAT_FAT || !open_fat(at, n, &body)) {
		return DWELL_IL_BAD_HEADER;
	}
	if (body.code_bytes > DWELL_IL_CODE_MAX)
		return DWELL_IL_TOO_LARGE;
	why = count_clauses(&body);
	if (why == DWELL_IL_OK)
		*ret = body;
	return why;
}

static void read_small(const uint8_t *at, struct dw_il_clause *ret)
{
	ret->kind = (uint32_t)dw_il_get(at, 2);
	ret->try_at = (uint32_t)dw_il_get(at + 2, 2);
	ret->try_bytes = at[4];
	ret->handler_at = (uint32_t)dw_il_get(at + 5, 2);
	ret->handler_bytes = at[7];
	ret->what = (uint32_t)dw_il_get(at + 8, 4);
}

static void read_fat(const uint8_t *at, struct dw_il_clause *ret)
{
	ret->kind = (uint32_t)dw_il_get(at, 4);
	ret->try_at = (uint32_t)dw_il_get(at + 4, 4);
	ret->try_bytes = (uint32_t)dw_il_get(at + 8, 4);
	ret->handler_at = (uint32_t)dw_il_get(at + 12, 4);
	ret->handler_bytes = (uint32_t)dw_il_get(at + 16, 4);
	ret->what = (uint32_t)dw_il_get(at + 20, 4);
}

bool dw_il_clause_next(const struct dw_il_body *body, struct dw_il_clause_place *place,
		       struct dw_il_clause *ret)
{
	if (!place->section && !place->at)
		place->section = body->sections;
	while (!place->left) {
		struct section section;

		if (!place->section || !read_section(place->section, body->end, &section))
			return false;
		*place = (struct dw_il_clause_place){section.next, section.clauses, section.n,
						     section.is_fat};
	}
	(place->is_fat ? read_fat : read_small)(place->at, ret);
	place->at += place->is_fat ? FAT_CLAUSE_BYTES : SMALL_CLAUSE_BYTES;
	place->left--;
	return true;
}
