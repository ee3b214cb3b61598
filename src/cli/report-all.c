/*
 * All views of a session in a folder, a file each, with the bytes that each of them has alone.
 *
 * Nothing gets its name before all is written, so that a full disk leaves what was there. Tables
 * fold the system's code in some views only, which changes the profile: these come last.
 */
#include "cli/report.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "cli/hints.h"
#include "cli/leftovers.h"
#include "cli/terminal.h"
#include "cli/whole-file.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VIEWS_MAX = 32 };

struct all {
	struct dw_report *r; /* of the view at hand */
	struct dw_profile *profile;
	struct dw_filter *filter;
	struct dw_whole_file files[VIEWS_MAX]; /* by view; without a path = it has no rows */
	size_t folded;
};

/* The name of the file of @view. */
static void put_path(const struct dw_report *r, const struct dw_view_ops *view, struct dw_buf *to)
{
	dw_buf_printf(to, "%s/%s.%s", r->options->output, view->name,
		      r->format->human_readable ? "txt" : r->format->name);
}

static int write_file(struct all *a, const struct dw_report_rows *rows, struct dw_whole_file *f,
		      struct dw_error *err)
{
	dw_auto(dw_buf) path = DW_BUF_INIT;
	struct dw_out out;
	int rc;

	put_path(a->r, a->r->view, &path);
	if (path.failed)
		return dw_error_set(err, -ENOMEM, "no memory");
	rc = dw_terminal_check(dw_buf_str(&path), a->r->path, err);
	rc = rc ? rc : dw_whole_file_open(f, dw_buf_str(&path), err);
	if (rc)
		return rc;
	dw_out_init_fd(&out, f->fd);
	dw_report_write(a->r, rows, 0, false, &out);
	rc = dw_out_close(&out);
	if (rc)
		return dw_error_set_errno(err, -rc, "cannot write '%s'", dw_buf_str(&path));
	return dw_whole_file_close(f, err);
}

/* Write the view of a->r, if it has rows. The summary always tells something. */
static int write_view(struct all *a, struct dw_whole_file *f, struct dw_error *err)
{
	struct dw_report_rows rows;
	int rc;

	a->r->request.folded = a->folded;
	rc = dw_report_open(a->r, a->profile, a->filter, &rows, err);
	if (!rc && (rows.view.n || a->r->view == &dw_view_summary))
		rc = write_file(a, &rows, f, err);
	if (!rc && a->r->view == &dw_view_summary)
		dw_hint_empty(a->profile, a->filter, &rows.totals);
	if (!rc)
		dw_report_tell_missing(&rows);
	dw_report_rows_release(&rows);
	return rc;
}

/* Write those views whose tables fold the system's code by themselves, or the others. */
static int write_views(struct all *a, bool folding, struct dw_error *err)
{
	int rc = 0;

	for (size_t i = 0; dw_views[i] && !rc; i++) {
		assert(i < VIEWS_MAX);
		if (dw_report_choose_view(a->r, dw_views[i]) &&
		    dw_report_find_columns(a->r, a->profile) &&
		    dw_report_folds_by_default(a->r, a->profile) == folding) {
			rc = dw_report_read_columns(a->r, a->profile, err);
			rc = rc ? rc : write_view(a, &a->files[i], err);
		}
	}
	return rc;
}

static bool chooses_code(const struct dw_my_code_options *o)
{
	return o->is_given || o->shows_all || o->mine.n || o->systems.n;
}

static int write_both(struct all *a, struct dw_error *err)
{
	const struct dw_my_code_options *o = &a->r->options->my_code;
	int rc = dw_my_code_apply(o, false, 0, a->profile, &a->folded, err);

	rc = rc ? rc : write_views(a, false, err);
	if (!rc && a->r->format->human_readable && !chooses_code(o))
		rc = dw_my_code_apply(o, true, 0, a->profile, &a->folded, err);
	return rc ? rc : write_views(a, true, err);
}

/* Let all files have their names, which are appended to @written. */
static int keep_files(struct all *a, struct dw_buf *written, struct dw_error *err)
{
	int rc = 0;

	for (size_t i = 0; dw_views[i] && !rc; i++)
		if (a->files[i].path) {
			rc = dw_whole_file_keep(&a->files[i], err);
			dw_buf_printf(written, " %s", dw_views[i]->name);
		}
	if (!rc && written->failed)
		rc = dw_error_set(err, -ENOMEM, "no memory");
	return rc;
}

/* Say which files of other reports stand among those of this one. */
static void tell_others(const struct all *a)
{
	dw_auto(dw_buf) others = DW_BUF_INIT;

	for (size_t i = 0; dw_views[i]; i++) {
		dw_auto(dw_buf) path = DW_BUF_INIT;

		put_path(a->r, dw_views[i], &path);
		if (!a->files[i].path && !access(dw_buf_str(&path), F_OK))
			dw_buf_printf(&others, " '%s'", dw_buf_str(&path));
	}
	if (others.len)
		dw_warn("report", "of another report, left as before:%s", dw_buf_str(&others));
}

/* Make the folder at @path, unless it is there. */
static int make_folder(const char *path, bool *is_new, struct dw_error *err)
{
	struct stat st;

	*is_new = !mkdir(path, 0777);
	if (*is_new)
		return 0;
	if (errno != EEXIST)
		return dw_error_set_errno(err, errno, "cannot make the folder '%s'", path);
	if (stat(path, &st) || S_ISDIR(st.st_mode))
		return 0; /* a link that leads nowhere fails with its first file */
	return dw_error_set(err, -ENOTDIR, "'%s' is no folder", path);
}

int dw_report_write_all(struct dw_report *r, struct dw_profile *p, struct dw_buf *written,
			struct dw_error *err)
{
	struct dw_filter_owned filter;
	struct all a = {.r = r, .profile = p, .filter = &filter.filter};
	bool is_new = false;
	int folder = 0, rc = dw_filter_options_resolve(&r->options->filter, p, &filter, err);

	rc = rc ? rc : make_folder(r->options->output, &is_new, err);
	if (is_new)
		folder = dw_leftovers_add(r->options->output);
	rc = rc ? rc : write_both(&a, err);
	rc = rc ? rc : keep_files(&a, written, err);
	if (!rc)
		tell_others(&a);
	for (size_t i = 0; i < VIEWS_MAX; i++)
		dw_whole_file_release(&a.files[i]);
	if (rc && is_new)
		rmdir(r->options->output);
	dw_leftovers_drop(folder);
	dw_filter_release(&filter);
	return rc;
}
