/*
 * The page of a recording that goes on; see live-page.h.
 *
 * The page asks once a second how it is ("look"), and nobody reads the session unless a page asks.
 * What was read has a number; who asks for rows says which one he means, as ids of nodes and
 * functions are those of one reading.
 */
#include "cli/live-page.h"

#include "base/clock.h"
#include "base/out.h"
#include "format/format.h"
#include "page/file.h"
#include "page/page.h"
#include "session/output.h"
#include "session/range.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	INTERVAL_MS = 1000,
	LEAST_MS = 900,	   /* between two readings, however many pages ask */
	SHARE_OF_TIME = 5, /* readings take at most one part in so many */
	NS_PER_MS = 1000000,
};

struct dw_live_page {
	struct dw_live_recording recording;
	struct dw_page_parts parts;
	struct dw_buf running, finished; /* the page while it runs, and afterwards */
	struct dw_buf session;		 /* finished, packed and compressed */
	struct dw_page *page;
	enum dw_recording_state state;
	enum dw_recording_state loaded; /* what becomes that, if all else goes well */
	uint64_t reading;		/* number of what was read last */
	uint64_t read_ns, took_ns;
	bool has_failed; /* to read anything newer: */
	struct dw_error problem;
};

static const char suffix[] = ".partial";

static bool has_suffix(const char *path)
{
	size_t n = strlen(path), m = sizeof suffix - 1;

	return n > m && !strcmp(path + n - m, suffix);
}

bool dw_live_page_suits(const char *path)
{
	char *partial = has_suffix(path) ? NULL : dw_output_name(path, suffix);
	bool suits = !partial ||
		     (!access(partial, F_OK) && (access(path, F_OK) || dw_output_is_held(partial)));

	free(partial);
	return suits;
}

static int load(void *ctx, uint64_t from_ns, uint64_t to_ns, struct dw_profile *p,
		enum dw_recording_state *ret, struct dw_error *err)
{
	struct dw_live_page *l = ctx;
	const struct dw_session_range range = {from_ns, to_ns};
	bool runs;
	/* While it runs any range will be asked for, of the same reading. */
	int rc = dw_live_load(&l->recording, l->recording.is_left ? &range : NULL, p, &runs, err);

	*ret = l->loaded = runs ? DWELL_RECORDING_RUNS
			   : l->recording.is_left && !access(l->recording.partial, F_OK)
				   ? DWELL_RECORDING_LEFT
				   : DWELL_RECORDING_ENDED;
	return rc;
}

/* Get ready what a browser needs to go on alone. */
static int finish(struct dw_live_page *l, struct dw_error *err)
{
	struct dw_buf packed = DW_BUF_INIT;
	int rc = dw_page_pack(l->recording.path, &packed, err);

	rc = rc ? rc : dw_page_fill(&l->parts, &packed, &l->finished, err);
	if (!rc && dw_page_gzip(&packed, &l->session))
		rc = dw_error_set(err, -ENOMEM, "out of memory");
	dw_buf_release(&packed);
	if (rc) {
		dw_buf_release(&l->finished);
		dw_buf_release(&l->session);
	}
	return rc;
}

/* Read the session, once more if there is one, and get ready what is shown of it. */
static int read_session(struct dw_live_page *l, struct dw_error *err)
{
	const struct dw_page_source source = {"", load, l};
	uint64_t begin_ns = dw_clock_ns(CLOCK_MONOTONIC);
	int rc = l->page ? dw_page_reload(l->page, err) : dw_page_open(&source, &l->page, err);

	/* Ids are those of the new reading, whether or not all can be got ready. */
	l->reading += !rc;
	if (!rc && l->loaded == DWELL_RECORDING_ENDED)
		rc = finish(l, err);
	if (!rc)
		l->state = l->loaded;
	l->read_ns = dw_clock_ns(CLOCK_MONOTONIC);
	l->took_ns = l->read_ns - begin_ns;
	return rc;
}

/* What was written since is read, unless that was just done, and takes its time. */
static void look(struct dw_live_page *l)
{
	uint64_t now_ns = dw_clock_ns(CLOCK_MONOTONIC);
	bool was_left, has_changed;

	if (l->state == DWELL_RECORDING_ENDED ||
	    now_ns - l->read_ns < (uint64_t)LEAST_MS * NS_PER_MS ||
	    now_ns - l->read_ns < l->took_ns * (SHARE_OF_TIME - 1))
		return;
	was_left = dw_live_was_left(&l->recording);
	has_changed = dw_live_has_changed(&l->recording);
	if (!was_left && !has_changed && !l->has_failed)
		return;
	dw_error_clear(&l->problem);
	l->has_failed = read_session(l, &l->problem) != 0;
}

static void put_state(const struct dw_live_page *l, struct dw_out *to)
{
	static const char *const states[] = {[DWELL_RECORDING_ENDED] = "ended",
					     [DWELL_RECORDING_RUNS] = "runs",
					     [DWELL_RECORDING_LEFT] = "left"};
	uint64_t after_ms = l->took_ns * (SHARE_OF_TIME - 1) / NS_PER_MS;

	dw_out_printf(to, "{\"reading\": %" PRIu64 ", \"state\": \"%s\", \"after_ms\": %" PRIu64,
		      l->reading, states[l->state],
		      after_ms < INTERVAL_MS ? INTERVAL_MS : after_ms);
	dw_out_puts(to, ", \"file\": ");
	dw_format_json_string(to, l->recording.partial);
	if (l->has_failed) {
		dw_out_puts(to, ", \"problem\": ");
		dw_format_json_string(to, dw_error_message(&l->problem));
	}
	dw_out_puts(to, "}\n");
}

static void ask(struct dw_live_page *l, const struct dw_server_question *q, struct dw_out *to)
{
	if (strtoull(q->query, NULL, 10) == l->reading)
		dw_page_answer(l->page, q->body, q->body_n, to);
	else
		dw_out_puts(to, "{\"is_old\": true}\n");
}

/* An answer in JSON that was made for this request. */
static void answer_now(struct dw_live_page *l, const struct dw_server_question *q,
		       struct dw_buf *ret)
{
	struct dw_out out;

	dw_out_init_buffer(&out);
	if (!strcmp(q->name, "ask")) {
		ask(l, q, &out);
	} else {
		look(l);
		put_state(l, &out);
	}
	out.buf.failed |= out.failed != 0;
	*ret = out.buf;
	out.buf = (struct dw_buf)DW_BUF_INIT;
	dw_out_close(&out);
}

int dw_live_page_answer(void *ctx, const struct dw_server_question *q, struct dw_server_answer *ret)
{
	struct dw_live_page *l = ctx;
	bool has_ended = l->state == DWELL_RECORDING_ENDED;

	*ret = (struct dw_server_answer){.type = "application/json"};
	if (!*q->name) {
		ret->type = "text/html; charset=utf-8";
		ret->whole = has_ended ? &l->finished : &l->running;
		return q->is_post ? 405 : 200;
	}
	if (!strcmp(q->name, "session") && has_ended) {
		ret->type = "application/octet-stream";
		ret->whole = &l->session;
	} else if (strcmp(q->name, "look") && strcmp(q->name, "ask")) {
		return 404;
	} else if (q->is_post) {
		answer_now(l, q, &ret->own);
	}
	return q->is_post ? 200 : 405;
}

static int open_recording(struct dw_live_page *l, const char *path, struct dw_error *err)
{
	/* By this name it is no process. */
	char *partial = dw_output_name(path, has_suffix(path) ? "" : suffix);
	int rc = partial ? dw_live_open(&l->recording, partial, NULL, false, err)
			 : dw_error_set(err, -ENOMEM, "out of memory");

	free(partial);
	if (!rc)
		dw_live_has_changed(&l->recording);
	return rc;
}

int dw_live_page_open(const char *path, struct dw_live_page **ret, struct dw_error *err)
{
	struct dw_live_page *l = calloc(1, sizeof *l);
	int rc;

	if (!l)
		return dw_error_set(err, -ENOMEM, "out of memory");
	l->recording.told_fd = -1;
	rc = dw_page_parts_read(&l->parts, err);
	rc = rc ? rc : dw_page_fill(&l->parts, NULL, &l->running, err);
	rc = rc ? rc : open_recording(l, path, err);
	rc = rc ? rc : read_session(l, err);
	if (rc)
		dw_live_page_free(l);
	else
		*ret = l;
	return rc;
}

void dw_live_page_free(struct dw_live_page *l)
{
	if (!l)
		return;
	dw_page_free(l->page);
	dw_live_close(&l->recording);
	/* No thread loads any more. */
	free(l->recording.path);
	free(l->recording.partial);
	dw_page_parts_release(&l->parts);
	dw_buf_release(&l->running);
	dw_buf_release(&l->finished);
	dw_buf_release(&l->session);
	dw_error_clear(&l->problem);
	free(l);
}
