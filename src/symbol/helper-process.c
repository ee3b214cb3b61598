/*
 * One helper process; see helper-process.h. fork() rather than a program of its own, because it
 * costs about a millisecond and the child needs the parent's tables, not its rights.
 */
#include "symbol/helper-process.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "symbol/confine.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_MAX_BYTES = 1 << 29, READ_BYTES = 1 << 18 };

static int write_all(int fd, const void *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno != EINTR)
			return -errno;
		if (done > 0) {
			p = (const char *)p + done;
			n -= (size_t)done;
		}
	}
	return 0;
}

int dw_helper_tell(int fd, const struct dw_answer *a)
{
	dw_auto(dw_buf) buf = DW_BUF_INIT;
	int rc = dw_answer_encode(a, &buf);
	uint32_t len = (uint32_t)buf.len;

	if (!rc)
		rc = buf.len <= ANSWER_MAX_BYTES ? write_all(fd, &len, sizeof len) : -E2BIG;
	return rc ? rc : write_all(fd, buf.data, buf.len);
}

int dw_helper_confine(int fd, const struct dw_question *questions, size_t n, uint32_t timeout_ms)
{
	struct dw_confinement c = {.whose = questions[0].source};
	dw_auto_free int *keep = calloc(3 * n + 1, sizeof *keep);

	if (!keep)
		return -ENOMEM;
	keep[c.keep_n++] = fd;
	for (size_t i = 0; i < n; i++) {
		const struct dw_question *q = &questions[i];
		const int fds[] = {q->source->fd, q->debug_fd, q->alt_fd};

		for (size_t k = 0; k < sizeof fds / sizeof *fds; k++)
			if (fds[k] >= 0)
				keep[c.keep_n++] = fds[k];
	}
	c.keep = keep;
	c.cpu_seconds = (timeout_ms / 1000 + 1) * (unsigned)(n < 1000 ? n : 1000);
	return dw_confine(&c);
}

void dw_helper_stop(struct dw_helper *h)
{
	int saved = errno;

	close(h->fd);
	kill(h->pid, SIGKILL);
	while (waitpid(h->pid, NULL, 0) < 0 && errno == EINTR)
		;
	h->pid = 0;
	errno = saved;
}

int dw_helper_patience_ms(uint64_t deadline_ns)
{
	uint64_t now_ns = dw_clock_ns(CLOCK_MONOTONIC), left_ms;

	if (now_ns >= deadline_ns)
		return 0;
	left_ms = (deadline_ns - now_ns) / 1000000 + 1;
	return left_ms > 1000 ? 1000 : (int)left_ms;
}

/* Read until the buffer holds @n bytes. 0; DWELL_ERR_INTERRUPTED when the helper is gone or late.
 */
static int fill(struct dw_helper *h, size_t n, uint64_t deadline_ns)
{
	while (h->buf.len < n) {
		int left = dw_helper_patience_ms(deadline_ns);
		struct pollfd p = {.fd = h->fd, .events = POLLIN};
		ssize_t got;

		if (!left)
			return DWELL_ERR_INTERRUPTED;
		if (poll(&p, 1, left) <= 0)
			continue;
		if (dw_buf_reserve(&h->buf, READ_BYTES))
			return -ENOMEM;
		got = read(h->fd, h->buf.data + h->buf.len, READ_BYTES);
		if (got == 0 || (got < 0 && errno != EINTR))
			return DWELL_ERR_INTERRUPTED;
		if (got > 0)
			h->buf.len += (size_t)got;
	}
	return 0;
}

int dw_helper_receive(struct dw_helper *h, const struct dw_question *q, uint64_t deadline_ns,
		      struct dw_answer *a)
{
	uint32_t len;
	int rc = fill(h, sizeof len, deadline_ns);

	if (rc)
		return rc;
	memcpy(&len, h->buf.data, sizeof len);
	if (len > ANSWER_MAX_BYTES)
		return DWELL_ERR_FORMAT;
	rc = fill(h, sizeof len + len, deadline_ns);
	if (!rc)
		rc = dw_answer_decode(h->buf.data + sizeof len, len, q->n, a);
	if (rc)
		return rc;
	h->buf.len -= sizeof len + len;
	memmove(h->buf.data, h->buf.data + sizeof len + len, h->buf.len);
	return 0;
}
