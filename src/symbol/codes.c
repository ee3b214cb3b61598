/*
 * Ranges and machine code; see codes.h. A function may have several stretches (a cold part, copies
 * of one inline function in several objects): each that holds a frame is copied once.
 */
#include "symbol/codes.h"

#include "base/cleanup.h"
#include "code/cfi/table.h"

#include <errno.h>
#include <stdlib.h>

void dw_module_code_open(struct dw_module_code *m, const struct dw_module_source *source)
{
	int rc = DWELL_ERR_NOT_FOUND;

	*m = (struct dw_module_code){0};
	if (source && source->fd >= 0)
		rc = dw_elf_open(source->fd, &m->elf, NULL);
	else if (source && source->image)
		rc = dw_elf_open_bytes(source->image, source->image_bytes, true, &m->elf, NULL);
	if (!rc)
		m->cfi = source->cfi;
	if (!rc && !m->cfi && dw_cfi_ranges(m->elf, &m->ranges, &m->ranges_n, NULL)) {
		m->ranges = NULL;
		m->ranges_n = 0;
	}
}

int dw_module_code_unwind_range(const struct dw_module_code *m, uint64_t svma,
				struct dw_cfi_range *ret)
{
	const struct dw_cfi_range *range;

	if (m->cfi)
		return dw_cfi_table_range(m->cfi, svma, ret);
	range = dw_cfi_range_find(m->ranges, m->ranges_n, svma);
	if (!range)
		return DWELL_ERR_NOT_FOUND;
	*ret = *range;
	return 0;
}

struct dw_code_range dw_module_code_range(const struct dw_module_code *m, uint32_t id,
					  const struct dw_function *f, uint64_t svma)
{
	struct dw_cfi_range range;

	if (svma - f->svma < f->bytes)
		return (struct dw_code_range){id, f->svma, f->bytes};
	if (dw_module_code_unwind_range(m, svma, &range))
		return (struct dw_code_range){id, svma, 0};
	return (struct dw_code_range){id, range.start, range.end - range.start};
}

static int compare(const void *pa, const void *pb)
{
	const struct dw_code_range *a = pa, *b = pb;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return (a->svma > b->svma) - (a->svma < b->svma);
}

static int copy_one(const struct dw_module_code *m, const struct dw_code_range *r,
		    struct dw_codes *codes)
{
	size_t n = r->bytes < DWELL_CODE_MAX_BYTES ? (size_t)r->bytes : DWELL_CODE_MAX_BYTES;
	dw_auto_free uint8_t *bytes = NULL;
	int rc;

	if (!n)
		return 0;
	bytes = malloc(n);
	if (!bytes)
		return -ENOMEM;
	/* A range that the file does not hold is the file's lie: no code then. */
	if (dw_elf_read_svma(m->elf, (struct dw_svma){r->svma}, bytes, n))
		return 0;
	rc = dw_vec_push(&codes->rows, (struct dw_code){r->function, (uint32_t)n, r->svma, bytes});
	if (!rc)
		bytes = NULL;
	return rc;
}

int dw_module_code_copy(const struct dw_module_code *m, struct dw_code_range *ranges, size_t n,
			struct dw_codes *codes)
{
	int rc = 0;

	if (!m->elf || !n)
		return 0;
	qsort(ranges, n, sizeof *ranges, compare);
	for (size_t i = 0; i < n && !rc; i++)
		if (!i || compare(&ranges[i - 1], &ranges[i]))
			rc = copy_one(m, &ranges[i], codes);
	return rc;
}

void dw_module_code_release(struct dw_module_code *m)
{
	dw_elf_free(m->elf);
	free(m->ranges);
	*m = (struct dw_module_code){0};
}
