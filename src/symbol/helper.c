/*
 * Helper processes; see helper.h. The questions reach the child by fork(), the answers come back
 * over a pipe.
 */
#include "symbol/helper.h"

#include "base/clock.h"
#include "symbol/helper-process.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* The life of a helper. */
static _Noreturn void help(int fd, const struct dw_question *questions, size_t n,
			   uint32_t timeout_ms)
{
	int rc = dw_helper_confine(fd, questions, n, timeout_ms);

	for (size_t i = 0; i < n && !rc; i++) {
		struct dw_answer a = {0};

		rc = dw_resolve(&questions[i], &a);
		if (!rc)
			rc = dw_helper_tell(fd, &a);
		dw_answer_release(&a);
	}
	_exit(rc ? 1 : 0);
}

static int start(struct dw_helper *h, const struct dw_question *questions, size_t n,
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
