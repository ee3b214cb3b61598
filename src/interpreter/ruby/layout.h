/*
 * Where fields stand in the objects of each version of Ruby. Source: the header of its own compiler
 * of 3.1, and the order of fields in those of the others (vm_core.h, iseq.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct dw_ruby_layout {
	uint16_t version;    /* 0x301 = 3.1 */
	uint8_t frame_bytes; /* of a control frame */
	uint8_t code_lines;  /* the table of lines in the body of an instruction sequence */
	uint8_t line_bytes;  /* of a row of that */
	bool has_number;     /* the first line is a number, and no object */
	uint8_t code_last;   /* the last line */
	uint8_t text_data;   /* the characters of a short string in its object, */
	bool has_length;     /* which says its length where long ones do, not in its flags */
};

/* The layout of @version, NULL = none is known. [async-signal-safe] [any-thread] */
const struct dw_ruby_layout *dw_ruby_layout(uint32_t version);
