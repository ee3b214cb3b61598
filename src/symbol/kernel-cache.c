/*
 * Kept names of the kernel's functions; see kernel-cache.h. A file is a head, rows in the order of
 * their addresses, and names, each with a NUL behind it. Names of files are those of boots.
 */
#include "symbol/kernel-cache.h"

#include "base/cache.h"
#include "base/cleanup.h"
#include "base/error.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static int decode(struct dw_kernel_names *k, size_t bytes)
{
	const struct head *h = (const void *)k->text.data;
	const struct row *rows = (const void *)(h + 1);
	const char *text;

	if (bytes < sizeof *h || h->magic != MAGIC || h->rows_n > ROWS_MAX ||
	    (bytes - sizeof *h) / sizeof *rows < h->rows_n ||
	    bytes - sizeof *h - h->rows_n * sizeof *rows != h->text_n || !h->text_n)
		return DWELL_ERR_FORMAT;
	text = (const char *)(rows + h->rows_n);
	if (text[h->text_n - 1] || dw_vec_reserve(&k->rows, h->rows_n + 1))
		return DWELL_ERR_FORMAT;
	for (uint32_t i = 0; i < h->rows_n; i++) {
		if (rows[i].name >= h->text_n || (i && rows[i].start <= rows[i - 1].start))
			return DWELL_ERR_FORMAT;
		k->rows.v[k->rows.n++] = (struct dw_kernel_symbol){
			rows[i].start, text + rows[i].name, "", rows[i].is_global};
	}
	return 0;
}

int dw_kernel_cache_read(const char *dir, const char *boot, struct dw_kernel_names *k)
{
	char name[DWELL_CACHE_NAME];
	size_t bytes = 0;
	dw_auto_close int fd = name_file(boot, name) ? dw_cache_open(dir, name, &bytes) : -1;
	int rc = fd < 0 ? -ENOENT : dw_buf_reserve(&k->text, bytes);

	if (!rc && pread(fd, k->text.data, bytes, 0) != (ssize_t)bytes)
		rc = -EIO;
	if (!rc)
		rc = decode(k, bytes);
	if (rc)
		dw_kernel_names_release(k);
	return rc;
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
