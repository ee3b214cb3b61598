/*
 * Asking the kernel whether memory can be read; see readable.h.
 *
 * rt_sigprocmask() copies the new mask from the caller before it judges what to do with it: told to
 * do nothing that exists, it changes nothing and tells EFAULT from EINVAL. It needs no descriptor
 * and no right, which reads of one's own memory by other calls do. Source: kernel/signal.c.
 */
#include "agent/core/readable.h"

#include "agent/core/syscall-x86-64.h"

#include <errno.h>

enum {
	DWELL_READABLE_PAGE = 4096,
	DWELL_MASK_BYTES = 8,
	DWELL_TEXTS_BYTES = 6 << 20, /* of texts and pointers that execve() takes: fs/exec.c */
};

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
