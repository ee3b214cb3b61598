/*
 * A recording of calls: from the regions of an instrumented command to its session.
 *
 * Told of every region, question and end by whoever serves the agents (instrument.c), reads all
 * regions once a slice (sliced.h). One thread.
 */
#pragma once

#include "base/error.h"
#include "collect/region/process.h"
#include "collect/region/regions.h"
#include "record/module-image.h"
#include "record/recorder.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_call_recording;

/*
 * Begin for the command of @recorder, which waits to be executed; @own (borrowed) are our rights.
 * With a limit of overhead the first slices of a process are shorter, for what costs most to be
 * found early. What probes cost is found out by sampling where the command and all that it starts
 * are; without the kernel's leave it is what the agents say. 0 or -ENOMEM.
 */
int dw_call_recording_new(struct dw_recorder *recorder, const struct dw_rights *own,
			  struct dw_call_recording **ret);

/* A region came, of the process @p, NULL = it cannot be looked at. */
void dw_call_recording_began(struct dw_call_recording *r, const struct dw_region_look *look,
			     const struct dw_region_process *p);

/* The process @p asks about module @m, which gets @image (borrowed; NULL = none is wanted). Before
 * it is answered. */
void dw_call_recording_asked(struct dw_call_recording *r, const struct dw_region_module *m,
			     const struct dw_region_process *p, struct dw_module_image *image);

/* The process that asks @q in @regions is about to get @image, which is ready: tell it what is not
 * measured from the start. */
void dw_call_recording_predisable(struct dw_call_recording *r, struct dw_regions *regions,
				  const struct dw_region_question *q,
				  const struct dw_module_image *image);

/* A region is over, or the recording is: read it a last time. Whether methods of .NET's were
 * measured in it. */
bool dw_call_recording_ended(struct dw_call_recording *r, const struct dw_region_look *look);

/* Do what is due. 0, or the first failure, which repeats. */
int dw_call_recording_tick(struct dw_call_recording *r, struct dw_regions *regions,
			   struct dw_error *err);

/* When dw_call_recording_tick() has something to do, by CLOCK_MONOTONIC. */
uint64_t dw_call_recording_due(const struct dw_call_recording *r);

/* All regions have ended: end the last slice, and note how it went. 0 or the first failure. */
int dw_call_recording_stop(struct dw_call_recording *r);

/* Say in @options whence names come, borrowed from @r. */
void dw_call_recording_finish(struct dw_call_recording *r, struct dw_finish_options *options);

/* Free everything. NULL is fine. */
void dw_call_recording_free(struct dw_call_recording *r);
