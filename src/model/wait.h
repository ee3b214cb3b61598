/*
 * What threads wait for: one row a kind, which a recording tells by the system call, its descriptor
 * and the functions that made it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sessions have these numbers: new ones come at the end. */
enum dw_wait_kind {
	DWELL_WAIT_OTHER = 0,	/* nothing of the kinds below, or nobody could look */
	DWELL_WAIT_LOCK,	/* a mutex, a lock of a file, a semaphore of System V */
	DWELL_WAIT_CONDITION,	/* another thread: a condition variable, a semaphore, a barrier */
	DWELL_WAIT_DISK,	/* files, folders, and pages of them */
	DWELL_WAIT_SOCKET,	/* somebody at the other end of one */
	DWELL_WAIT_PIPE,	/* likewise */
	DWELL_WAIT_SLEEP,	/* a time that the program chose */
	DWELL_WAIT_TIMER,	/* a timer's descriptor or signal */
	DWELL_WAIT_COLLECTION,	/* the runtime has stopped its threads */
	DWELL_WAIT_IO,		/* input or output of a descriptor that is not known */
	DWELL_WAIT_IDLE,	/* work: in event loops, in the home of a thread of a pool */
	DWELL_WAIT_CHILD,	/* the end of a process or a thread */
	DWELL_WAIT_READY,	/* a processor: what it waited for had come */
	DWELL_WAIT_INTERPRETER, /* the lock without which no thread runs Python or Ruby (GIL) */
	DWELL_WAIT_KINDS
};

/* A set of kinds: bit 1 << enum dw_wait_kind. */
typedef uint32_t dw_wait_kinds;

/* No work is waited for there that nobody else does: reports leave these out if nobody asks. */
#define DWELL_WAITS_FOLDED (1u << DWELL_WAIT_IDLE | 1u << DWELL_WAIT_CHILD | 1u << DWELL_WAIT_READY)

/* All that people name. */
#define DWELL_WAITS_ALL ((1u << DWELL_WAIT_KINDS) - 1)

/* Whether @kind is in @set. */
static inline bool dw_wait_kinds_have(dw_wait_kinds set, uint32_t kind)
{
	return set >> kind & 1;
}

/* The name of @kind, a word for options and files. Static. */
const char *dw_wait_kind_name(enum dw_wait_kind kind);

/* The kind that the @n bytes at @name mean, DWELL_WAIT_KINDS = none. */
enum dw_wait_kind dw_wait_kind_find(const char *name, size_t n);

/* The kinds that @list names, commas between, or "all" or "none". NULL, or the first word that is
 * none. */
const char *dw_wait_kinds_read(const char *list, dw_wait_kinds *ret);

/* Whose names of functions are. */
enum dw_wait_names {
	DWELL_NAMES_OF_USERS,  /* among them libraries' that everybody knows */
	DWELL_NAMES_OF_SYSTEM, /* the C library's, and what is beside it */
	DWELL_NAMES_OF_PYTHON, /* its own library's */
	DWELL_NAMES_OF_RUBY,   /* its methods in C */
	DWELL_NAMES
};

/* What a thread waits for that waits in the function @name, which is demangled. False: the name
 * tells nothing. */
bool dw_wait_kind_of_function(const char *name, enum dw_wait_names of, enum dw_wait_kind *ret);

/* Whether a runtime has threads called @name for its own purposes: to collect, to compile. */
bool dw_wait_is_service_thread(const char *name);

/* Whether threads called @name are of a runtime's pool, which calls functions of the program for
 * each piece of work. */
bool dw_wait_is_pool_thread(const char *name);
