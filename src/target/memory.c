/*
 * Memory of processes and images of modules; see memory.h. The kernel stops a transfer at the first
 * page that it cannot read, but reports what came before only between elements of the remote
 * vector, so the range is cut into pieces at page borders. One call takes up to 4 MB.
 *
 * Copying an image from memory is for modules whose file cannot be had (deleted, replaced, in a
 * namespace that is gone): text, .eh_frame and .dynsym are in what the loader maps, so unwinding
 * works and exported names exist. Sizes come from the target's own program headers, so they are
 * capped.
 */
#include "target/memory.h"

#include "base/cleanup.h"
#include "code/cfi/table.h"
#include "code/elf/elf.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

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

enum {
	SEGMENTS_MAX = 64,
	IMAGE_BYTES_MAX = 512 << 20,
	BEHIND_BYTES_MAX = 64 << 10,
	BUILD_ID_BYTES = 64,
};

struct dw_image {
	struct dw_elf *elf;
	struct dw_cfi_table *cfi; /* NULL = none */
	uint8_t *bytes;		  /* owned; NULL = a file */
	size_t bytes_n;
	int fd; /* owned, -1 = in memory */
	uint8_t build_id[BUILD_ID_BYTES];
	size_t build_id_bytes;
};

DW_DEFINE_FREEP(dw_image)

/* Fill in what both kinds of image take from their ELF object. */
static int load_rules(struct dw_image *image, const char *cache_dir)
{
	int rc = dw_cfi_table_load(image->elf, cache_dir, &image->cfi, NULL);

	image->build_id_bytes = dw_elf_build_id(image->elf, image->build_id, BUILD_ID_BYTES);
	/* Without rules, or with broken ones, frame pointers are all there is: no reason to fail.
	 */
	return rc == -ENOMEM ? rc : 0;
}

int dw_image_open(int fd, const char *cache_dir, struct dw_image **ret, struct dw_error *err)
{
	dw_auto_ptr(dw_image) image = calloc(1, sizeof *image);
	int rc;

	if (!image)
		return -ENOMEM;
	image->fd = -1;
	rc = dw_elf_open(fd, &image->elf, err);
	if (!rc)
		rc = load_rules(image, cache_dir);
	if (rc)
		return rc;
	image->fd = fd;
	*ret = dw_take_ptr(image);
	return 0;
}

int dw_image_open_bytes(uint8_t *bytes, size_t n, const char *cache_dir, struct dw_image **ret,
			struct dw_error *err)
{
	dw_auto_ptr(dw_image) image = calloc(1, sizeof *image);
	int rc;

	if (!image)
		return -ENOMEM;
	image->fd = -1;
	rc = dw_elf_open_bytes(bytes, n, true, &image->elf, err);
	if (!rc)
		rc = load_rules(image, cache_dir);
	if (rc)
		return rc;
	image->bytes = bytes;
	image->bytes_n = n;
	*ret = dw_take_ptr(image);
	return 0;
}

/* Read and check the program headers that @base's ELF header names. Their number, or a negative
 * code. *@ret_file_bytes: what the file has, as far as its section headers say. */
static int read_headers(pid_t pid, uint64_t base, Elf64_Phdr *headers, uint64_t *ret_file_bytes)
{
	Elf64_Ehdr eh;
	ssize_t got = dw_memory_read(pid, base, &eh, sizeof eh);
	size_t want;

	if (got < 0)
		return (int)got;
	if (got < (ssize_t)sizeof eh || memcmp(eh.e_ident, ELFMAG, SELFMAG) ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_phentsize != sizeof *headers ||
	    !eh.e_phnum || eh.e_phnum > SEGMENTS_MAX)
		return DWELL_ERR_FORMAT;
	want = eh.e_phnum * sizeof *headers;
	*ret_file_bytes = eh.e_shoff + eh.e_shnum * sizeof(Elf64_Shdr);
	got = dw_memory_read(pid, base + eh.e_phoff, headers, want);
	if (got < 0)
		return (int)got;
	return (size_t)got < want ? DWELL_ERR_FORMAT : eh.e_phnum;
}

/* The only loadable segment of a module whose pages are the whole file (the vdso): what stands
 * behind the segment, section headers most likely, is there, too. NULL = it has others. */
static Elf64_Phdr *whole_file(Elf64_Phdr *headers, int n)
{
	Elf64_Phdr *only = NULL;

	for (int i = 0; i < n; i++) {
		if (headers[i].p_type != PT_LOAD)
			continue;
		if (only || headers[i].p_offset || headers[i].p_memsz != headers[i].p_filesz)
			return NULL;
		only = &headers[i];
	}
	return only;
}

static int loaded_span(const Elf64_Phdr *headers, int n, uint64_t *ret_low, uint64_t *ret_bytes)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (int i = 0; i < n; i++) {
		const Elf64_Phdr *p = &headers[i];

		if (p->p_type != PT_LOAD)
			continue;
		if (p->p_vaddr + p->p_filesz < p->p_vaddr)
			return DWELL_ERR_FORMAT;
		low = p->p_vaddr < low ? p->p_vaddr : low;
		high = p->p_vaddr + p->p_filesz > high ? p->p_vaddr + p->p_filesz : high;
	}
	if (low >= high)
		return DWELL_ERR_FORMAT;
	if (high - low > IMAGE_BYTES_MAX)
		return DWELL_ERR_LIMIT;
	*ret_low = low;
	*ret_bytes = high - low;
	return 0;
}

int dw_image_copy(pid_t pid, uint64_t base, const char *cache_dir, struct dw_image **ret,
		  struct dw_error *err)
{
	dw_auto_free uint8_t *bytes = NULL;
	Elf64_Phdr headers[SEGMENTS_MAX];
	uint64_t low, span, file_bytes = 0;
	int n = read_headers(pid, base, headers, &file_bytes), rc;
	Elf64_Phdr *whole;

	if (n < 0)
		return n;
	whole = whole_file(headers, n);
	if (whole && file_bytes > whole->p_filesz &&
	    file_bytes - whole->p_filesz < BEHIND_BYTES_MAX)
		whole->p_filesz = file_bytes;
	rc = loaded_span(headers, n, &low, &span);
	if (rc)
		return rc;
	bytes = calloc(1, span);
	if (!bytes)
		return -ENOMEM;
	for (int i = 0; i < n; i++) {
		uint64_t at = headers[i].p_vaddr - low;

		if (headers[i].p_type == PT_LOAD)
			dw_memory_read(pid, base + at, bytes + at, headers[i].p_filesz);
	}
	rc = dw_image_open_bytes(bytes, span, cache_dir, ret, err);
	if (!rc)
		bytes = NULL;
	return rc;
}

int dw_image_vdso(const char *cache_dir, struct dw_image **ret, struct dw_error *err)
{
	uint64_t base = getauxval(AT_SYSINFO_EHDR);

	return base ? dw_image_copy(getpid(), base, cache_dir, ret, err) : DWELL_ERR_NOT_FOUND;
}

void dw_image_free(struct dw_image *image)
{
	if (!image)
		return;
	dw_cfi_table_free(image->cfi);
	dw_elf_free(image->elf);
	free(image->bytes);
	if (image->fd >= 0)
		close(image->fd);
	free(image);
}

int dw_image_bias(const struct dw_image *image, uint64_t start, uint64_t offset, uint64_t *ret)
{
	return dw_elf_bias(image->elf, (struct dw_avma){start}, (struct dw_foff){offset}, ret);
}

const struct dw_cfi_table *dw_image_cfi(const struct dw_image *image)
{
	return image->cfi;
}

const uint8_t *dw_image_build_id(const struct dw_image *image, size_t *n)
{
	*n = image->build_id_bytes;
	return image->build_id;
}

int dw_image_fd(const struct dw_image *image)
{
	return image->fd;
}

const struct dw_elf *dw_image_elf(const struct dw_image *image)
{
	return image->elf;
}

const uint8_t *dw_image_bytes(const struct dw_image *image, size_t *n)
{
	*n = image->bytes_n;
	return image->bytes;
}
