/* Single instructions, from the listing of a packed session, which is in AT&T's way; see
 * analysis/disassembly.h. */
#include "analysis/disassembly.h"

#include <stddef.h>

/* The one that begins at @svma. NULL: none does. */
static const struct dw_listed *find(const struct dw_code_stretch *s, uint64_t svma)
{
	const struct dw_code *code = s->code;
	uint64_t at = svma - s->svma;
	size_t i = dw_sorted_count(code->listed, code->listed_n, l, l->at < at);

	return i < code->listed_n && code->listed[i].at == at ? &code->listed[i] : NULL;
}

size_t dw_disassembly_step(const struct dw_code_stretch *s, uint64_t svma)
{
	const struct dw_listed *l = find(s, svma);

	return l ? l[1].at - l->at : 1;
}

void dw_disassembly_put(const struct dw_disassembly *d, uint32_t module, uint64_t svma, bool intel,
			struct dw_buf *to)
{
	const struct dw_code_stretch *s = dw_disassembly_find(d, module, svma);
	const struct dw_listed *l = s ? find(s, svma) : NULL;

	(void)intel;
	if (l && l->text)
		dw_buf_puts(to, s->code->texts + l->text);
}
