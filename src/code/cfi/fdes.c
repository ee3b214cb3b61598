/*
 * Listing FDEs; see fdes.h. .debug_frame keeps FDEs of functions that the linker threw away, at
 * address 0: only code that lies in an executable segment counts.
 */
#include "code/cfi/fdes.h"

#include "base/cleanup.h"
#include "base/vec.h"
#include "code/cfi/entry.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>

int dw_cfi_spans_read(const struct dw_elf *elf, struct dw_cfi_spans *ret)
{
	size_t n;
	const struct dw_elf_segment *s = dw_elf_segments(elf, &n);

	for (size_t i = 0; i < n; i++) {
		struct dw_cfi_span span = {s[i].svma.v, s[i].svma.v + s[i].file_bytes};

		if (s[i].type == PT_LOAD && s[i].flags & PF_X && span.end > span.start &&
		    dw_vec_push(&ret->list, span))
			return -ENOMEM;
	}
	return 0;
}

static bool is_code(const struct dw_cfi_spans *spans, const struct dw_cfi_fde *f)
{
	dw_vec_each(s, &spans->list) {
		if (f->start >= s->start && f->end <= s->end)
			return true;
	}
	return !spans->list.n;
}

/* Add the FDEs of one section. Neighbours mostly share a CIE, so the last one is kept. */
static int read_section(const struct dw_cfi_section *s, const struct dw_cfi_spans *spans,
			struct dw_cfi_fdes *ret)
{
	size_t offset = 0, cie_offset = SIZE_MAX;
	struct dw_cfi_entry e;
	struct dw_cfi_cie cie;
	struct dw_cfi_fde f;
	bool usable = false;

	while (s->bytes && dw_cfi_next_entry(s, &offset, &e) == 1) {
		if (e.is_cie)
			continue;
		if (e.cie_offset != cie_offset) {
			cie_offset = e.cie_offset;
			usable = !dw_cfi_read_cie(s, cie_offset, &cie);
		}
		if (!usable || dw_cfi_read_fde(s, &e, &cie, &f) || !is_code(spans, &f))
			continue;
		struct dw_cfi_fde_ref ref = {f.start, f.end, (uint32_t)e.offset, s->kind};

		if (dw_vec_push(&ret->list, ref))
			return -ENOMEM;
	}
	return 0;
}

/* By start. Those of one start stay as they were read: .eh_frame first, then in the order of the
 * file. */
static int sort(struct dw_cfi_fdes *f)
{
	dw_auto_free struct dw_sort_row *rows = malloc((f->list.n + 1) * sizeof *rows);
	struct dw_cfi_fde_ref *sorted = malloc((f->list.n + 1) * sizeof *sorted);
	int rc = rows && sorted ? 0 : -ENOMEM;

	for (size_t i = 0; i < f->list.n && !rc; i++)
		rows[i] = (struct dw_sort_row){f->list.v[i].start, i};
	if (!rc)
		rc = dw_sort_rows(rows, f->list.n);
	if (rc) {
		free(sorted);
		return rc;
	}
	for (size_t i = 0; i < f->list.n; i++)
		sorted[i] = f->list.v[rows[i].row];
	free(f->list.v);
	f->list.v = sorted;
	f->list.cap = f->list.n + 1;
	return 0;
}

/* Drop what .debug_frame says about code that .eh_frame describes. The list is sorted. */
static void drop_duplicates(struct dw_cfi_fdes *f)
{
	struct dw_cfi_fde_ref *v = f->list.v;
	uint64_t eh_end = 0;
	size_t kept = 0, next_eh = 0;

	for (size_t i = 0; i < f->list.n; i++) {
		if (v[i].kind == DWELL_CFI_EH) {
			eh_end = v[i].end > eh_end ? v[i].end : eh_end;
			v[kept++] = v[i];
			continue;
		}
		next_eh = next_eh > i ? next_eh : i + 1;
		while (next_eh < f->list.n && v[next_eh].kind != DWELL_CFI_EH)
			next_eh++;
		if (v[i].start >= eh_end && (next_eh == f->list.n || v[i].end <= v[next_eh].start))
			v[kept++] = v[i];
	}
	f->list.n = kept;
}

int dw_cfi_fdes_read(const struct dw_cfi_section *sections, const struct dw_cfi_spans *spans,
		     struct dw_cfi_fdes *ret)
{
	for (unsigned kind = 0; kind < DWELL_CFI_SECTIONS; kind++)
		if (read_section(&sections[kind], spans, ret))
			return -ENOMEM;
	if (sort(ret))
		return -ENOMEM;
	drop_duplicates(ret);
	return 0;
}

const struct dw_cfi_fde_ref *dw_cfi_fdes_find(const struct dw_cfi_fdes *f, uint64_t start)
{
	size_t i = dw_sorted_count(f->list.v, f->list.n, e, e->start < start);

	return i < f->list.n && f->list.v[i].start == start ? &f->list.v[i] : NULL;
}

void dw_cfi_fdes_release(struct dw_cfi_fdes *f)
{
	dw_vec_release(&f->list);
}

void dw_cfi_spans_release(struct dw_cfi_spans *s)
{
	dw_vec_release(&s->list);
}

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
