/* What a page and a browser say: requests in JSON, requests by HTTP, and the file with both. */
#include "check.h"
#include "page/file.h"
#include "page/http.h"
#include "page/request.h"

#include <stdlib.h>
#include <string.h>

static int read_request(struct dw_page_request *r, const char *text)
{
	return dw_page_request_read(r, text, strlen(text), NULL);
}

TEST(requests_are_read)
{
	struct dw_page_request r;
	struct dw_filter_words words;

	CHECK_INT(
		read_request(&r,
			     " {\"op\": \"rows\", \"view\": \"lines\", \"columns\": [\"a\", \"b\"],"
			     "\"from\": 3, \"count\": 7, \"search\": \"\\u00e9\\ud83d\\ude00\","
			     "\"filter\": {\"process\": [12, \"sh\"], \"module\": \"*.so\","
			     "\"from\": 1.5e3, \"until\": 2000, \"waits\": \"lock\","
			     "\"all_code\": false, \"by\": \"thread\"}}"),
		0);
	CHECK_STR(r.op, "rows");
	CHECK_STR(r.view, "lines");
	CHECK_STR(r.search, "\xc3\xa9\xf0\x9f\x98\x80");
	CHECK_INT(r.columns.n, 2);
	CHECK_INT(r.from, 3);
	CHECK_INT(r.count, 7);
	CHECK(r.folds);
	CHECK_STR(r.by, "thread");
	words = dw_page_request_words(&r);
	CHECK_INT(words.processes_n, 2);
	CHECK_STR(words.processes[0], "12");
	CHECK_STR(words.processes[1], "sh");
	CHECK_STR(words.modules[0], "*.so");
	CHECK_INT(words.from_ns, 1500);
	CHECK_INT(words.to_ns, 2000);
	CHECK_INT(words.waits_left_out, DWELL_WAITS_ALL & ~(1u << DWELL_WAIT_LOCK));
	dw_page_request_release(&r);
}

TEST(other_texts_are_no_requests)
{
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"{}",
		"{\"op\": 1} 2",
		"{\"op\": \"\\ud800\"}",
		"{\"op\": \"\\u0000\"}",
		"{\"op\": \"a\nb\"}",
		"{\"op\": 01}",
		"{\"op\": \"x\",}",
		"{\"op\": \"x\", \"filter\": {\"waits\": \"nothing\"}}",
		"{\"op\": \"x\", \"filter\": {\"from\": -1}}",
		"{\"op\": \"x\", \"filter\": {\"process\": [[]]}}",
		"{\"op\": \"x\", \"from\": -1}",
		"{\"op\": \"x\", \"count\": 1.5}",
		"{\"op\": \"x\", \"node\": \"1\"}",
		"{\"op\": \"x\", \"buckets\": 99999999999999999999}",
		"{\"op\": \"x\", \"function\": []}",
		"{\"op\": \"x\", \"min_share\": 1.01}",
		"{\"op\": \"x\", \"min_share\": -0.1}",
		"{\"op\": \"x\", \"min_share\": \"0.1\"}",
		"[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]",
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct dw_page_request r;

		CHECK(read_request(&r, texts[i]) < 0);
		dw_page_request_release(&r);
	}
}

static enum dw_http_state read_http(const char *text, struct dw_http_request *r)
{
	return dw_http_read(text, strlen(text), r);
}

TEST(browsers_are_read)
{
	struct dw_http_request r;
	char longest[DWELL_HTTP_BYTES_MAX];

	CHECK_INT(read_http("GET /t/ HTTP/1.1\r\nHOST:  localhost:8 \r\nX: y\r\n", &r),
		  DWELL_HTTP_MORE);
	CHECK_INT(read_http("GET /t/?a HTTP/1.1\r\nHOST:  localhost:8 \r\nX: y\r\n\r\n", &r),
		  DWELL_HTTP_OK);
	CHECK_STR(r.target, "/t/?a");
	CHECK_STR(r.host, "localhost:8");
	CHECK(dw_http_is_local(&r, 8));
	CHECK(!dw_http_is_local(&r, 80));
	CHECK(dw_http_under(&r, "/t/"));
	CHECK(!dw_http_under(&r, "/u"));
	CHECK(!dw_http_under(&r, "/t/?a/"));
	CHECK_STR(dw_http_under(&r, "/t/"), "?a");
	CHECK_INT(read_http("PUT / HTTP/1.1\r\n\r\n", &r), DWELL_HTTP_METHOD);
	CHECK_INT(read_http("GET http://x/ HTTP/1.1\r\n\r\n", &r), DWELL_HTTP_BAD);
	CHECK_INT(read_http("GET / HTTP/1.1\r\nA: b\n\r\n\r\n", &r), DWELL_HTTP_BAD);
	CHECK_INT(read_http("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", &r), DWELL_HTTP_BAD);
	memset(longest, 'a', sizeof longest);
	CHECK_INT(dw_http_read(longest, sizeof longest, &r), DWELL_HTTP_TOO_LONG);
}

TEST(bodies_come_as_they_were_told)
{
	static const char told[] = "POST /t/ask HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcd";
	struct dw_http_request r;
	char *longest = calloc(1, DWELL_HTTP_BYTES_MAX + DWELL_HTTP_BODY_MAX);
	int n = sprintf(longest, "POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n",
			DWELL_HTTP_BODY_MAX);

	for (size_t left = 0; left < sizeof told; left++)
		CHECK_INT(dw_http_read(told, left, &r),
			  left < sizeof told - 2 ? DWELL_HTTP_MORE : DWELL_HTTP_OK);
	CHECK_INT(r.body_n, 3);
	CHECK(!memcmp(told + r.body, "abc", 3));
	CHECK(r.is_post);
	CHECK_INT(dw_http_read(longest, (size_t)n + DWELL_HTTP_BODY_MAX - 1, &r), DWELL_HTTP_MORE);
	CHECK_INT(dw_http_read(longest, (size_t)n + DWELL_HTTP_BODY_MAX, &r), DWELL_HTTP_OK);
	CHECK_INT(r.body_n, DWELL_HTTP_BODY_MAX);
	free(longest);
	CHECK_INT(read_http("POST / HTTP/1.1\r\nContent-Length: 262145\r\n\r\n", &r),
		  DWELL_HTTP_TOO_LARGE);
	CHECK_INT(read_http("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", &r),
		  DWELL_HTTP_TOO_LARGE);
	CHECK_INT(read_http("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", &r), DWELL_HTTP_BAD);
	CHECK_INT(read_http("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", &r),
		  DWELL_HTTP_BAD);
	CHECK_INT(
		read_http("POST / HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 3\r\n\r\n", &r),
		DWELL_HTTP_BAD);
	CHECK_INT(read_http("GET / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", &r), DWELL_HTTP_OK);
	CHECK_INT(r.body_n, 0);
	/* Browsers tell from where they post. */
	read_http("POST / HTTP/1.1\r\nHost: 127.0.0.1:8\r\n\r\n", &r);
	CHECK(!dw_http_is_local(&r, 8));
	read_http("POST / HTTP/1.1\r\nHost: 127.0.0.1:8\r\nOrigin: http://127.0.0.1:8\r\n\r\n", &r);
	CHECK(dw_http_is_local(&r, 8));
}

TEST(other_origins_are_strangers)
{
	struct dw_http_request r;

	read_http("GET / HTTP/1.1\r\nHost: evil.example:8\r\n\r\n", &r);
	CHECK(!dw_http_is_local(&r, 8));
	read_http("GET / HTTP/1.1\r\n\r\n", &r);
	CHECK(!dw_http_is_local(&r, 8));
	read_http("GET / HTTP/1.1\r\nHost: 127.0.0.1:8\r\nOrigin: null\r\n\r\n", &r);
	CHECK(!dw_http_is_local(&r, 8));
	read_http("GET / HTTP/1.1\r\nHost: 127.0.0.1:8\r\nOrigin: http://127.0.0.1:9\r\n\r\n", &r);
	CHECK(!dw_http_is_local(&r, 8));
	read_http("GET / HTTP/1.1\r\nHost: 127.0.0.1:8\r\nOrigin: http://localhost:8\r\n\r\n", &r);
	CHECK(dw_http_is_local(&r, 8));
}

/* The file of @template in @out. */
static int write_file(const char *template, bool has_session, struct dw_out *out)
{
	struct dw_buf text = DW_BUF_INIT, engine = DW_BUF_INIT, session = DW_BUF_INIT;
	int rc;

	dw_buf_puts(&text, template);
	dw_buf_puts(&engine, "engine");
	dw_buf_puts(&session, "<session>");
	dw_out_init_buffer(out);
	rc = dw_page_write_file(&text, &engine, has_session ? &session : NULL, out, NULL);
	dw_buf_release(&text);
	dw_buf_release(&engine);
	dw_buf_release(&session);
	return rc;
}

TEST(a_template_is_filled)
{
	struct dw_out out;
	const char *text;

	CHECK_INT(write_file("<a>@DATA@</a>@CONNECT@<b>@ENGINE@</b>", true, &out), 0);
	text = dw_buf_str(&out.buf);
	/* The head of gzip. */
	CHECK(!strncmp(text, "<a>H4sI", strlen("<a>H4sI")));
	CHECK(strstr(text, "</a>'none'<b>H4sI") != NULL);
	CHECK(!strncmp(text + out.buf.len - 4, "</b>", 4));
	CHECK(!strstr(text, "<session>") && !strchr(text, '@'));
	dw_out_close(&out);
	/* Who serves the page answers. */
	CHECK_INT(write_file("<a>@DATA@</a>@CONNECT@<b>@ENGINE@</b>", false, &out), 0);
	CHECK(!strncmp(dw_buf_str(&out.buf), "<a></a>'self'<b>H4sI",
		       strlen("<a></a>'self'<b>H4sI")));
	dw_out_close(&out);
	CHECK_INT(write_file("<a>@DATA@</a>@CONNECT@", true, &out), DWELL_ERR_FORMAT);
	dw_out_close(&out);
	CHECK_INT(write_file("@DATA@@DATA@@ENGINE@", true, &out), DWELL_ERR_FORMAT);
	dw_out_close(&out);
}

TEST_MAIN()
