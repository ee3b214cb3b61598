/* Header of a session; see header.h. Offsets are those of sqlite.org/fileformat.html, big-endian.
 */
#include "session/header.h"

#include "session/format.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	AT_PAGE_BYTES = 16,
	AT_WRITE_VERSION = 18,
	AT_PAGES = 28,
	AT_USER_VERSION = 60,
	AT_APPLICATION_ID = 68,
};

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int check_size(const uint8_t *h, uint64_t file_bytes, struct dw_error *err)
{
	uint64_t page_bytes = (uint64_t)h[AT_PAGE_BYTES] << 8 | h[AT_PAGE_BYTES + 1];
	uint64_t want = be32(h + AT_PAGES) * (page_bytes == 1 ? 65536 : page_bytes);

	if (file_bytes >= want)
		return 0;
	return dw_error_set(err, DWELL_ERR_FORMAT, "cut short: it has %llu of %llu bytes",
			    (unsigned long long)file_bytes, (unsigned long long)want);
}

int dw_session_header_read(int fd, struct dw_session_header *ret, struct dw_error *err)
{
	uint8_t h[DWELL_SESSION_HEADER_BYTES];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st))
		return dw_error_set_errno(err, errno, "cannot stat");
	if (S_ISDIR(st.st_mode))
		return dw_error_set_errno(err, EISDIR, "not a dwell session");
	if (!S_ISREG(st.st_mode))
		return dw_error_set(err, DWELL_ERR_FORMAT,
				    "not a dwell session (not a regular file)");
	n = pread(fd, h, sizeof h, 0);
	if (n < 0)
		return dw_error_set_errno(err, errno, "cannot read");
	if (!n)
		return dw_error_set(err, DWELL_ERR_FORMAT, "not a dwell session (empty)");
	if (n < (ssize_t)sizeof h || memcmp(h, "SQLite format 3", 16))
		return dw_error_set(err, DWELL_ERR_FORMAT, "not a dwell session");
	if (be32(h + AT_APPLICATION_ID) != DWELL_SESSION_APPLICATION_ID)
		return dw_error_set(err, DWELL_ERR_FORMAT,
				    "not a dwell session (a SQLite database of something else)");
	if (be32(h + AT_USER_VERSION) > DWELL_SESSION_VERSION)
		return dw_error_set(err, DWELL_ERR_UNSUPPORTED,
				    "written by a newer dwell (format %u, this one reads up to %d)",
				    be32(h + AT_USER_VERSION), DWELL_SESSION_VERSION);
	if (be32(h + AT_USER_VERSION) == 0)
		return dw_error_set(err, DWELL_ERR_FORMAT, "damaged: it has no version");
	ret->file_bytes = (uint64_t)st.st_size;
	ret->wal = h[AT_WRITE_VERSION] == 2;
	return check_size(h, ret->file_bytes, err);
}
