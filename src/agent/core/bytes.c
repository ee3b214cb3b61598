/*
 * Bytes and texts; see bytes.h.
 *
 * Whether memory can be read the kernel tells: rt_sigprocmask() copies the new mask from the caller
 * before it judges what to do with it: told to do nothing that exists, it changes nothing and tells
 * EFAULT from EINVAL. It needs no descriptor and no right, which reads of one's own memory by other
 * calls do. Source: kernel/signal.c.
 */
#include "agent/core/bytes.h"

#include "agent/core/system-calls.h"

#include <errno.h>

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

enum {
	DWELL_READABLE_PAGE = 4096,
	DWELL_MASK_BYTES = 8,
	DWELL_TEXTS_BYTES = 6 << 20, /* of texts and pointers that execve() takes: fs/exec.c */
};

const char *dw_text_line(const char *text, const char *prefix)
{
	const char *rest = NULL;

	while (*text && !rest) {
		rest = dw_text_after(text, prefix);
		text = dw_text_find(text, '\n');
		text += *text == '\n';
	}
	return rest;
}

size_t dw_read_file(const char *path, char *to, size_t room)
{
	int fd = dw_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	long more = fd < 0 ? 0 : 1;
	size_t n = 0;

	while (more > 0 && n < room) {
		more = dw_sys_read(fd, to + n, room - n);
		n += more > 0 ? (size_t)more : 0;
	}
	if (fd >= 0)
		dw_sys_close(fd);
	return n;
}

/* Pages that have been asked for, so that neighbours are not asked for again. */
struct known {
	uintptr_t page;
};

static bool is_there(struct known *known, uintptr_t at)
{
	uintptr_t page = at & -(uintptr_t)DWELL_READABLE_PAGE;

	if (!page || (page != known->page &&
		      dw_syscall(SYS_rt_sigprocmask, -1, page, NULL, DWELL_MASK_BYTES) != -EINVAL))
		return false;
	known->page = page;
	return true;
}

bool dw_is_readable(const void *at, size_t bytes)
{
	uintptr_t from = (uintptr_t)at, last = from + bytes - 1;
	struct known known = {0};

	if (last < from)
		return !bytes;
	for (; from < last; from = (from | (DWELL_READABLE_PAGE - 1)) + 1)
		if (!is_there(&known, from))
			return false;
	return is_there(&known, last);
}

/* The bytes of @text with its end; 0 = it cannot be read, or is longer than @most. */
static size_t length(struct known *known, const char *text, size_t most)
{
	for (size_t n = 0; n < most; n++) {
		uintptr_t at = (uintptr_t)text + n;

		if ((!n || at % DWELL_READABLE_PAGE == 0) && !is_there(known, at))
			return 0;
		if (!text[n])
			return n + 1;
	}
	return 0;
}

bool dw_are_readable_texts(char *const *list)
{
	struct known entries = {0}, texts = {0};
	size_t left = DWELL_TEXTS_BYTES, bytes;

	for (; list; list++) {
		if (!is_there(&entries, (uintptr_t)list) ||
		    !is_there(&entries, (uintptr_t)(list + 1) - 1) || left < sizeof(*list))
			return false;
		if (!*list)
			return true;
		left -= sizeof(*list);
		bytes = length(&texts, *list, left);
		if (!bytes)
			return false;
		left -= bytes;
	}
	return true;
}
