/*
 * The regions of a session: found in its folder, watched, answered, read a last time, removed.
 *
 * Everything in the folder may come from a hostile program of another user, while we may be root:
 * only regular files with one link are opened, what is read is checked (read.h), and how many
 * regions are open, how large they are and how many questions are answered in a second is limited.
 * What goes beyond is refused and counted. One thread. The caller ignores SIGIO.
 */
#pragma once

#include "base/error.h"
#include "base/vec.h"
#include "collect/region/folder.h"
#include "collect/region/read.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	DWELL_REGIONS_MAX = 4096,	    /* open at a time */
	DWELL_ANSWERS_PER_SECOND = 20000,   /* of a session; later ones wait */
	DWELL_FOLDER_EVENTS_AT_ONCE = 1024, /* handled by one dw_regions_drain() */
};

#define DWELL_REGION_BYTES_MAX ((int64_t)8 << 30) /* of one region's file */

/* Who owns a region, as the kernel says, and which process it claims to be. */
struct dw_region_owner {
	uid_t uid;
	gid_t gid;
	pid_t pid; /* claimed: see dw_region_process_read() */
	ino_t inode;
	const char *path; /* of the region, borrowed */
};

/* A process asks for the image of a module. */
struct dw_region_question {
	uint32_t region; /* both for the answer */
	uint32_t index;
	struct dw_region_owner owner;
	const struct dw_region_module *module; /* a private copy, borrowed */
};

/* A region that was just looked at. */
struct dw_region_look {
	uint32_t region;
	int fd; /* to read what it holds, borrowed */
	struct dw_region_owner owner;
	const struct dw_region_head *head;
	bool is_over;	   /* nobody has it mapped any more */
	uint64_t alive_ns; /* CLOCK_MONOTONIC, when it last was not known to be over */
};

struct dw_regions_events {
	/* Answer now or later by dw_regions_answer(). NULL = nobody gets an image. */
	void (*asked)(void *ctx, const struct dw_region_question *q);
	/* The first look at a region, before its questions; may be NULL. */
	void (*began)(void *ctx, const struct dw_region_look *look);
	/* The last one, as it is over or the session is: it is about to be removed; questions of
	 * it are void. */
	void (*ended)(void *ctx, const struct dw_region_look *look);
	void *ctx;
};

/* What was refused or lost, for the session. */
struct dw_regions_stats {
	uint64_t regions;	  /* with a valid header */
	uint64_t refused_kind;	  /* no regular file, links, too large, not readable for us */
	uint64_t refused_format;  /* no region */
	uint64_t refused_version; /* of another dwell */
	uint64_t refused_limit;	  /* too many at a time */
	uint64_t answers;
};

struct dw_region;

struct dw_regions {
	struct dw_region_folder folder;
	struct dw_regions_events events;
	struct dw_regions_stats stats;
	DW_VEC(struct dw_region *) open;
	uint32_t last_id;
	uint64_t now_ns;    /* as of the last call that told */
	uint64_t second_ns; /* start of the second in which answers are counted */
	uint32_t answers_left;
};

/*
 * Make the session's folder (in @fallback where /dev/shm does not allow it) and watch it. 0 or
 * -errno. dw_regions_release() in any case; @r does not move in between.
 */
int dw_regions_open(struct dw_regions *r, const char *fallback,
		    const struct dw_regions_events *events, struct dw_error *err);

/* The session's folder, borrowed. */
const char *dw_regions_path(const struct dw_regions *r);

/* A descriptor that is readable when dw_regions_drain() has something to do. */
int dw_regions_fd(const struct dw_regions *r);

/* Handle what has come. True when more waits than was done at once: call again soon. */
bool dw_regions_drain(struct dw_regions *r, uint64_t now_ns);

/* What is due a few times a second: processes that have ended, questions that had to wait. */
void dw_regions_tick(struct dw_regions *r, uint64_t now_ns);

/* The process @pid, whose exit was seen, has ended at @at_ns. */
void dw_regions_exited(struct dw_regions *r, pid_t pid, uint64_t at_ns);

/* Look at all open regions that have a valid header. */
void dw_regions_each(struct dw_regions *r, void (*fn)(void *ctx, const struct dw_region_look *look),
		     void *ctx);

/*
 * Answer question @index of @region: @state with the image's @path (NULL = none), or a heartbeat
 * (DWELL_ANSWER_WORKING with a new @heartbeat). A region that is gone is fine. 0 or -errno.
 */
int dw_regions_answer(struct dw_regions *r, const struct dw_region_question *q, uint32_t state,
		      uint32_t heartbeat, const char *path);

/*
 * Tell the process that asks @q of the @n @disable_keys that are not measured from the start, by
 * index in the image (struct dw_region_header), before it is answered. 0; DWELL_ERR_LIMIT (more
 * than a region has room for); DWELL_ERR_NOT_FOUND (it is gone); -errno.
 */
int dw_regions_predisable(struct dw_regions *r, const struct dw_region_question *q,
			  const uint32_t *disable_keys, uint32_t n);

/* Whether a process has @region open or mapped, as far as the kernel tells. */
bool dw_regions_is_held(const struct dw_regions *r, uint32_t region);

/* Read everything a last time, end all regions. */
void dw_regions_finish(struct dw_regions *r);

/* Remove the folder and free everything. */
void dw_regions_release(struct dw_regions *r);
