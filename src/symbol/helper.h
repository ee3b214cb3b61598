/*
 * Helper processes: questions about modules answered outside of this process, with the rights of
 * their modules.
 *
 * One helper works through a list of questions. When it dies or takes too long over one, that one
 * is lost and another helper goes on with the next. It tells its answers over a descriptor: 4 bytes
 * of length, then question.h's form. What comes from it is untrusted. One thread.
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "symbol/question.h"
#include "symbol/spawn.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Receives the answer to question @i, NULL = the helper failed. The answer may be taken apart, not
 * kept. 0, or a negative code that ends the run. */
typedef int dw_helper_fn(void *ctx, size_t i, struct dw_answer *answer);

/*
 * Have @n questions answered, those of equal rights by one helper, so not in their order.
 * @timeout_ms holds for each. 0; the callback's code; -errno when no helper can be started.
 */
int dw_ask(const struct dw_question *questions, size_t n, uint32_t timeout_ms,
	   dw_helper_fn *answered, void *ctx, struct dw_error *err);

/* Whether files that @a and @b name are opened with the same root, user and groups. */
bool dw_has_same_rights(const struct dw_module_source *a, const struct dw_module_source *b);

/* One helper process. */
struct dw_helper {
	pid_t pid; /* 0 = none */
	int fd;	   /* ours */
	struct dw_buf buf;
};

/* Start one for @n questions of one source's rights, each of which may take @timeout_ms of the
 * processor. 0 and @h's pid and fd are set, or a negative code. */
int dw_helper_start(struct dw_helper *h, enum dw_spawn_kind kind,
		    const struct dw_question *questions, size_t n, uint32_t timeout_ms);

/* In the child: take the questions from what it was started with, and give up rights before they
 * are answered. 0 or a negative code: the child must end. */
int dw_helper_begin(const struct dw_spawned *s, struct dw_questions *ret);

/* In the child: write @a to @fd. 0 or a negative code. */
int dw_helper_tell(int fd, const struct dw_answer *a);

/* Wait for the answer to @q until @deadline_ns of the monotonic clock. 0, else the helper is of no
 * use any more. */
int dw_helper_receive(struct dw_helper *h, const struct dw_question *q, uint64_t deadline_ns,
		      struct dw_answer *a);

/* End it. The buffer stays. */
void dw_helper_stop(struct dw_helper *h);

/* How long to sleep in poll() at a time, in ms, until @deadline_ns, 0 = it has come. */
int dw_helper_patience_ms(uint64_t deadline_ns);
