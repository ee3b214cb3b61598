/*
 * Unwind tables: loading, and the full rules of one address; see table.h and table-format.h.
 *
 * Full rules are made on demand from the module's own bytes, which the table keeps: they are needed
 * for few addresses, and storing them would cost more than all rows.
 */
#include "code/cfi/table.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vec.h"
#include "code/cfi/cache.h"
#include "code/cfi/compile.h"
#include "code/cfi/entry.h"
#include "code/cfi/table-format.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* A longer program is not run again for one address: a hostile one would stall every sample. The
 * longest of cc1plus has 20 KB. */
enum {
	PROGRAM_MAX_BYTES = 64 << 10,
	ENTRY_MAX_BYTES = 256, /* of code at an entry: some calls and jumps */
};

/* Read the sections of @t and compile them. */
static int compile(const struct dw_elf *elf, const struct dw_cfi_spans *spans,
		   struct dw_cfi_table *t, struct dw_error *err)
{
	int rc;

	for (int i = 0; i < DWELL_CFI_SECTIONS; i++) {
		if (!t->sections[i].n)
			continue;
		rc = dw_cfi_section_read(elf, &t->sections[i], &t->owned[i], err);
		if (rc)
			return rc;
	}
	rc = dw_cfi_compile(t, spans);
	return rc ? dw_error_set(err, rc, "cannot compile unwind information") : 0;
}

/* Fill @t, which is zeroed. */
static int load(const struct dw_elf *elf, const char *cache_dir, struct dw_cfi_table *t,
		struct dw_error *err)
{
	struct dw_cfi_section found[DWELL_CFI_SECTIONS];
	dw_auto(dw_cfi_spans) spans = {0};
	int rc;

	for (uint32_t kind = 0; kind < DWELL_CFI_SECTIONS; kind++)
		dw_cfi_section_find(elf, kind, &t->sections[kind]);
	if (!t->sections[DWELL_CFI_EH].n && !t->sections[DWELL_CFI_DEBUG].n)
		return dw_error_set(err, DWELL_ERR_NOT_FOUND, "no unwind information");
	memcpy(found, t->sections, sizeof found);
	if (dw_cfi_spans_read(elf, &spans))
		return dw_error_set_errno(err, ENOMEM, "cannot load unwind information");
	if (cache_dir && !dw_cfi_cache_load(cache_dir, elf, &spans, t))
		return 0;
	rc = compile(elf, &spans, t, err);
	if (rc || !cache_dir)
		return rc;
	rc = dw_cfi_cache_store(cache_dir, elf, &spans, found, t);
	if (rc)
		dw_trace("cfi", "cannot cache an unwind table in %s: %s, going on without",
			 cache_dir, dw_err_string(rc));
	return 0;
}

/* Note what of the code at the entry of @elf has no rows, up to the next that has some. */
static void find_entry(const struct dw_elf *elf, struct dw_cfi_table *t)
{
	uint64_t entry = dw_elf_entry(elf).v, end = entry + ENTRY_MAX_BYTES;
	const struct dw_cfi_row *row = dw_cfi_table_find(t, entry);
	size_t lo = 0, hi = t->starts_n;

	if (!entry || end < entry || row->cfa != (DWELL_ROW_NONE << 2 | DWELL_ROW_SPECIAL))
		return;
	while (lo < hi) { /* the first start behind the entry */
		size_t mid = lo + (hi - lo) / 2;

		if (dw_cfi_table_start_svma(t, mid) <= entry)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < t->starts_n && dw_cfi_table_start_svma(t, lo) < end)
		end = dw_cfi_table_start_svma(t, lo);
	t->entry = (struct dw_cfi_range){entry, end};
}

int dw_cfi_table_load(const struct dw_elf *elf, const char *cache_dir, struct dw_cfi_table **ret,
		      struct dw_error *err)
{
	struct dw_cfi_table *t = calloc(1, sizeof *t);
	int rc;

	if (!t)
		return dw_error_set_errno(err, ENOMEM, "cannot load unwind information");
	rc = load(elf, cache_dir, t, err);
	if (rc) {
		dw_cfi_table_free(t);
		return rc;
	}
	find_entry(elf, t);
	*ret = t;
	return 0;
}

void dw_cfi_table_free(struct dw_cfi_table *t)
{
	if (!t)
		return;
	if (t->mapped_bytes)
		munmap(t->memory, t->mapped_bytes);
	else
		free(t->memory);
	for (int i = 0; i < DWELL_CFI_SECTIONS; i++)
		free(t->owned[i]);
	free(t);
}

size_t dw_cfi_table_starts(const struct dw_cfi_table *t)
{
	return t->starts_n;
}

uint64_t dw_cfi_table_start_svma(const struct dw_cfi_table *t, size_t i)
{
	/* pages whose first start is this one or one before it */
	uint64_t page = dw_sorted_count(t->pages, t->pages_n, p, *p <= i) - 1;

	return t->base + ((page << t->shift & ~(uint64_t)UINT16_MAX) | t->starts[i].pc);
}

/* The index entry of the FDE that may hold @pc, NULL = none. */
static const struct dw_cfi_fde_index *find_fde(const struct dw_cfi_table *t, uint64_t pc)
{
	size_t lo = 0, hi = t->fdes_n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->fdes[mid].pc <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &t->fdes[lo - 1] : NULL;
}

/* Run the program of @f until the rules for @svma stand. */
static int run_to(const struct dw_cfi_cie *cie, const struct dw_cfi_fde *f, uint64_t svma,
		  struct dw_cfi_rules *rules)
{
	struct dw_cfi_machine m;
	uint64_t from, to;
	int more;

	dw_cfi_machine_init(&m, cie, f->start, f->program, f->program_n);
	do {
		more = dw_cfi_machine_next(&m, &from, &to);
		if (more < 0)
			return more;
	} while (more && to <= svma);
	*rules = m.rules;
	rules->r[DWELL_CFI_RA] = m.rules.r[cie->return_register];
	return 0;
}

/* Read the entry for @svma. 0; DWELL_ERR_NOT_FOUND; DWELL_ERR_FORMAT. */
static int read_for(const struct dw_cfi_table *t, uint64_t svma, struct dw_cfi_reading *r)
{
	const struct dw_cfi_fde_index *index = find_fde(t, svma - t->base);

	if (!index)
		return DWELL_ERR_NOT_FOUND;
	if (dw_cfi_read(r, &t->sections[index->where & 1], index->where / 2))
		return DWELL_ERR_FORMAT;
	return svma < r->fde.start || svma >= r->fde.end ? DWELL_ERR_NOT_FOUND : 0;
}

int dw_cfi_table_range(const struct dw_cfi_table *t, uint64_t svma, struct dw_cfi_range *ret)
{
	struct dw_cfi_reading r = {0};

	if (read_for(t, svma, &r))
		return DWELL_ERR_NOT_FOUND;
	*ret = (struct dw_cfi_range){r.fde.start, r.fde.end};
	return 0;
}

int dw_cfi_table_rules(const struct dw_cfi_table *t, uint64_t svma, struct dw_cfi_rules *rules,
		       bool *signal)
{
	struct dw_cfi_reading r = {0};
	int rc = read_for(t, svma, &r);

	if (rc)
		return rc;
	if (r.fde.program_n > PROGRAM_MAX_BYTES)
		return DWELL_ERR_FORMAT;
	*signal = r.cie.signal;
	return run_to(&r.cie, &r.fde, svma, rules);
}
