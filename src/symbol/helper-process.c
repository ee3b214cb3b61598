/* One helper process; see helper-process.h. */
#include "symbol/helper-process.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "symbol/confine.h"
#include "symbol/unpacked.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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

/* What stays open in a helper for @questions: their files, and the root that it goes into. */
static int spawn(struct dw_helper *h, enum dw_spawn_kind kind, int fd,
		 const struct dw_question *questions, size_t n, uint32_t timeout_ms)
{
	dw_auto_free int *keep = calloc(DWELL_QUESTION_FDS * n + 1, sizeof *keep);
	dw_auto(dw_buf) input = DW_BUF_INIT;
	size_t keep_n;
	int rc;

	if (!keep)
		return -ENOMEM;
	keep_n = dw_questions_fds(questions, n, keep);
	if (questions[0].source->root_fd >= 0)
		keep[keep_n++] = questions[0].source->root_fd;
	dw_buf_put_uleb(&input, timeout_ms);
	rc = dw_questions_encode(questions, n, &input);
	return rc ? rc : dw_spawn(kind, fd, &input, keep, keep_n, &h->pid);
}

int dw_helper_start(struct dw_helper *h, enum dw_spawn_kind kind,
		    const struct dw_question *questions, size_t n, uint32_t timeout_ms)
{
	int ends[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	rc = spawn(h, kind, ends[1], questions, n, timeout_ms);
	close(ends[1]);
	if (rc) {
		h->pid = 0;
		close(ends[0]);
		return rc;
	}
	h->fd = ends[0];
	dw_buf_clear(&h->buf);
	return 0;
}

static int confine(int fd, const struct dw_questions *q, uint32_t timeout_ms)
{
	struct dw_confinement c = {.whose = q->v[0].source};
	dw_auto_free int *keep = calloc(DWELL_QUESTION_FDS * q->n + 1, sizeof *keep);

	if (!keep)
		return -ENOMEM;
	c.keep_n = dw_questions_fds(q->v, q->n, keep);
	keep[c.keep_n++] = fd;
	c.keep = keep;
	c.file_bytes = 2 * DWELL_UNPACKED_MAX_BYTES; /* no signal ends it at the limit */
	c.cpu_seconds = (timeout_ms / 1000 + 1) * (unsigned)(q->n < 1000 ? q->n : 1000);
	return dw_confine(&c);
}

int dw_helper_begin(const struct dw_spawned *s, struct dw_questions *ret)
{
	struct dw_cursor c;
	uint32_t timeout_ms;
	int rc;

	dw_cursor_init(&c, s->input, s->input_n);
	timeout_ms = (uint32_t)dw_cursor_uleb(&c);
	rc = dw_questions_decode(&c, ret);
	return rc ? rc : confine(s->fd, ret, timeout_ms);
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
