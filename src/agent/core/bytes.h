/*
 * Bytes and texts without the C library. memcpy(), memmove(), memset() and memcmp() stand here too,
 * hidden, for the calls that compilers make up. All are simple: an agent moves little.
 * [async-signal-safe] [any-thread]
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h> /* for those four only */

/* Bytes before the NUL. */
size_t dw_text_length(const char *text);

/* Bytes before the NUL, at most @max. */
size_t dw_text_length_max(const char *text, size_t max);

/* Whether both are the same. */
bool dw_text_equal(const char *a, const char *b);

/* What follows @prefix in @text, borrowed from it, NULL when it starts otherwise. */
const char *dw_text_after(const char *text, const char *prefix);

/* What follows "NAME=" in a word of @text, whose words are separated by one space each and end with
 * it. NULL = there is none with this @name. */
const char *dw_text_option(const char *text, const char *name);

/* Where @c stands in @text or, without one, its end. */
const char *dw_text_find(const char *text, char c);

/* Append @from to @to, which has room for @room bytes, its NUL included. False and unchanged when
 * it does not fit. */
bool dw_text_append(char *to, size_t room, const char *from);

/* The number at the start of @text, 0 without digits. */
uint64_t dw_text_number(const char *text);

/* Append @value in decimal or hexadecimal (@base 10 or 16), as dw_text_append() does. */
bool dw_text_append_number(char *to, size_t room, uint64_t value, unsigned int base);

/* What follows @prefix at the beginning of a line of @text, borrowed from it, NULL = no line begins
 * so. */
const char *dw_text_line(const char *text, const char *prefix);

/* Read the file at @path from its beginning to @to, @room bytes at most: how many there are, 0 = it
 * cannot be read. */
size_t dw_read_file(const char *path, char *to, size_t room);

/*
 * Whether what the program points to can be read. A system call given a bad pointer fails with
 * EFAULT; an agent that looks before the kernel does must not fault there.
 */

/* Whether the @bytes at @at can be read: one system call for each page of them. Only where system
 * calls may be made (dw_agent_may_call()). [async-signal-safe] [any-thread] */
bool dw_is_readable(const void *at, size_t bytes);

/*
 * Whether @list, a list of texts as execve() takes it, can be read to its end. NULL is an empty
 * one. False also for one that is larger than the kernel takes. A system call for each of its
 * pages, so only where those may be made. [async-signal-safe] [any-thread]
 */
bool dw_are_readable_texts(char *const *list);
