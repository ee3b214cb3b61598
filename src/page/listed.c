/* Single instructions where there is no decoder, as in WebAssembly: what was listed; see
 * analysis/disassembly.h. */
#include "analysis/listing.h"

size_t dw_disassembly_step(const struct dw_code_stretch *s, uint64_t svma)
{
	return dw_listing_step(s, svma);
}

void dw_disassembly_put(const struct dw_disassembly *d, uint32_t module, uint64_t svma, bool intel,
			struct dw_buf *to)
{
	const struct dw_code_stretch *s = dw_disassembly_find(d, module, svma);

	(void)intel;
	if (s)
		dw_listing_put(s, svma, to);
}
