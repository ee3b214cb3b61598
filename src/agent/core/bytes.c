/*
 * Bytes and texts without the C library.
 *
 * The functions that compilers call by themselves are string instructions, so that no compiler can
 * turn a loop in them back into a call to themselves. Built for general registers only, like
 * everything in an agent.
 */
#include "agent/core/bytes.h"

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
	void *start = to;

	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
	return start;
}

void *memmove(void *to, const void *from, size_t bytes)
{
	char *end = (char *)to + bytes - 1;
	const char *last = (const char *)from + bytes - 1;

	if ((uintptr_t)to - (uintptr_t)from >= bytes)
		return memcpy(to, from, bytes);
	__asm__ volatile("std; rep movsb; cld" : "+D"(end), "+S"(last), "+c"(bytes) : : "memory");
	return to;
}

void *memset(void *to, int byte, size_t bytes)
{
	void *start = to;

	__asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(byte) : "memory");
	return start;
}

int memcmp(const void *a, const void *b, size_t bytes)
{
	const unsigned char *x = a, *y = b;

	for (size_t i = 0; i < bytes; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

size_t dw_text_length_max(const char *text, size_t max)
{
	size_t n = 0;

	while (n < max && text[n])
		n++;
	return n;
}

size_t dw_text_length(const char *text)
{
	return dw_text_length_max(text, SIZE_MAX);
}

bool dw_text_equal(const char *a, const char *b)
{
	const char *rest = dw_text_after(a, b);

	return rest && !*rest;
}

const char *dw_text_after(const char *text, const char *prefix)
{
	for (; *prefix; text++, prefix++)
		if (*text != *prefix)
			return NULL;
	return text;
}

const char *dw_text_find(const char *text, char c)
{
	while (*text && *text != c)
		text++;
	return text;
}

const char *dw_text_option(const char *text, const char *name)
{
	const char *value;

	while (*text) {
		value = dw_text_after(text, name);
		if (value && *value == '=')
			return value + 1;
		text = dw_text_find(text, ' ');
		text += *text == ' ';
	}
	return NULL;
}

bool dw_text_append(char *to, size_t room, const char *from)
{
	size_t at = dw_text_length_max(to, room), more = dw_text_length(from) + 1;

	if (more > room - at)
		return false;
	memcpy(to + at, from, more);
	return true;
}

uint64_t dw_text_number(const char *text)
{
	uint64_t value = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		value = value * 10 + (uint64_t)(*text - '0');
	return value;
}

bool dw_text_append_number(char *to, size_t room, uint64_t value, unsigned int base)
{
	char digits[24];
	char *at = digits + sizeof(digits) - 1;

	*at = '\0';
	do {
		*--at = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	return dw_text_append(to, room, at);
}
