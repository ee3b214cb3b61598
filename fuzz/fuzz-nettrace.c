/* Streams of events from anywhere: no more methods than they have room for, IL and paths in bounds.
 */
#include "collect/jit/dotnet-trace.h"
#include "collect/jit/lines.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_method(const struct dw_dotnet_methods *m, const struct dw_dotnet_method *method)
{
	const uint64_t svma = (uint64_t)1 << 32;
	struct dw_jit_ils ils = {0};

	if ((uint64_t)method->il + method->il_n > m->il.n)
		abort();
	dw_dotnet_methods_path(m, method);
	if (dw_jit_ils_add(&ils, m, method, 1, svma))
		abort();
	dw_jit_ils_sort(&ils);
	for (uint64_t i = 0; i < 64; i++) {
		const struct dw_jit_il *il = dw_jit_ils_find(&ils, svma + i * method->bytes / 63);

		if (il && il->il >> 32 != method->token)
			abort();
	}
	dw_jit_ils_release(&ils);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dw_dotnet_methods m = {0};

	if (dw_dotnet_methods_read(&m, data, size))
		abort();
	for (size_t i = 1; i < m.rows.n && i < 256; i++) {
		const struct dw_dotnet_method *method = &m.rows.v[i];

		check_method(&m, method);
		if (!dw_dotnet_methods_find(&m, method->start, method->bytes) &&
		    !dw_map_get(&m.by_start, method->start))
			abort();
	}
	dw_dotnet_methods_release(&m);
	return 0;
}
