/*
 * /proc/kallsyms; see kernel-names.h. A line is "ADDRESS TYPE NAME", and for code of modules and of
 * BPF programs "\t[MODULE]" behind it. Code has type t, T, w or W. The last function has no end
 * that anyone tells: it counts for a page.
 */
#include "symbol/kernel-names.h"

#include "base/cleanup.h"
#include "base/sort.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { READ_BYTES = 1 << 20, TEXT_MAX_BYTES = 256 << 20, LAST_BYTES = 4096, BOOT_BYTES = 36 };

static int read_file(const char *path, struct dw_buf *ret)
{
	dw_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 1;

	while (fd >= 0 && n > 0 && ret->len < TEXT_MAX_BYTES) {
		if (dw_buf_reserve(ret, READ_BYTES))
			return -ENOMEM;
		n = read(fd, ret->data + ret->len, READ_BYTES);
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

int dw_kernel_names_read(struct dw_kernel_names *k, const char *boot)
{
	dw_auto(dw_buf) text = DW_BUF_INIT;
	dw_auto(dw_buf) now = DW_BUF_INIT;
	int rc;

	if (k->was_read)
		return 0;
	k->was_read = true;
	rc = read_file("/proc/sys/kernel/random/boot_id", &now);
	if (rc || !boot || !*boot || strncmp(dw_buf_str(&now), boot, BOOT_BYTES) != 0)
		return rc;
	rc = read_file("/proc/kallsyms", &text);
	return rc ? rc : dw_kernel_names_parse(k, &text);
}

const struct dw_kernel_symbol *dw_kernel_names_find(const struct dw_kernel_names *k, uint64_t svma,
						    uint64_t *ret_end)
{
	size_t from = 0, to = k->rows.n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (k->rows.v[middle].start <= svma)
			from = middle + 1;
		else
			to = middle;
	}
	if (!from)
		return NULL;
	*ret_end =
		from < k->rows.n ? k->rows.v[from].start : k->rows.v[from - 1].start + LAST_BYTES;
	return svma < *ret_end ? &k->rows.v[from - 1] : NULL;
}

void dw_kernel_names_release(struct dw_kernel_names *k)
{
	dw_vec_release(&k->rows);
	dw_buf_release(&k->text);
}
