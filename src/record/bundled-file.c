/*
 * Files in bundles; see bundled-file.h. Read piece by piece: the programs have tens of megabytes,
 * and may be cut while they are read, which a mapping would not survive.
 */
#include "record/bundled-file.h"

#include "base/cleanup.h"
#include "code/clr/assembly.h"

#include <sys/stat.h>

enum {
	PIECE = 1 << 20,
	HOST_MAX = 64 << 20, /* bytes of the host, which come first */
	LIST_MAX = 4 << 20,
};

static bool read_whole(int fd, uint64_t at, char *bytes, size_t n)
{
	while (n) {
		ssize_t got = pread(fd, bytes, n, (off_t)at);

		if (got <= 0)
			return false;
		bytes += got;
		at += (uint64_t)got;
		n -= (size_t)got;
	}
	return true;
}

void *dw_file_read(int fd, uint64_t at, uint64_t n)
{
	dw_auto_free void *bytes = n && n <= DWELL_READ_MAX && at <= INT64_MAX ? malloc(n) : NULL;

	return bytes && read_whole(fd, at, bytes, n) ? dw_take_ptr(bytes) : NULL;
}

/* Where the list of @fd begins, which has @bytes bytes; 0 = it has none. */
static uint64_t find_list(int fd, uint64_t bytes)
{
	dw_auto_free char *piece = malloc(PIECE);
	uint64_t list = 0, n;

	for (uint64_t at = 0; piece && at < bytes && at < HOST_MAX;
	     at += PIECE - DWELL_BUNDLE_MARK_BYTES) {
		n = bytes - at < PIECE ? bytes - at : PIECE;
		if (!read_whole(fd, at, piece, n))
			break;
		if (dw_bundle_list_at(piece, n, &list))
			return list < bytes ? list : 0;
	}
	return 0;
}

/* Let @last be the list of the program @fd. */
static void read_list(struct dw_bundle_list *last, int fd, const struct stat *st)
{
	uint64_t bytes = (uint64_t)st->st_size, at = find_list(fd, bytes);

	free(last->bytes);
	last->dev = st->st_dev;
	last->ino = st->st_ino;
	last->n = bytes - at < LIST_MAX ? bytes - at : LIST_MAX;
	last->bytes = at ? dw_file_read(fd, at, last->n) : NULL;
}

bool dw_bundled_file_find(struct dw_bundle_list *last, int fd, const char *name,
			  struct dw_pe_file *ret)
{
	dw_auto_free void *packed = NULL;
	struct dw_bundle_file file;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || st.st_size <= 0)
		return false;
	if (st.st_dev != last->dev || st.st_ino != last->ino)
		read_list(last, fd, &st);
	if (!last->bytes || !dw_bundle_find(last->bytes, last->n, name, &file))
		return false;
	*ret = (struct dw_pe_file){.fd = fd, .at = file.at, .n = file.bytes};
	if (!file.packed_bytes)
		return true;
	packed = dw_file_read(fd, file.at, file.packed_bytes);
	ret->bytes = packed ? dw_inflate(packed, file.packed_bytes, file.bytes) : NULL;
	return ret->bytes;
}

void dw_bundle_list_release(struct dw_bundle_list *last)
{
	free(last->bytes);
	last->bytes = NULL;
}
