/* Packed sessions as foreign bytes: what loads is asked for by requests of every kind. */
#include "page/pack.h"
#include "page/page.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
	const uint8_t *data;
	size_t size;
};

static int load(void *ctx, uint64_t from_ns, uint64_t to_ns, struct dw_profile *p,
		enum dw_recording_state *ret, struct dw_error *err)
{
	const struct bytes *b = ctx;
	const struct dw_session_range range = {from_ns, to_ns};

	*ret = DWELL_RECORDING_ENDED;
	return dw_pack_load(b->data, b->size, &range, p, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const requests[] = {
		"{\"op\":\"open\"}",
		"{\"op\":\"summary\"}",
		"{\"op\":\"rows\",\"view\":\"functions\",\"search\":\"a\"}",
		"{\"op\":\"tree\"}",
		"{\"op\":\"hotpath\"}",
		"{\"op\":\"flame\",\"min_share\":0.01}",
		"{\"op\":\"rows\",\"view\":\"modules\"}",
		"{\"op\":\"function\",\"function\":1}",
		"{\"op\":\"annotate\",\"function\":1,\"kind\":\"instructions\"}",
		"{\"op\":\"timeline\",\"buckets\":7}",
		"{\"op\":\"rows\",\"view\":\"functions\",\"filter\":{\"from\":5000000,\"until\":99000000}}",
	};
	struct bytes bytes = {data, size};
	struct dw_page *page;

	if (dw_page_open(&(struct dw_page_source){"session", load, &bytes}, &page, NULL))
		return 0;
	for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
		struct dw_out out;

		dw_out_init_buffer(&out);
		dw_page_answer(page, requests[i], strlen(requests[i]), &out);
		if (out.failed || out.buf.data[out.buf.len - 1] != '\n')
			abort();
		dw_out_close(&out);
	}
	dw_page_free(page);
	return 0;
}
