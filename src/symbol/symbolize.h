/*
 * Symbolizing: every frame of a profile -> its chain of functions with lines, in one pass at the
 * end of a recording.
 *
 * Debug information is untrusted and is parsed by libdw, so all of it runs in helper processes: a
 * crash or a time-out there costs names of one module, not the session. Where the target's owner is
 * someone else, the helper takes that owner's uid, gid, groups and root first, and a seccomp
 * filter, so that nothing is read that the owner could not read (docs: design, section 9).
 */
#pragma once

#include "base/error.h"
#include "model/profile.h"
#include "symbol/debuginfod.h"
#include "target/file.h"

#include <stddef.h>
#include <stdint.h>

struct dw_prefetch;

/* A line of managed code. */
struct dw_il_line {
	const char *file; /* borrowed */
	uint32_t line, column;
	uint32_t line_end, column_end; /* exclusive */
};

/* The line of @svma (model/allocations.h) in @module. False: none is known. */
typedef bool dw_il_line_fn(void *ctx, uint32_t module, uint64_t svma, struct dw_il_line *ret);

/* The symbol of JIT code at @svma of @module. False: not known. */
typedef bool dw_jit_symbol_fn(void *ctx, uint32_t module, uint64_t svma, struct dw_jit_symbol *ret);

/* The name by which others have called the function that begins at @svma of @module, borrowed. NULL
 * = not known. */
typedef const char *dw_import_name_fn(void *ctx, uint32_t module, uint64_t svma);

struct dw_symbol_options {
	const char *debug_dirs; /* colon-separated folders of separate debug files; NULL =
				   /usr/lib/debug */
	uint32_t timeout_ms;	/* for one module; 0 = 60,000 */
	uint32_t debuginfod_ms; /* ask servers for debug information, so long together; 0 = no */
	bool without_code;	/* do not copy functions' machine code */
	bool names_only;	/* by symbols, without DWARF: no lines, no inlined functions */
	dw_import_name_fn *import_name; /* NULL = none are known */
	void *import_name_ctx;
	dw_il_line_fn *il_line; /* of managed code, NULL = it has no lines */
	void *il_line_ctx;
	dw_jit_symbol_fn *jit_symbol; /* of code that no file tells of, NULL = nothing is known */
	void *jit_symbol_ctx;
	struct dw_prefetch *prefetch; /* borrowed: has some modules' files open; NULL = none */
	const char *cache_dir; /* what earlier recordings found out (kernel-names.h, and of calls
				  symbol-cache.h); NULL = none */
};

struct dw_symbol_stats {
	uint64_t frames;	 /* frames asked for */
	uint64_t frames_named;	 /* with a symbol */
	uint64_t frames_lines;	 /* with a source line */
	uint64_t modules_failed; /* modules whose helper crashed or ran out of time: names from
				    nothing but ranges */
	struct dw_debuginfod_stats debuginfod; /* zero where no server was to be asked */
};

/*
 * Fill p->functions, p->locations and p->codes from p->frames. Frames that are entries of call
 * nodes get one location: the function that begins there, not what was inlined into its first line.
 * @sources  by module id (index 0 unused), @sources_n = dw_modules_count() + 1; a module without a
 * source gets "module+0xADDRESS" functions.
 * @stats    may be NULL.
 * Returns 0; -ENOMEM. What cannot be resolved is no error.
 */
int dw_symbolize(struct dw_profile *p, const struct dw_module_source *sources, size_t sources_n,
		 const struct dw_symbol_options *options, struct dw_symbol_stats *stats,
		 struct dw_error *err);
