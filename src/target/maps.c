/*
 * /proc/PID/maps; see maps.h. One line is "START-END PERM OFFSET MAJOR:MINOR INODE  PATH" with
 * numbers in hex but the inode (fs/proc/task_mmu.c, show_map_vma). The path runs to the end of the
 * line and may hold blanks; a newline in it is printed as \012, so lines are safe to split.
 */
#include "target/maps.h"

#include "base/buf.h"
#include "target/proc.h"

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

/* Put back the newlines of @path. A name that has these four characters itself cannot be told from
 * that; such a file is found under its other ways only. */
static char *restore_newlines(char *path)
{
	char *to = strstr(path, "\\012");

	for (const char *from = to; from && *from; to++) {
		bool is_newline = !strncmp(from, "\\012", 4);

		*to = is_newline ? '\n' : *from;
		from += is_newline ? 4 : 1;
	}
	if (to)
		*to = 0;
	return path;
}

/* Take a number from *@at that ends with @stop, which is passed by. False: there is none. Written
 * by hand as each process that begins has dozens of lines. */
static bool take_number(char **at, unsigned int base, char stop, uint64_t *ret)
{
	const char *first = *at;
	char *p = *at;

	for (*ret = 0;; p++) {
		unsigned int digit = base;

		if (*p >= '0' && *p <= '9')
			digit = (unsigned int)(*p - '0');
		else if (*p >= 'a' && *p <= 'f')
			digit = (unsigned int)(*p - 'a') + 10;
		if (digit >= base)
			break;
		if (*ret > (UINT64_MAX - digit) / base)
			return false;
		*ret = *ret * base + digit;
	}
	if (p == first || *p != stop)
		return false;
	*at = *p ? p + 1 : p;
	return true;
}

/* Parse one NUL-terminated line. */
static bool parse_line(char *line, struct dw_mapping *ret)
{
	uint64_t start, end, offset, major_no, minor_no, inode;
	const char *perm;
	char *at = line;

	if (!take_number(&at, 16, '-', &start) || !take_number(&at, 16, ' ', &end) || end <= start)
		return false;
	perm = at;
	if (strnlen(perm, 5) < 5 || perm[4] != ' ')
		return false;
	at += 5;
	if (!take_number(&at, 16, ' ', &offset) || !take_number(&at, 16, ':', &major_no) ||
	    !take_number(&at, 16, ' ', &minor_no) ||
	    (!take_number(&at, 10, ' ', &inode) && !take_number(&at, 10, 0, &inode)))
		return false;
	*ret = (struct dw_mapping){.start = start,
				   .end = end,
				   .offset = offset,
				   .device =
					   makedev((unsigned int)major_no, (unsigned int)minor_no),
				   .inode = inode,
				   .path = restore_newlines(at + strspn(at, " \t")),
				   .executable = perm[2] == 'x'};
	return true;
}

int dw_mappings_parse(char *text, size_t n, struct dw_mappings *ret)
{
	struct dw_mappings m = {.text = text};
	char *line = text, *end = text + n;

	while (line < end) {
		char *stop = memchr(line, '\n', (size_t)(end - line));
		struct dw_mapping row;

		if (stop)
			*stop = 0;
		if (parse_line(line, &row) && dw_vec_push(&m.rows, row)) {
			dw_mappings_release(&m);
			return -ENOMEM;
		}
		if (!stop)
			break;
		line = stop + 1;
	}
	*ret = m;
	return 0;
}

int dw_mappings_read(pid_t pid, struct dw_mappings *ret)
{
	struct dw_buf text = DW_BUF_INIT;
	size_t n;
	int rc = dw_proc_read(pid, "maps", &text);

	if (rc) {
		dw_buf_release(&text);
		return rc;
	}
	n = text.len;
	return dw_mappings_parse(dw_buf_detach(&text), n, ret);
}

void dw_mappings_release(struct dw_mappings *m)
{
	dw_vec_release(&m->rows);
	free(m->text);
	m->text = NULL;
}
