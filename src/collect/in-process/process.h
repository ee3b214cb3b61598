/*
 * Reading the ring of a region (wire/samples.h), which a hostile program may write: everything is
 * copied first and checked then. One thread.
 */
#pragma once

#include "collect/region/regions.h"
#include "collect/samples/dispatcher.h"
#include "wire/samples.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Of one region; zero-initialised. */
struct dw_in_process_ring {
	uint64_t at;	   /* of its chunk in the file, 0 = not found yet */
	uint64_t bytes;	   /* of the ring, 0 = not ready yet */
	uint64_t position; /* all before it was taken */
	uint64_t lost;	   /* samples without room, as the target says */
	uint64_t threads_refused;
	uint32_t off; /* enum dw_sample_off */
	bool is_bad;  /* it made no sense: nothing is read any more */
	bool is_read; /* all was taken that stood there when it was read last */
};

/* A checked record, borrowed until the next read. */
struct dw_in_process_record {
	uint32_t kind; /* enum dw_sample_kind */
	int32_t tid;
	uint64_t time_ns;
	const uint8_t *content; /* aligned as uint64_t */
	uint32_t content_bytes;
};

/* Where records are copied to, for any number of rings; zero-initialised. */
struct dw_in_process_buffer {
	uint8_t *bytes; /* owned, freed by whoever has the buffer */
	size_t cap;
};

/*
 * Hand all whole records of the region @fd to @take, whose result other than 0 ends it and is
 * returned, and give their room back. They come in their order, but mappings before the samples
 * since the mappings before. @is_last: nobody writes any more, so what was begun is left out. 0 or
 * -ENOMEM.
 */
int dw_in_process_ring_read(struct dw_in_process_ring *r, int fd,
			    struct dw_in_process_buffer *buffer, bool is_last,
			    int (*take)(void *ctx, const struct dw_in_process_record *record),
			    void *ctx);

/*
 * One process that samples itself: its region, and what the ring there says, told as records of
 * perf's kinds (collect/samples/record.h).
 */

struct dw_sampled_process {
	pid_t pid;
	uint32_t region;
	int fd; /* owned, of the region */
	struct dw_in_process_ring ring;
	uint64_t start_ns; /* of the program in it, CLOCK_MONOTONIC */
	uint64_t read_ns;  /* all that was told by then has been taken in */
	uint64_t gone_ns;  /* the process was seen gone first, 0 = it was not */
	uint32_t told;	   /* threads that it has told of */
	bool is_named;	   /* the process has told its name, or we read it */
	bool is_over;	   /* nobody has the region any more */
	bool is_silent;	   /* it never had one: a fork's child that did little by itself */
};

/* What reading needs of others, all borrowed. */
struct dw_in_process_reader {
	struct dw_dispatcher *dispatcher;
	struct dw_in_process_buffer buffer; /* owned by whoever has the reader */
	uint64_t malformed;
};

/* @p was forked by @parent, which is followed. 0 or -ENOMEM. */
int dw_in_process_fork(struct dw_in_process_reader *r, const struct dw_sampled_process *p,
		       pid_t parent);

/* A program began in @p, whose region was just seen first: @head. @is_forked: that @p was forked is
 * known already. 0 or -ENOMEM. */
int dw_in_process_begin(struct dw_in_process_reader *r, struct dw_sampled_process *p,
			const struct dw_region_head *head, bool is_forked);

/* Take in what @p has told since the last time. @is_last: it tells nothing more. 0 or -ENOMEM. */
int dw_in_process_read(struct dw_in_process_reader *r, struct dw_sampled_process *p, bool is_last);
