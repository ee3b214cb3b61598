/* What the files of the reader share: its state, drawing it, asking for a word, its keys. */
#pragma once

#include "tui/reading.h"
#include "tui/screen.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A word that is being typed, in the last line. */
struct dw_prompt {
	const char *label; /* NULL = nothing is asked */
	struct dw_buf text;
};

/* The range that is being chosen on the timeline, in columns of the screen. */
struct dw_range_marks {
	size_t at[2];	 /* where it begins and ends, the end itself left out */
	unsigned moving; /* which of them keys move */
	bool is_shown;
};

struct dw_reader {
	struct dw_screen screen;
	struct dw_reading reading;
	struct dw_prompt prompt;
	struct dw_range_marks marks;
	struct dw_lines over; /* text over everything, until a key; no lines = none */
	size_t over_top;
	struct dw_buf message; /* in the last line, until the next key */
	struct dw_buf wanted;  /* what was searched last */
	struct dw_buf scratch; /* of the row at hand */
	size_t page;	       /* rows in sight */
	bool is_computing;     /* what is to be seen is not there yet */
	bool has_ended;
};

/* Draw everything. */
void dw_reader_draw(struct dw_reader *r);

/* Say @fmt in the last line, until the next key. */
void dw_reader_say(struct dw_reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Say what went wrong, and clear @err. */
void dw_reader_fail(struct dw_reader *r, struct dw_error *err);

/*
 * Ask for a word behind @label, which begins as @text. It is in r->prompt.text until the next one.
 * False: it was taken back.
 */
bool dw_reader_ask(struct dw_reader *r, const char *label, const char *text);

/* Show the text of @out, which is closed, over everything. */
void dw_reader_show_over(struct dw_reader *r, struct dw_out *out);

/* Draw the timeline into the lines of the screen from @y on. Returns how many it took: none where
 * the screen has few lines, or nothing is known. */
size_t dw_reader_draw_timeline(struct dw_reader *r, size_t y);

/* Do what @key is for. */
void dw_reader_press(struct dw_reader *r, int key);

/* Whether @key does something with rows. */
bool dw_key_is_of_rows(int key);

/* Write what all keys are for to @out. */
void dw_keys_help(struct dw_out *out);

/* Go to the next row (or the one before, @back) in which r->wanted stands, @here = or stay. */
void dw_reader_find(struct dw_reader *r, bool back, bool here);
