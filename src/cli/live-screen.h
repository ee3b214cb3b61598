/*
 * The terminal as a screen that is drawn again and again. One per process: it takes over the
 * signals that end or resize it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

struct dw_live_screen {
	bool is_terminal; /* else text is written one look behind the other */
	bool has_keys;
	size_t width, height;
	struct termios before;
};

/* Take over the terminal at stdout, if there is one and @plain is not wanted. */
void dw_live_screen_open(struct dw_live_screen *s, bool plain);

/* Draw @n bytes of @text from the top, as far as there is room. 0 or -errno: nobody can see it. */
int dw_live_screen_draw(struct dw_live_screen *s, const char *text, size_t n);

/* Wait at most @ms for a key: it, 0 = none came, -1 = a signal wants an end. */
int dw_live_screen_key(struct dw_live_screen *s, int ms);

/* Give the terminal back as it was. */
void dw_live_screen_close(struct dw_live_screen *s);
