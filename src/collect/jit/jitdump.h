/*
 * The jitdump of a process, which has it mapped, read as it grows. Opened as map-file.h says; it
 * must be the file that is mapped. One thread.
 */
#pragma once

#include "code/jit/jitdump.h"
#include "collect/samples/owners.h"
#include "collect/samples/record.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct dw_code_piece;
struct dw_jit_piece;
struct dw_jit_process;

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

/* Close it. */
void dw_dump_file_close(struct dw_dump_file *d);

/* Take in what has been written to the dump of @p, if it has one. 0 or -ENOMEM. */
int dw_jit_read_dump(struct dw_jit_process *p);

/* Read the lines of @piece, which has a function and whose code lies as @code says. 0 or -ENOMEM.
 */
int dw_jit_read_lines(struct dw_jit_process *p, const struct dw_jit_piece *piece,
		      const struct dw_code_piece *code);
