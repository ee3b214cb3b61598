/* Requests of a page as foreign bytes. */
#include "page/request.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dw_page_request r;

	if (!dw_page_request_read(&r, (const char *)data, size, NULL)) {
		const struct dw_filter_words words = dw_page_request_words(&r);
		size_t bytes = strlen(r.op);

		for (size_t i = 0; i < words.modules_n; i++)
			bytes += strlen(words.modules[i]);
		for (size_t i = 0; i < r.columns.n; i++)
			bytes += strlen(r.columns.v[i]);
		if (bytes > 4 * size)
			abort();
	}
	dw_page_request_release(&r);
	return 0;
}
