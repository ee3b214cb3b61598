/*
 * Signals: the program's handlers see original addresses in the context that they get.
 *
 * Each distinct handler gets an entry of its own (signals-x86-64.S), never given back, and the
 * kernel is told the entry. So flags, masks, SA_RESETHAND, queries, vfork children and races are
 * the kernel's as in a plain run; only the address is exchanged on the way in and out. x86-64's
 * kernel passes information and context to every handler, of which signal-context-x86-64.h makes
 * what they may see. After the handler the clone's address is put back; where the handler has
 * chosen another one, its clone. A handler that leaves by siglongjmp() or an exception leaves
 * nothing behind here.
 *
 * Where time is measured, handlers find the thread's tables whole: an interrupted trampoline is
 * settled, an interrupted slow path comes first (core/slow.h). Their activations nest under what
 * they interrupted; the shadow stack is told when they run on an alternate stack.
 */
#include "agent/calls/threads.h"
#include "agent/clones/clones.h"
#include "agent/clones/trampolines.h"
#include "agent/clones/signal-context.h"
#include "agent/core/agent.h"
#include "agent/core/slow.h"
#include "agent/core/system-calls.h"

#include <signal.h>

enum {
	LOWEST_HANDLER = 4096, /* below are SIG_DFL, SIG_IGN, SIG_HOLD */
};

/* Where handler @i enters, by DWELL_SIGNAL_ENTRY_BYTES; in signals-x86-64.S. */
extern const char dw_signal_entries[] __attribute__((visibility("hidden")));

enum { DWELL_SIGNAL_ENTRY_BYTES = 16 };

/*
 * Call the program's handler @i with original addresses in its context. What the entries jump to,
 * on the stack that the kernel has chosen. [async-signal-safe]
 */
void dw_signal_run(int signal, siginfo_t *info, void *context, uint32_t i);

typedef void handler(int signal, siginfo_t *info, void *context);

sighandler_t bsd_signal(int number, sighandler_t to);

/* Whether the information of @signal may hold the address of the failing instruction. */
static bool is_fault(int signal)
{
	return signal == SIGILL || signal == SIGFPE || signal == SIGTRAP || signal == SIGSEGV ||
	       signal == SIGBUS;
}

/* The address above the alternate stack that the handler has been given, 0 = it runs on the stack
 * that it has interrupted. */
static uint64_t alternate_bottom(const ucontext_t *context)
{
	uint64_t low = (uint64_t)context->uc_stack.ss_sp, bytes = context->uc_stack.ss_size;
	uint64_t here = (uint64_t)__builtin_frame_address(0);
	uint64_t before = (uint64_t)dw_context_stack(context);

	return here - low < bytes && before - low >= bytes ? (low + bytes) & -(uint64_t)8 : 0;
}

/* What the shadow stack is told, and of which thread. */
struct told {
	struct dw_thread *t;
	uint64_t bottom;
	bool (*what)(struct dw_stacks *s, uint64_t bottom);
};

static void do_tell(void *ctx)
{
	const struct told *told = ctx;

	dw_stacks_at(&told->t->stacks, dw_ticks());
	told->what(&told->t->stacks, told->bottom);
}

/* The handler begins or ends on the alternate stack below @bottom. */
static __attribute__((noinline)) void tell(uint64_t bottom,
					   bool (*what)(struct dw_stacks *s, uint64_t bottom))
{
	struct told told = {dw_thread_known(), bottom, what};

	if (told.t && dw_slow_begin((uint64_t)__builtin_frame_address(0))) {
		dw_own_stack_call(do_tell, &told);
		dw_slow_end();
	}
}

static void run(int signal, siginfo_t *info, ucontext_t *context, handler *call)
{
	uint64_t bottom = alternate_bottom(context);

	if (bottom)
		tell(bottom, dw_stacks_handler_begin);
	call(signal, info, context);
	if (bottom)
		tell(bottom, dw_stacks_handler_end);
}

void dw_signal_run(int signal, siginfo_t *info, void *context, uint32_t i)
{
	uint64_t pc = dw_context_pc(context);
	const struct dw_area *area = dw_area_of_clone(pc);
	struct dw_translated translated = {0};
	struct dw_io_call call;
	bool is_in_call;

	if (dw_slow_defer(signal, info, context))
		return;
	if (area) {
		dw_context_settle(area, context);
		translated = dw_context_translate(area, context, is_fault(signal));
		if (is_fault(signal) && info->si_code > 0 && info->si_addr == (void *)translated.pc)
			info->si_addr = (void *)translated.translated_pc;
	}
	is_in_call = dw_timing_interrupt_call(&call);
	run(signal, info, context, (handler *)dw_probe.handlers[i]);
	if (is_in_call)
		dw_timing_resume_call(&call);
	if (area)
		dw_context_restore(context, &translated);
	else if (dw_context_pc(context) != pc)
		dw_context_set_pc(context, dw_clone_of(dw_context_pc(context)));
}

static uint64_t entry(uint32_t i)
{
	return (uint64_t)dw_signal_entries + i * (uint64_t)DWELL_SIGNAL_ENTRY_BYTES;
}

/* What the kernel is told instead of the program's handler @h. */
static uint64_t wrap(uint64_t h)
{
	if (h < LOWEST_HANDLER || h == (uint64_t)SIG_ERR)
		return h;
	for (uint32_t i = 0; i < DWELL_HANDLERS; i++) {
		void *known = NULL;

		if (__atomic_compare_exchange_n(&dw_probe.handlers[i], &known, (void *)h, false,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
		    known == (void *)h)
			return entry(i);
	}
	dw_agent_drop(DWELL_DROP_HANDLERS);
	return h;
}

/* What the program is told instead of the kernel's handler @h. */
static uint64_t unwrap(uint64_t h)
{
	uint64_t i = (h - entry(0)) / DWELL_SIGNAL_ENTRY_BYTES;

	return h >= entry(0) && i < DWELL_HANDLERS && h == entry((uint32_t)i)
		       ? (uint64_t)dw_probe.handlers[i]
		       : h;
}

static sighandler_t set(sighandler_t (*real)(int, sighandler_t), int number, sighandler_t to)
{
	return real ? (sighandler_t)unwrap((uint64_t)real(number, (sighandler_t)wrap((uint64_t)to)))
		    : SIG_ERR;
}

DWELL_STAND_IN int sigaction(int number, const struct sigaction *act, struct sigaction *old)
{
	__typeof__(&sigaction) real = DW_REAL(sigaction);
	/* Of other numbers the C library reads nothing. */
	bool is_read = act && number > 0 && number < NSIG;
	struct sigaction copy;
	int result;

	if (!real)
		return -1;
	if (is_read) {
		copy = *act;
		copy.sa_handler = (sighandler_t)wrap((uint64_t)copy.sa_handler);
	}
	result = real(number, is_read ? &copy : act, old);
	if (!result && old)
		old->sa_handler = (sighandler_t)unwrap((uint64_t)old->sa_handler);
	return result;
}

DWELL_STAND_IN int sigaltstack(const stack_t *to, stack_t *old)
{
	__typeof__(&sigaltstack) real = DW_REAL(sigaltstack);
	int result = real ? real(to, old) : -1;

	dw_own_stack_look_again();
	return result;
}

DWELL_STAND_IN sighandler_t signal(int number, sighandler_t to)
{
	return set(DW_REAL(signal), number, to);
}

DWELL_STAND_IN sighandler_t bsd_signal(int number, sighandler_t to)
{
	return set(DW_REAL(bsd_signal), number, to);
}

DWELL_STAND_IN sighandler_t sysv_signal(int number, sighandler_t to)
{
	return set(DW_REAL(sysv_signal), number, to);
}

DWELL_STAND_IN sighandler_t sigset(int number, sighandler_t to)
{
	return set(DW_REAL_AS(__typeof__(&signal), "sigset"), number, to);
}

/* As <signal.h> declares sigaction(). */
#define AS_SIGACTION __attribute__((nothrow, leaf, alias("sigaction")))

extern __typeof__(sigaction) __sigaction DWELL_STAND_IN AS_SIGACTION;
extern __typeof__(signal) ssignal DWELL_STAND_IN __attribute__((alias("signal")));
extern __typeof__(sysv_signal) __sysv_signal DWELL_STAND_IN __attribute__((alias("sysv_signal")));
