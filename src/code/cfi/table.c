/*
 * Unwind tables: loading, their cache, and the full rules of one address; see table.h and
 * table-format.h.
 *
 * Full rules are made on demand from the module's own bytes, which the table keeps: they are needed
 * for few addresses, and storing them would cost more than all rows.
 *
 * A cache file: header, spans, block (starts, FDE index, pages, rows), bytes of both sections. It
 * is mapped: it is ours, nobody but us may shorten it, and we only ever replace it by rename. The
 * checksum (four interleaved lanes of multiply and rotate, after xxHash64 by Yann Collet) guards
 * against damage on the disk, not against an adversary: whoever can write the file is the user.
 */
#include "code/cfi/table.h"

#include "base/cache.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "code/cfi/table-format.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum {
	SAMPLE_BYTES = 4096,
	/* A longer program is not run again for one address: a hostile one would stall every
	 * sample. The longest of cc1plus has 20 KB. */
	PROGRAM_MAX_BYTES = 64 << 10,
	ENTRY_MAX_BYTES = 256, /* of code at an entry: some calls and jumps */
};

static const char suffix[] = ".cfi";
static const char magic[8] = "dwellcf";

/* Two thirds of it may be padding: all of it is zeroed before it is filled. */
struct header {
	char magic[8];
	uint32_t version;
	uint32_t header_bytes;
	uint64_t file_bytes;
	uint64_t checksum; /* of header (with 0 here), spans and block */
	uint64_t base;
	uint32_t starts_n;
	uint32_t fdes_n;
	uint32_t pages_n;
	uint32_t rows_n;
	uint32_t shift;
	uint32_t unused;
	uint64_t spans_n;
	struct {
		uint64_t n, found_n, svma, text, data, open_ended;
	} sections[DWELL_CFI_SECTIONS];
};

static uint64_t rotate_left(uint64_t v, int by)
{
	return v << by | v >> (64 - by);
}

/* Checksum of @n bytes, continuing @seed. */
static uint64_t checksum(const void *p, size_t n, uint64_t seed)
{
	static const uint64_t mul = 0x9e3779b185ebca87u;
	uint64_t lane[4] = {seed + mul, seed ^ mul, seed, ~seed}, word[4];
	const char *at = p;

	for (; n >= sizeof word; n -= sizeof word, at += sizeof word) {
		memcpy(word, at, sizeof word);
		for (int i = 0; i < 4; i++)
			lane[i] = rotate_left((lane[i] ^ word[i]) * mul, 31);
	}
	for (int i = 0; i < 4; i++)
		seed = dw_hash_u64(seed ^ lane[i]) * mul;
	return dw_hash_bytes(at, n, seed);
}

static uint64_t file_checksum(const struct header *h, const struct dw_cfi_span *spans,
			      const void *block, size_t block_n)
{
	struct header copy = *h;
	uint64_t sum;

	copy.checksum = 0;
	sum = checksum(&copy, sizeof copy, 1);
	sum = checksum(spans, h->spans_n * sizeof *spans, sum);
	return checksum(block, block_n, sum);
}

/*
 * The name under which the table of @elf is looked for: a hash of its build-id, layout and some of
 * its bytes. Two modules that share a name (made to, or a build without id) only displace each
 * other.
 */
static void file_name(const struct dw_elf *elf, const struct dw_cfi_section *found,
		      char name[DWELL_CACHE_NAME])
{
	uint8_t sample[SAMPLE_BYTES], id[64];
	uint64_t low = DWELL_CFI_VERSION, high = ~low;
	size_t id_n = dw_elf_build_id(elf, id, sizeof id);

	low = dw_hash_bytes(id, id_n, low);
	for (int i = 0; i < DWELL_CFI_SECTIONS; i++) {
		size_t n = found[i].n < sizeof sample ? found[i].n : sizeof sample;

		low = dw_hash_bytes(&found[i].svma, sizeof found[i].svma, low ^ found[i].n);
		if (!dw_elf_read_svma(elf, (struct dw_svma){found[i].svma}, sample, n))
			high = dw_hash_bytes(sample, n, high ^ low);
	}
	snprintf(name, DWELL_CACHE_NAME, "%016lx%016lx%s", low, dw_hash_u64(high ^ low), suffix);
}

/* Fill the fields of @h that must be equal in a file and for @elf. */
static void describe(struct header *h, const struct dw_cfi_spans *spans,
		     const struct dw_cfi_section *found)
{
	memset(h, 0, sizeof *h);
	memcpy(h->magic, magic, sizeof magic);
	h->version = DWELL_CFI_VERSION;
	h->header_bytes = sizeof *h;
	h->spans_n = spans->list.n;
	for (int i = 0; i < DWELL_CFI_SECTIONS; i++) {
		h->sections[i].found_n = found[i].n;
		h->sections[i].svma = found[i].svma;
		h->sections[i].text = found[i].text;
		h->sections[i].data = found[i].data;
		h->sections[i].open_ended = found[i].open_ended;
	}
}

/* Whether @h, from a file of @bytes, was made for what @want describes and adds up. */
static bool header_fits(const struct header *h, const struct header *want, uint64_t bytes)
{
	struct header copy = *h;
	uint64_t need = sizeof *h;

	copy.file_bytes = copy.checksum = copy.base = 0;
	copy.starts_n = copy.fdes_n = copy.pages_n = copy.rows_n = copy.shift = 0;
	for (int i = 0; i < DWELL_CFI_SECTIONS; i++) {
		if (h->sections[i].n > bytes)
			return false;
		need += h->sections[i].n;
		copy.sections[i].n = 0;
	}
	need += h->spans_n * sizeof(struct dw_cfi_span) +
		h->starts_n * sizeof(struct dw_cfi_start) +
		h->fdes_n * sizeof(struct dw_cfi_fde_index) + h->pages_n * sizeof(uint32_t) +
		h->rows_n * sizeof(struct dw_cfi_row);
	return !memcmp(&copy, want, sizeof copy) && h->file_bytes == bytes && need == bytes &&
	       h->starts_n && h->pages_n >= 2 && h->rows_n && h->shift <= DWELL_CFI_SHIFT_MAX;
}

/* Point @t into the mapped file whose header @h fits. False: it is damaged or of another module. */
static bool adopt(struct dw_cfi_table *t, const struct header *h, const struct dw_elf *elf,
		  const struct dw_cfi_spans *spans)
{
	const struct dw_cfi_span *span = (const struct dw_cfi_span *)(h + 1);
	const char *block = (const char *)(span + h->spans_n);
	const uint8_t *bytes;

	t->base = h->base;
	t->starts_n = h->starts_n;
	t->fdes_n = h->fdes_n;
	t->pages_n = h->pages_n;
	t->rows_n = h->rows_n;
	t->shift = h->shift;
	dw_cfi_table_place(t, block);
	bytes = (const uint8_t *)(t->rows + t->rows_n);
	if ((h->spans_n && memcmp(span, spans->list.v, h->spans_n * sizeof *span)) ||
	    file_checksum(h, span, block, dw_cfi_table_block_bytes(t)) != h->checksum)
		return false;
	for (int i = 0; i < DWELL_CFI_SECTIONS; i++) {
		if (!t->sections[i].n)
			continue;
		t->sections[i].n = h->sections[i].n;
		t->sections[i].bytes = bytes;
		if (!dw_cfi_section_same(elf, &t->sections[i]))
			return false;
		bytes += h->sections[i].n;
	}
	return true;
}

/*
 * Load the table of @elf from the folder @dir into @t. t->sections hold what
 * dw_cfi_section_find() found. The table stays valid when the file is deleted or replaced. 0;
 * DWELL_ERR_NOT_FOUND, with @t as it was.
 */
static int load_kept(const char *dir, const struct dw_elf *elf, const struct dw_cfi_spans *spans,
		     struct dw_cfi_table *t)
{
	dw_auto_close int fd = -1;
	struct dw_cfi_table made = *t;
	struct header want;
	char name[DWELL_CACHE_NAME];
	size_t bytes;
	void *map;

	file_name(elf, t->sections, name);
	fd = dw_cache_open(dir, name, &bytes);
	if (fd < 0 || bytes < sizeof want)
		return DWELL_ERR_NOT_FOUND;
	map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (map == MAP_FAILED)
		return DWELL_ERR_NOT_FOUND;
	describe(&want, spans, t->sections);
	if (!header_fits(map, &want, bytes) || !adopt(&made, map, elf, spans)) {
		munmap(map, bytes);
		return DWELL_ERR_NOT_FOUND;
	}
	dw_cache_note_use(fd);
	made.memory = map;
	made.mapped_bytes = bytes;
	*t = made;
	return 0;
}

/*
 * Put @t, compiled from @elf, into @dir, which is made when it is not there, with the
 * folders above it. Atomic. 0; -errno;
 * DWELL_ERR_REFUSED (the folder is not ours alone). @found: sections as
 * they were found, before reading.
 */
static int keep(const char *dir, const struct dw_elf *elf, const struct dw_cfi_spans *spans,
		const struct dw_cfi_section *found, const struct dw_cfi_table *t)
{
	char name[DWELL_CACHE_NAME];
	struct header h;
	struct iovec part[] = {
		{&h, sizeof h},
		{spans->list.v, spans->list.n * sizeof *spans->list.v},
		{(void *)t->starts, dw_cfi_table_block_bytes(t)},
		{(void *)t->sections[0].bytes, t->sections[0].n},
		{(void *)t->sections[1].bytes, t->sections[1].n},
	};
	int n = sizeof part / sizeof *part;

	file_name(elf, found, name);
	describe(&h, spans, found);
	h.base = t->base;
	h.starts_n = t->starts_n;
	h.fdes_n = t->fdes_n;
	h.pages_n = t->pages_n;
	h.rows_n = t->rows_n;
	h.shift = t->shift;
	for (int i = 0; i < DWELL_CFI_SECTIONS; i++)
		h.sections[i].n = t->sections[i].n;
	for (int i = 0; i < n; i++)
		h.file_bytes += part[i].iov_len;
	h.checksum = file_checksum(&h, spans->list.v, t->starts, part[2].iov_len);
	return dw_cache_store(dir, name, part, n);
}

void dw_cfi_cache_prune(const char *dir, uint64_t max_bytes)
{
	dw_cache_prune(dir, suffix, max_bytes);
}

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
	if (cache_dir && !load_kept(cache_dir, elf, &spans, t))
		return 0;
	rc = compile(elf, &spans, t, err);
	if (rc || !cache_dir)
		return rc;
	rc = keep(cache_dir, elf, &spans, found, t);
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
	size_t behind = dw_sorted_count(t->fdes, t->fdes_n, f, f->pc <= pc);

	return behind ? &t->fdes[behind - 1] : NULL;
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
	rules->r[DWELL_REG_PC] = m.rules.r[cie->return_register];
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
