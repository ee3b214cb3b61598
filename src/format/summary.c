/*
 * The summary as text for people: notes in lines, with bars and colour, names shortened to fit.
 */
#include "format/format.h"
#include "format/shorten.h"
#include "format/text.h"
#include "format/wrap.h"
#include "view/notes.h"

#include <string.h>

#define NOTHING_PCT .005 /* would be 0.00 */

enum {
	WIDTH_DEFAULT = 80,
	WIDTH_MIN = 40,
	WIDTH_MAX = 120,
	NAME_MIN = 14,	    /* columns of a name, in whatever is left of its line */
	SHARE_COLUMNS = 12, /* "  12.34 % ", and a blank behind the bar */
	TIME_COLUMNS = 10,  /* "  123.4 ms" */
	INDENT = 2,	    /* of a sentence, */
	INDENT_MORE = 4,    /* and of what it has no room for in its line */
	INDENT_MAX = 24,
	BAR_COLUMNS = 10,
};

struct printer {
	const struct dw_format_job *job;
	struct dw_out *out;
	size_t width, bar;	  /* columns of a line, of a full bar */
	enum dw_note_kind before; /* the note that was told last */
	bool is_headless;	  /* the heading of what comes next was not told */
	struct dw_out says;	  /* what stands in the line of the note at hand */
	struct dw_buf scratch[2];
};

/* The name that the row of @note has, which is *@row. Borrowed until the next question. */
static const char *name_of(struct printer *p, const struct dw_note *note, struct dw_row *row)
{
	struct dw_cell c;

	dw_view_row(p->job->view, note->row, &p->scratch[0], row);
	dw_view_cell(p->job->view, row, DWELL_COLUMN_NAME, &p->scratch[1], &c);
	return c.kind ? c.text : "";
}

/* A name, fitted into what @used columns leave of the line, but never shorter than can be read. */
static void put_name(struct printer *p, const struct dw_note *note, size_t used)
{
	size_t columns = used + NAME_MIN < p->width ? p->width - used : NAME_MIN;
	struct dw_row row;
	const char *name = name_of(p, note, &row);

	if (row.name == DWELL_NAME_FUNCTION &&
	    dw_functions_get(&p->job->view->request.profile->functions, row.function))
		dw_function_name_put_fitted(p->out, name, columns);
	else
		dw_text_put_fitted(p->out, name, columns);
}

static void put_bold(struct printer *p, const char *text, size_t columns)
{
	dw_out_puts(p->out, p->job->colour ? "\033[1m" : "");
	dw_text_put_fitted(p->out, text, columns);
	dw_out_puts(p->out, p->job->colour ? "\033[0m\n" : "\n");
}

/* A sentence behind @used columns, which goes on behind @indent blanks where a terminal ends. */
static void put_sentence(struct printer *p, const char *text, size_t used, size_t indent)
{
	dw_text_put_wrapped(p->out, text, used, indent, p->job->width ? p->width : 0);
}

/* The share with a bar, in which parts that are not the program's, and waits, are lighter. */
static void put_share(struct printer *p, const struct dw_note *note)
{
	double all = note->share[0], program = note->shares > 1 ? note->share[1] : all,
	       processor = note->shares > 2 ? program + note->share[2] : program;
	double blocks = (double)p->bar / 100;
	size_t first = (size_t)((program < all ? program : all) * blocks + .5),
	       second = (size_t)((processor < all ? processor : all) * blocks + .5),
	       end = (size_t)(all * blocks + .5);

	dw_out_printf(p->out, "  %6.2f %% ", all);
	for (size_t i = 0; i < p->bar; i++)
		dw_out_puts(p->out, i < first ? "█" : i < second ? "▒" : i < end ? "░" : "·");
	dw_out_puts(p->out, " ");
}

/* Whether @note is told, so far as is asked for. */
static bool is_told(const struct printer *p, const struct dw_note *note)
{
	if (note->says == DWELL_SAYS_OR_DETAILS)
		return !p->job->details;
	return note->says == DWELL_SAYS_NO_DETAILS ? p->job->details
						   : p->job->details || !note->is_detail;
}

/* Of "5 ns to 22 ns each" leave out how much it may be. */
static void leave_out_bound(struct dw_buf *says)
{
	char *to = strstr(says->data, " to "), *each = to ? strstr(to, " each") : NULL;

	if (each) {
		memmove(to, each, strlen(each) + 1);
		says->len -= (size_t)(each - to);
	}
}

/* Say what @notes says at @i, and in those behind it that go on with it. The note behind these. */
static size_t put_says(struct printer *p, const struct dw_notes *notes, size_t i, bool is_short)
{
	struct dw_format_job job = *p->job;
	size_t next = i;

	job.short_counts = is_short;
	dw_buf_clear(&p->says.buf);
	do
		if (is_told(p, &notes->rows.v[next]))
			dw_format_note(&job, &notes->rows.v[next], dw_text_put, &p->says);
	while (++next < notes->rows.n && notes->rows.v[next].kind == DWELL_NOTE_MORE);
	return next;
}

/* Say it shorter where there is no room for it beside the whole name. */
static void shorten_says(struct printer *p, const struct dw_notes *notes, size_t i)
{
	const struct dw_buf *says = &p->says.buf;
	size_t room = p->width - SHARE_COLUMNS - p->bar - 4, name;
	struct dw_row row;

	if (!says->len)
		return;
	name = dw_text_columns(name_of(p, &notes->rows.v[i], &row));
	if (dw_text_columns(dw_buf_str(says)) + name > room)
		put_says(p, notes, i, true);
	if (dw_text_columns(dw_buf_str(says)) + NAME_MIN > room)
		leave_out_bound(&p->says.buf);
}

static void put_ranked(struct printer *p, const struct dw_note *note)
{
	size_t n, behind;

	n = dw_text_columns(dw_buf_str(&p->says.buf));
	behind = n ? n + 4 : 0;
	put_share(p, note);
	put_name(p, note, SHARE_COLUMNS + p->bar + behind);
	dw_out_printf(p->out, n ? "  (%s)\n" : "\n", dw_buf_str(&p->says.buf));
}

static void put_slowest(struct printer *p, const struct dw_note *note)
{
	const char *says = dw_buf_str(&p->says.buf);
	struct dw_out time;
	size_t used;

	dw_out_init_buffer(&time);
	dw_format_time(&time, (int64_t)note->n[0]);
	used = dw_text_columns(dw_buf_str(&time.buf));
	dw_out_fill(p->out, ' ', used < TIME_COLUMNS ? TIME_COLUMNS - used : 0);
	dw_out_printf(p->out, "%s  ", dw_buf_str(&time.buf));
	used = TIME_COLUMNS + 6 + dw_text_columns(says);
	if (note->kind == DWELL_NOTE_WORK)
		dw_function_name_put_fitted(p->out, note->name[1],
					    used + NAME_MIN < p->width ? p->width - used
								       : NAME_MIN);
	else
		put_name(p, note, used);
	dw_out_printf(p->out, "  (%s)\n", says);
	dw_out_close(&time);
}

static void put_path_row(struct printer *p, const struct dw_note *note)
{
	size_t indent = note->n[0] * 2 > INDENT_MAX ? INDENT_MAX : note->n[0] * 2;

	dw_out_printf(p->out, "  %6.2f %%", note->share[0]);
	if (note->shares > 1 && note->share[1] >= NOTHING_PCT)
		dw_out_printf(p->out, "  %6.2f %%", note->share[1]);
	else if (note->shares > 1)
		dw_out_fill(p->out, ' ', SHARE_COLUMNS - 2);
	/* Names begin where their depth says. */
	dw_out_printf(p->out, "%*s %s", (int)indent, "", note->n[1] ? "… " : "  ");
	put_name(p, note, 10 * note->shares + 4 + indent);
	dw_out_puts(p->out, "\n");
}

/* Whether a blank line stands before @note. */
static bool is_section(const struct printer *p, const struct dw_note *note)
{
	bool is_behind = p->before == DWELL_NOTE_SAYS || p->before == DWELL_NOTE_APART;

	switch (note->kind) {
	case DWELL_NOTE_HEADING:
		/* The answer stands right below what was recorded. */
		return note->says != DWELL_SAYS_TIME;
	case DWELL_NOTE_APART:
		return !is_behind;
	case DWELL_NOTE_NEXT:
		return p->job->path && !is_behind;
	default:
		/* Its heading is a detail. */
		return note->kind == DWELL_NOTE_SAYS && p->is_headless;
	}
}

static void put_line(struct printer *p, const struct dw_note *note)
{
	const char *path = p->job->path, *says = dw_buf_str(&p->says.buf);

	dw_out_puts(p->out, is_section(p, note) ? "\n" : "");
	switch (note->kind) {
	case DWELL_NOTE_TITLE:
		return put_bold(p, note->name[0] ? note->name[0] : path ? path : "", p->width);
	case DWELL_NOTE_HEADING:
		return put_bold(p, says, p->job->width ? p->width : SIZE_MAX);
	case DWELL_NOTE_SHARE:
		put_share(p, note);
		return put_sentence(p, says, SHARE_COLUMNS + p->bar, SHARE_COLUMNS + p->bar);
	case DWELL_NOTE_PATH:
		return put_path_row(p, note);
	case DWELL_NOTE_RANKED:
		return put_ranked(p, note);
	case DWELL_NOTE_SLOWEST:
	case DWELL_NOTE_WORK:
		return put_slowest(p, note);
	case DWELL_NOTE_NEXT:
		return path ? put_sentence(p, says, 0, INDENT_MORE) : (void)0;
	default:
		dw_out_puts(p->out, "  ");
		put_sentence(p, says, INDENT, INDENT_MORE);
	}
}

static bool has_row(const struct dw_note *note)
{
	return note->kind == DWELL_NOTE_PATH || note->kind == DWELL_NOTE_RANKED ||
	       note->kind == DWELL_NOTE_SLOWEST;
}

void dw_summary_write(const struct dw_format_job *job, struct dw_out *out,
		      struct dw_summary_marks *marks)
{
	size_t width = job->width ? job->width : WIDTH_DEFAULT;
	struct printer p = {.job = job, .out = out, .bar = BAR_COLUMNS};
	struct dw_notes notes;
	int rc = dw_notes_make(job->view, &notes);

	p.width = width > WIDTH_MAX ? WIDTH_MAX : width < WIDTH_MIN ? WIDTH_MIN : width;
	dw_out_init_buffer(&p.says);
	for (size_t i = 0, next; i < notes.rows.n && !rc; i = next) {
		next = put_says(&p, &notes, i, false);
		if (!is_told(&p, &notes.rows.v[i])) {
			p.is_headless |= notes.rows.v[i].kind == DWELL_NOTE_HEADING;
			continue;
		}
		if (notes.rows.v[i].kind == DWELL_NOTE_RANKED)
			shorten_says(&p, &notes, i);
		if (marks && has_row(&notes.rows.v[i]))
			rc = dw_vec_push(&marks->rows, (struct dw_summary_mark){
							       out->buf.len, notes.rows.v[i].row});
		put_line(&p, &notes.rows.v[i]);
		p.before = notes.rows.v[i].kind;
		p.is_headless = false;
	}
	if (rc)
		out->failed = rc;
	dw_notes_release(&notes);
	dw_out_close(&p.says);
	dw_buf_release(&p.scratch[0]);
	dw_buf_release(&p.scratch[1]);
}
