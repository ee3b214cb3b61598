/*
 * One helper process, and how it tells its answers: over a descriptor, 4 bytes of length, then
 * answer.h's form. What comes from it is untrusted. One thread.
 */
#pragma once

#include "base/buf.h"
#include "symbol/question.h"
#include "symbol/resolve.h"
#include "symbol/spawn.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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
