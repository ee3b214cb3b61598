/* The page from what was built; see page-files.h. */
#include "cli/page-files.h"

#include "base/cleanup.h"
#include "cli/installed.h"
#include "page/file.h"
#include "page/pack.h"

#include <stdio.h>
#include <stdlib.h>

enum { TEXT_BYTES_MAX = 4 << 20 }; /* of instructions */

/* The file @name of the page: in the folder that DWELL_PAGE names, in @built, or where it is
 * installed. NULL: it is nowhere. The caller frees it. */
static char *find(const char *name, const char *built)
{
	const char *folder = getenv("DWELL_PAGE");
	char *path;

	if (!folder)
		return dw_installed_file(name, built, "../share/dwell/page/");
	return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

static int read_part(const char *name, const char *built, struct dw_buf *ret, struct dw_error *err)
{
	dw_auto_free char *path = find(name, built);

	if (!path)
		return dw_error_set(err, DWELL_ERR_UNSUPPORTED,
				    "this dwell was built without the page: %s is missing", name);
	return dw_page_read_file(path, ret, err);
}

int dw_page_parts_read(struct dw_page_parts *ret, struct dw_error *err)
{
	int rc;

	*ret = (struct dw_page_parts){0};
	rc = read_part("page.html", "../page/dist/", &ret->template, err);
	return rc ? rc : read_part("engine.wasm", "src/page/", &ret->engine, err);
}

void dw_page_parts_release(struct dw_page_parts *parts)
{
	dw_buf_release(&parts->template);
	dw_buf_release(&parts->engine);
}

int dw_page_pack(const char *path, struct dw_buf *ret, struct dw_error *err)
{
	return dw_pack_session(path, TEXT_BYTES_MAX, ret, err);
}

int dw_page_fill(const struct dw_page_parts *parts, const struct dw_buf *session,
		 struct dw_buf *ret, struct dw_error *err)
{
	struct dw_out out;
	int rc;

	dw_out_init_buffer(&out);
	rc = dw_page_write_file(&parts->template, &parts->engine, session, &out, err);
	if (!rc && out.failed)
		rc = dw_error_set(err, out.failed, "out of memory");
	if (!rc) {
		*ret = out.buf;
		out.buf = (struct dw_buf)DW_BUF_INIT;
	}
	dw_out_close(&out);
	return rc;
}

int dw_page_make(const char *path, struct dw_buf *ret, struct dw_error *err)
{
	dw_auto(dw_buf) session = DW_BUF_INIT;
	struct dw_page_parts parts;
	int rc = dw_page_parts_read(&parts, err);

	rc = rc ? rc : dw_page_pack(path, &session, err);
	rc = rc ? rc : dw_page_fill(&parts, &session, ret, err);
	dw_page_parts_release(&parts);
	return rc;
}
