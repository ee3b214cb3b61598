/*
 * The container of perf.data files: its events, what is said of the recording, and its records one
 * behind the other, whatever form they are stored in.
 *
 * Three forms come to one: files, streams ("pipe mode": -o -), and either with compressed records.
 * Streams, compressed files and folders of several are first written out plainly to a file without
 * a name. Bytes are not trusted. One thread.
 */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Records of perf itself, beside the kernel's. */
enum dw_perf_user_type {
	DWELL_PERF_HEADER_ATTR = 64,
	DWELL_PERF_TRACING_DATA = 66,
	DWELL_PERF_BUILD_ID = 67,
	DWELL_PERF_FINISHED_ROUND = 68,
	DWELL_PERF_AUXTRACE = 71,
	DWELL_PERF_EVENT_UPDATE = 78,
	DWELL_PERF_FEATURE = 80,
	DWELL_PERF_COMPRESSED = 81,
	DWELL_PERF_COMPRESSED_2 = 83,
};

/* An event that was recorded. */
struct dw_perf_event {
	struct perf_event_attr attr;
	char *name; /* owned; NULL = not told */
	DW_VEC(uint64_t) ids;
};

/* The file that was mapped under a name had this build-id. */
struct dw_perf_build_id {
	char *path; /* owned */
	uint8_t id[20];
	uint8_t bytes;
};

struct dw_perf_file {
	int fd;		/* of plain records, owned */
	uint64_t begin; /* where they lie in it */
	uint64_t end;
	DW_VEC(struct dw_perf_event) events;
	DW_VEC(struct dw_perf_build_id) build_ids;
	char *host, *release, *arch; /* owned; NULL = not told */
	struct dw_buf command;	     /* perf's own command line */
};

/*
 * Open the file at @path, or the folder of `perf record --threads`; "-" = standard input. 0;
 * DWELL_ERR_FORMAT; DWELL_ERR_UNSUPPORTED (another byte order, another processor); -errno: @err has
 * one line. To be released in any case.
 */
int dw_perf_file_open(struct dw_perf_file *f, const char *path, struct dw_error *err);

/* Read @n bytes at @offset of @fd, or up to its end: their number, or -errno. */
ssize_t dw_perf_file_read(int fd, void *p, size_t n, uint64_t offset);

/* Close and free everything. */
void dw_perf_file_release(struct dw_perf_file *f);

/* Take in the record @p of @n bytes if it describes the recording. 0, DWELL_ERR_FORMAT or -ENOMEM.
 */
int dw_perf_file_describe(struct dw_perf_file *f, const void *p, size_t n);
