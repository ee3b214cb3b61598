/*
 * The jitdump of a process, which has it mapped, read as it grows. Opened as map-file.h says; it
 * must be the file that is mapped. One thread.
 */
#pragma once

#include "code/jit/jitdump.h"
#include "collect/sampled/owners.h"
#include "collect/sampled/record.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct dw_dump_file {
	int fd; /* owned, -1 = none */
	struct dw_jitdump_header header;
	bool has_header;
	bool is_over;  /* nothing more can be read */
	uint64_t done; /* bytes */
};

#define DW_DUMP_FILE_INIT \
	{                 \
		.fd = -1  \
	}

/* Whom a dump belongs to. */
struct dw_dump_owner {
	pid_t pid;
	const struct dw_owner *owner; /* of the process */
	const struct dw_owner *own;   /* of this one */
};

/* Whether a mapped file of that name is a jitdump: .../jit-NUMBER.dump. */
bool dw_dump_file_is(const char *path);

/* Open what @mapping of a process shows. 0 or a negative code. */
int dw_dump_file_open(struct dw_dump_file *d, const struct dw_dump_owner *who,
		      const struct dw_perf_mapping *mapping);

/* A record, which stands at @at in the file. */
typedef int dw_dump_record_fn(void *ctx, const struct dw_jitdump_record *r, uint64_t at);

/* Give @record all that have been written since the last time. Its result, when that is not 0. */
int dw_dump_file_more(struct dw_dump_file *d, dw_dump_record_fn *record, void *ctx);

/* Close it. */
void dw_dump_file_close(struct dw_dump_file *d);
