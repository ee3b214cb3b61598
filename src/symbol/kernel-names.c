/*
 * /proc/kallsyms; see kernel-names.h. A line is "ADDRESS TYPE NAME", and for code of modules and of
 * BPF programs "\t[MODULE]" behind it. Code has type t, T, w or W. The last function has no end
 * that anyone tells: it counts for a page.
 */
#include "symbol/kernel-names.h"

#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/vec.h"
#include "code/elf/elf.h"
#include "symbol/kernel-cache.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	dw_kernel_cache_forget(k);
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
		return dw_kernel_cache_find(k, svma, ret, ret_end);
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
	dw_kernel_cache_forget(k);
	dw_vec_release(&k->rows);
	dw_buf_release(&k->text);
}
