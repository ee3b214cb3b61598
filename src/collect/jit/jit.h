/*
 * Code that runtimes make at run time (just-in-time compilers, perf trampolines), as they tell it
 * in files: which function lay at an address of a process at a time.
 *
 * A process gets a registry when the first sample lies in memory that no file tells of. One thread.
 */
#pragma once

#include "base/buf.h"
#include "code/cfi/table-format.h"
#include "collect/jit/code-map.h"
#include "collect/jit/dotnet-registry.h"
#include "collect/jit/jitdump.h"
#include "collect/jit/functions.h"
#include "collect/jit/lines.h"
#include "collect/jit/map-file.h"
#include "model/symbol.h"
#include "unwind/space.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { DWELL_JIT_BEGIN_BYTES = 32 };

/* The first bytes of a piece of code, read once. */
struct dw_jit_begin {
	uint8_t bytes[DWELL_JIT_BEGIN_BYTES];
	uint8_t n; /* 0 = not read yet */
};

/* Where a walk stands. */
struct dw_jit_where {
	pid_t pid;
	uint64_t start, end; /* of the piece, avma */
	uint64_t avma;
	enum dw_space_place place;
	bool is_dotnet; /* its code begins and ends as .NET's does */
};

enum { DWELL_JIT_PIECES_MAX = 1 << 20 }; /* of one process */

/* A piece of code, by its number in the code map. */
struct dw_jit_piece {
	uint32_t name_n;
	uint32_t function;    /* id, 0 = no sample lay in it */
	uint64_t name_at;     /* in the registry's texts */
	uint64_t svma;	      /* of its first byte, once it has a function */
	uint64_t lines_at;    /* where the record of its lines stands in the dump */
	uint32_t lines_bytes; /* of that, 0 = none */
	struct dw_jit_begin begin;
};

struct dw_jit_process {
	struct dw_jit *jit;
	struct dw_map_place where;
	pid_t pid;
	uint32_t anon;	       /* id of the module of its code without a file, 0 = not known */
	size_t index;	       /* among the processes */
	uint64_t look;	       /* at which its file was read last */
	uint64_t told_ns;      /* when that was, CLOCK_MONOTONIC */
	uint64_t search_at_ns; /* not before this time is a map searched for again */
	uint64_t search_wait_ns;
	struct dw_jit_assemblies assemblies;
	struct dw_map_file file;
	struct dw_dump_file dump;
	struct dw_map by_index; /* of code in the dump -> its newest piece */
	uint64_t lines_at;	/* of what the dump tells next, as for a piece */
	uint32_t lines_bytes;
	struct dw_jit_open open;
	struct dw_code_map map;
	DW_VEC(struct dw_jit_piece) pieces; /* index 0 unused */
	struct dw_buf texts;
	size_t changes_seen;   /* of the map's */
	uint32_t pieces_asked; /* of pieces, when an address was not found */
	bool has_missed;       /* some address was not found since the last new pieces */
	bool has_unnamed;      /* some frame has no name until the end */
	bool is_over;
	struct dw_dotnet_registry dotnet;
};

/* An assembly whose PDB may have lines of JIT code. */
struct dw_jit_assembly {
	uint32_t module; /* id in the profile */
	uint32_t path;	 /* among the functions' texts */
	const struct dw_owner *owner;
};

struct dw_jit {
	struct dw_jit_functions functions;
	struct dw_jit_lines lines;
	struct dw_jit_ils ils;
	DW_VEC(struct dw_jit_assembly) il_of; /* of their modules */
	struct dw_jit_pendings pendings;
	DW_VEC(struct dw_jit_process *) processes;
	bool asks_dotnet; /* have .NET runtimes that run already tell of their code */
	uint64_t look;	  /* counts dw_jit_look() */
	int64_t born_ns;  /* CLOCK_REALTIME when it began */
	uint64_t dropped; /* pieces beyond what is kept of a process */
	uint64_t maps;	  /* files that were read */
};

/* Start empty. @p is borrowed until dw_jit_close(). */
void dw_jit_init(struct dw_jit *j, struct dw_profile *p);

/* Files may have grown: they are read again when a sample needs them. */
void dw_jit_look(struct dw_jit *j);

/* Descriptors on which runtimes send what dw_jit_look() takes, at most @room, into @fds. How many.
 */
size_t dw_jit_poll_fds(const struct dw_jit *j, struct pollfd *fds, size_t room);

/*
 * A registry of the code of process @pid; @owner and @own are borrowed until release. NULL = no
 * memory.
 */
struct dw_jit_process *dw_jit_begin(struct dw_jit *j, pid_t pid, const struct dw_owner *owner,
				    const struct dw_owner *own);

/* @mapping of @p is a jitdump (dw_dump_file_is()): read what it tells from now on. */
void dw_jit_use_dump(struct dw_jit_process *p, const struct dw_perf_mapping *mapping);

/* Keep the @n bytes at @name as that of @piece. 0 or -ENOMEM. */
int dw_jit_keep_name(struct dw_jit_process *p, const char *name, size_t n,
		     struct dw_jit_piece *piece);

/*
 * Bring @p up to date for a sample at @time_ns (CLOCK_MONOTONIC). @anon is the module of its code
 * without a file, 0 = none yet. *@is_other = memory may have come to hold other code, or names,
 * since the last call. 0 or -ENOMEM.
 */
int dw_jit_update(struct dw_jit_process *p, uint32_t anon, uint64_t time_ns, bool *is_other);

/* The frame of @avma at @time_ns. 0, DWELL_ERR_NOT_FOUND or -ENOMEM. */
int dw_jit_frame(struct dw_jit_process *p, uint64_t avma, uint64_t time_ns, struct dw_frame *ret);

/* The row for the unwinder at @avma (struct dw_space_rules). */
bool dw_jit_row(struct dw_jit_process *p, uint64_t avma, uint64_t time_ns,
		enum dw_space_place place, struct dw_cfi_row *ret);

/* The process has ended or executes another program: its file is read once more, and it is kept
 * only if that may name what was not found. NULL is fine. */
void dw_jit_end(struct dw_jit_process *p);

/* All samples have come: read all files a last time and name what is open. 0 or -ENOMEM. */
int dw_jit_finish(struct dw_jit *j);

/* The profile goes: nothing but dw_jit_symbolize() from now on. */
void dw_jit_close(struct dw_jit *j);

/* What code at @svma of @module of the profile is: a function of JIT code, or code without a file
 * that was told of after its samples had come. @ctx is a struct dw_jit. False: not known. */
bool dw_jit_symbolize(void *ctx, uint32_t module, uint64_t svma, struct dw_jit_symbol *ret);

/* Free everything. */
void dw_jit_release(struct dw_jit *j);
