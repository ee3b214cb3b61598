/* Helper processes; see helper.h. All questions go along when one is started. */
#include "symbol/helper.h"

#include "base/clock.h"
#include "symbol/helper-process.h"

#include <errno.h>
#include <unistd.h>

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

int dw_helper_run(const struct dw_question *questions, size_t n, uint32_t timeout_ms,
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
