/* The summary in words: notes as the view has them, each with the text that people read. */
#include "page/page-internal.h"

#include "base/cleanup.h"
#include "format/text.h"
#include "view/notes.h"

#include <errno.h>

/* Compilers tell of kinds that are missing here. */
static const char *kind_of(enum dw_note_kind kind)
{
	switch (kind) {
	case DWELL_NOTE_TITLE:
		return "title";
	case DWELL_NOTE_HEADING:
		return "heading";
	case DWELL_NOTE_SAYS:
		return "says";
	case DWELL_NOTE_MORE:
		return "more";
	case DWELL_NOTE_APART:
		return "apart";
	case DWELL_NOTE_SHARE:
		return "share";
	case DWELL_NOTE_PATH:
		return "path";
	case DWELL_NOTE_RANKED:
		return "ranked";
	case DWELL_NOTE_SLOWEST:
		return "slowest";
	case DWELL_NOTE_WORK:
		return "work";
	case DWELL_NOTE_NEXT:
		return "next";
	}
	return "";
}

static bool has_row(const struct dw_note *note)
{
	return note->kind == DWELL_NOTE_PATH || note->kind == DWELL_NOTE_RANKED ||
	       note->kind == DWELL_NOTE_SLOWEST;
}

static void put_text(const struct dw_view *v, const struct dw_row *row, const char *key,
		     enum dw_column column, struct dw_out *out)
{
	dw_auto(dw_buf) scratch = DW_BUF_INIT;
	struct dw_cell cell;

	dw_view_cell(v, row, column, &scratch, &cell);
	if (cell.kind != DWELL_CELL_TEXT)
		return;
	dw_out_printf(out, "%s\"%s\": ", out->buf.data[out->buf.len - 1] == '{' ? "" : ", ", key);
	dw_format_json_string(out, cell.text);
}

static void put_row(const struct dw_view *v, const struct dw_row *row, struct dw_out *out)
{
	dw_out_puts(out, ", \"about\": {");
	put_text(v, row, row->name == DWELL_NAME_FUNCTION ? "function" : "name", DWELL_COLUMN_NAME,
		 out);
	put_text(v, row, "module", DWELL_COLUMN_MODULE_NAME, out);
	dw_out_printf(out, "%s\"id\": %u}", out->buf.data[out->buf.len - 1] == '{' ? "" : ", ",
		      dw_page_function_id(v, row));
}

static void put_about(const struct dw_view *v, const struct dw_note *note, struct dw_out *out)
{
	dw_auto(dw_buf) scratch = DW_BUF_INIT;
	const struct dw_function *f =
		dw_functions_get(&v->request.profile->functions, note->function);
	struct dw_row row = {.function = note->function,
			     .module = f ? f->module : 0,
			     .flags = DWELL_ROW_HAS_MODULE};

	if (has_row(note))
		dw_view_row(v, note->row, &scratch, &row);
	put_row(v, &row, out);
	if (note->kind == DWELL_NOTE_PATH)
		dw_out_printf(out, ", \"level\": %llu, \"leaves_out\": %s",
			      (unsigned long long)note->n[0], note->n[1] ? "true" : "false");
	if (note->kind == DWELL_NOTE_SLOWEST || note->kind == DWELL_NOTE_WORK)
		dw_out_printf(out, ", \"time_ns\": %llu", (unsigned long long)note->n[0]);
}

static void put_note(const struct dw_view *v, const struct dw_note *note, const char *text,
		     struct dw_out *out)
{
	unsigned shares = note->kind == DWELL_NOTE_SHARE && !note->shares ? 1 : note->shares;

	dw_out_printf(out,
		      "{\"kind\": \"%s\", \"severity\": \"%s\", \"text\": ", kind_of(note->kind),
		      note->is_detail ? "detail" : "note");
	dw_format_json_string(out, note->kind == DWELL_NOTE_TITLE && note->name[0] ? note->name[0]
										   : text);
	if (note->kind == DWELL_NOTE_RANKED || note->kind == DWELL_NOTE_PATH)
		shares = shares ? shares : 1;
	if (shares) {
		dw_out_puts(out, ", \"shares\": [");
		for (unsigned i = 0; i < shares && i < 3; i++)
			dw_out_printf(out, "%s%.6g", i ? ", " : "", note->share[i]);
		dw_out_puts(out, "]");
	}
	if (has_row(note) || note->kind == DWELL_NOTE_WORK)
		put_about(v, note, out);
	dw_out_puts(out, "}");
}

/* Whether it makes sense in a page. */
static bool is_told(const struct dw_note *note)
{
	return note->says != DWELL_SAYS_OR_DETAILS && note->says != DWELL_SAYS_NO_DETAILS &&
	       note->kind != DWELL_NOTE_NEXT;
}

int dw_page_op_summary(struct dw_page *page, const struct dw_page_request *r, struct dw_out *out,
		       struct dw_error *err)
{
	struct dw_format_job job = {.path = page->source.name, .details = true};
	struct dw_notes notes;
	struct dw_page_view *v;
	struct dw_out text;
	size_t n = 0;
	int rc = dw_page_view(page, r, &dw_view_summary, false, &v, err);

	if (rc)
		return rc;
	job.view = &v->view;
	rc = dw_notes_make(&v->view, &notes);
	dw_out_init_buffer(&text);
	dw_out_puts(out, "\"notes\": [");
	for (size_t i = 0, next; i < notes.rows.n && !rc; i = next) {
		dw_buf_clear(&text.buf);
		for (next = i; next == i ||
			       (next < notes.rows.n && notes.rows.v[next].kind == DWELL_NOTE_MORE);
		     next++)
			dw_format_note(&job, &notes.rows.v[next], dw_text_put, &text);
		if (!is_told(&notes.rows.v[i]))
			continue;
		dw_out_puts(out, n++ ? ", " : "");
		put_note(&v->view, &notes.rows.v[i], dw_buf_str(&text.buf), out);
	}
	dw_out_puts(out, "]");
	dw_out_close(&text);
	dw_notes_release(&notes);
	return rc ? dw_error_set(err, rc, "out of memory") : 0;
}
