/*
 * What a recording by sampling does for .NET: the agent that tells where managed code lies, its
 * names, its lines. Where that cannot be had the recording goes on without. One thread.
 */
#pragma once

#include "base/error.h"
#include "collect/clr/managed.h"
#include "collect/jit/jit.h"
#include "record/managed-lines.h"
#include "record/target-environment.h"

#include <stddef.h>
#include <stdint.h>

struct dw_managed_recording {
	struct dw_managed managed;
	struct dw_managed_lines lines;
	struct dw_target_environment environment; /* with this agent alone */
	struct dw_second_agent agent;		  /* for an environment beside another one */
	char mode[48];
	size_t modules_seen; /* whose lines were looked for */
	bool is_on;
	struct dw_error why_not; /* as far as is known before a runtime starts */
};

/*
 * Begin, for @p (borrowed), with the agent's file @agent, NULL = none, because of @why_not. Only
 * -ENOMEM is an error: is_on says whether there is an agent. Release in any case; @r does not move
 * in between.
 */
int dw_managed_recording_begin(struct dw_managed_recording *r, struct dw_profile *p,
			       const char *agent, const char *why_not, const char *program);

/* Look for what runtimes have told, before samples are drained. 0 or -ENOMEM. */
int dw_managed_recording_drain(struct dw_managed_recording *r, uint64_t now_ns);

/* Look for lines of what was sampled, after that, while its process lives. 0 or -ENOMEM. */
int dw_managed_recording_lines(struct dw_managed_recording *r);

/* Look for lines of what runtimes have told of @jit, which is finished. 0 or -ENOMEM. */
int dw_managed_recording_made_lines(struct dw_managed_recording *r, const struct dw_jit *jit);

/* Nothing comes any more but samples that were taken already: read all regions a last time, and
 * note in the profile's facts how it went. 0 or -ENOMEM. */
int dw_managed_recording_end(struct dw_managed_recording *r);

/* Write to @ret, of @room bytes, why code of a runtime that ran has no names, cut where it is too
 * long. Nothing when it has, or none ran. */
void dw_managed_recording_complain(const struct dw_managed_recording *r, char *ret, size_t room);

/* Remove the folder and free everything. */
void dw_managed_recording_release(struct dw_managed_recording *r);
