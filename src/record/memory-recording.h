/*
 * A recording of allocations: from the regions of a command's .NET processes to its session.
 *
 * As record/call-recording.h: told of every region and its end by whoever serves the agents
 * (memory.c), reads all regions once a slice (sliced.h). One thread.
 */
#pragma once

#include "base/error.h"
#include "collect/region/process.h"
#include "collect/region/regions.h"
#include "record/memory.h"
#include "record/run.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_memory_recording;

/* Begin the session @output for the command @argv, which has not started. 0 or a negative code. */
int dw_memory_recording_new(const struct dw_memory_options *options,
			    struct dw_memory_recording **ret, struct dw_error *err);

/* A region came, of the process @p, NULL = it cannot be looked at. */
void dw_memory_recording_began(struct dw_memory_recording *r, const struct dw_region_look *look,
			       const struct dw_region_process *p);

/* A region is over, or the recording is: read it a last time. */
void dw_memory_recording_ended(struct dw_memory_recording *r, const struct dw_region_look *look);

/* Do what is due. 0, or the first failure, which repeats. */
int dw_memory_recording_tick(struct dw_memory_recording *r, struct dw_regions *regions,
			     struct dw_error *err);

/* Processes whose allocations were recorded. */
uint64_t dw_memory_recording_processes(const struct dw_memory_recording *r);

/* All regions have ended: write the last slice and how @run went. 0 or the first failure; what was
 * collected stays in the .partial. */
int dw_memory_recording_stop(struct dw_memory_recording *r, struct dw_run *run,
			     struct dw_error *err);

/* Finish the stopped recording's session; servers may be asked for @debuginfod_ms. 0 or a negative
 * code: the .partial stays. */
int dw_memory_recording_finish(struct dw_memory_recording *r, uint32_t debuginfod_ms,
			       struct dw_error *err);

/* Free everything, the .partial stays unless @discard. NULL is fine. */
void dw_memory_recording_free(struct dw_memory_recording *r, bool discard);
