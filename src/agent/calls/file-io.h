/*
 * What a thread reads and writes, by file and by the innermost function with probes that called.
 *
 * System calls that move bytes through descriptors are looked at where they begin, by their
 * arguments, and counted where they end, by what the kernel returned. What a descriptor is, is
 * asked of the kernel (statx(), /proc/self/fd) when a thread first uses it, and again once somebody
 * has closed it: that is seen before the call, since close() and its like pass the same probes, and
 * costs others nothing but a switch. A number can only come back for another file after that.
 * dup2() puts another file in the place of one that others may be using at that moment, so for a
 * while after it nothing that was found out is believed for longer.
 *
 * What cannot be seen: bytes that move without such a call (mapped files, io_uring, AIO), and calls
 * that are not the C library's, or in places of it without room for probes; what these close stays
 * known by its old name. A file has the name that it had when the thread first used the descriptor.
 * Where the program forbids itself system calls, descriptors that come later are "[unnamed]", as
 * they are where there is no /proc. Sockets are one file, pipes too.
 *
 * For the thread itself, in its slow path, if nothing else is said.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct dw_thread;

enum dw_io_side { DWELL_IO_READ, DWELL_IO_WRITE, DWELL_IO_SIDES };

/* A call that has begun. */
struct dw_io_call {
	uint32_t rows[DWELL_IO_SIDES]; /* lines; 0 = there was no room */
	uint32_t function;
	uint32_t forks;	  /* of its thread: in a fork's child these lines are gone */
	uint64_t ticks;	  /* that it took before a handler interrupted it */
	uint8_t shape;	  /* which arguments are what, 0 = there is no such call */
	uint8_t sides;	  /* bits: what it does */
	uint8_t nameless; /* bits: of these the descriptors that nothing is known of */
};

/* Of a thread; zero-initialised. */
struct dw_file_io {
	struct dw_io_tables *tables; /* NULL = none yet */
	uint32_t other;		     /* line: what has no room, 0 = none yet */
	struct dw_io_call call;
};

/* Begin for a thread that has a new line: nothing of what @io has is in its region. */
void dw_file_io_start(struct dw_file_io *io);

/*
 * System call @number is about to be made with these arguments: forget what it closes. It need not
 * succeed. In any task, measured or not. [async-signal-safe] [any-thread]
 */
void dw_file_io_forget(uint64_t number, uint64_t first, uint64_t second);

/* System call @number of @t begins with @arguments, the first three. */
void dw_file_io_begin(struct dw_thread *t, uint64_t number, const uint64_t arguments[3]);

/* The call that began last has ended with @result, after @ticks; @second is its second argument.
 */
void dw_file_io_end(struct dw_thread *t, int64_t result, uint64_t second, uint64_t ticks);

/* A handler runs @ticks after it began: what is to be given to dw_file_io_resume(). */
struct dw_io_call dw_file_io_interrupt(struct dw_thread *t, uint64_t ticks);

/* Go on with @call: the handler has returned. */
void dw_file_io_resume(struct dw_thread *t, const struct dw_io_call *call);
