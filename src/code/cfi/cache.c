/*
 * The cache of unwind tables; see cache.h.
 *
 * File: header, spans, block (starts, FDE index, pages, rows), bytes of both sections. It is
 * mapped: it is ours, nobody but us may shorten it, and we only ever replace it by rename. The
 * checksum (four interleaved lanes of multiply and rotate, after xxHash64 by Yann Collet) guards
 * against damage on the disk, not against an adversary: whoever can write the file is the user.
 */
#include "code/cfi/cache.h"

#include "base/cache.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "code/cfi/compile.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { SAMPLE_BYTES = 4096 };

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

int dw_cfi_cache_load(const char *dir, const struct dw_elf *elf, const struct dw_cfi_spans *spans,
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

int dw_cfi_cache_store(const char *dir, const struct dw_elf *elf, const struct dw_cfi_spans *spans,
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
