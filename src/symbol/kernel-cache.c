/*
 * Kept names of the kernel's functions; see kernel-cache.h. A file is a head, rows in the order of
 * their addresses, and names, each with a NUL behind it. It is used as it lies in the file: few
 * rows are ever asked for. Names of files are those of boots.
 */
#include "symbol/kernel-cache.h"

#include "base/cache.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/vec.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SUFFIX "-kernel"

enum { MAGIC = 0x314b5744, ID_DIGITS = 32, ROWS_MAX = 1 << 22, CACHE_MAX_BYTES = 16 << 20 };

struct head {
	uint32_t magic;
	uint32_t rows_n;
	uint64_t text_n;
};

struct row {
	uint64_t start;
	uint32_t name; /* in the text */
	uint32_t is_global;
};

/* The file of @boot, whose 32 digits have dashes between. False: it is none. */
static bool name_file(const char *boot, char ret[DWELL_CACHE_NAME])
{
	size_t n = 0;

	for (; *boot && *boot != '\n' && n < ID_DIGITS; boot++)
		if (isxdigit((unsigned char)*boot))
			ret[n++] = (char)tolower((unsigned char)*boot);
	if (n < ID_DIGITS)
		return false;
	memcpy(ret + n, SUFFIX, sizeof SUFFIX);
	return true;
}

/* The parts of what @k has kept. */
static const struct row *rows_of(const struct dw_kernel_names *k, uint32_t *ret_n)
{
	const struct head *h = k->kept;

	*ret_n = h->rows_n;
	return (const void *)(h + 1);
}

/* Whether what @k has kept has the form of such a file. Rows are looked at when they are used. */
static bool is_whole(const struct dw_kernel_names *k)
{
	const struct head *h = k->kept;
	size_t bytes = k->kept_bytes;

	if (bytes < sizeof *h || h->magic != MAGIC || !h->rows_n || h->rows_n > ROWS_MAX ||
	    (bytes - sizeof *h) / sizeof(struct row) < h->rows_n ||
	    bytes - sizeof *h - h->rows_n * sizeof(struct row) != h->text_n || !h->text_n)
		return false;
	return !((const char *)k->kept)[bytes - 1];
}

int dw_kernel_cache_read(const char *dir, const char *boot, struct dw_kernel_names *k)
{
	char name[DWELL_CACHE_NAME];
	size_t bytes = 0;
	dw_auto_close int fd = name_file(boot, name) ? dw_cache_open(dir, name, &bytes) : -1;
	void *at = fd < 0 || !bytes ? MAP_FAILED : mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);

	if (at == MAP_FAILED)
		return -ENOENT;
	k->kept = at;
	k->kept_bytes = bytes;
	if (is_whole(k))
		return 0;
	dw_kernel_cache_forget(k);
	return DWELL_ERR_FORMAT;
}

void dw_kernel_cache_forget(struct dw_kernel_names *k)
{
	if (k->kept)
		munmap((void *)k->kept, k->kept_bytes);
	k->kept = NULL;
}

bool dw_kernel_cache_spans(const struct dw_kernel_names *k, uint64_t svma)
{
	uint32_t n;
	const struct row *rows = rows_of(k, &n);

	return svma >= rows[0].start && svma < rows[n - 1].start;
}

bool dw_kernel_cache_find(const struct dw_kernel_names *k, uint64_t svma,
			  struct dw_kernel_symbol *ret, uint64_t *ret_end)
{
	uint32_t n;
	const struct row *rows = rows_of(k, &n);
	const char *text = (const char *)(rows + n);
	size_t i = dw_sorted_count(rows, n, r, r->start <= svma);

	if (!i || i == n || rows[i - 1].start > svma || rows[i].start <= svma ||
	    rows[i - 1].name >= (size_t)((const char *)k->kept + k->kept_bytes - text))
		return false;
	*ret = (struct dw_kernel_symbol){rows[i - 1].start, text + rows[i - 1].name, "",
					 rows[i - 1].is_global};
	*ret_end = rows[i].start;
	return true;
}

void dw_kernel_cache_write(const char *dir, const char *boot, const struct dw_kernel_names *k)
{
	dw_auto_free struct row *rows = calloc(k->rows.n + 1, sizeof *rows);
	dw_auto(dw_buf) text = DW_BUF_INIT;
	struct head head = {.magic = MAGIC};
	char name[DWELL_CACHE_NAME];

	if (!rows || !name_file(boot, name) || k->rows.n > ROWS_MAX)
		return;
	dw_vec_each(s, &k->rows) {
		if (*s->module)
			continue;
		rows[head.rows_n++] = (struct row){s->start, (uint32_t)text.len, s->is_global};
		dw_buf_put(&text, s->name, strlen(s->name) + 1);
	}
	head.text_n = text.len;
	if (text.failed || !head.rows_n)
		return;
	dw_cache_store(dir, name,
		       (struct iovec[]){{&head, sizeof head},
					{rows, head.rows_n * sizeof *rows},
					{text.data, text.len}},
		       3);
	dw_cache_prune(dir, SUFFIX, CACHE_MAX_BYTES);
}
