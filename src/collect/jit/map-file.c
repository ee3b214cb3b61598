/*
 * Perf maps as files; see map-file.h. Runtimes append lines; some write the whole map again, into
 * the same file or a new one. Where the file is shorter than before, or what stood before the last
 * look no longer does, it is read from its beginning.
 */
#include "collect/jit/map-file.h"

#include "base/error.h"
#include "target/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TAKEN_MAX_BYTES (256ull << 20) /* of one process */

enum { LOOK_MAX_BYTES = 8 << 20, CHUNK_BYTES = 64 << 10 };

/* Whether @st is a map that the process may have written. */
static bool is_believed(const struct stat *st, const struct dw_map_place *where)
{
	int64_t written_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;

	return (st->st_uid == where->owner->rights.uid || !st->st_uid) &&
	       written_ns >= where->born_ns;
}

int dw_map_file_open(struct dw_map_file *m, const struct dw_map_place *where)
{
	char path[48];
	struct stat st;
	int fd;

	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)where->ns_pid);
	fd = dw_target_file_open(where->owner->root_fd, path, &where->owner->rights,
				 &where->own->rights);
	if (fd < 0)
		return DWELL_ERR_NOT_FOUND;
	if (fstat(fd, &st) || !is_believed(&st, where) ||
	    (m->fd >= 0 && m->device == st.st_dev && m->inode == st.st_ino)) {
		close(fd);
		return DWELL_ERR_NOT_FOUND;
	}
	dw_map_file_close(m);
	m->fd = fd;
	m->device = st.st_dev;
	m->inode = st.st_ino;
	m->done = m->tail_n = 0;
	return 0;
}

/* Begin again where the file is not what was read. */
static void notice_rewriting(struct dw_map_file *m, uint64_t size)
{
	uint8_t now[DWELL_MAP_TAIL_BYTES];

	if (size >= m->done &&
	    (!m->tail_n ||
	     (pread(m->fd, now, m->tail_n, (off_t)(m->done - m->tail_n)) == (ssize_t)m->tail_n &&
	      !memcmp(now, m->tail, m->tail_n))))
		return;
	m->done = m->tail_n = 0;
}

static void keep_tail(struct dw_map_file *m, const char *text, size_t n)
{
	if (!n)
		return;
	m->done += n;
	m->taken += n;
	m->tail_n = n < sizeof m->tail ? n : sizeof m->tail;
	memcpy(m->tail, text + n - m->tail_n, m->tail_n);
}

/* Give all lines of the @n bytes at @text. */
static int take_lines(struct dw_map_file *m, const char *text, size_t n, dw_map_line_fn *line,
		      void *ctx)
{
	struct dw_perf_map_line found;
	size_t at = 0, done;
	int rc = 0;

	while (!rc && (done = dw_perf_map_next(text + at, n - at, &found))) {
		at += done;
		if (found.bytes)
			rc = line(ctx, &found);
	}
	/* A line that is longer than this is none. */
	if (!at && n == CHUNK_BYTES)
		at = n;
	keep_tail(m, text, at);
	return rc;
}

int dw_map_file_more(struct dw_map_file *m, dw_map_line_fn *line, void *ctx)
{
	char chunk[CHUNK_BYTES];
	struct stat st;
	uint64_t before, end = m->taken + LOOK_MAX_BYTES;
	int rc = 0;

	if (m->fd < 0 || fstat(m->fd, &st))
		return 0;
	if ((uint64_t)st.st_size == m->done)
		return 0;
	notice_rewriting(m, (uint64_t)st.st_size);
	do {
		ssize_t n = pread(m->fd, chunk, sizeof chunk, (off_t)m->done);

		before = m->done;
		if (n > 0)
			rc = take_lines(m, chunk, (size_t)n, line, ctx);
	} while (!rc && m->done > before && m->taken < end && m->taken < TAKEN_MAX_BYTES);
	return rc;
}

void dw_map_file_close(struct dw_map_file *m)
{
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
}
