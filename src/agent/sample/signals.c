/*
 * The sampler's signal, out of the program's sight; see sampling.h.
 *
 * What the program sets for it is kept here and shown when asked for, as long as it is the default
 * or to ignore it: programs that set all signals so are many. Masks are set without it, since
 * threads that block all signals are many, too; whether the program has it in a mask is told by its
 * neighbours: those who set all have both. So nothing has to be kept for each thread, and whatever
 * copies masks is right. Everything else is a use of the signal: a handler, a mask or a set to wait
 * for that has it and not its neighbours, or the other way round, or that somebody sends it. Then
 * it is the program's and the kernel's matter, and the sampler takes another one. Masks that hold
 * during one call (sigsuspend() and the like) need no care: nothing of the program runs then.
 */
#include "agent/sample/sampling.h"

#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/system-calls.h"

#include <signal.h>
#include <sys/signalfd.h>

sighandler_t bsd_signal(int number, sighandler_t to);

/* What the program believes to be set: SIG_DFL or SIG_IGN, with all that it gave. */
static struct sigaction believed;

/* Whether @number is the sampler's. */
static bool is_ours(int number)
{
	return number && number == __atomic_load_n(&dw_sampling.signal, __ATOMIC_ACQUIRE);
}

static bool is_plain(sighandler_t h)
{
	return h == SIG_DFL || h == SIG_IGN;
}

/* Let the program, whose mask is @mask here, have the signal. */
static void give_way(uint64_t mask)
{
	sighandler_t to = believed.sa_handler;

	believed = (struct sigaction){.sa_handler = SIG_DFL};
	if (dw_agent_may_call())
		dw_tick_move(mask, to);
	else
		__atomic_store_n(&dw_sampling.signal, 0, __ATOMIC_RELEASE);
}

void dw_signals_end(void)
{
	int signal = __atomic_exchange_n(&dw_sampling.signal, 0, __ATOMIC_ACQ_REL);

	if (signal)
		dw_tick_give(signal, believed.sa_handler);
}

/* The words of sets that tell of all signals there are. */
static uint64_t word_of(const sigset_t *set)
{
	uint64_t word;

	memcpy(&word, set, sizeof(word));
	return word;
}

static void set_word(sigset_t *set, uint64_t word)
{
	memcpy(set, &word, sizeof(word));
}

void dw_signal_from_others(int signal, siginfo_t *info, sigset_t *mask)
{
	uint64_t shown = word_of(mask);
	long tid = dw_syscall(SYS_gettid);

	if (is_ours(signal)) {
		if (believed.sa_handler == SIG_IGN)
			return;
		if (dw_sample_is_between(shown, signal))
			shown |= dw_sample_bit(signal);
		give_way(shown);
		signal = is_ours(signal) ? 0 : signal;
		if (dw_sampling.signal)
			shown &= ~dw_sample_bit(dw_sampling.signal);
		set_word(mask, shown);
	}
	if (!signal)
		return;
	if (info->si_code == SI_TKILL)
		dw_syscall(SYS_rt_tgsigqueueinfo, dw_sys_getpid(), tid, signal, info);
	else
		dw_syscall(SYS_rt_sigqueueinfo, dw_sys_getpid(), signal, info);
}

DWELL_STAND_IN int sigaction(int number, const struct sigaction *act, struct sigaction *old)
{
	struct sigaction before = believed;

	if (is_ours(number) && act && !is_plain(act->sa_handler))
		give_way(dw_tick_mask());
	if (!is_ours(number))
		return DW_REAL(sigaction)(number, act, old);
	if (act)
		believed = *act;
	if (old)
		*old = before;
	return 0;
}

/* signal() and its kin: @real sets @to. */
static sighandler_t set(sighandler_t (*real)(int, sighandler_t), int number, sighandler_t to)
{
	sighandler_t before = believed.sa_handler;

	if (is_ours(number) && !is_plain(to))
		give_way(dw_tick_mask());
	if (!is_ours(number))
		return real ? real(number, to) : SIG_ERR;
	believed = (struct sigaction){.sa_handler = to};
	return before;
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

/* The mask that the kernel has as @mask, as the program sees it. */
static uint64_t shown(uint64_t mask)
{
	int signal = __atomic_load_n(&dw_sampling.signal, __ATOMIC_ACQUIRE);

	return signal && dw_sample_is_between(mask, signal) ? mask | dw_sample_bit(signal) : mask;
}

static uint64_t hidden(uint64_t mask)
{
	int signal = __atomic_load_n(&dw_sampling.signal, __ATOMIC_ACQUIRE);

	return signal ? mask & ~dw_sample_bit(signal) : mask;
}

/* What sigprocmask(@how, @set) makes of @mask. */
static uint64_t changed(int how, uint64_t mask, uint64_t set)
{
	return how == SIG_BLOCK ? mask | set : how == SIG_UNBLOCK ? mask & ~set : set;
}

/* sigprocmask() and its kin, @real. */
static int change_mask(int (*real)(int, const sigset_t *, sigset_t *), int how, const sigset_t *set,
		       sigset_t *old)
{
	uint64_t given = set ? word_of(set) : 0, before, wanted;
	sigset_t room = {0}, unasked;
	int error;

	old = old ? old : &unasked; /* the program's is written by the kernel first */
	if (set && how != SIG_UNBLOCK)
		set_word(&room, hidden(given));
	error = real(how, set && how != SIG_UNBLOCK ? &room : set, old);
	if (error)
		return error;
	before = shown(word_of(old));
	set_word(old, before);
	wanted = changed(how, before, given);
	if (set && shown(hidden(wanted)) != wanted) {
		give_way(wanted);
		set_word(&room, hidden(wanted));
		error = real(SIG_SETMASK, &room, NULL);
	}
	return error;
}

DWELL_STAND_IN int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return change_mask(DW_REAL(pthread_sigmask), how, set, old);
}

DWELL_STAND_IN int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	return change_mask(DW_REAL(sigprocmask), how, set, old);
}

/* @set to wait for, or a copy in @room that the sampler's signal is not in. What cannot be read is
 * for the kernel to refuse. */
static const sigset_t *without(const sigset_t *set, sigset_t *room)
{
	if (!dw_agent_may_call() || !dw_is_readable(set, sizeof(uint64_t)) ||
	    hidden(word_of(set)) == word_of(set))
		return set;
	if (shown(hidden(word_of(set))) != word_of(set)) {
		give_way(dw_tick_mask());
		return set;
	}
	*room = (sigset_t){0};
	set_word(room, hidden(word_of(set)));
	return room;
}

DWELL_STAND_IN int sigwait(const sigset_t *set, int *number)
{
	sigset_t room;

	return DW_REAL(sigwait)(without(set, &room), number);
}

DWELL_STAND_IN int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	sigset_t room;

	return DW_REAL(sigwaitinfo)(without(set, &room), info);
}

DWELL_STAND_IN int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *most)
{
	sigset_t room;

	return DW_REAL(sigtimedwait)(without(set, &room), info, most);
}

DWELL_STAND_IN int signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t room;

	return DW_REAL(signalfd)(fd, without(set, &room), flags);
}

void dw_signals_execute(bool is_so)
{
	int signal = __atomic_load_n(&dw_sampling.signal, __ATOMIC_ACQUIRE);
	uint64_t bit = signal ? dw_sample_bit(signal) : 0;
	const struct timespec now = {0, 0};

	if (!signal || !dw_agent_may_call())
		return;
	if (believed.sa_handler == SIG_IGN)
		is_so ? dw_tick_give(signal, SIG_IGN) : dw_tick_retake(signal);
	if (!dw_sample_is_between(dw_tick_mask(), signal))
		return;
	if (!is_so) {
		dw_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &bit, 0, sizeof(bit));
		dw_timers_resume();
		return;
	}
	/* What is pending stays so in the new program. */
	dw_timer_stop((uint32_t)dw_syscall(SYS_gettid));
	dw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, &bit, 0, sizeof(bit));
	while (dw_syscall(SYS_rt_sigtimedwait, &bit, NULL, &now, sizeof(bit)) == signal)
		;
}

extern __typeof__(sigaction) __sigaction DWELL_STAND_IN
	__attribute__((nothrow, leaf, alias("sigaction")));
extern __typeof__(signal) ssignal DWELL_STAND_IN __attribute__((alias("signal")));
extern __typeof__(sysv_signal) __sysv_signal DWELL_STAND_IN __attribute__((alias("sysv_signal")));
