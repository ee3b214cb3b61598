/* Helper processes; see helper.h. All questions of equal rights go along when one is started. */
#include "symbol/helper.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"
#include "symbol/resolve.h"
#include "symbol/symbol-cache.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_MAX_BYTES = 1 << 29, READ_BYTES = 1 << 18 };

int dw_helper_tell(int fd, const struct dw_answer *a)
{
	dw_auto(dw_buf) buf = DW_BUF_INIT;
	int rc = dw_answer_encode(a, &buf);
	uint32_t len = (uint32_t)buf.len;

	if (!rc)
		rc = buf.len <= ANSWER_MAX_BYTES ? dw_write_all(fd, &len, sizeof len) : -E2BIG;
	return rc ? rc : dw_write_all(fd, buf.data, buf.len);
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

_Noreturn void dw_helper_live(const struct dw_spawned *s)
{
	struct dw_questions q = {0};
	int rc = dw_helper_begin(s, &q);

	for (size_t i = 0; i < q.n && !rc; i++) {
		struct dw_answer a = {0};

		rc = dw_resolve(&q.v[i], &a);
		if (!rc)
			rc = dw_helper_tell(s->fd, &a);
		dw_answer_release(&a);
	}
	_exit(rc ? 1 : 0);
}

static int start(struct dw_helper *h, const struct dw_question *questions, size_t n,
		 uint32_t timeout_ms, struct dw_error *err)
{
	int rc = dw_helper_start(h, DWELL_SPAWN_SYMBOLS, questions, n, timeout_ms);

	return rc ? dw_error_set_errno(err, -rc, "cannot start a process for symbols") : 0;
}

/* Have @n questions answered, in order, with root and credentials of the first one's source, which
 * all share. Else as dw_ask(). */
static int run(const struct dw_question *questions, size_t n, uint32_t timeout_ms,
	       dw_helper_fn *answered, void *ctx, struct dw_error *err)
{
	struct dw_helper h = {0};
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		struct dw_answer a = {0};
		int failed = 0;

		if (!h.pid)
			rc = start(&h, questions + i, n - i, timeout_ms, err);
		if (!rc)
			failed = dw_helper_receive(
				&h, &questions[i],
				dw_clock_ns(CLOCK_MONOTONIC) + timeout_ms * 1000000ull, &a);
		if (failed)
			dw_helper_stop(&h);
		if (!rc)
			rc = failed == -ENOMEM ? failed : answered(ctx, i, failed ? NULL : &a);
		dw_answer_release(&a);
	}
	if (h.pid)
		dw_helper_stop(&h);
	dw_buf_release(&h.buf);
	return rc;
}

/* Questions of equal rights, and the number that each has for the caller. */
struct batch {
	DW_VEC(struct dw_question) questions;
	DW_VEC(size_t) numbers;
	dw_helper_fn *answered;
	void *ctx;
};

static bool is_same_root(int a, int b)
{
	struct stat sa, sb;

	if (a < 0 || b < 0)
		return a == b;
	return a == b || (!fstat(a, &sa) && !fstat(b, &sb) && sa.st_dev == sb.st_dev &&
			  sa.st_ino == sb.st_ino);
}

bool dw_has_same_rights(const struct dw_module_source *a, const struct dw_module_source *b)
{
	return a->uid == b->uid && a->gid == b->gid && a->groups_n == b->groups_n &&
	       (!a->groups_n || !memcmp(a->groups, b->groups, a->groups_n * sizeof *a->groups)) &&
	       is_same_root(a->root_fd, b->root_fd);
}

static int answered_one(void *ctx, size_t i, struct dw_answer *answer)
{
	struct batch *b = ctx;

	return b->answered(b->ctx, b->numbers.v[i], answer);
}

/* Put the question @first and all later ones of its rights into @b. */
static int collect(struct batch *b, const struct dw_question *questions, size_t n, size_t first,
		   bool *is_asked)
{
	int rc = 0;

	b->questions.n = b->numbers.n = 0;
	for (size_t i = first; i < n && !rc; i++) {
		if (is_asked[i] ||
		    !dw_has_same_rights(questions[first].source, questions[i].source))
			continue;
		is_asked[i] = true;
		rc = dw_vec_push(&b->questions, questions[i]);
		if (!rc)
			rc = dw_vec_push(&b->numbers, i);
	}
	return rc;
}

int dw_ask(const struct dw_question *questions, size_t n, uint32_t timeout_ms,
	   dw_helper_fn *answered, void *ctx, struct dw_error *err)
{
	struct batch b = {.answered = answered, .ctx = ctx};
	bool *is_asked = calloc(n + 1, sizeof *is_asked);
	int rc = is_asked ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !rc; i++) {
		if (is_asked[i])
			continue;
		rc = collect(&b, questions, n, i, is_asked);
		if (!rc)
			rc = run(b.questions.v, b.questions.n, timeout_ms, answered_one, &b, err);
	}
	dw_vec_release(&b.questions);
	dw_vec_release(&b.numbers);
	free(is_asked);
	return rc;
}
