/*
 * Helper processes; see helper.h. The questions reach the child by fork(), the answers come back
 * over a pipe: 4 bytes of length, then answer.h's form. fork() rather than a program of its own,
 * because it costs about a millisecond and the child needs the parent's tables, not its rights.
 */
#include "symbol/helper.h"

#include "base/cleanup.h"
#include "symbol/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_MAX_BYTES = 1 << 29, READ_BYTES = 1 << 18 };

struct helper {
	pid_t pid;
	int fd; /* read end of the pipe */
	struct dw_buf buf;
};

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

static int answer_one(int fd, const struct dw_question *q)
{
	struct dw_answer a = {0};
	dw_auto(dw_buf) buf = DW_BUF_INIT;
	uint32_t len;
	int rc = dw_resolve(q, &a);

	if (!rc)
		rc = dw_answer_encode(&a, &buf);
	dw_answer_release(&a);
	len = (uint32_t)buf.len;
	if (!rc)
		rc = buf.len <= ANSWER_MAX_BYTES ? write_all(fd, &len, sizeof len) : -E2BIG;
	return rc ? rc : write_all(fd, buf.data, buf.len);
}

/* The life of a helper. */
static _Noreturn void help(int fd, const struct dw_question *questions, size_t n,
			   uint32_t timeout_ms)
{
	struct dw_confinement c = {.whose = questions[0].source};
	int *keep = calloc(n + 1, sizeof *keep);
	int rc = keep ? 0 : -ENOMEM;

	if (keep)
		keep[c.keep_n++] = fd;
	for (size_t i = 0; i < n && keep; i++)
		if (questions[i].source->fd >= 0)
			keep[c.keep_n++] = questions[i].source->fd;
	c.keep = keep;
	c.cpu_seconds = (timeout_ms / 1000 + 1) * (unsigned)(n < 1000 ? n : 1000);
	if (!rc)
		rc = dw_confine(&c);
	for (size_t i = 0; i < n && !rc; i++)
		rc = answer_one(fd, &questions[i]);
	_exit(rc ? 1 : 0);
}

static int start(struct helper *h, const struct dw_question *questions, size_t n,
		 uint32_t timeout_ms, struct dw_error *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return dw_error_set_errno(err, errno, "cannot make a pipe");
	h->pid = fork();
	if (h->pid == 0)
		help(ends[1], questions, n, timeout_ms);
	close(ends[1]);
	if (h->pid < 0) {
		close(ends[0]);
		return dw_error_set_errno(err, errno, "cannot start a process for symbols");
	}
	h->fd = ends[0];
	dw_buf_clear(&h->buf);
	return 0;
}

static void stop(struct helper *h)
{
	int saved = errno;

	close(h->fd);
	kill(h->pid, SIGKILL);
	while (waitpid(h->pid, NULL, 0) < 0 && errno == EINTR)
		;
	h->pid = 0;
	errno = saved;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Read until the buffer holds @n bytes. 0; DWELL_ERR_INTERRUPTED when the helper is gone or late.
 */
static int fill(struct helper *h, size_t n, int64_t deadline_ms)
{
	while (h->buf.len < n) {
		int64_t left = deadline_ms - now_ms();
		struct pollfd p = {.fd = h->fd, .events = POLLIN};
		ssize_t got;

		if (left <= 0)
			return DWELL_ERR_INTERRUPTED;
		if (poll(&p, 1, left > 1000 ? 1000 : (int)left) <= 0)
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

/* Wait for the answer to @q. 0; an error means that the helper is of no use any more. */
static int receive(struct helper *h, const struct dw_question *q, uint32_t timeout_ms,
		   struct dw_answer *a)
{
	int64_t deadline_ms = now_ms() + timeout_ms;
	uint32_t len;
	int rc = fill(h, sizeof len, deadline_ms);

	if (rc)
		return rc;
	memcpy(&len, h->buf.data, sizeof len);
	if (len > ANSWER_MAX_BYTES)
		return DWELL_ERR_FORMAT;
	rc = fill(h, sizeof len + len, deadline_ms);
	if (!rc)
		rc = dw_answer_decode(h->buf.data + sizeof len, len, q->n, a);
	if (rc)
		return rc;
	h->buf.len -= sizeof len + len;
	memmove(h->buf.data, h->buf.data + sizeof len + len, h->buf.len);
	return 0;
}

int dw_helper_run(const struct dw_question *questions, size_t n, uint32_t timeout_ms,
		  dw_helper_fn *answered, void *ctx, struct dw_error *err)
{
	struct helper h = {0};
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		struct dw_answer a = {0};
		int failed = 0;

		if (!h.pid)
			rc = start(&h, questions + i, n - i, timeout_ms, err);
		if (!rc)
			failed = receive(&h, &questions[i], timeout_ms, &a);
		if (failed)
			stop(&h);
		if (!rc)
			rc = failed == -ENOMEM ? failed : answered(ctx, i, failed ? NULL : &a);
		dw_answer_release(&a);
	}
	if (h.pid)
		stop(&h);
	dw_buf_release(&h.buf);
	return rc;
}
