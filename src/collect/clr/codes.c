/* Managed code as its agent tells it; see codes.h. Row 0 is none. */
#include "collect/clr/codes.h"

#include <errno.h>

int dw_clr_codes_take(struct dw_code_map *m, uint32_t *taken, const struct dw_clr_tables *t)
{
	struct dw_clr_code c;

	for (*taken += !*taken; dw_clr_tables_get(t, DWELL_CLR_CODES, *taken, &c); ++*taken) {
		const struct dw_code_piece piece = {c.start, c.start + c.bytes, c.since_ns, *taken};

		if (c.start && piece.end > piece.start && dw_code_map_add(m, &piece))
			return -ENOMEM;
	}
	return dw_code_map_merge(m);
}
