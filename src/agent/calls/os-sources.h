/*
 * Where a thread can learn that it was switched: words that the kernel changes then, and the proof
 * that it does so here. For the agent and for `dwell doctor`: nothing of the agent's state is used.
 *
 * Both words are one thread's: it takes, arms and proves them itself. The page's word may be read
 * as long as it is mapped, the descriptor may be closed. [async-signal-safe]
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The clocks of the calling thread, read together; ticks last. */
struct dw_os_clocks {
	uint64_t mono_ns;
	uint64_t cpu_ns;
	uint64_t ticks;
};

/* Read them: two system calls. */
void dw_os_clocks_read(struct dw_os_clocks *ret);

/* How often the calling thread has left the processor of itself, to wait: not because others took
 * its place. Begins anew at 0 when it has no room. A system call. */
uint32_t dw_os_waits_read(void);

/* The ticks between @from and @to that the thread was not on a processor. */
uint64_t dw_os_blocked(const struct dw_os_clocks *from, const struct dw_os_clocks *to);

/* Map the page of a perf event of the calling thread, its word changes at each switch: in the place
 * of what is at @at, NULL = anywhere. NULL and *@ret_error = errno when that is refused, locked
 * memory has run out, or there is no room. */
void *dw_os_perf_open(void *at, int *ret_error);

/* Unmap it. From any thread of the process. */
void dw_os_perf_close(void *page);

/* The word of @page. */
const uint32_t *dw_os_perf_word(const void *page);

/*
 * The pointer of the calling thread's restartable sequence, @offset from its thread pointer as the
 * C library says. NULL: not registered, or with more than the 32 bytes for which the kernel still
 * clears the pointer at every switch.
 */
uint64_t *dw_os_rseq_find(ptrdiff_t offset);

/* Whether @pointer holds somebody's else value: the program has sequences of its own. */
bool dw_os_rseq_is_foreign(const uint64_t *pointer);

/* Let @pointer stand at a sequence that is never run. The kernel stores 0 at the next switch, and
 * at signals. The word that tells is its lower half: returned. */
uint32_t dw_os_rseq_arm(uint64_t *pointer);

/* Take our value away from @pointer. */
void dw_os_rseq_disarm(uint64_t *pointer);

/*
 * Whether a blocking call of the calling thread, without a change of its processor, changes *@word
 * (kernels of 2026 miss it). @rseq is the pointer to arm before, NULL = nothing to arm. Sleeps some
 * times 0.1 ms.
 */
bool dw_os_prove(const uint32_t *word, uint64_t *rseq);
