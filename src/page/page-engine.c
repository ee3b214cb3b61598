/*
 * page-engine FILE.dwell: the engine of a page as a program, for tests and for who works on the
 * page: reads one request a line, writes one answer a line. The session must be finished.
 */
#include "page/page.h"
#include "session/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int load(void *ctx, uint64_t from_ns, uint64_t to_ns, struct dw_profile *p,
		enum dw_recording_state *ret, struct dw_error *err)
{
	const struct dw_session_range range = {from_ns, to_ns};
	struct dw_session_info info;
	int rc = dw_session_load_summed(ctx, &range, p, &info, err);

	*ret = DWELL_RECORDING_ENDED;
	if (!rc && !info.finished)
		rc = dw_error_set(err, DWELL_ERR_UNSUPPORTED, "%s is not finished", (char *)ctx);
	return rc;
}

static int serve(struct dw_page *page)
{
	struct dw_out answer, out;
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int rc = 0;

	while (!rc && (n = getline(&line, &room, stdin)) > 0) {
		dw_out_init_buffer(&answer);
		dw_out_init_fd(&out, STDOUT_FILENO);
		dw_page_answer(page, line, (size_t)n, &answer);
		dw_out_write(&out, dw_buf_str(&answer.buf), answer.buf.len);
		rc = dw_out_close(&out);
		rc = dw_out_close(&answer) ? 1 : rc;
	}
	free(line);
	return rc != 0;
}

int main(int argc, char **argv)
{
	struct dw_error err = DW_ERROR_INIT;
	struct dw_page *page;
	int rc;

	if (argc != 2) {
		fprintf(stderr, "usage: page-engine FILE.dwell\n");
		return 2;
	}
	if (dw_page_open(&(struct dw_page_source){argv[1], load, argv[1]}, &page, &err)) {
		fprintf(stderr, "page-engine: %s\n", dw_error_message(&err));
		dw_error_clear(&err);
		return 1;
	}
	rc = serve(page);
	dw_page_free(page);
	return rc;
}
