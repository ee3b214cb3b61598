/*
 * Early helpers; see early.h. A question is struct head and its addresses, over a socket: whoever
 * writes to one whose other end is gone can be spared the signal. The answer comes back likewise.
 */
#include "symbol/early.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "symbol/helper-process.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LIFE_MS = 120000 }; /* of processor time, for each module */

struct head {
	uint64_t index, n;
};

struct dw_early {
	struct dw_helper helper;
	uint32_t *modules; /* 0 = answered */
	size_t n;
};

/* Read @n bytes. False: there are no more. */
static bool read_all(int fd, void *p, size_t n)
{
	while (n) {
		ssize_t got = read(fd, p, n);

		if (got == 0 || (got < 0 && errno != EINTR))
			return false;
		if (got > 0) {
			p = (char *)p + got;
			n -= (size_t)got;
		}
	}
	return true;
}

/* Answer the question @h about the module of @q, whose files @r has open. */
static int answer(int fd, const struct head *h, struct dw_question *q, struct dw_resolver *r)
{
	dw_auto_free uint64_t *svmas = calloc(h->n + 1, sizeof *svmas);
	struct dw_answer a = {0};
	int rc = svmas ? 0 : -ENOMEM;

	if (!rc && !read_all(fd, svmas, h->n * sizeof *svmas))
		rc = -EPIPE;
	q->svmas = svmas;
	q->n = h->n;
	if (!rc)
		rc = dw_resolver_answer(r, q, &a);
	if (!rc)
		rc = dw_helper_tell(fd, &a);
	dw_answer_release(&a);
	return rc;
}

/* Its files are closed with it. */
_Noreturn void dw_early_live(const struct dw_spawned *s)
{
	struct dw_questions q = {0};
	struct dw_resolver **open;
	int rc = dw_helper_begin(s, &q);
	struct head h;

	open = calloc(q.n + 1, sizeof(struct dw_resolver *));
	if (!open)
		rc = -ENOMEM;
	for (size_t i = 0; i < q.n && !rc; i++) {
		rc = dw_resolver_new(&q.v[i], &open[i]);
		if (!rc)
			rc = dw_resolver_look_ahead(open[i]);
	}
	while (!rc && read_all(s->fd, &h, sizeof h) && h.index < q.n)
		rc = answer(s->fd, &h, &q.v[h.index], open[h.index]);
	_exit(rc ? 1 : 0);
}

int dw_early_begin(const struct dw_question *questions, const uint32_t *modules, size_t n,
		   struct dw_early **ret)
{
	struct dw_early *e = calloc(1, sizeof *e);
	int rc;

	if (!e)
		return -ENOMEM;
	e->modules = calloc(n, sizeof *e->modules);
	rc = e->modules ? dw_helper_start(&e->helper, DWELL_SPAWN_EARLY, questions, n, LIFE_MS)
			: -ENOMEM;
	if (rc) {
		dw_early_free(e);
		return rc;
	}
	memcpy(e->modules, modules, n * sizeof *modules);
	e->n = n;
	*ret = e;
	return 0;
}

/* The place of @module in @e. e->n = it is not there. */
static size_t place(const struct dw_early *e, uint32_t module)
{
	size_t i = 0;

	while (i < e->n && e->modules[i] != module)
		i++;
	return i;
}

bool dw_early_knows(const struct dw_early *e, uint32_t module)
{
	return e && e->helper.pid && module && place(e, module) < e->n;
}

static int send_all(int fd, const void *p, size_t n, uint64_t deadline_ns)
{
	while (n) {
		int left = dw_helper_patience_ms(deadline_ns);
		struct pollfd room = {.fd = fd, .events = POLLOUT};
		ssize_t done;

		if (!left)
			return -ETIMEDOUT;
		if (poll(&room, 1, left) <= 0)
			continue;
		done = send(fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (done < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (done > 0) {
			p = (const char *)p + done;
			n -= (size_t)done;
		}
	}
	return 0;
}

int dw_early_ask(struct dw_early *e, uint32_t module, const struct dw_question *q,
		 uint32_t timeout_ms, struct dw_answer *a)
{
	uint64_t deadline_ns = dw_clock_ns(CLOCK_MONOTONIC) + timeout_ms * 1000000ull;
	struct head h = {.n = q->n};
	size_t i = place(e, module);
	int rc;

	h.index = i;
	e->modules[i] = 0;
	rc = send_all(e->helper.fd, &h, sizeof h, deadline_ns);
	if (!rc)
		rc = send_all(e->helper.fd, q->svmas, q->n * sizeof *q->svmas, deadline_ns);
	if (!rc)
		rc = dw_helper_receive(&e->helper, q, deadline_ns, a);
	if (rc)
		dw_helper_stop(&e->helper);
	return rc;
}

void dw_early_free(struct dw_early *e)
{
	if (!e)
		return;
	if (e->helper.pid)
		dw_helper_stop(&e->helper);
	dw_buf_release(&e->helper.buf);
	free(e->modules);
	free(e);
}
