/*
 * Managed code of the processes that are sampled: what their .NET agents tell in the regions of a
 * session's folder, and which method a sampled address belongs to. One thread.
 */
#pragma once

#include "base/error.h"
#include "collect/clr/metadata.h"
#include "collect/jit/code-map.h"
#include "collect/region/regions.h"
#include "model/profile.h"
#include "unwind/space.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What the tables of a process may take: agents are to be told. */
#define DWELL_MANAGED_BUDGET ((uint64_t)64 << 20)

/* One run of a runtime in a process. */
struct dw_managed_process {
	pid_t pid;
	uint32_t region;
	uid_t uid;
	gid_t gid;
	uint64_t start_ns; /* CLOCK_MONOTONIC, as the next */
	uint64_t end_ns;   /* UINT64_MAX = it goes on */
	int fd;		   /* of the region, -1 = it is over */
	uint64_t look;	   /* at which it was read last */
	struct dw_clr_tables tables;
	struct dw_clr_metadata metadata;
	struct dw_code_map map;		      /* rows are those of DWELL_CLR_CODES */
	uint32_t codes_taken;		      /* of them */
	size_t changes_seen;		      /* of the map's */
	DW_VEC(struct dw_alloc_method) known; /* by row of methods; module 0 = not looked at yet */
};

/* An assembly that samples lie in, and the process in which it was seen first. */
struct dw_managed_module {
	uint32_t module; /* id in the profile */
	pid_t pid;
	uid_t uid;
	gid_t gid;
};

struct dw_managed {
	struct dw_profile *p; /* borrowed */
	struct dw_regions regions;
	DW_VEC(struct dw_managed_process *) processes;
	DW_VEC(struct dw_managed_module) modules;
	uint64_t look; /* counts dw_managed_drain() */
	uint64_t next_tick_ns;
	uint64_t began; /* processes */
	uint64_t lost;	/* pieces of code that were not told */
	int rc;		/* -ENOMEM that came in between */
};

/*
 * Make the session's folder, in @fallback where /dev/shm does not allow it. 0 or a negative code.
 * dw_managed_release() in any case; @m does not move in between.
 */
int dw_managed_open(struct dw_managed *m, struct dw_profile *p, const char *fallback,
		    struct dw_error *err);

/* Take in what has happened in the folder, and read regions anew from now on. 0 or -ENOMEM. */
int dw_managed_drain(struct dw_managed *m, uint64_t now_ns);

/*
 * The runtime of process @pid at @time_ns, read as far as it is, borrowed until the next drain.
 * NULL = none. *@is_other = memory may have come to hold other code since the last call for it.
 */
struct dw_managed_process *dw_managed_at(struct dw_managed *m, pid_t pid, uint64_t time_ns,
					 bool *is_other);

/*
 * The frame of @avma at @time_ns. 0; DWELL_ERR_NOT_FOUND (no code that was told); -ENOMEM.
 */
int dw_managed_frame(struct dw_managed *m, struct dw_managed_process *process, uint64_t avma,
		     uint64_t time_ns, struct dw_frame *ret);

/* The row for the unwinder at @avma (struct dw_space_rules). */
bool dw_managed_row(const struct dw_managed_process *process, uint64_t avma, uint64_t time_ns,
		    enum dw_space_place place, struct dw_cfi_row *ret);

/* Read all regions a last time. */
void dw_managed_finish(struct dw_managed *m);

/* Remove the folder and free everything. */
void dw_managed_release(struct dw_managed *m);
