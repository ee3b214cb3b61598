/*
 * Function ranges; see ranges.h. A range is an FDE: compilers write one per function, and one per
 * split-off cold part.
 */
#include "code/cfi/ranges.h"

#include "base/cleanup.h"
#include "base/vec.h"
#include "code/cfi/fdes.h"

#include <errno.h>

/* How far back a range may start behind others that hold the same address: ranges of real code
 * never nest deeper than twice. */
enum { MAX_NESTED = 16 };

static int collect(const struct dw_cfi_fdes *fdes, struct dw_cfi_range **ret, size_t *ret_n)
{
	struct dw_cfi_range *ranges = malloc((fdes->list.n + 1) * sizeof *ranges);
	size_t n = 0;

	if (!ranges)
		return -ENOMEM;
	dw_vec_each(f, &fdes->list) {
		if (n && ranges[n - 1].start == f->start && ranges[n - 1].end == f->end)
			continue;
		ranges[n++] = (struct dw_cfi_range){f->start, f->end};
	}
	*ret = ranges;
	*ret_n = n;
	return 0;
}

int dw_cfi_ranges(const struct dw_elf *elf, struct dw_cfi_range **ret, size_t *ret_n,
		  struct dw_error *err)
{
	dw_auto_free uint8_t *eh = NULL, *debug = NULL;
	dw_auto(dw_cfi_fdes) fdes = {0};
	dw_auto(dw_cfi_spans) spans = {0};
	uint8_t **owned[DWELL_CFI_SECTIONS] = {&eh, &debug};
	struct dw_cfi_section sections[DWELL_CFI_SECTIONS];
	int rc;

	for (unsigned kind = 0; kind < DWELL_CFI_SECTIONS; kind++) {
		dw_cfi_section_find(elf, kind, &sections[kind]);
		rc = sections[kind].n ? dw_cfi_section_read(elf, &sections[kind], owned[kind], err)
				      : 0;
		if (rc)
			return rc;
	}
	rc = dw_cfi_spans_read(elf, &spans);
	if (!rc)
		rc = dw_cfi_fdes_read(sections, &spans, &fdes);
	if (!rc)
		rc = collect(&fdes, ret, ret_n);
	return rc ? dw_error_set_errno(err, -rc, "cannot list functions") : 0;
}

const struct dw_cfi_range *dw_cfi_range_find(const struct dw_cfi_range *ranges, size_t n,
					     uint64_t svma)
{
	size_t behind = dw_sorted_count(ranges, n, r, r->start <= svma);

	for (size_t back = 1; back <= behind && back <= MAX_NESTED; back++)
		if (svma < ranges[behind - back].end)
			return &ranges[behind - back];
	return NULL;
}
