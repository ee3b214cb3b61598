/*
 * process_vm_readv(2); see memory.h. The kernel stops a transfer at the first page that it cannot
 * read, but reports what came before only between elements of the remote vector, so the range is
 * cut into pieces at page borders. One call takes up to 4 MB.
 */
#include "target/memory.h"

#include <errno.h>
#include <limits.h>
#include <sys/uio.h>

enum { PIECE_BYTES = 64 << 10, PIECES_MAX = 64 };

/* Cut [@addr, @addr + @n) into pieces that end at multiples of PIECE_BYTES. */
static size_t cut_pieces(uint64_t addr, size_t n, struct iovec *pieces, size_t *ret_bytes)
{
	size_t count = 0, done = 0;

	while (done < n && count < PIECES_MAX) {
		uint64_t at = addr + done;
		size_t piece = PIECE_BYTES - (size_t)(at % PIECE_BYTES);

		if (piece > n - done)
			piece = n - done;
		pieces[count++] = (struct iovec){(void *)(uintptr_t)at, piece};
		done += piece;
	}
	*ret_bytes = done;
	return count;
}

ssize_t dw_memory_read(pid_t pid, uint64_t addr, void *buf, size_t n)
{
	struct iovec remote[PIECES_MAX];
	size_t done = 0;

	if (n > SSIZE_MAX || addr + n < addr)
		return -EINVAL;
	while (done < n) {
		size_t want, count = cut_pieces(addr + done, n - done, remote, &want);
		struct iovec local = {(char *)buf + done, want};
		ssize_t got = process_vm_readv(pid, &local, 1, remote, count, 0);

		if (got <= 0)
			return done ? (ssize_t)done : got ? -errno : -EFAULT;
		done += (size_t)got;
		if ((size_t)got < want)
			break;
	}
	return (ssize_t)done;
}
