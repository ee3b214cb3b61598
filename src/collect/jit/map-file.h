/*
 * The file /tmp/perf-PID.map of a process, read as it grows or is written anew.
 *
 * The process may be hostile and dwell may be root: the file is opened under the process's root and
 * with its rights, must be a regular file of its user or of root that is no older than the process,
 * and no more than a limit is ever read of it. One thread.
 */
#pragma once

#include "code/jit/perf-map.h"
#include "collect/samples/owners.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { DWELL_MAP_TAIL_BYTES = 64 };

/* Where the map of a process is to be found. */
struct dw_map_place {
	pid_t ns_pid;		      /* its number, as it sees itself */
	const struct dw_owner *owner; /* of the process */
	const struct dw_owner *own;   /* of this one */
	int64_t born_ns;	      /* CLOCK_REALTIME when the process began, or before */
};

struct dw_map_file {
	int fd; /* owned, -1 = none */
	dev_t device;
	ino_t inode;
	uint64_t done;			    /* bytes of it */
	uint64_t taken;			    /* bytes of all that there was */
	uint8_t tail[DWELL_MAP_TAIL_BYTES]; /* what stood before done */
	size_t tail_n;
};

#define DW_MAP_FILE_INIT \
	{                \
		.fd = -1 \
	}

typedef int dw_map_line_fn(void *ctx, const struct dw_perf_map_line *line);

/* Open the map at @where, if it is another than the open one. 0, or DWELL_ERR_NOT_FOUND where there
 * is none. */
int dw_map_file_open(struct dw_map_file *m, const struct dw_map_place *where);

/* Give @line all that have been written since the last time. Its result, when that is not 0. */
int dw_map_file_more(struct dw_map_file *m, dw_map_line_fn *line, void *ctx);

/* Close it. */
void dw_map_file_close(struct dw_map_file *m);
