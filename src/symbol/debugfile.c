/*
 * Separate debug files; see debugfile.h. A file found by its build-id must carry that build-id, one
 * found by .gnu_debuglink must have the CRC that stands beside the name: a debug file of another
 * build would give wrong names in silence. GDB manual, "Debugging Information in Separate Files";
 * the MiniDebugInfo page there for .gnu_debugdata.
 */
#include "symbol/debugfile.h"

#include "base/cleanup.h"
#include "base/cursor.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#define FILE_MAX_BYTES	   ((off_t)16 << 30)
#define UNPACKED_MAX_BYTES ((size_t)256 << 20)
#define LZMA_MEMORY_BYTES  ((uint64_t)512 << 20)

DW_DEFINE_FREEP(dw_elf)

int dw_debugfile_check(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	return S_ISREG(st.st_mode) && st.st_size <= FILE_MAX_BYTES ? 0 : -EINVAL;
}

int dw_debugfile_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	rc = dw_debugfile_check(fd);
	if (rc)
		close(fd);
	return rc ? rc : fd;
}

/* Call @try with each folder of the colon-separated @dirs until it gives a descriptor. */
static int each_dir(const char *dirs, int (*try)(void *ctx, const char *dir, size_t n), void *ctx)
{
	int fd = DWELL_ERR_NOT_FOUND;

	while (*dirs && fd < 0) {
		size_t n = strcspn(dirs, ":");

		if (n)
			fd = try(ctx, dirs, n);
		dirs += n + (dirs[n] == ':');
	}
	return fd;
}

struct by_build_id {
	const uint8_t *id;
	size_t id_n;
	struct dw_buf *path;
};

bool dw_debugfile_has_id(int fd, const uint8_t *id, size_t n)
{
	dw_auto_ptr(dw_elf) elf = NULL;
	uint8_t found[64];

	return !dw_elf_open(fd, &elf, NULL) && dw_elf_build_id(elf, found, sizeof found) == n &&
	       !memcmp(found, id, n);
}

static int open_if_same(const char *path, const uint8_t *id, size_t n)
{
	int fd = dw_debugfile_open(path);

	if (fd >= 0 && !dw_debugfile_has_id(fd, id, n)) {
		close(fd);
		return DWELL_ERR_NOT_FOUND;
	}
	return fd;
}

static int try_build_id(void *ctx, const char *dir, size_t n)
{
	struct by_build_id *b = ctx;

	dw_buf_clear(b->path);
	dw_buf_put(b->path, dir, n);
	dw_buf_printf(b->path, "/.build-id/%02x/", b->id[0]);
	for (size_t i = 1; i < b->id_n; i++)
		dw_buf_printf(b->path, "%02x", b->id[i]);
	if (dw_buf_puts(b->path, ".debug"))
		return -ENOMEM;
	return open_if_same(b->path->data, b->id, b->id_n);
}

/* The checksum of .gnu_debuglink over the file @fd. */
static uint32_t checksum(int fd)
{
	static uint8_t block[1 << 16];
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, block, sizeof block, at)) > 0) {
		crc = crc32(crc, block, (uInt)n);
		at += n;
	}
	return (uint32_t)crc;
}

struct by_link {
	const char *name;   /* of the file, no folder */
	const char *module; /* path of the module */
	uint32_t crc;
	struct dw_buf *path;
};

static int open_if_checksum(const struct by_link *l)
{
	int fd = l->path->failed ? -ENOMEM : dw_debugfile_open(l->path->data);

	if (fd >= 0 && checksum(fd) != l->crc) {
		close(fd);
		return DWELL_ERR_NOT_FOUND;
	}
	return fd;
}

static size_t folder_bytes(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

static int try_link(void *ctx, const char *dir, size_t n)
{
	struct by_link *l = ctx;

	dw_buf_clear(l->path);
	dw_buf_put(l->path, dir, n);
	dw_buf_put(l->path, l->module, folder_bytes(l->module));
	dw_buf_printf(l->path, "/%s", l->name);
	return open_if_checksum(l);
}

static int try_beside(const struct by_link *l, const char *folder)
{
	dw_buf_clear(l->path);
	dw_buf_put(l->path, l->module, folder_bytes(l->module));
	dw_buf_printf(l->path, "%s/%s", folder, l->name);
	return open_if_checksum(l);
}

static int find_by_link(const struct dw_elf *elf, const char *module, const char *dirs,
			struct dw_buf *path)
{
	struct by_link l = {.module = module, .path = path};
	size_t n;
	dw_auto_free uint8_t *bytes = dw_elf_read_named(elf, ".gnu_debuglink", &n);
	struct dw_cursor c;
	int fd;

	if (!bytes)
		return DWELL_ERR_NOT_FOUND;
	dw_cursor_init(&c, bytes, n);
	l.name = dw_cursor_cstr(&c);
	dw_cursor_seek(&c, (dw_cursor_offset(&c) + 3) & ~(size_t)3);
	l.crc = dw_cursor_u32(&c);
	if (c.failed || !*l.name || strchr(l.name, '/'))
		return DWELL_ERR_NOT_FOUND;
	fd = try_beside(&l, "");
	if (fd < 0)
		fd = try_beside(&l, "/.debug");
	return fd < 0 ? each_dir(dirs, try_link, &l) : fd;
}

int dw_debugfile_find(const struct dw_elf *elf, const char *module, const char *dirs,
		      struct dw_buf *path)
{
	uint8_t id[64];
	struct by_build_id b = {.id = id, .path = path};
	int fd = DWELL_ERR_NOT_FOUND;

	b.id_n = dw_elf_build_id(elf, id, sizeof id);
	if (b.id_n > 1)
		fd = each_dir(dirs, try_build_id, &b);
	return fd < 0 ? find_by_link(elf, module, dirs, path) : fd;
}

int dw_debugfile_find_alt(Dwarf *dwarf, const char *path, const char *dirs)
{
	const char *name;
	const void *id;
	ssize_t id_n = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id);
	dw_auto(dw_buf) alt = DW_BUF_INIT;
	struct by_build_id b = {.path = &alt};
	int fd;

	if (id_n <= 1 || id_n > 64)
		return DWELL_ERR_NOT_FOUND;
	if (*name != '/') {
		dw_buf_put(&alt, path, folder_bytes(path));
		dw_buf_putc(&alt, '/');
	}
	if (dw_buf_puts(&alt, name))
		return -ENOMEM;
	fd = open_if_same(alt.data, id, (size_t)id_n);
	b.id = id;
	b.id_n = (size_t)id_n;
	return fd < 0 ? each_dir(dirs, try_build_id, &b) : fd;
}

int dw_debugfile_take_alt(Dwarf *dwarf, int fd)
{
	const char *name;
	const void *id;
	ssize_t n = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id);
	int own;

	if (fd < 0 || n <= 1 || !dw_debugfile_has_id(fd, id, (size_t)n))
		return DWELL_ERR_NOT_FOUND;
	own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return own < 0 ? -errno : own;
}

/* Decode the xz stream @in to at most UNPACKED_MAX_BYTES. */
static int unpack(const uint8_t *in, size_t n, struct dw_buf *out)
{
	lzma_stream s = LZMA_STREAM_INIT;
	lzma_ret rc = lzma_stream_decoder(&s, LZMA_MEMORY_BYTES, 0);

	s.next_in = in;
	s.avail_in = n;
	while (rc == LZMA_OK && out->len < UNPACKED_MAX_BYTES) {
		if (dw_buf_reserve(out, 1 << 20))
			break;
		s.next_out = (uint8_t *)out->data + out->len;
		s.avail_out = 1 << 20;
		rc = lzma_code(&s, LZMA_FINISH);
		out->len += (1 << 20) - s.avail_out;
	}
	lzma_end(&s);
	return rc == LZMA_STREAM_END ? 0 : DWELL_ERR_FORMAT;
}

int dw_debugfile_unpack(const struct dw_elf *elf, uint8_t **ret, size_t *ret_n)
{
	const struct dw_elf_section *s = dw_elf_section(elf, ".gnu_debugdata");
	dw_auto(dw_buf) out = DW_BUF_INIT;
	dw_auto_free uint8_t *packed = NULL;
	size_t n;
	int rc;

	if (!s)
		return DWELL_ERR_NOT_FOUND;
	rc = dw_elf_read_section(elf, s, &packed, &n, NULL);
	if (!rc)
		rc = unpack(packed, n, &out);
	if (rc)
		return rc;
	*ret_n = out.len;
	*ret = (uint8_t *)dw_buf_detach(&out);
	return 0;
}
