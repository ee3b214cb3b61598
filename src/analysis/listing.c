/* Instructions that were listed; see listing.h. */
#include "analysis/listing.h"

const struct dw_listed *dw_listing_find(const struct dw_code_stretch *s, uint64_t svma)
{
	const struct dw_code *code = s->code;
	uint64_t at = svma - s->svma;
	size_t i = dw_sorted_count(code->listed, code->listed_n, l, l->at < at);

	return i < code->listed_n && code->listed[i].at == at ? &code->listed[i] : NULL;
}

size_t dw_listing_step(const struct dw_code_stretch *s, uint64_t svma)
{
	const struct dw_listed *l = dw_listing_find(s, svma);

	return l ? l[1].at - l->at : 1;
}

void dw_listing_put(const struct dw_code_stretch *s, uint64_t svma, struct dw_buf *to)
{
	const struct dw_listed *l = dw_listing_find(s, svma);

	if (l && l->text)
		dw_buf_puts(to, s->code->texts + l->text);
}
