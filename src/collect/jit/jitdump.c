/*
 * Jitdumps as files; see jitdump.h. Code bytes are passed over, they lie in the process, too. A
 * record may be larger than what is read at once: what counts of it stands at its beginning.
 */
#include "collect/jit/jitdump.h"

#include "collect/jit/jit.h"
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

/* Give @record all that have been written since the last time. Its result, when that is not 0. */
static int dump_file_more(struct dw_dump_file *d, dw_dump_record_fn *record, void *ctx)
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

/*
 * Records have times, so code is known from when on it lay there. A move is the same code once
 * more, at another address.
 */

/* Add the piece @piece, which is code at @r. */
static int add_piece(struct dw_jit_process *p, const struct dw_jitdump_record *r,
		     const struct dw_jit_piece *piece)
{
	const struct dw_code_piece code = {r->start, r->start + r->code_bytes,
					   p->dump.header.has_other_time ? p->told_ns : r->time_ns,
					   (uint32_t)p->pieces.n};
	uint64_t index = r->index;
	int rc;

	if (p->pieces.n >= DWELL_JIT_PIECES_MAX) {
		p->jit->dropped++;
		return 0;
	}
	rc = dw_vec_push(&p->pieces, *piece);
	if (!rc)
		rc = dw_map_put(&p->by_index, index, code.row);
	return rc ? rc : dw_code_map_add(&p->map, &code);
}

static int take_load(struct dw_jit_process *p, const struct dw_jitdump_record *r)
{
	struct dw_jit_piece piece = {.lines_at = p->lines_at, .lines_bytes = p->lines_bytes};
	int rc = dw_jit_keep_name(p, r->name, r->name_n, &piece);

	p->lines_bytes = 0;
	return rc ? rc : add_piece(p, r, &piece);
}

static int take_move(struct dw_jit_process *p, const struct dw_jitdump_record *r)
{
	uint32_t row = dw_map_get(&p->by_index, r->index);
	struct dw_jit_piece piece;

	if (!row)
		return 0;
	piece = p->pieces.v[row];
	/* Its lines have the addresses that it had first. */
	piece.function = piece.lines_bytes = 0;
	return add_piece(p, r, &piece);
}

static int take_record(void *ctx, const struct dw_jitdump_record *r, uint64_t at)
{
	struct dw_jit_process *p = ctx;

	switch (r->kind) {
	case DWELL_JITDUMP_LOAD:
		return take_load(p, r);
	case DWELL_JITDUMP_MOVE:
		return take_move(p, r);
	case DWELL_JITDUMP_DEBUG:
		p->lines_at = at;
		p->lines_bytes = (uint32_t)r->bytes;
		return 0;
	default:
		return 0;
	}
}

int dw_jit_read_dump(struct dw_jit_process *p)
{
	return dump_file_more(&p->dump, take_record, p);
}

int dw_jit_read_lines(struct dw_jit_process *p, const struct dw_jit_piece *piece,
		      const struct dw_code_piece *code)
{
	struct dw_jit_functions *functions = &p->jit->functions;
	const struct dw_jit_lines_source from = {
		.fd = p->dump.fd,
		.header = &p->dump.header,
		.at = piece->lines_at,
		.bytes = p->dump.fd < 0 ? 0 : piece->lines_bytes,
		.start = code->start,
		.end = code->end,
		.svma = piece->svma,
		.file = functions->rows.v[piece->function - 1].file,
	};

	return dw_jit_lines_read(&p->jit->lines, &functions->texts, &from);
}
