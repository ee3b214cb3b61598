/*
 * /proc/PID/maps; see maps.h. One line is "START-END PERM OFFSET MAJOR:MINOR INODE  PATH" with
 * numbers in hex but the inode (fs/proc/task_mmu.c, show_map_vma). The path runs to the end of the
 * line and may hold blanks; a newline in it is printed as \012, so lines are safe to split.
 */
#include "target/maps.h"

#include "base/buf.h"
#include "target/proc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

/* Put back the newlines of @path. A name that has these four characters itself cannot be told from
 * that; such a file is found under its other ways only. */
static char *restore_newlines(char *path)
{
	char *to = path;

	for (const char *from = path; *from; to++) {
		bool is_newline = !strncmp(from, "\\012", 4);

		*to = is_newline ? '\n' : *from;
		from += is_newline ? 4 : 1;
	}
	*to = 0;
	return path;
}

/* Parse one NUL-terminated line. */
static bool parse_line(char *line, struct dw_mapping *ret)
{
	unsigned long long start, end, offset, inode;
	unsigned int major_no, minor_no;
	char perm[5];
	int path = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, perm, &offset, &major_no,
		   &minor_no, &inode, &path) < 7 ||
	    end <= start || strlen(perm) != 4)
		return false;
	*ret = (struct dw_mapping){.start = start,
				   .end = end,
				   .offset = offset,
				   .device = makedev(major_no, minor_no),
				   .inode = inode,
				   .path = restore_newlines(line + path),
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
