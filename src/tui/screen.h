/*
 * The terminal as a full screen: taken over, drawn, read from, and given back as it was, whatever
 * happens. What goes to the terminal comes from terminfo, by ncurses.
 *
 * There is one screen at most. One thread.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Keys that are no characters; characters are what Unicode calls them. */
enum dw_key {
	DWELL_KEY_NONE = 0,
	DWELL_KEY_TAB = 9,
	DWELL_KEY_ENTER = 10,
	DWELL_KEY_ESCAPE = 27,
	DWELL_KEY_BACKSPACE = 127,
	DWELL_KEY_FIRST_OTHER = 0x110000,
	DWELL_KEY_UP = DWELL_KEY_FIRST_OTHER,
	DWELL_KEY_DOWN,
	DWELL_KEY_LEFT,
	DWELL_KEY_RIGHT,
	DWELL_KEY_PAGE_UP,
	DWELL_KEY_PAGE_DOWN,
	DWELL_KEY_HOME,
	DWELL_KEY_END,
	DWELL_KEY_BACK_TAB,
	DWELL_KEY_DRAW,	 /* none was pressed: draw again, the size may be another */
	DWELL_KEY_ENDED, /* none will come: a signal wants an end, or the terminal has gone */
};

enum dw_style {
	DWELL_STYLE_PLAIN = 0,
	DWELL_STYLE_BOLD,
	DWELL_STYLE_CHOSEN, /* the row, or the tab, that one is at */
	DWELL_STYLE_SORTED, /* the header of the column that decides the order */
	DWELL_STYLE_HEADER,
	DWELL_STYLE_HOT,
	DWELL_STYLE_CHIP,
	DWELL_STYLE_FAINT, /* what is left out */
	DWELL_STYLES_N,
};

enum { DWELL_HELD_MAX = 64, DWELL_WAKE_FDS = 2 };

struct dw_screen {
	size_t rows, columns;
	bool has_utf8; /* the user's locale has it, which says nothing of names */
	int signal;    /* that wants an end, 0 = none */
	/* DWELL_KEY_DRAW is told when one of these is readable, -1 = none, and once at this time of
	 * CLOCK_MONOTONIC, 0 = never; set by others. */
	int wake_fds[DWELL_WAKE_FDS];
	uint64_t wake_ns;
	int held[DWELL_HELD_MAX]; /* keys that come before those that are pressed, */
	size_t held_n;
};

/* Take over the terminal at stdin and stdout. 0; -ENOTTY: terminfo does not know it,
 * nothing has changed. */
int dw_screen_open(struct dw_screen *s, struct dw_error *err);

/* Give it back. */
void dw_screen_close(struct dw_screen *s);

/* The first key that is held, or else wait for one: a character or enum dw_key. A stop by Ctrl-Z is
 * served meanwhile. */
int dw_screen_key(struct dw_screen *s);

/* The same, without looking at those that are held. */
int dw_screen_fresh_key(struct dw_screen *s);

/* Hold @key: dw_screen_key() gives it later, behind others that are held. Keys without room for
 * them are forgotten. */
void dw_screen_hold(struct dw_screen *s, int key);

/* Forget the keys that are held. */
void dw_screen_drop_held(struct dw_screen *s);

/* Begin to draw: everything is blank. */
void dw_screen_clear(struct dw_screen *s);

/* Write what fits of @text, UTF-8 whose controls show as U+FFFD, from column @x of line @y on into
 * at most @width columns. What lies outside is not written. Returns the columns written. */
size_t dw_screen_put(struct dw_screen *s, size_t y, size_t x, size_t width, enum dw_style style,
		     const char *text);

/* Fill @width columns with blanks. */
void dw_screen_fill(struct dw_screen *s, size_t y, size_t x, size_t width, enum dw_style style);

/* Show what was drawn, with the cursor at column @x of the last line, SIZE_MAX = without one. */
void dw_screen_show(struct dw_screen *s, size_t x);
