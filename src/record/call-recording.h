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
#include "model/facts.h"
#include "record/finish.h"
#include "record/module-image.h"
#include "record/run.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_call_recording;

/* Begin the session @output for the command @argv, which has not started; @own (borrowed) are our
 * rights. 0 or a negative code. */
int dw_call_recording_new(const char *output, char *const *argv, const struct dw_rights *own,
			  struct dw_call_recording **ret, struct dw_error *err);

/* Call trees of a process may take @bytes, as its agent has been told, and less the more others
 * have. Processes that begin when all have @nodes nodes already are left out. Before anything
 * comes. */
void dw_call_recording_hold(struct dw_call_recording *r, uint64_t bytes, uint64_t nodes);

/* Let probes take at most the part @overhead of the program's own time, before anything comes; what
 * is switched off for it is counted by agents, if @counts. Then the first slices of a process are
 * shorter, for what costs most to be found early. */
void dw_call_recording_limit(struct dw_call_recording *r, double overhead, bool counts);

/* Keep names in the folder @dir (borrowed) for later recordings, and use what earlier ones have
 * left. */
void dw_call_recording_know(struct dw_call_recording *r, const char *dir);

/* Find out what probes cost by sampling where the command @pid, which has not started, and all that
 * it starts are. Without the kernel's leave costs are what the agents say. */
void dw_call_recording_watch(struct dw_call_recording *r, pid_t pid);

/* A region came, of the process @p, NULL = it cannot be looked at. */
void dw_call_recording_began(struct dw_call_recording *r, const struct dw_region_look *look,
			     const struct dw_region_process *p);

/* The process @p asks about module @m, which gets @image (borrowed; NULL = none is wanted). Before
 * it is answered. */
void dw_call_recording_asked(struct dw_call_recording *r, const struct dw_region_module *m,
			     const struct dw_region_process *p, struct dw_module_image *image);

/* The process that asks @q in @regions is about to get @image, which is ready: tell it what is not
 * measured from the start. */
void dw_call_recording_teach(struct dw_call_recording *r, struct dw_regions *regions,
			     const struct dw_region_question *q,
			     const struct dw_module_image *image);

/* A region is over, or the recording is: read it a last time. */
void dw_call_recording_ended(struct dw_call_recording *r, const struct dw_region_look *look);

/* Do what is due. 0, or the first failure, which repeats. */
int dw_call_recording_tick(struct dw_call_recording *r, struct dw_regions *regions,
			   struct dw_error *err);

/* When dw_call_recording_tick() has something to do, by CLOCK_MONOTONIC. */
uint64_t dw_call_recording_due(const struct dw_call_recording *r);

/* The facts, for what others know of the recording. Borrowed. */
struct dw_facts *dw_call_recording_facts(struct dw_call_recording *r);

/* All regions have ended: write the last slice and how @run went. 0 or the first failure; what was
 * collected stays in the .partial. */
int dw_call_recording_stop(struct dw_call_recording *r, struct dw_run *run, struct dw_error *err);

/* Finish the stopped recording's session, with code and source as @asked; where somebody
 * @is_impatient, without names that take long. 0 or a negative code: the .partial stays. */
int dw_call_recording_finish(struct dw_call_recording *r, const struct dw_finish_options *asked,
			     bool is_impatient, struct dw_error *err);

/* Free everything, the .partial stays unless @discard. NULL is fine. */
void dw_call_recording_free(struct dw_call_recording *r, bool discard);
