/*
 * Single instructions, decoded; see disassembly.h. WebAssembly has no decoder: there they are
 * listed (src/page/listed.c).
 */
#include "analysis/disassembly.h"
#include "analysis/listing.h"
#include "code/decode/insn.h"

#include <inttypes.h>

size_t dw_disassembly_step(const struct dw_code_stretch *s, uint64_t svma)
{
	struct dw_insn insn;

	if (!s->code->bytes)
		return dw_listing_step(s, svma);
	return dw_insn_decode(s->code->bytes + (svma - s->svma), s->end - svma, &insn) ? insn.length
										       : 1;
}

/* Append the name of the function that @svma lies in; nothing within @from itself. */
static void put_target(const struct dw_disassembly *d, const struct dw_code_stretch *from,
		       uint64_t svma, struct dw_buf *to)
{
	const struct dw_code_stretch *s = dw_disassembly_function(d, from->module, svma);
	const struct dw_profile *p = d->profile;

	if (!s || (s->function == from->function && svma != s->svma))
		return;
	dw_buf_printf(
		to, " <%s",
		dw_strings_get(&p->strings, dw_functions_get(&p->functions, s->function)->name));
	if (svma != s->svma)
		dw_buf_printf(to, "+0x%" PRIx64, svma - s->svma);
	dw_buf_putc(to, '>');
}

void dw_disassembly_put(const struct dw_disassembly *d, uint32_t module, uint64_t svma, bool intel,
			struct dw_buf *to)
{
	const struct dw_code_stretch *s = dw_disassembly_find(d, module, svma);
	struct dw_insn insn;

	if (!s)
		return;
	if (!s->code->bytes)
		return dw_listing_put(s, svma, to);
	if (!dw_insn_put(to, s->code->bytes + (svma - s->svma), s->end - svma, svma, intel)) {
		dw_buf_puts(to, "(bad)");
		return;
	}
	if (!dw_insn_decode(s->code->bytes + (svma - s->svma), s->end - svma, &insn))
		return;
	switch (insn.kind) {
	case DWELL_INSN_CALL:
	case DWELL_INSN_JUMP:
	case DWELL_INSN_BRANCH:
		put_target(d, s, dw_insn_target(&insn, svma), to);
		break;
	default:
		break;
	}
}
