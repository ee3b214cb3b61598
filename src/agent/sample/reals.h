/*
 * The functions that the sampling agent stands in for, as the program would get them without it.
 * Found when first needed. [async-signal-safe] [any-thread]
 */
#pragma once

#define DWELL_SAMPLE_REALS(X) \
	X(bsd_signal)         \
	X(dl_iterate_phdr)    \
	X(dlclose)            \
	X(pthread_create)     \
	X(pthread_sigmask)    \
	X(ptrace)             \
	X(sigaction)          \
	X(signal)             \
	X(signalfd)           \
	X(sigprocmask)        \
	X(sigset)             \
	X(sigtimedwait)       \
	X(sigwait)            \
	X(sigwaitinfo)        \
	X(sysv_signal)        \
	X(thrd_create)

#define DW_SAMPLE_REAL_ID(name) DWELL_SAMPLE_REAL_##name,
enum dw_sample_real { DWELL_SAMPLE_REALS(DW_SAMPLE_REAL_ID) DWELL_SAMPLE_REALS_N };
#undef DW_SAMPLE_REAL_ID

/* The real function, NULL when no module defines it. */
void *dw_sample_real_of(enum dw_sample_real id);

/* The real function as one of the type of its stand-in. */
#define DW_SAMPLE_REAL(name) ((__typeof__(&name))dw_sample_real_of(DWELL_SAMPLE_REAL_##name))
