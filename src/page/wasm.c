/*
 * The engine as WebAssembly: two functions that a page calls with its memory. Names are what a page
 * calls them by (page/src/wasm.ts).
 */
#include "format/format.h"
#include "page/pack.h"
#include "page/page.h"

#include <stdlib.h>
#include <string.h>

struct session {
	uint8_t *data; /* owned: as long as the page lives */
	size_t bytes;
};

static struct session session;
static struct dw_page *page;
static struct dw_out answer;
static struct dw_error why;

static int load(void *ctx, uint64_t from_ns, uint64_t to_ns, struct dw_profile *p,
		enum dw_recording_state *ret, struct dw_error *err)
{
	const struct session *s = ctx;
	const struct dw_session_range range = {from_ns, to_ns};

	*ret = DWELL_RECORDING_ENDED;
	return dw_pack_load(s->data, s->bytes, &range, p, err);
}

/* Open the packed session of @bytes at @data (of malloc()), which becomes the engine's, in place of
 * the one before. 0 or a negative code. */
__attribute__((export_name("dw_page_open"))) int dw_wasm_open(uint8_t *data, size_t bytes);

int dw_wasm_open(uint8_t *data, size_t bytes)
{
	dw_error_clear(&why);
	dw_page_free(page);
	page = NULL;
	free(session.data);
	session = (struct session){data, bytes};
	return dw_page_open(&(struct dw_page_source){"", load, &session}, &page, &why);
}

/* Answer @request, a text; the answer is the engine's until the next one. */
__attribute__((export_name("dw_page_request"))) const char *dw_wasm_request(const char *request);

const char *dw_wasm_request(const char *request)
{
	dw_out_close(&answer);
	dw_out_init_buffer(&answer);
	if (page) {
		dw_page_answer(page, request, strlen(request), &answer);
	} else {
		dw_out_puts(&answer, "{\"error\": ");
		dw_format_json_string(&answer, dw_error_message(&why));
		dw_out_puts(&answer, "}\n");
	}
	return answer.failed ? "{\"error\": \"out of memory\"}" : dw_buf_str(&answer.buf);
}
