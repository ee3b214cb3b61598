/*
 * A thread's restartable sequence as a mark: it stands at a sequence that is never run, and the
 * kernel, when it takes the thread from its processor, sees that the thread is not inside and
 * clears the pointer.
 *
 * Registrations of 32 bytes only: the second version, for larger ones, looks at the pointer only
 * when user code was interrupted, and kills what writes into it wrongly. The kernel tells the size
 * when the same registration is asked for again: EBUSY for an equal one, EINVAL for others. What is
 * pointed to must outlive all threads: an agent is never unloaded. The pointer may be written only
 * while the program does not use it: dw_os_rseq_is_foreign() is asked first.
 * Source: rseq(2) and linux/rseq.h.
 */
#include "agent/core/os-sources.h"
#include "agent/core/syscall-x86-64.h"

#include <errno.h>
#include <linux/rseq.h>

enum { REGISTERED_BYTES = 32, SIGNATURE = 0x53053053 };

/* The sequence, and behind the signature where the kernel would go on: it never does. */
__asm__(".pushsection .text.dw_rseq, \"ax\", @progbits\n"
	"	.balign	16\n"
	"dw_rseq_start:\n"
	"	ud2\n"
	"	ud2\n"
	"	.byte	0x0f, 0xb9, 0x3d\n" /* ud1 with the signature as distance */
	"	.long	0x53053053\n"
	"dw_rseq_abort:\n"
	"	ud2\n"
	"	.popsection\n");

extern const char dw_rseq_start[] __attribute__((visibility("hidden")));
extern const char dw_rseq_abort[] __attribute__((visibility("hidden")));

static const struct rseq_cs sequence = {
	.start_ip = (uint64_t)dw_rseq_start,
	.post_commit_offset = 4,
	.abort_ip = (uint64_t)dw_rseq_abort,
};

uint64_t *dw_os_rseq_find(ptrdiff_t offset)
{
	char *thread;
	struct rseq *r;
	long answer;

	__asm__("mov %%fs:0, %0" : "=r"(thread));
	r = (struct rseq *)(thread + offset);
	if ((int32_t)r->cpu_id < 0)
		return NULL;
	answer = dw_syscall(SYS_rseq, r, REGISTERED_BYTES, 0, SIGNATURE);
	if (!answer) /* there was none: the C library is about to make its own */
		dw_syscall(SYS_rseq, r, REGISTERED_BYTES, RSEQ_FLAG_UNREGISTER, SIGNATURE);
	return answer == -EBUSY ? (uint64_t *)&r->rseq_cs : NULL;
}

static uint64_t load(const uint64_t *pointer)
{
	return __atomic_load_n(pointer, __ATOMIC_RELAXED);
}

bool dw_os_rseq_is_foreign(const uint64_t *pointer)
{
	uint64_t value = load(pointer);

	return value && value != (uint64_t)&sequence;
}

uint32_t dw_os_rseq_arm(uint64_t *pointer)
{
	__atomic_store_n(pointer, (uint64_t)&sequence, __ATOMIC_RELAXED);
	return (uint32_t)(uint64_t)&sequence;
}

void dw_os_rseq_disarm(uint64_t *pointer)
{
	if (load(pointer) == (uint64_t)&sequence)
		__atomic_store_n(pointer, 0, __ATOMIC_RELAXED);
}
