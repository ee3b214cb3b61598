/*
 * /proc/kallsyms; see kernel-names.h. A line is "ADDRESS TYPE NAME", and for code of modules and of
 * BPF programs "\t[MODULE]" behind it. Code has type t, T, w or W. The last function has no end
 * that anyone tells: it counts for a page.
 *
 * A kept file is a head, rows in the order of
 * their addresses, and names, each with a NUL behind it. It is used as it lies in the file: few
 * rows are ever asked for. Names of files are those of boots.
 */
#include "symbol/kernel-names.h"

#include "base/cache.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/vec.h"
#include "code/elf/elf.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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

static void forget_kept(struct dw_kernel_names *k)
{
	if (k->kept)
		munmap((void *)k->kept, k->kept_bytes);
	k->kept = NULL;
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
	forget_kept(k);
	return DWELL_ERR_FORMAT;
}

bool dw_kernel_cache_spans(const struct dw_kernel_names *k, uint64_t svma)
{
	uint32_t n;
	const struct row *rows = rows_of(k, &n);

	return svma >= rows[0].start && svma < rows[n - 1].start;
}

/* As dw_kernel_names_find(), of what @k has kept. */
static bool find_kept(const struct dw_kernel_names *k, uint64_t svma, struct dw_kernel_symbol *ret,
		      uint64_t *ret_end)
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

enum {
	READ_BYTES = 1 << 20,
	TEXT_MAX_BYTES = 256 << 20,
	LAST_BYTES = 4096,
	BOOT_BYTES = 36,
	ID_MAX_BYTES = 64
};

/* Append the file @path, @piece bytes at a time: the kernel makes room for all that is asked of a
 * setting. */
static int read_file(const char *path, size_t piece, struct dw_buf *ret)
{
	dw_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 1;

	while (fd >= 0 && n > 0 && ret->len < TEXT_MAX_BYTES) {
		if (dw_buf_reserve(ret, piece))
			return -ENOMEM;
		n = read(fd, ret->data + ret->len, piece);
		if (n > 0)
			ret->len += (size_t)n;
		ret->data[ret->len] = 0;
	}
	return 0;
}

/* Parse the NUL-terminated @line in place. False: no code, or its address is hidden. */
static bool parse_line(char *line, struct dw_kernel_symbol *ret)
{
	char *type, *module, *end;

	ret->start = strtoull(line, &type, 16);
	if (!ret->start || type[0] != ' ' || !type[1] || !strchr("tTwW", type[1]) || type[2] != ' ')
		return false;
	ret->name = type + 3;
	ret->module = "";
	ret->is_global = type[1] == 'T';
	module = strchr(type + 3, '\t');
	if (module && module[1] == '[') {
		*module = 0;
		ret->module = module + 2;
		end = strchr(module + 2, ']');
		if (end)
			*end = 0;
	}
	return *ret->name != 0;
}

static size_t underscores(const char *name)
{
	return strspn(name, "_");
}

/* Whether people know the function at an address rather as @a than as @b. */
static bool is_better(const struct dw_kernel_symbol *a, const struct dw_kernel_symbol *b)
{
	if (a->is_global != b->is_global)
		return a->is_global;
	return underscores(a->name) < underscores(b->name);
}

/* Sort by address, and leave one name for each. */
static int sort_rows(struct dw_kernel_names *k)
{
	dw_auto_free struct dw_sort_row *order = calloc(k->rows.n + 1, sizeof *order);
	dw_auto_free struct dw_kernel_symbol *sorted = calloc(k->rows.n + 1, sizeof *sorted);
	size_t n = 0;

	if (!order || !sorted)
		return -ENOMEM;
	for (size_t i = 0; i < k->rows.n; i++)
		order[i] = (struct dw_sort_row){k->rows.v[i].start, i};
	if (dw_sort_rows(order, k->rows.n))
		return -ENOMEM;
	for (size_t i = 0; i < k->rows.n; i++) {
		const struct dw_kernel_symbol *row = &k->rows.v[order[i].row];

		if (!n || sorted[n - 1].start != row->start)
			sorted[n++] = *row;
		else if (is_better(row, &sorted[n - 1]))
			sorted[n - 1] = *row;
	}
	if (n)
		memcpy(k->rows.v, sorted, n * sizeof *sorted);
	k->rows.n = n;
	return 0;
}

int dw_kernel_names_parse(struct dw_kernel_names *k, struct dw_buf *text)
{
	char *line, *stop;

	k->text = *text;
	*text = (struct dw_buf)DW_BUF_INIT;
	k->was_read = true;
	for (line = (char *)k->text.data; line && *line; line = stop + 1) {
		struct dw_kernel_symbol row;

		stop = strchr(line, '\n');
		if (stop)
			*stop = 0;
		if (parse_line(line, &row) && dw_vec_push(&k->rows, row))
			return -ENOMEM;
		if (!stop)
			break;
	}
	return sort_rows(k);
}

/* Write the build-id in @notes as hexadecimal digits; "" = there is none. */
static void find_id(const uint8_t *notes, size_t n, char ret[2 * ID_MAX_BYTES + 1])
{
	uint8_t id[ID_MAX_BYTES];
	size_t id_n = dw_elf_notes_build_id(notes, n, id, sizeof id);

	*ret = 0;
	for (size_t i = 0; i < id_n; i++)
		snprintf(ret + 2 * i, 3, "%02x", id[i]);
}

/* Whether the list @text has a line "@address TYPE @symbol". */
static bool lists(const char *text, uint64_t address, const char *symbol)
{
	char digits[20];
	const char *at = text;
	size_t n = strlen(symbol);

	snprintf(digits, sizeof digits, "%016" PRIx64 " ", address);
	while ((at = strstr(at, digits))) {
		const char *name = at + strlen(digits) + 2;
		bool is_line = at == text || at[-1] == '\n';

		at += strlen(digits);
		if (is_line && at[0] && at[1] == ' ' && !strncmp(name, symbol, n) &&
		    (!name[n] || name[n] == '\n'))
			return true;
	}
	return false;
}

bool dw_kernel_names_agree(const char *place, const char *text, const uint8_t *notes,
			   size_t notes_n)
{
	char own[2 * ID_MAX_BYTES + 1], id[2 * ID_MAX_BYTES + 1], symbol[64];
	uint64_t address;

	if (sscanf(place, "%128s %63s %" SCNx64, id, symbol, &address) != 3 || !address)
		return false;
	find_id(notes, notes_n, own);
	return *own && !strcmp(own, id) && lists(text, address, symbol);
}

/* Leave the kernel's own functions. */
static void drop_modules(struct dw_kernel_names *k)
{
	size_t n = 0;

	for (size_t i = 0; i < k->rows.n; i++)
		if (!*k->rows.v[i].module)
			k->rows.v[n++] = k->rows.v[i];
	k->rows.n = n;
}

static int read_for_place(struct dw_kernel_names *k, const char *place)
{
	dw_auto(dw_buf) text = DW_BUF_INIT;
	dw_auto(dw_buf) notes = DW_BUF_INIT;
	int rc = read_file("/sys/kernel/notes", READ_BYTES, &notes);

	if (!rc)
		rc = read_file("/proc/kallsyms", READ_BYTES, &text);
	if (rc || !dw_kernel_names_agree(place, dw_buf_str(&text), (const uint8_t *)notes.data,
					 notes.len))
		return rc;
	rc = dw_kernel_names_parse(k, &text);
	if (!rc)
		drop_modules(k);
	return rc;
}

/* Read the list of the kernel that runs, whose boot is @now, to name @svma. */
static int read_own(struct dw_kernel_names *k, const char *now, uint64_t svma)
{
	dw_auto(dw_buf) text = DW_BUF_INIT;
	bool was_kept = k->kept;
	int rc;

	if (!was_kept && k->cache_dir && !dw_kernel_cache_read(k->cache_dir, now, k)) {
		if (dw_kernel_cache_spans(k, svma))
			return 0;
		was_kept = true;
	}
	forget_kept(k);
	rc = read_file("/proc/kallsyms", READ_BYTES, &text);
	if (!rc)
		rc = dw_kernel_names_parse(k, &text);
	if (!rc && k->cache_dir && !was_kept)
		dw_kernel_cache_write(k->cache_dir, now, k);
	return rc;
}

int dw_kernel_names_read(struct dw_kernel_names *k, const char *boot, const char *place,
			 uint64_t svma)
{
	dw_auto(dw_buf) now = DW_BUF_INIT;
	int rc;

	if (k->was_read && (!k->kept || dw_kernel_cache_spans(k, svma)))
		return 0;
	k->was_read = true;
	rc = read_file("/proc/sys/kernel/random/boot_id", 2 * BOOT_BYTES, &now);
	if (rc)
		return rc;
	if (!boot || !*boot || strncmp(dw_buf_str(&now), boot, BOOT_BYTES) != 0)
		return place ? read_for_place(k, place) : 0;
	return read_own(k, dw_buf_str(&now), svma);
}

bool dw_kernel_names_find(const struct dw_kernel_names *k, uint64_t svma,
			  struct dw_kernel_symbol *ret, uint64_t *ret_end)
{
	size_t from = 0, to = k->rows.n;

	if (k->kept)
		return find_kept(k, svma, ret, ret_end);
	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (k->rows.v[middle].start <= svma)
			from = middle + 1;
		else
			to = middle;
	}
	if (!from)
		return false;
	*ret = k->rows.v[from - 1];
	*ret_end =
		from < k->rows.n ? k->rows.v[from].start : k->rows.v[from - 1].start + LAST_BYTES;
	return svma < *ret_end;
}

void dw_kernel_names_release(struct dw_kernel_names *k)
{
	forget_kept(k);
	dw_vec_release(&k->rows);
	dw_buf_release(&k->text);
}
