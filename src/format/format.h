/*
 * Formats: a view's rows as text, one file per format.
 *
 * All write through dw_out and keep no state. To add one: src/format/NAME.c with a
 * `const struct dw_format_ops`, its name in DW_FORMATS below, a golden text. It sees cells, and
 * of the summary notes, if it is for people.
 */
#pragma once

#include "base/out.h"
#include "base/vec.h"
#include "view/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_note;

struct dw_format_job {
	const struct dw_view *view;
	const enum dw_column *columns; /* ended by DWELL_COLUMN_END */
	bool chosen;		       /* table: leave none of them out where there is no room */
	size_t rows;		       /* at most these many; 0 = all */
	const char *path;	       /* of the session, for the words of a summary */
	size_t width;		       /* table: columns of the terminal; 0 = as wide as it gets */
	bool colour;		       /* table */
	bool details;		       /* of a summary, too */
	bool short_counts;	       /* of a summary: "6.0 M calls" */
};

struct dw_format_ops {
	const char *name;
	bool human_readable; /* human-readable: default columns, noise reduction, summary in words
			      */
	void (*write)(const struct dw_format_job *job, struct dw_out *out);
};

/* All formats, the default one first, ended by NULL. */
extern const struct dw_format_ops *const dw_formats[];

#define DW_FORMATS(X)		X(table) X(csv) X(json) X(xml)
#define DW_FORMAT_DECLARE(name) extern const struct dw_format_ops dw_format_##name;
/* Each is in a file of its own, and found by dw_formats. */
DW_FORMATS(DW_FORMAT_DECLARE)

/* The format called @name, NULL when there is none. */
const struct dw_format_ops *dw_format_find(const char *name);

/* Rows that @job writes. */
size_t dw_format_rows(const struct dw_format_job *job);

/* Write @n in decimal. */
void dw_format_count(struct dw_out *out, uint64_t n);

/* Write @n for people, with a comma between thousands. */
void dw_format_grouped(struct dw_out *out, uint64_t n);

/* Write @n as 0x and hexadecimal digits. */
void dw_format_address(struct dw_out *out, uint64_t n);

/* Write @ns in words: in the unit that suits it. */
void dw_format_time(struct dw_out *out, int64_t ns);

/* Write what @note says, its places filled in, names by @put_text. */
void dw_format_note(const struct dw_format_job *job, const struct dw_note *note,
		    void (*put_text)(struct dw_out *out, const char *text), struct dw_out *out);

/* Write @s as a word of a command line, by @put_text: quoted when the shell would not take it as it
 * is. */
void dw_format_shell_word(struct dw_out *out, const char *s,
			  void (*put_text)(struct dw_out *out, const char *text));

enum { DWELL_DOUBLE_MAX_BYTES = 40 };

/* Write @v to @ret so that reading it back gives the same double, in the fewest digits, with a NUL.
 * Returns the bytes before that. */
size_t dw_format_double(double v, char ret[DWELL_DOUBLE_MAX_BYTES]);

/* Write @s as one field of CSV, quoted where it must be. */
void dw_format_csv_field(struct dw_out *out, const char *s);

/* Write @s as a string of JSON. */
void dw_format_json_string(struct dw_out *out, const char *s);

/* A fact of the session as machine formats give it. */
struct dw_format_fact {
	const char *key;
	const char *text; /* NULL = the integer */
	int64_t integer;
};

/* Call @fn for each fact of the session, and for those that follow from what was loaded:
 * samples_kept when the session does not say, and samples_reported (that passed the filters); with
 * calls or allocations the totals of what passed. */
void dw_format_facts(const struct dw_format_job *job,
		     void (*fn)(const struct dw_format_fact *fact, struct dw_out *out),
		     struct dw_out *out);

/* Where the line of a row begins, in bytes, and the row of the view that it is about. */
struct dw_summary_mark {
	size_t at;
	uint32_t row;
};

struct dw_summary_marks {
	DW_VEC(struct dw_summary_mark) rows; /* in the order of the text */
};

/* Write the notes of the job's view as text. @marks: where its rows are, if @out is a buffer that
 * was empty, NULL = nobody asks. */
void dw_summary_write(const struct dw_format_job *job, struct dw_out *out,
		      struct dw_summary_marks *marks);
