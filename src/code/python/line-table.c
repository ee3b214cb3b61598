/*
 * Three kinds of table; see line-table.h.
 *
 * 3.9: pairs of a step in bytes and a signed step in lines, the line being taken before its step.
 * 3.10: likewise, the line after its step, -128 = no line. From 3.11 on: entries of a byte with the
 * highest bit set, which has a kind and a length in units of two bytes, then what the kind needs.
 * Source: Objects/lnotab_notes.txt and Objects/locations.md of CPython.
 */
#include "code/python/line-table.h"

enum {
	VERSION_310 = 0x30a,
	VERSION_311 = 0x30b,
	NO_LINE = -128,
	BEGIN = 0x80, /* of an entry */
	KIND_STEP = 10,
	KIND_STEP_LAST = 12,
	KIND_NO_COLUMNS = 13,
	KIND_LONG = 14,
	KIND_NONE = 15,
	GROUP_BITS = 6,
	GROUPS_MAX = 6,
};

#define LINE_MAX 0x7fffffff

void dw_python_line_table_init(struct dw_python_line_table *t, uint32_t version,
			       const uint8_t *bytes, size_t n, uint32_t code_bytes,
			       uint32_t first_line)
{
	*t = (struct dw_python_line_table){.at = bytes,
					   .end = bytes + n,
					   .version = version,
					   .code_bytes = code_bytes,
					   .line = first_line};
}

/* The piece of @bytes at the position, which moves on. False: it is empty. */
static bool put(struct dw_python_line_table *t, uint32_t bytes, bool has_line,
		struct dw_python_lines *ret)
{
	uint32_t left = t->code_bytes - t->position;

	bytes = bytes < left ? bytes : left;
	*ret = (struct dw_python_lines){t->position, t->position + bytes, 0};
	if (has_line && t->line > 0 && t->line <= LINE_MAX)
		ret->line = (uint32_t)t->line;
	t->position += bytes;
	return bytes;
}

static bool next_pair(struct dw_python_line_table *t, struct dw_python_lines *ret)
{
	bool is_old = t->version < VERSION_310;

	while (t->end - t->at >= 2) {
		uint32_t bytes = t->at[0];
		int8_t step = (int8_t)t->at[1];
		bool has_line = is_old || step != NO_LINE, is_piece;

		t->at += 2;
		t->line += !is_old && has_line ? step : 0;
		is_piece = put(t, bytes, has_line, ret);
		t->line += is_old ? step : 0;
		if (is_piece)
			return true;
	}
	if (!is_old || t->is_over)
		return false;
	t->is_over = true; /* the last line has no pair */
	return put(t, UINT32_MAX, true, ret);
}

/* The signed number at the table's place: groups of six bits, the lowest first, the sign below. */
static int64_t number(struct dw_python_line_table *t)
{
	uint64_t value = 0;

	for (int i = 0; i < GROUPS_MAX && t->at < t->end && !(*t->at & BEGIN); i++) {
		uint8_t byte = *t->at++;

		value |= (uint64_t)(byte & ((1 << GROUP_BITS) - 1)) << (i * GROUP_BITS);
		if (!(byte & 1 << GROUP_BITS))
			break;
	}
	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

static bool next_entry(struct dw_python_line_table *t, struct dw_python_lines *ret)
{
	while (t->at < t->end) {
		uint8_t byte = *t->at++;
		uint8_t kind = byte >> 3 & 15;

		if (!(byte & BEGIN))
			continue;
		if (kind >= KIND_STEP && kind <= KIND_STEP_LAST)
			t->line += kind - KIND_STEP;
		else if (kind == KIND_NO_COLUMNS || kind == KIND_LONG)
			t->line += number(t);
		if (put(t, ((byte & 7u) + 1) * 2, kind != KIND_NONE, ret))
			return true;
	}
	return false;
}

bool dw_python_line_table_next(struct dw_python_line_table *t, struct dw_python_lines *ret)
{
	return t->version < VERSION_311 ? next_pair(t, ret) : next_entry(t, ret);
}

/* The character of @width bytes at @bytes. */
static uint32_t character(const uint8_t *bytes, size_t width)
{
	uint32_t c = 0;

	for (size_t i = width; i--;)
		c = c << 8 | bytes[i];
	if (c < 0x20 || c == 0x7f || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
		return '?';
	return c;
}

void dw_python_text_put(struct dw_buf *to, const uint8_t *bytes, size_t n, size_t width)
{
	for (size_t at = 0; width && at + width <= n; at += width) {
		uint32_t c = character(bytes + at, width);
		char out[4];
		size_t out_n = 0;

		if (c < 0x80) {
			out[out_n++] = (char)c;
		} else if (c < 0x800) {
			out[out_n++] = (char)(0xc0 | c >> 6);
		} else if (c < 0x10000) {
			out[out_n++] = (char)(0xe0 | c >> 12);
			out[out_n++] = (char)(0x80 | (c >> 6 & 0x3f));
		} else {
			out[out_n++] = (char)(0xf0 | c >> 18);
			out[out_n++] = (char)(0x80 | (c >> 12 & 0x3f));
			out[out_n++] = (char)(0x80 | (c >> 6 & 0x3f));
		}
		if (c >= 0x80)
			out[out_n++] = (char)(0x80 | (c & 0x3f));
		dw_buf_put(to, out, out_n);
	}
}
