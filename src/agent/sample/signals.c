/*
 * The sampler's signal, out of the program's sight; see signals.h.
 *
 * What the program sets for it is kept here and shown when asked for, as long as it is the default
 * or to ignore it: programs that set all signals so are many. A handler of its own is a use of the
 * signal: then the sampler goes away for good, and the handler is the kernel's matter. Masks are
 * set without it, since threads that block all signals are many, too, and sets to wait for have it
 * not. Masks that hold during one call (sigsuspend() and the like) need no care: nothing of the
 * program runs then.
 */
#include "agent/sample/signals.h"

#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/readable.h"
#include "agent/core/syscall-x86-64.h"
#include "agent/sample/reals.h"
#include "agent/sample/sampling.h"
#include "agent/sample/tick.h"

#include <signal.h>
#include <sys/signalfd.h>

#define STAND_IN __attribute__((visibility("default")))

sighandler_t bsd_signal(int number, sighandler_t to);

/* What the program believes to be set: SIG_DFL or SIG_IGN, with all that it gave. */
static struct sigaction believed;

void dw_signal_from_others(int signal)
{
	long self = dw_syscall(SYS_gettid);

	if (believed.sa_handler == SIG_IGN)
		return;
	dw_tick_end();
	dw_syscall(SYS_tgkill, dw_sys_getpid(), self, signal);
}

/* Whether @number is the sampler's, in use. */
static bool is_ours(int number)
{
	return number == DWELL_SAMPLE_SIGNAL && dw_sampling_is_on();
}

static bool is_plain(sighandler_t h)
{
	return h == SIG_DFL || h == SIG_IGN;
}

/* Let the program have the signal. */
static void give_way(void)
{
	dw_sampling_stop(DWELL_SAMPLE_OFF_SIGNAL);
	dw_tick_end();
}

STAND_IN int sigaction(int number, const struct sigaction *act, struct sigaction *old)
{
	struct sigaction before = believed;

	if (is_ours(number) && act && !is_plain(act->sa_handler))
		give_way();
	if (!is_ours(number))
		return DW_SAMPLE_REAL(sigaction)(number, act, old);
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
		give_way();
	if (!is_ours(number))
		return real ? real(number, to) : SIG_ERR;
	believed = (struct sigaction){.sa_handler = to};
	return before;
}

STAND_IN sighandler_t signal(int number, sighandler_t to)
{
	return set(DW_SAMPLE_REAL(signal), number, to);
}

STAND_IN sighandler_t bsd_signal(int number, sighandler_t to)
{
	return set(DW_SAMPLE_REAL(bsd_signal), number, to);
}

STAND_IN sighandler_t sysv_signal(int number, sighandler_t to)
{
	return set(DW_SAMPLE_REAL(sysv_signal), number, to);
}

STAND_IN sighandler_t sigset(int number, sighandler_t to)
{
	return set((__typeof__(&signal))dw_sample_real_of(DWELL_SAMPLE_REAL_sigset), number, to);
}

/* @set, or a copy in @room that the sampler's signal is not in. */
static const sigset_t *without(const sigset_t *set, sigset_t *room)
{
	const uint64_t bit = 1ull << (DWELL_SAMPLE_SIGNAL - 1);
	uint64_t word;

	if (!set || !dw_sampling_is_on())
		return set;
	memcpy(&word, set, sizeof(word));
	if (!(word & bit))
		return set;
	word &= ~bit;
	memcpy(room, set, sizeof(*room));
	memcpy(room, &word, sizeof(word));
	return room;
}

/* Likewise where the C library leaves it to the kernel to find that @set cannot be read. */
static const sigset_t *wait_without(const sigset_t *set, sigset_t *room)
{
	return dw_agent_may_call() && dw_is_readable(set, sizeof(uint64_t)) ? without(set, room)
									    : set;
}

STAND_IN int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t room;

	return DW_SAMPLE_REAL(pthread_sigmask)(how, how == SIG_UNBLOCK ? set : without(set, &room),
					       old);
}

STAND_IN int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t room;

	return DW_SAMPLE_REAL(sigprocmask)(how, how == SIG_UNBLOCK ? set : without(set, &room),
					   old);
}

STAND_IN int sigwait(const sigset_t *set, int *number)
{
	sigset_t room;

	return DW_SAMPLE_REAL(sigwait)(wait_without(set, &room), number);
}

STAND_IN int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	sigset_t room;

	return DW_SAMPLE_REAL(sigwaitinfo)(wait_without(set, &room), info);
}

STAND_IN int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *most)
{
	sigset_t room;

	return DW_SAMPLE_REAL(sigtimedwait)(wait_without(set, &room), info, most);
}

STAND_IN int signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t room;

	return DW_SAMPLE_REAL(signalfd)(fd, wait_without(set, &room), flags);
}

extern __typeof__(sigaction) __sigaction STAND_IN
	__attribute__((nothrow, leaf, alias("sigaction")));
extern __typeof__(signal) ssignal STAND_IN __attribute__((alias("signal")));
extern __typeof__(sysv_signal) __sysv_signal STAND_IN __attribute__((alias("sysv_signal")));
