/* Requests of browsers as foreign bytes. */
#include "page/http.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dw_http_request r;
	char *copy = malloc(size ? size : 1); /* of no more bytes than there are */

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (dw_http_read(copy, size, &r) == DWELL_HTTP_OK &&
	    (*r.target != '/' || r.body > size || r.body_n > size - r.body ||
	     (r.is_post ? r.body_n > DWELL_HTTP_BODY_MAX : r.body_n) ||
	     strlen(r.host) + strlen(r.origin) > size ||
	     (dw_http_is_local(&r, 80) && strcmp(r.host, "127.0.0.1:80") &&
	      strcmp(r.host, "localhost:80"))))
		abort();
	free(copy);
	return 0;
}
