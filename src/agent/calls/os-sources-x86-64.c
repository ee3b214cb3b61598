/*
 * The clocks of a thread, the words that tell it of switches, and the proof that they do.
 *
 * Time off the processor is what the monotonic clock advanced more than the thread's own, as a part
 * of the ticks between the same two moments: so the rate of the TSC need not be known. The raw
 * clock, because nobody slews the thread's clock either. That one is exact to the nanosecond in
 * Linux, and leaves out what a host takes.
 *
 * PERF_COUNT_SW_DUMMY needs no privilege at perf_event_paranoid 2 and below. The kernel writes the
 * page of such an event whenever the thread comes to a processor: twice the sequence counter
 * `lock`. The mapping keeps the event alive after its descriptor is closed; it is not inherited by
 * a fork's child, and pays into the user's limit of locked memory (perf_event_mlock_kb,
 * RLIMIT_MEMLOCK).
 *
 * A thread's restartable sequence stands at one that is never run: the kernel, when it takes the
 * thread from its processor, sees that the thread is not inside and clears the pointer.
 * Registrations of 32 bytes only: the second version, for larger ones, looks at the pointer only
 * when user code was interrupted, and kills what writes into it wrongly. The kernel tells the size
 * when the same registration is asked for again: EBUSY for an equal one, EINVAL for others. What is
 * pointed to must outlive all threads: an agent is never unloaded. The pointer may be written only
 * while the program does not use it: dw_os_rseq_is_foreign() is asked first.
 *
 * The proof: block, be told by the kernel's own count that there was a switch, and look whether the
 * word says so too. Only a switch without a change of the processor proves anything: some kernels
 * miss just these. A sleep that finds its time over does not block, and the scheduler may move us,
 * so there are some tries.
 *
 * Sources: perf_event_open(2), linux/perf_event.h, rseq(2), linux/rseq.h.
 */
#include "agent/calls/os-sources.h"

#include "agent/core/bytes.h"
#include "agent/core/system-calls.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <linux/rseq.h>

static uint64_t read_ns(long clock)
{
	struct timespec t = {0, 0};

	dw_syscall(SYS_clock_gettime, clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* a * b / c in 128 bits; b <= c, c is not 0. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t high;

	__asm__("mul %[b]\n\tdiv %[c]" : "+a"(a), "=&d"(high) : [b] "r"(b), [c] "r"(c) : "cc");
	return a;
}

void dw_os_clocks_read(struct dw_os_clocks *ret)
{
	ret->mono_ns = read_ns(CLOCK_MONOTONIC_RAW);
	ret->cpu_ns = read_ns(CLOCK_THREAD_CPUTIME_ID);
	ret->ticks = dw_ticks();
}

uint32_t dw_os_waits_read(void)
{
	struct rusage usage = {.ru_nvcsw = 0};

	dw_syscall(SYS_getrusage, RUSAGE_THREAD, &usage);
	return (uint32_t)usage.ru_nvcsw;
}

uint64_t dw_os_blocked(const struct dw_os_clocks *from, const struct dw_os_clocks *to)
{
	uint64_t mono_ns = to->mono_ns - from->mono_ns, cpu_ns = to->cpu_ns - from->cpu_ns;

	/* Clocks that a tracer or a checkpoint has set back say nothing. */
	if (to->mono_ns <= from->mono_ns || to->ticks <= from->ticks || cpu_ns >= mono_ns)
		return 0;
	return scale(to->ticks - from->ticks, mono_ns - cpu_ns, mono_ns);
}

enum { PAGE_BYTES = 4096 };

static long open_event(void)
{
	struct perf_event_attr a;

	memset(&a, 0, sizeof(a));
	a.type = PERF_TYPE_SOFTWARE;
	a.size = sizeof(a);
	a.config = PERF_COUNT_SW_DUMMY;
	a.exclude_kernel = 1;
	a.exclude_hv = 1;
	return dw_syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

void *dw_os_perf_open(void *at, int *ret_error)
{
	long fd = open_event();
	void *page;

	*ret_error = fd < 0 ? (int)-fd : 0;
	if (fd < 0)
		return NULL;
	page = dw_sys_mmap(at, PAGE_BYTES, PROT_READ, MAP_SHARED | (at ? MAP_FIXED : 0), (int)fd,
			   0);
	dw_sys_close((int)fd);
	if (dw_is_mapped(page))
		return page;
	*ret_error = (int)-(long)page;
	return NULL;
}

void dw_os_perf_close(void *page)
{
	dw_sys_munmap(page, PAGE_BYTES);
}

const uint32_t *dw_os_perf_word(const void *page)
{
	return &((const struct perf_event_mmap_page *)page)->lock;
}

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

enum {
	TRIES = 10,
	/* What a sleep after the first takes, which real-time tasks, whose timers have no slack,
	 * find over before they block. */
	SLEEP_NS = 10000,
};

/* What a blocking call changes. */
struct moment {
	uint32_t switches;
	unsigned int processor;
};

static struct moment look(void)
{
	struct moment m = {.switches = dw_os_waits_read()};

	dw_syscall(SYS_getcpu, &m.processor, 0, 0);
	return m;
}

bool dw_os_prove(const uint32_t *word, uint64_t *rseq)
{
	struct moment before, after;
	uint32_t seen;

	for (int i = 0; i < TRIES; i++) {
		before = look();
		seen = rseq ? dw_os_rseq_arm(rseq) : __atomic_load_n(word, __ATOMIC_RELAXED);
		dw_sys_sleep_ns(i ? SLEEP_NS * i : 1);
		after = look();
		if (after.switches != before.switches && after.processor == before.processor)
			return __atomic_load_n(word, __ATOMIC_RELAXED) != seen;
	}
	return false;
}
