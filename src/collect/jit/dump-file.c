/*
 * Jitdumps as files; see dump-file.h. Code bytes are passed over, they lie in the process, too. A
 * record may be larger than what is read at once: what counts of it stands at its beginning.
 */
#include "collect/jit/dump-file.h"

#include "base/error.h"
#include "target/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DONE_MAX_BYTES (4ull << 30)

enum { LOOK_MAX_BYTES = 64 << 20, CHUNK_BYTES = 64 << 10, HEAD_BYTES = 8 << 10 };

bool dw_dump_file_is(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t digits;

	if (strncmp(name, "jit-", 4) != 0)
		return false;
	digits = strspn(name + 4, "0123456789");
	return digits && !strcmp(name + 4 + digits, ".dump");
}

static int open_mapped(const struct dw_dump_owner *who, const struct dw_perf_mapping *mapping)
{
	char link[64];
	struct stat st;
	int fd = dw_target_file_open(who->owner->root_fd, mapping->path, &who->owner->rights,
				     &who->own->rights);

	if (fd >= 0 && !fstat(fd, &st) && st.st_ino == mapping->inode)
		return fd;
	if (fd >= 0)
		close(fd);
	snprintf(link, sizeof link, "map_files/%llx-%llx", (unsigned long long)mapping->start,
		 (unsigned long long)(mapping->start + mapping->bytes));
	return dw_target_link_open(who->pid, link, &who->owner->rights, &who->own->rights);
}

int dw_dump_file_open(struct dw_dump_file *d, const struct dw_dump_owner *who,
		      const struct dw_perf_mapping *mapping)
{
	int fd = open_mapped(who, mapping);

	if (fd < 0)
		return fd;
	dw_dump_file_close(d);
	*d = (struct dw_dump_file){.fd = fd};
	return 0;
}

/* Read the header, which comes some time after the file is mapped. Whether it has. */
static bool read_header(struct dw_dump_file *d)
{
	uint8_t head[DWELL_JITDUMP_HEADER_BYTES];

	if (d->has_header)
		return true;
	if (pread(d->fd, head, sizeof head, 0) != sizeof head)
		return false;
	d->is_over = dw_jitdump_header_read(head, sizeof head, &d->header) != 0;
	d->has_header = !d->is_over;
	d->done = d->header.bytes;
	return d->has_header;
}

/* Give the records whose beginnings are among the @n bytes at @bytes, which stand at d->done;
 * @end = bytes in the file. 0, -EAGAIN when the next one is not whole, or the function's result. */
static int take_records(struct dw_dump_file *d, const uint8_t *bytes, size_t n, uint64_t end,
			dw_dump_record_fn *record, void *ctx)
{
	uint64_t start = d->done;
	int rc = 0;

	while (!rc && d->done - start < n) {
		size_t at = (size_t)(d->done - start);
		struct dw_jitdump_record r;

		/* Enough of it must be here, unless the file ends. */
		if (n - at < HEAD_BYTES && start + n < end)
			return at ? 0 : -EAGAIN;
		rc = dw_jitdump_record_read(bytes + at, n - at, end - d->done, &r);
		if (rc == DWELL_ERR_FORMAT) {
			d->is_over = true;
			return -EAGAIN;
		}
		if (!rc)
			rc = record(ctx, &r, d->done);
		if (!rc)
			d->done += r.bytes;
	}
	return rc;
}

int dw_dump_file_more(struct dw_dump_file *d, dw_dump_record_fn *record, void *ctx)
{
	uint64_t end, stop;
	uint8_t chunk[CHUNK_BYTES];
	struct stat st;
	int rc = 0;

	if (d->fd < 0 || d->is_over || fstat(d->fd, &st) || !read_header(d))
		return 0;
	end = (uint64_t)st.st_size;
	stop = d->done + LOOK_MAX_BYTES;
	while (!rc && d->done < end && d->done < stop && d->done < DONE_MAX_BYTES) {
		ssize_t n = pread(d->fd, chunk, sizeof chunk, (off_t)d->done);

		rc = n > 0 ? take_records(d, chunk, (size_t)n, end, record, ctx) : -EAGAIN;
	}
	return rc == -EAGAIN ? 0 : rc;
}

void dw_dump_file_close(struct dw_dump_file *d)
{
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}
