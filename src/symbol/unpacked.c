/* Unpacked debug files; see unpacked.h. The ELF header is written last, so a file with one is
 * whole. */
#include "symbol/unpacked.h"

#include "base/cache.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "code/elf/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ALL_MAX_BYTES ((uint64_t)128 << 20)

enum { ALIGNMENT = 16, ID_MAX_BYTES = 64 };

static const char suffix[] = ".debug";

DW_DEFINE_FREEP(dw_elf)

/* The name of the file of @q's module. False: it gets none. */
static bool name_file(const struct dw_question *q, char ret[DWELL_CACHE_NAME])
{
	const struct dw_module_source *s = q->source;
	dw_auto_ptr(dw_elf) elf = NULL;
	uint8_t id[ID_MAX_BYTES];
	struct stat st;
	uint64_t low;
	size_t n;

	if (q->names_only || q->debug_fd >= 0 || s->fd < 0 || s->root_fd >= 0 ||
	    s->uid != geteuid() || fstat(s->fd, &st) || !dw_file_is_trusted(&st) ||
	    dw_elf_open(s->fd, &elf, NULL))
		return false;
	n = dw_elf_build_id(elf, id, sizeof id);
	if (n < 8)
		return false;
	low = dw_hash_bytes(id, n, n);
	snprintf(ret, DWELL_CACHE_NAME, "%016lx%016lx%s", low, dw_hash_bytes(id, n, ~low), suffix);
	return true;
}

void dw_unpacked_open(const char *dir, struct dw_question *questions, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct dw_question *q = &questions[i];
		char name[DWELL_CACHE_NAME];
		size_t bytes;

		if (!dir || !name_file(q, name))
			continue;
		q->unpacked_fd = dw_cache_open(dir, name, &bytes);
		if (q->unpacked_fd >= 0)
			dw_cache_note_use(q->unpacked_fd);
	}
}

void dw_unpacked_want(const char *dir, struct dw_question *questions, size_t n)
{
	char name[DWELL_CACHE_NAME];

	for (size_t i = 0; i < n; i++)
		if (dir && questions[i].unpacked_fd < 0 && name_file(&questions[i], name))
			questions[i].unpacked_fd = memfd_create("dwell-debug", MFD_CLOEXEC);
}

/* Whether @fd was written by a helper: nothing that is kept can be written to. */
static bool is_new(int fd)
{
	return fd >= 0 && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR;
}

void dw_unpacked_keep(const char *dir, const struct dw_question *q)
{
	char name[DWELL_CACHE_NAME], magic[SELFMAG];
	struct iovec part;
	struct stat st;

	if (!is_new(q->unpacked_fd) || !name_file(q, name) || fstat(q->unpacked_fd, &st) ||
	    st.st_size > DWELL_UNPACKED_MAX_BYTES ||
	    pread(q->unpacked_fd, magic, sizeof magic, 0) != SELFMAG ||
	    memcmp(magic, ELFMAG, SELFMAG) != 0)
		return;
	part.iov_len = (size_t)st.st_size;
	part.iov_base = mmap(NULL, part.iov_len, PROT_READ, MAP_SHARED, q->unpacked_fd, 0);
	if (part.iov_base == MAP_FAILED)
		return;
	(void)dw_cache_store(dir, name, &(struct iovec){part.iov_base, part.iov_len}, 1);
	munmap(part.iov_base, part.iov_len);
	dw_cache_prune(dir, suffix, ALL_MAX_BYTES);
}

void dw_unpacked_close(struct dw_question *questions, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		dw_cleanup_close(&questions[i].unpacked_fd);
		questions[i].unpacked_fd = -1;
	}
}

bool dw_unpacked_has(const struct dw_question *q)
{
	struct stat st;

	return q->unpacked_fd >= 0 && !fstat(q->unpacked_fd, &st) && st.st_size > 0;
}

/* Whether @debug_fd is a file of root's, some sections of which are compressed. */
static bool is_worth_it(int debug_fd)
{
	dw_auto_ptr(dw_elf) elf = NULL;
	const struct dw_elf_section *info;
	struct stat st;

	if (fstat(debug_fd, &st) || st.st_uid || !dw_file_is_trusted(&st) ||
	    dw_elf_open(debug_fd, &elf, NULL))
		return false;
	info = dw_elf_section(elf, ".debug_info");
	return info && info->flags & SHF_COMPRESSED;
}

static bool put(int fd, const void *bytes, size_t n)
{
	while (n) {
		ssize_t done = write(fd, bytes, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		bytes = (const char *)bytes + done;
		n -= (size_t)done;
	}
	return true;
}

/* Write zeros up to where the next part stands. */
static bool align(int fd, uint64_t *at)
{
	static const char zeros[ALIGNMENT];
	size_t n = -*at % ALIGNMENT;

	*at += n;
	return put(fd, zeros, n);
}

/* Write the bytes of @section, which comes at *@at, and put its header into @ret. */
static bool write_section(Elf_Scn *section, int fd, uint64_t *at, Elf64_Shdr *ret)
{
	Elf_Data *data;
	GElf_Shdr header;

	if (!gelf_getshdr(section, &header))
		return false;
	*ret = header; /* the 64-bit form */
	if (header.sh_type == SHT_NOBITS || header.sh_type == SHT_NULL || !header.sh_size)
		return true;
	data = elf_rawdata(section, NULL);
	if (!data || data->d_size != header.sh_size || header.sh_size > DWELL_UNPACKED_MAX_BYTES)
		return false;
	if (!align(fd, at))
		return false;
	ret->sh_offset = *at;
	*at += data->d_size;
	return *at <= DWELL_UNPACKED_MAX_BYTES && put(fd, data->d_buf, data->d_size);
}

/* Write the headers of segments, which say where code is. */
static bool write_segments(Elf *elf, size_t n, int fd, uint64_t *at)
{
	GElf_Phdr header;

	for (size_t i = 0; i < n; i++)
		if (!gelf_getphdr(elf, (int)i, &header) || !put(fd, &header, sizeof header))
			return false;
	*at += n * sizeof header;
	return true;
}

void dw_unpacked_write(Elf *elf, int debug_fd, int fd)
{
	dw_auto_free Elf64_Shdr *headers = NULL;
	uint64_t at = sizeof(Elf64_Ehdr);
	Elf_Scn *section = NULL;
	size_t n, segments;
	GElf_Ehdr head;

	if (!is_worth_it(debug_fd) || !gelf_getehdr(elf, &head) ||
	    gelf_getclass(elf) != ELFCLASS64 || elf_getshdrnum(elf, &n) || n > UINT16_MAX ||
	    elf_getphdrnum(elf, &segments) || segments >= PN_XNUM)
		return;
	headers = calloc(n + 1, sizeof *headers);
	if (!headers || !put(fd, &(Elf64_Ehdr){0}, sizeof(Elf64_Ehdr)) ||
	    !write_segments(elf, segments, fd, &at))
		return;
	for (size_t i = 1; i < n && (section = elf_nextscn(elf, section)); i++)
		if (!write_section(section, fd, &at, &headers[i]))
			return;
	if (!align(fd, &at) || !put(fd, headers, n * sizeof *headers) || lseek(fd, 0, SEEK_SET))
		return;
	head.e_shoff = at;
	head.e_phoff = segments ? sizeof head : 0;
	put(fd, &head, sizeof head);
}
