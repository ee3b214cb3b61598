/*
 * One process that samples itself: its region, and what the ring there says, told as records of
 * perf's kinds (collect/sampled/record.h). One thread.
 */
#pragma once

#include "collect/inside/ring.h"
#include "collect/region/regions.h"
#include "collect/sampled/intake.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct dw_inside_process {
	pid_t pid;
	uint32_t region;
	int fd; /* owned, of the region */
	struct dw_inside_ring ring;
	uint64_t start_ns; /* of the program in it, CLOCK_MONOTONIC */
	uint64_t read_ns;  /* all that was told by then has been taken in */
	uint64_t gone_ns;  /* the process was seen gone first, 0 = it was not */
	uint32_t told;	   /* threads that it has told of */
	bool is_named;	   /* the process has told its name, or we read it */
	bool is_over;	   /* nobody has the region any more */
	bool is_silent;	   /* it never had one: a fork's child that did little by itself */
};

/* What reading needs of others, all borrowed. */
struct dw_inside_reader {
	struct dw_intake *intake;
	struct dw_inside_buffer buffer; /* owned by whoever has the reader */
	uint64_t malformed;
};

/* @p was forked by @parent, which is followed. 0 or -ENOMEM. */
int dw_inside_fork(struct dw_inside_reader *r, const struct dw_inside_process *p, pid_t parent);

/* A program began in @p, whose region was just seen first: @head. @is_forked: that @p was forked is
 * known already. 0 or -ENOMEM. */
int dw_inside_begin(struct dw_inside_reader *r, struct dw_inside_process *p,
		    const struct dw_region_head *head, bool is_forked);

/* Take in what @p has told since the last time. @is_last: it tells nothing more. 0 or -ENOMEM. */
int dw_inside_read(struct dw_inside_reader *r, struct dw_inside_process *p, bool is_last);
