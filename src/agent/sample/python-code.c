/*
 * Telling what a code object is, once: its name, its file, and its table of lines, copied as they
 * are by the kernel, so that nothing of them can fault; see python.h.
 */
#include "agent/sample/python.h"

enum {
	OBJECT_SIZE = 16,
	BYTES_DATA = 32,
	TEXT_LENGTH = 16,
	TEXT_STATE = 32,
	TEXT_BYTES = 40,
	STATE_COMPACT = 1 << 5,
	STATE_ASCII = 1 << 6,
};

/* A part of the record. */
struct part {
	uint64_t at;
	uint32_t bytes;
	uint32_t width;
};

/* The characters of the text object at @at; none if it is not of the usual kind. */
static struct part find_text(const struct dw_python_layout *l, struct dw_python_pages *pages,
			     uint64_t at)
{
	struct part p = {0};
	uint64_t length;
	uint32_t state;

	if (at % sizeof(at) || !dw_python_can_read(pages, at, TEXT_BYTES))
		return p;
	length = dw_python_word(pages, at + TEXT_LENGTH);
	state = (uint32_t)dw_python_word(pages, at + TEXT_STATE);
	p.width = state >> 2 & 7;
	if (!(state & STATE_COMPACT) || (p.width != 1 && p.width != 2 && p.width != 4))
		return (struct part){0};
	if (length > DWELL_PYTHON_TEXT_MAX / p.width)
		length = DWELL_PYTHON_TEXT_MAX / p.width;
	p.at = at + (state & STATE_ASCII ? l->text_ascii : l->text_other);
	p.bytes = (uint32_t)length * p.width;
	return p;
}

/* The contents of the object of bytes at @at, none if they are too many. */
static struct part find_bytes(struct dw_python_pages *pages, uint64_t at)
{
	struct part p = {at + BYTES_DATA, 0, 1};
	uint64_t n;

	if (at % sizeof(at) || !dw_python_can_read(pages, at, BYTES_DATA))
		return p;
	n = dw_python_word(pages, at + OBJECT_SIZE);
	p.bytes = n <= DWELL_PYTHON_LINES_MAX ? (uint32_t)n : 0;
	return p;
}

static uint32_t code_bytes(const struct dw_python_layout *l, struct dw_python_pages *pages,
			   uint64_t code)
{
	uint64_t n = dw_python_word(pages, code + OBJECT_SIZE) * 2;

	if (l->position_kind != DWELL_PYTHON_POINTER) {
		uint64_t at = dw_python_word(pages, code + l->code_bytecode);

		n = at % sizeof(at) == 0 && dw_python_can_read(pages, at, BYTES_DATA)
			    ? dw_python_word(pages, at + OBJECT_SIZE)
			    : 0;
	}
	return n < INT32_MAX ? (uint32_t)n : 0;
}

bool dw_python_tell_code(const struct dw_python_layout *l, struct dw_python_pages *pages,
			 uint64_t code, uint32_t seal)
{
	const struct part parts[] = {
		find_text(l, pages, dw_python_word(pages, code + l->code_shown)),
		find_text(l, pages, dw_python_word(pages, code + l->code_file)),
		find_bytes(pages, dw_python_word(pages, code + l->code_lines)),
	};
	const struct dw_python_code head = {
		.code = code,
		.seal = seal,
		.first_line = dw_python_half(pages, code + l->code_first_line),
		.code_bytes = code_bytes(l, pages, code),
		.lines_bytes = parts[2].bytes,
		.name = {(uint16_t)parts[0].bytes, (uint16_t)parts[0].width},
		.file = {(uint16_t)parts[1].bytes, (uint16_t)parts[1].width},
	};
	uint32_t at = sizeof(head);
	struct dw_ring_place place;

	if (!dw_ring_begin(&place, DWELL_SAMPLE_PYTHON_CODE,
			   at + parts[0].bytes + parts[1].bytes + parts[2].bytes))
		return false;
	dw_ring_write(&place, 0, &head, sizeof(head));
	for (int i = 0; i < 3; at += parts[i++].bytes)
		if (parts[i].bytes &&
		    dw_ring_copy(&place, at, parts[i].at, parts[i].bytes) != parts[i].bytes)
			break;
	dw_ring_end(&place, at); /* shorter than it says where something could not be copied */
	return true;
}
