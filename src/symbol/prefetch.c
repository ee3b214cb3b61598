/*
 * Prefetching helpers; see prefetch.h. A question is struct head and its addresses, over a socket:
 * whoever writes to one whose other end is gone can be spared the signal. The answer comes back
 * likewise.
 */
#include "symbol/prefetch.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "symbol/helper.h"
#include "symbol/question.h"
#include "symbol/resolve.h"
#include "symbol/symbol-cache.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIFE_MS = 120000 }; /* of processor time, for each module */

struct head {
	uint64_t index, n;
};

struct dw_prefetch {
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
_Noreturn void dw_prefetch_live(const struct dw_spawned *s)
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

/*
 * Begin for the @n > 0 modules with the ids @modules, which @questions are about: all read with one
 * source's rights. All is copied, or used before this returns, and sources' files stay open in the
 * helper. 0; -ENOMEM, -errno.
 */
static int begin(const struct dw_question *questions, const uint32_t *modules, size_t n,
		 struct dw_prefetch **ret)
{
	struct dw_prefetch *e = calloc(1, sizeof *e);
	int rc;

	if (!e)
		return -ENOMEM;
	e->modules = calloc(n, sizeof *e->modules);
	rc = e->modules ? dw_helper_start(&e->helper, DWELL_SPAWN_PREFETCH, questions, n, LIFE_MS)
			: -ENOMEM;
	if (rc) {
		dw_prefetch_free(e);
		return rc;
	}
	memcpy(e->modules, modules, n * sizeof *modules);
	e->n = n;
	*ret = e;
	return 0;
}

/* The place of @module in @e. e->n = it is not there. */
static size_t place(const struct dw_prefetch *e, uint32_t module)
{
	size_t i = 0;

	while (i < e->n && e->modules[i] != module)
		i++;
	return i;
}

bool dw_prefetch_knows(const struct dw_prefetch *e, uint32_t module)
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

int dw_prefetch_ask(struct dw_prefetch *e, uint32_t module, const struct dw_question *q,
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

void dw_prefetch_free(struct dw_prefetch *e)
{
	if (!e)
		return;
	if (e->helper.pid)
		dw_helper_stop(&e->helper);
	dw_buf_release(&e->helper.buf);
	free(e->modules);
	free(e);
}

enum { PREFETCH_MODULES_MAX = 8, PREFETCH_FILE_BYTES_MAX = 64 << 20 };

/* Whether frames of the profile so far lie in modules, by id. NULL = no memory. */
static bool *modules_with_frames(const struct dw_profile *p)
{
	uint32_t frames = dw_frames_count(&p->frames), modules = dw_modules_count(&p->modules);
	bool *has = calloc((size_t)modules + 1, sizeof *has);

	for (uint32_t id = 1; id <= frames && has; id++) {
		const struct dw_frame *f = dw_frames_get(&p->frames, id);

		if (f->kind == DWELL_FRAME_CODE && f->module <= modules)
			has[f->module] = true;
	}
	return has;
}

static bool is_small(const struct dw_module_source *source)
{
	struct stat st;

	return source->fd >= 0 && !fstat(source->fd, &st) && st.st_size <= PREFETCH_FILE_BYTES_MAX;
}

/* Whether @dir has the names of all frames so far in module @id, which @q is about. */
static bool is_cached(const struct dw_profile *p, uint32_t id, const struct dw_question *q,
		      const char *dir)
{
	uint32_t frames = dw_frames_count(&p->frames);
	struct dw_symbol_cache k = {0};
	bool is = dir && dw_symbol_cache_may_keep(q) && !dw_symbol_cache_read(dir, q, &k);

	for (uint32_t i = 1; i <= frames && is; i++) {
		const struct dw_frame *f = dw_frames_get(&p->frames, i);

		is = f->kind != DWELL_FRAME_CODE || f->module != id ||
		     dw_symbol_cache_has(&k, f->svma);
	}
	dw_symbol_cache_release(&k);
	return is;
}

int dw_symbolize_prefetch(struct dw_profile *p, const struct dw_module_source *sources,
			  size_t sources_n, const char *cache_dir, struct dw_prefetch **ret)
{
	dw_auto_free bool *has = modules_with_frames(p);
	struct dw_question questions[PREFETCH_MODULES_MAX];
	uint32_t modules[PREFETCH_MODULES_MAX];
	size_t n = 0;
	int rc;

	*ret = NULL;
	if (!has)
		return -ENOMEM;
	for (uint32_t id = 1; id < sources_n && n < PREFETCH_MODULES_MAX; id++) {
		const struct dw_module_source *source = dw_module_source_at(sources, sources_n, id);

		if (id > dw_modules_count(&p->modules) || !has[id] || !source ||
		    !is_small(source) || (n && !dw_has_same_rights(questions[0].source, source)))
			continue;
		questions[n] = dw_module_question(p, source, id);
		if (!is_cached(p, id, &questions[n], cache_dir))
			modules[n++] = id;
	}
	dw_unpacked_open(cache_dir, questions, n);
	rc = n ? begin(questions, modules, n, ret) : 0;
	dw_unpacked_close(questions, n);
	return rc;
}
