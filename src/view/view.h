/*
 * Views: totals as rows and columns, one file per view.
 *
 * Rows are virtual: a view keeps one 32-bit item per row, in display order; what a row holds is put
 * together when it is asked for, so that a view of millions of rows costs little. To add a view:
 * src/view/NAME.c with a `const struct dw_view_ops`, its line below and in view.c, a golden text,
 * the manual page.
 *
 * A view borrows profile and totals until it is released. Read-only after opening.
 */
#pragma once

#include "analysis/prune.h"
#include "base/buf.h"
#include "base/error.h"
#include "model/profile.h"
#include "model/totals.h"
#include "view/column.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_disassembly;
struct dw_filter;
struct dw_source_text;

enum dw_row_type {
	DWELL_ROW_CURRENT = 0,
	DWELL_ROW_CALLER = 1,
	DWELL_ROW_CALLEE = 2,
	DWELL_ROW_LINE = 3, /* of the function at hand */
};

/* What the Name column of a row says. */
enum dw_row_name {
	DWELL_NAME_FUNCTION = 0,
	DWELL_NAME_PROCESS,
	DWELL_NAME_THREAD,
	DWELL_NAME_MODULE,
	DWELL_NAME_LINE,
	DWELL_NAME_ADDRESS,
	DWELL_NAME_CLASS, /* a type of objects */
	DWELL_NAME_FILE,  /* that was read or written */
};

/* Which list of the summary a row is in, in their order. */
enum dw_section {
	DWELL_SECTION_NONE = 0,
	DWELL_SECTION_PATH,
	DWELL_SECTION_FUNCTIONS,
	DWELL_SECTION_TYPES_BY_BYTES,
	DWELL_SECTION_TYPES_BY_OBJECTS,
	DWELL_SECTION_TYPES_BY_OLD,
	DWELL_SECTION_WAITING,
	DWELL_SECTIONS_N,
};

enum dw_row_flag {
	DWELL_ROW_HAS_MODULE = 1,  /* module is meaningful, 0 = the unknown one */
	DWELL_ROW_HAS_LINE = 2,	   /* file and statement are this row's, not the function's */
	DWELL_ROW_HAS_ADDRESS = 4, /* address is an instruction's */
	DWELL_ROW_HAS_BEGIN = 8,   /* begin_ns is this row's, not its thread's */
	DWELL_ROW_IN_CONTEXT = 16, /* the lines around it are rows, too */
	DWELL_ROW_UNSEEN = 32,	   /* all its values are 0: there for those around it */
};

/* What one row is about. Ids are those of the profile, 0 = none. */
struct dw_row {
	enum dw_row_name name;
	unsigned flags;
	uint32_t process; /* 0 also where it is several */
	uint32_t thread;
	uint32_t command; /* string: of rows split by command */
	uint32_t module;
	uint32_t function; /* or DWELL_FUNCTION_CUT, DWELL_FUNCTION_UNKNOWN */
	uint32_t file;	   /* string */
	uint32_t line, column, line_end, column_end; /* 0 = not known */
	uint64_t address;
	const struct dw_disassembly *code; /* of the instruction; NULL = not known */
	uint32_t level;
	enum dw_row_type type;
	enum dw_section section;
	const char *path;    /* slowest, gc: names of the callers and of itself */
	const char *deepest; /* slowest: name of the call that explains it; NULL = itself */
	uint64_t begin_ns;
	const char *chain;		 /* names of folded callees, ready to append; NULL = none */
	struct dw_measured measured;	 /* everything, borrowed, */
	struct dw_values values;	 /* and what rows are sorted by */
	const struct dw_call_slow *slow; /* slowest: the activation */
	uint32_t processes;		 /* summary: that have the function, 0 = not known */
	const struct dw_gc *gc;		 /* gc */
	const struct dw_wait_total *wait; /* waits; its kind is its place among all */
	const struct dw_io_sums *io;	  /* file-io: of @file, which is no source then */
	uint32_t class_of;		  /* type id: what DWELL_NAME_CLASS names */
};

struct dw_cell {
	enum dw_cell_kind kind;
	const char *text; /* TEXT; for a NUMBER that is a code, its word for people, else NULL */
	uint64_t number;  /* all but TEXT and PERCENT */
	double percent;	  /* PERCENT */
};

/* What is asked of a view. */
struct dw_view_request {
	const struct dw_profile *profile;
	const struct dw_totals *totals; /* with the parts that the view names */
	const struct dw_filter *filter; /* that these have passed, to be told; NULL = none */
	uint32_t function;		/* callers: the current function; slowest, file-io: of it */
	bool hot_path;			/* calltree: nothing but it */
	bool by_first_call;		/* calltree of calls: siblings in this order */
	bool unfolding;			/* trees: for view/unfold.h, not in order */
	bool collapsed;			/* modules, file-io: without what is in them */
	bool intel;			/* instructions: as Intel's assemblers write them */
	struct dw_prune_options pruning; /* trees; trim_pct: views that trim, too */
	struct dw_source_text *source;	 /* lines; NULL = not wanted */
	enum dw_column sort;		 /* DWELL_COLUMN_END = the view's own order */
	bool reverse;			 /* against the column's natural direction */
	const char *debug_packages;	 /* summary: of dw_nameless_find(); NULL = not known */
	size_t folded; /* paths of the system's code that are part of others (just-my-code.h) */
	size_t rows;   /* nobody will look at more than these many; 0 = at all of them */
};

/* Rows, or branches of a tree, that were left out as noise. */
struct dw_hidden {
	size_t n;
	uint64_t weight;   /* that they have together, of dw_totals_order() */
	bool is_exclusive; /* weight is what they have of their own */
	bool is_unknown;   /* nobody knows that of all of them */
};

struct dw_view {
	const struct dw_view_ops *ops;
	struct dw_view_request request;
	uint32_t *items; /* by row, in display order; what an item is, is the view's own matter */
	size_t n;
	uint32_t *parent; /* of a tree that unfolds: by item, smaller; UINT32_MAX = a root */
	struct dw_hidden hidden[DWELL_ROW_CALLEE + 1]; /* by type */
	double uncertain_ns;			       /* of calls: dw_call_uncertainty() */
	double sample_ns;			       /* dw_sample_ns() */
	void *own;				       /* the view's own state */
};

enum dw_view_function { DWELL_FUNCTION_NEVER = 0, DWELL_FUNCTION_MAY, DWELL_FUNCTION_MUST };

/* Whether rows of a session of calls are call sites, of which nothing was measured alone. */
enum dw_view_sites {
	DWELL_SITES_NEVER = 0,
	DWELL_SITES_WITHOUT_STATEMENTS, /* unless statements had probes themselves */
	DWELL_SITES_ALWAYS,
};

struct dw_view_ops {
	const char *name;
	const char *help;		/* one line, lower case, no full stop */
	unsigned parts;			/* enum dw_totals_part that it reads, */
	unsigned not_of_calls;		/* but for these of a session of calls */
	const enum dw_column *columns;	/* in the order of files, with DWELL_COLUMN_VALUES, ... */
	const enum dw_column *defaults; /* those that tables show by default */
	enum dw_column sort;   /* default, or DWELL_COLUMN_LEAD_...: amounts fall, texts rise.
				  DWELL_COLUMN_END = as they are */
	enum dw_measure needs; /* without it there is nothing to see; DWELL_MEASURE_NONE = always */
	enum dw_view_sites sites;
	bool splits;	    /* rows are those of lanes */
	bool is_of_my_code; /* its tables fold the system's code, if nobody asked for that */
	bool has_notes;	    /* for people it is told in words, dw_notes_make() */
	const char *limits; /* what tables say below of what cannot be seen; NULL = nothing, but
			       whether application times are upper bounds */
	bool trims;	    /* small rows can be left out once it is open */
	bool tells_current; /* but not that of type DWELL_ROW_CURRENT */
	bool tells_all;	    /* tables say below what its row of type DWELL_ROW_CURRENT has beside */
	enum dw_column tree;		/* the column that tables indent; DWELL_COLUMN_END = flat */
	enum dw_view_function function; /* whether it takes request.function */
	const struct dw_view_ops *with_function; /* what it is with one; NULL = itself */
	/* Fill items and n. 0 or -ENOMEM. */
	int (*open)(struct dw_view *v);
	/* Describe @item; @ret is zeroed. @scratch may hold text until the next call. */
	void (*row)(const struct dw_view *v, uint32_t item, struct dw_buf *scratch,
		    struct dw_row *ret);
	/* The values of @item alone, as row() gives them: quicker, for views with very many rows.
	 * NULL = use row(). */
	const struct dw_values *(*values)(const struct dw_view *v, uint32_t item);
	/* What rises among siblings of a tree with their first call; NULL = the view has no such
	 * order.
	 */
	uint32_t (*first)(const struct dw_view *v, uint32_t item);
	/* Free v->own; NULL = nothing to free. */
	void (*release)(struct dw_view *v);
};

/* All views, the default one first, ended by NULL. */
extern const struct dw_view_ops *const dw_views[];

extern const struct dw_view_ops dw_view_summary;
extern const struct dw_view_ops dw_view_functions;
extern const struct dw_view_ops dw_view_calltree;
extern const struct dw_view_ops dw_view_callers;
extern const struct dw_view_ops dw_view_details;
extern const struct dw_view_ops dw_view_modules;
extern const struct dw_view_ops dw_view_lines;
extern const struct dw_view_ops dw_view_source_annotated; /* lines of one function */
extern const struct dw_view_ops dw_view_instructions;
extern const struct dw_view_ops dw_view_annotated; /* instructions of one function */
extern const struct dw_view_ops dw_view_processes;
extern const struct dw_view_ops dw_view_threads;
extern const struct dw_view_ops dw_view_waits;
extern const struct dw_view_ops dw_view_slowest;
extern const struct dw_view_ops dw_view_allocations;
extern const struct dw_view_ops dw_view_lifetime;
extern const struct dw_view_ops dw_view_gc;
extern const struct dw_view_ops dw_view_file_io;

/* The view called @name, NULL when there is none. */
const struct dw_view_ops *dw_view_find(const char *name);

/* Whether the view shows anything of sessions like @p. */
bool dw_view_suits(const struct dw_view_ops *ops, const struct dw_profile *p);

/* The parts of totals that the view reads of @p: enum dw_totals_part. */
unsigned dw_view_parts(const struct dw_view_ops *ops, const struct dw_profile *p);

/* Whether the totals of @v always have sums of waits by kind: those of calls may have them just
 * because another view asked for them. */
bool dw_view_sums_waits(const struct dw_view *v);

/* Write the columns that the view has for @p with rows split by @by, or @defaults alone, to @ret,
 * which has room for DWELL_COLUMNS_N. */
void dw_view_columns(const struct dw_view_ops *ops, const struct dw_profile *p, enum dw_by by,
		     bool defaults, enum dw_column *ret);

/* How rows of @ops are split, which is the @word of @option, to be named in errors. 0, or
 * DWELL_ERR_USAGE: in no such way, or not at all. */
int dw_view_read_by(const struct dw_view_ops *ops, const char *option, const char *word,
		    enum dw_by *ret, struct dw_error *err);

/* Whether tables of the view may fold the system's code in @p. Calls are shown as they were
 * measured, and who asks for a module's code or what is below a function (@is_within) wants to see
 * it. */
bool dw_view_may_fold(const struct dw_view_ops *ops, const struct dw_profile *p, bool is_within);

/* The column among @list whose title or key @n bytes at @name are, or what tables of @p print in
 * its place: the event that was sampled, and waits of calls. DWELL_COLUMN_END when there is none.
 */
enum dw_column dw_view_find_column(const struct dw_profile *p, const enum dw_column *list,
				   const char *name, size_t n);

/* The column by which the view orders rows of @p. @waited: threads waited. */
enum dw_column dw_view_sort(const struct dw_view_ops *ops, const struct dw_profile *p);

/* The column that @v is ordered by. */
enum dw_column dw_view_sorted_by(const struct dw_view *v);

/* Rows of several processes look alike without their ids: put that column into @columns, which has
 * room for DWELL_COLUMNS_N, before the names. Not where rows are those of processes, or of call
 * trees, which tell them apart by their roots. */
void dw_view_tell_processes_apart(const struct dw_view *v, enum dw_column *columns);

/* Take the columns of waits out of @columns where next to nobody waited. */
void dw_view_drop_waits(const struct dw_view *v, enum dw_column *columns);

/* Open a view. 0 or -ENOMEM, to be released in any case. */
int dw_view_open(struct dw_view *v, const struct dw_view_ops *ops,
		 const struct dw_view_request *request);

/* Describe row @i (< v->n). Texts are borrowed from the profile or from @scratch. */
void dw_view_row(const struct dw_view *v, size_t i, struct dw_buf *scratch, struct dw_row *ret);

/* The values of row @i alone, quicker where the view can tell them. */
struct dw_values dw_view_values(const struct dw_view *v, size_t i, struct dw_buf *scratch);

/* One cell of a row. Text is borrowed from the profile, the row or @scratch, until its next use. */
void dw_view_cell(const struct dw_view *v, const struct dw_row *row, enum dw_column column,
		  struct dw_buf *scratch, struct dw_cell *ret);

/* Whether @column shows nothing but a row's values, dw_row.values. */
bool dw_column_is_value(enum dw_column column);

/* Whether @column holds amounts: what adds up, shares of it, and means. These fall by nature, all
 * else rises. */
bool dw_column_is_amount(enum dw_column column);

/* All that the cells of DWELL_COLUMNS_PROCESS and DWELL_COLUMNS_CODE depend on. */
struct dw_row_place {
	uint32_t process, command, module, function, file;
	uint32_t kind;
};

/* Whether dw_row_place() speaks for @column. */
bool dw_column_is_place(enum dw_column column);

/* Rows with equal bytes in @ret have equal cells in the columns of places. False when @row shares
 * its cells with no other. */
bool dw_row_place(const struct dw_row *row, struct dw_row_place *ret);

/* Free everything. */
void dw_view_release(struct dw_view *v);

/*
 * How far off the time of a call may be, ns, by what the session of @p has measured: work that is
 * done while the clock is read takes no time, which is what both readings of a call take at most,
 * and the cost of probes is known no better than loops and samples agree. 0 = no calls.
 */
double dw_call_uncertainty(const struct dw_profile *p);

/* How long the program may have worked in the calls of @m themselves at most, ns, where the mean
 * one took less than @uncertain_ns, else 0. */
uint64_t dw_call_at_most(double uncertain_ns, const struct dw_measured *m);

/* Whether application times of @process (0 = of all) are upper bounds in @p: it is not known when
 * its threads were switched. */
bool dw_call_is_upper_bound(const struct dw_profile *p, uint32_t process);
