/*
 * Finishing: a session that holds raw stacks becomes one that holds names, lines, code and totals.
 *
 * One way for a recording that ended and for a .partial that a killed collector left.
 */
#pragma once

#include "base/error.h"
#include "model/profile.h"
#include "model/totals.h"
#include "symbol/symbolize.h"
#include "target/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_session_range;

struct dw_finish_options {
	const char *partial; /* path of the unfinished session */
	const char *path;    /* path of the finished one */
	const struct dw_module_source
		*sources; /* by module id, borrowed; NULL = find the modules' files again */
	size_t sources_n;
	uint32_t symbol_timeout_ms; /* for one module, 0 = the symbolizer's choice */
	uint32_t debuginfod_ms;	    /* ask servers for debug information, so long; 0 = no */
	bool held;		    /* the caller's writer holds the partial */
	bool without_code;
	bool with_source;	/* put the text of source files into the session */
	bool names_only;	/* as struct dw_symbol_options */
	dw_il_line_fn *il_line; /* lines of managed code, NULL = none are known */
	void *il_line_ctx;
	dw_import_name_fn *import_name; /* as struct dw_symbol_options */
	void *import_name_ctx;
	struct dw_prefetch *prefetch; /* as there; borrowed */
	const char *cache_dir;	      /* as there */
	dw_jit_symbol_fn *jit_symbol; /* as struct dw_symbol_options */
	void *jit_symbol_ctx;
};

/* Load, symbolize, total and write. 0, or a negative code: the partial file stays as it was. */
int dw_finish(const struct dw_finish_options *options, struct dw_error *err);

/* The same of @p, which is loaded from @partial and has its symbols, and as much code as is to
 * stay. */
int dw_finish_named(struct dw_profile *p, const char *partial, const char *path,
		    struct dw_error *err);

/*
 * Opening a session for reading, finished or not.
 *
 * A finished session holds its symbols. One of a running or killed collector (FILE.partial) does
 * not, and is symbolized in memory from the files it names.
 */

/*
 * Load the session at @path, with symbols, into @p (an empty profile; release it also after
 * failure).
 * @range  nobody will ask for another one: calls are added up in it (session/read.h).
 * Returns 0; DWELL_ERR_FORMAT, DWELL_ERR_UNSUPPORTED (a newer version) or -errno: @err has one line
 * that names the file.
 */
int dw_open_profile(const char *path, const struct dw_session_range *range, struct dw_profile *p,
		    struct dw_error *err);

/*
 * The same for a look at a recording that goes on: names come from symbol tables alone, which is
 * quick, and no code is read. @range may be NULL: any will be asked for. *@ret_finished = it has
 * ended meanwhile.
 */
int dw_open_running(const char *path, const struct dw_session_range *range, struct dw_profile *p,
		    bool *ret_finished, struct dw_error *err);

/*
 * How much machine code a session keeps: the functions that ran most, within a budget.
 *
 * A compiler touches thousands of functions in a minute, most of them once. Their code would be
 * most of the file, though nobody disassembles them.
 */

/*
 * Whether all code of @p may stay, and need not be ranked: it fits, or @p has no samples but calls
 * or allocations, whose functions are few enough. Notes in the facts how much it is then.
 */
bool dw_code_budget_fits(struct dw_profile *p);

/*
 * Drop the code of the functions of @p with the fewest exclusive, then inclusive samples, until
 * what is left fits the budget for t->samples samples. Notes in the facts how much is kept and how
 * many functions went without. 0 or -ENOMEM.
 */
int dw_code_budget_apply(struct dw_profile *p, const struct dw_totals *t);

/* Putting source into a session, so that its lines can be shown on a machine that has none of it.
 */

/*
 * Read the source files of @p's lines into p->sources: those with most of their own time first, as
 * far as 16 MB go. They are looked for where the debug information says that they are, under the
 * root and with the rights of whom the module belongs to.
 * @sources  by module id, @n of them.
 * 0 or -ENOMEM; what cannot be read is left out. Facts: source_files, source_files_left_out.
 */
int dw_source_pack(struct dw_profile *p, const struct dw_module_source *sources, size_t n);

/*
 * Where threads begin: the start routine of each thread, from the outermost frames of its samples,
 * or from its outermost calls.
 */

/*
 * Set the start function of every thread of the symbolized @p that has a complete sample or wait,
 * or calls: its outermost function that is not the kernel's, the C library's or the loader's, nor
 * _start. Of several it is the one seen most often, of calls the one with most time below it.
 * Threads without one keep 0.
 */
void dw_find_thread_starts(struct dw_profile *p);
