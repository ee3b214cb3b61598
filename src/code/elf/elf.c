/*
 * The ELF reader; see elf.h. Sources: gABI chapters 4 and 5 and "Section Compression".
 *
 * Headers and program headers must be right, else the file is refused: without them nothing can be
 * placed. A broken section table counts as absent, since stripped and loaded modules live without
 * one too. All bytes come through read_at(), which knows the file's size.
 */
#include "code/elf/elf.h"

#include "arch/registers.h"
#include "base/cleanup.h"
#include "base/cursor.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

#define PAGE_MASK ((uint64_t)4095)

/* Named limits: far above real files, low enough that a hostile one costs little. */
enum {
	MAX_SEGMENTS = 1 << 16,
	MAX_SECTIONS = 1 << 20,
	MAX_NAMES_BYTES = 1 << 28,
	MAX_NOTE_BYTES = 1 << 20,
	MAX_SECTION_BYTES = 1 << 30,
};

struct dw_elf {
	int fd;		      /* -1 = the bytes below */
	const uint8_t *bytes; /* borrowed */
	uint64_t size;	      /* of the file or the bytes */
	bool loaded;
	Elf64_Ehdr head;
	struct dw_elf_segment *segments;
	size_t segments_n;
	struct dw_elf_section *sections;
	size_t sections_n;
	char *names; /* contents of the section name table */
};

/* Read [@pos, @pos + @n) of the file or image. 0; DWELL_ERR_FORMAT past the end; -errno. */
static int read_at(const struct dw_elf *elf, uint64_t pos, void *buf, size_t n)
{
	size_t done = 0;

	if (pos > elf->size || n > elf->size - pos)
		return DWELL_ERR_FORMAT;
	if (elf->fd < 0) {
		if (n)
			memcpy(buf, elf->bytes + pos, n);
		return 0;
	}
	while (done < n) {
		ssize_t got = pread(elf->fd, (char *)buf + done, n - done, (off_t)(pos + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			return DWELL_ERR_FORMAT; /* it shrank under us */
		done += (size_t)got;
	}
	return 0;
}

/* Read @n elements of @size bytes at @pos into a fresh array. */
static int read_array(const struct dw_elf *elf, uint64_t pos, size_t n, size_t size, void **ret)
{
	dw_auto_free void *array = NULL;
	int rc;

	if (n > elf->size / size)
		return DWELL_ERR_FORMAT;
	array = malloc(n * size + 1);
	if (!array)
		return -ENOMEM;
	rc = read_at(elf, pos, array, n * size);
	if (rc)
		return rc;
	*ret = dw_take_ptr(array);
	return 0;
}

static int read_header(struct dw_elf *elf, struct dw_error *err)
{
	Elf64_Ehdr *h = &elf->head;
	int rc = read_at(elf, 0, h->e_ident, EI_NIDENT);

	if (rc == DWELL_ERR_FORMAT || (!rc && memcmp(h->e_ident, ELFMAG, SELFMAG)))
		return dw_error_set(err, DWELL_ERR_FORMAT, "not an ELF file");
	if (!rc && (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB))
		return dw_error_set(err, DWELL_ERR_UNSUPPORTED,
				    "not a 64-bit " DWELL_ARCH_NAME " ELF file");
	if (!rc)
		rc = read_at(elf, 0, h, sizeof *h);
	if (rc == DWELL_ERR_FORMAT)
		return dw_error_set(err, rc, "ELF header is cut");
	if (rc)
		return dw_error_set_errno(err, -rc, "cannot read the ELF header");
	if (h->e_machine != DWELL_ELF_MACHINE)
		return dw_error_set(err, DWELL_ERR_UNSUPPORTED, "ELF file is for machine %u",
				    h->e_machine);
	return 0;
}

/* Section header 0, which holds what does not fit in the ELF header. Zeroes when there is none. */
static Elf64_Shdr first_section(const struct dw_elf *elf)
{
	Elf64_Shdr s = {0};

	if (elf->head.e_shoff && elf->head.e_shentsize == sizeof s &&
	    read_at(elf, elf->head.e_shoff, &s, sizeof s))
		memset(&s, 0, sizeof s);
	return s;
}

static int read_segments(struct dw_elf *elf, struct dw_error *err)
{
	dw_auto_free Elf64_Phdr *raw = NULL;
	const Elf64_Ehdr *h = &elf->head;
	size_t n = h->e_phnum == PN_XNUM ? first_section(elf).sh_info : h->e_phnum;
	int rc;

	if (!n || !h->e_phoff)
		return 0;
	if (h->e_phentsize != sizeof *raw)
		return dw_error_set(err, DWELL_ERR_FORMAT, "program headers have %u bytes each",
				    h->e_phentsize);
	rc = n > MAX_SEGMENTS ? DWELL_ERR_LIMIT
			      : read_array(elf, h->e_phoff, n, sizeof *raw, (void **)&raw);
	if (rc)
		return dw_error_set(err, rc, "cannot read %zu program headers", n);
	elf->segments = calloc(n, sizeof *elf->segments);
	if (!elf->segments)
		return dw_error_set_errno(err, ENOMEM, "cannot keep program headers");
	for (size_t i = 0; i < n; i++)
		elf->segments[i] = (struct dw_elf_segment){
			.type = raw[i].p_type,
			.flags = raw[i].p_flags,
			.offset = {raw[i].p_offset},
			.svma = {raw[i].p_vaddr},
			.file_bytes = raw[i].p_filesz,
			.memory_bytes = raw[i].p_memsz,
		};
	elf->segments_n = n;
	return 0;
}

/* The loadable segment of @elf that holds [@v, @v + @n) of the file by svma or by file offset. */
static const struct dw_elf_segment *load_segment(const struct dw_elf *elf, uint64_t v, size_t n,
						 bool by_offset)
{
	for (size_t i = 0; i < elf->segments_n; i++) {
		const struct dw_elf_segment *s = &elf->segments[i];
		uint64_t in = v - (by_offset ? s->offset.v : s->svma.v);

		if (s->type == PT_LOAD && in < s->file_bytes && n <= s->file_bytes - in)
			return s;
	}
	return NULL;
}

/* The first loadable segment; *@single = it is the only one. NULL = none. */
static const struct dw_elf_segment *first_load(const struct dw_elf *elf, bool *single)
{
	const struct dw_elf_segment *first = NULL;

	*single = true;
	for (size_t i = 0; i < elf->segments_n; i++) {
		if (elf->segments[i].type != PT_LOAD)
			continue;
		if (first)
			*single = false;
		else
			first = &elf->segments[i];
	}
	return first;
}

/*
 * Where [@offset, @offset + @n) of the file stands in what we read from. In a loaded image only
 * what a segment holds is there; an image of one segment (the vdso) is one piece, headers behind
 * the segment included.
 */
static int place_offset(const struct dw_elf *elf, uint64_t offset, size_t n, uint64_t *ret)
{
	const struct dw_elf_segment *first, *s;
	bool single;

	*ret = offset;
	if (!elf->loaded)
		return 0;
	first = first_load(elf, &single);
	if (!first)
		return DWELL_ERR_NOT_FOUND;
	if (single)
		return 0;
	s = load_segment(elf, offset, n, true);
	if (!s)
		return DWELL_ERR_NOT_FOUND;
	*ret = offset - s->offset.v + s->svma.v - (first->svma.v - first->offset.v);
	return 0;
}

static int read_offset(const struct dw_elf *elf, uint64_t offset, void *buf, size_t n)
{
	uint64_t pos;
	int rc = place_offset(elf, offset, n, &pos);

	return rc ? rc : read_at(elf, pos, buf, n);
}

/* Load the section name table. An unusable one leaves all names empty. Its size, 0 = none. */
static size_t read_names(struct dw_elf *elf, const Elf64_Shdr *table)
{
	uint64_t n = table->sh_size;

	if (table->sh_type != SHT_STRTAB || !n || n > MAX_NAMES_BYTES || n > elf->size)
		return 0;
	elf->names = malloc(n + 1);
	if (!elf->names || read_offset(elf, table->sh_offset, elf->names, n))
		return 0;
	elf->names[n] = 0;
	return n;
}

/* Keep section headers. A table that breaks the rules is left out; only lack of memory fails. */
static int read_sections(struct dw_elf *elf)
{
	dw_auto_free Elf64_Shdr *raw = NULL;
	const Elf64_Ehdr *h = &elf->head;
	Elf64_Shdr first = first_section(elf);
	uint64_t n = h->e_shnum ? h->e_shnum : first.sh_size, pos;
	uint64_t names = h->e_shstrndx == SHN_XINDEX ? first.sh_link : h->e_shstrndx;
	size_t names_n = 0;
	int rc;

	if (!h->e_shoff || h->e_shentsize != sizeof *raw || !n || n > MAX_SECTIONS ||
	    place_offset(elf, h->e_shoff, n * sizeof *raw, &pos))
		return 0;
	rc = read_array(elf, pos, n, sizeof *raw, (void **)&raw);
	if (rc)
		return rc == -ENOMEM ? rc : 0;
	elf->sections = calloc(n, sizeof *elf->sections);
	if (!elf->sections)
		return -ENOMEM;
	if (names < n)
		names_n = read_names(elf, &raw[names]);
	for (size_t i = 0; i < n; i++)
		elf->sections[i] = (struct dw_elf_section){
			.name = raw[i].sh_name < names_n ? elf->names + raw[i].sh_name : "",
			.type = raw[i].sh_type,
			.flags = raw[i].sh_flags,
			.offset = {raw[i].sh_offset},
			.svma = {raw[i].sh_addr},
			.bytes = raw[i].sh_type == SHT_NOBITS ? 0 : raw[i].sh_size,
		};
	elf->sections_n = n;
	return 0;
}

/* Parse what @elf, whose source is set, holds. On failure @elf is freed. */
static int parse(struct dw_elf *elf, struct dw_elf **ret, struct dw_error *err)
{
	int rc = read_header(elf, err);

	if (!rc)
		rc = read_segments(elf, err);
	if (!rc && read_sections(elf))
		rc = dw_error_set_errno(err, ENOMEM, "cannot keep section headers");
	if (rc)
		dw_elf_free(elf);
	else
		*ret = elf;
	return rc;
}

int dw_elf_open(int fd, struct dw_elf **ret, struct dw_error *err)
{
	struct dw_elf *elf;
	struct stat st;

	if (fstat(fd, &st))
		return dw_error_set_errno(err, errno, "cannot examine the file");
	if (!S_ISREG(st.st_mode))
		return dw_error_set(err, DWELL_ERR_FORMAT, "not a regular file");
	elf = calloc(1, sizeof *elf);
	if (!elf)
		return dw_error_set_errno(err, ENOMEM, "cannot open an ELF file");
	elf->size = (uint64_t)st.st_size;
	elf->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (elf->fd < 0) {
		int rc = dw_error_set_errno(err, errno, "cannot keep the file open");

		free(elf);
		return rc;
	}
	return parse(elf, ret, err);
}

int dw_elf_open_bytes(const void *bytes, size_t n, bool loaded, struct dw_elf **ret,
		      struct dw_error *err)
{
	struct dw_elf *elf = calloc(1, sizeof *elf);

	if (!elf)
		return dw_error_set_errno(err, ENOMEM, "cannot open an ELF image");
	elf->fd = -1;
	elf->bytes = bytes;
	elf->size = n;
	elf->loaded = loaded;
	return parse(elf, ret, err);
}

void dw_elf_free(struct dw_elf *elf)
{
	if (!elf)
		return;
	if (elf->fd >= 0)
		close(elf->fd);
	free(elf->segments);
	free(elf->sections);
	free(elf->names);
	free(elf);
}

uint16_t dw_elf_type(const struct dw_elf *elf)
{
	return elf->head.e_type;
}

struct dw_svma dw_elf_entry(const struct dw_elf *elf)
{
	return (struct dw_svma){elf->head.e_entry};
}

const struct dw_elf_segment *dw_elf_segments(const struct dw_elf *elf, size_t *n)
{
	*n = elf->segments_n;
	return elf->segments;
}

const struct dw_elf_section *dw_elf_sections(const struct dw_elf *elf, size_t *n)
{
	*n = elf->sections_n;
	return elf->sections;
}

const struct dw_elf_section *dw_elf_section(const struct dw_elf *elf, const char *name)
{
	for (size_t i = 0; i < elf->sections_n; i++)
		if (!strcmp(elf->sections[i].name, name))
			return &elf->sections[i];
	return NULL;
}

/* No method shrinks more than this, so a larger claim is a lie (deflate: 1,032; zstd: 128 KB from a
 * block of 4 bytes). */
enum { MAX_RATIO = 65536 };

static bool expand_zlib(const uint8_t *in, size_t in_n, uint8_t *out, size_t out_n)
{
	uLongf got = out_n;

	return uncompress(out, &got, in, in_n) == Z_OK && got == out_n;
}

static bool expand_zstd(const uint8_t *in, size_t in_n, uint8_t *out, size_t out_n)
{
	size_t got = ZSTD_decompress(out, out_n, in, in_n);

	return !ZSTD_isError(got) && got == out_n;
}

/*
 * Expand @raw, the contents of a section with SHF_COMPRESSED, its Elf64_Chdr included, to *@ret
 * with a NUL behind it. The size in the header is only a claim: the output must have exactly that
 * many bytes.
 */
static int expand(const uint8_t *raw, size_t raw_n, uint8_t **ret, size_t *ret_n,
		  struct dw_error *err)
{
	dw_auto_free uint8_t *out = NULL;
	Elf64_Chdr head;
	bool ok;

	if (raw_n < sizeof head)
		return dw_error_set(err, DWELL_ERR_FORMAT, "compressed section without a header");
	memcpy(&head, raw, sizeof head);
	raw += sizeof head;
	raw_n -= sizeof head;
	if (head.ch_type != ELFCOMPRESS_ZLIB && head.ch_type != ELFCOMPRESS_ZSTD)
		return dw_error_set(err, DWELL_ERR_UNSUPPORTED, "section compressed by method %u",
				    head.ch_type);
	if (head.ch_size > MAX_SECTION_BYTES)
		return dw_error_set(err, DWELL_ERR_LIMIT, "compressed section claims %#lx bytes",
				    head.ch_size);
	if (head.ch_size / MAX_RATIO > raw_n)
		return dw_error_set(err, DWELL_ERR_FORMAT, "compressed section claims too much");
	out = malloc(head.ch_size + 1);
	if (!out)
		return dw_error_set_errno(err, ENOMEM, "cannot expand a section");
	ok = head.ch_type == ELFCOMPRESS_ZLIB ? expand_zlib(raw, raw_n, out, head.ch_size)
					      : expand_zstd(raw, raw_n, out, head.ch_size);
	if (!ok)
		return dw_error_set(err, DWELL_ERR_FORMAT, "compressed section is damaged");
	out[head.ch_size] = 0;
	*ret = dw_take_ptr(out);
	*ret_n = head.ch_size;
	return 0;
}

int dw_elf_read_section(const struct dw_elf *elf, const struct dw_elf_section *section,
			uint8_t **ret, size_t *ret_n, struct dw_error *err)
{
	dw_auto_free uint8_t *raw = NULL;
	uint64_t n = section->bytes;
	int rc;

	if (n > elf->size)
		return dw_error_set(err, DWELL_ERR_FORMAT, "section %s is larger than the file",
				    section->name);
	if (n > MAX_SECTION_BYTES)
		return dw_error_set(err, DWELL_ERR_LIMIT, "section %s has %#lx bytes",
				    section->name, n);
	raw = malloc(n + 1);
	if (!raw)
		return dw_error_set_errno(err, ENOMEM, "cannot read section %s", section->name);
	rc = read_offset(elf, section->offset.v, raw, n);
	if (rc)
		return dw_error_set(err, rc, "cannot read section %s", section->name);
	raw[n] = 0;
	if (section->flags & SHF_COMPRESSED) {
		rc = expand(raw, n, ret, ret_n, err);
		if (rc)
			dw_error_prefix(err, "section %s", section->name);
		return rc;
	}
	*ret = dw_take_ptr(raw);
	*ret_n = n;
	return 0;
}

uint8_t *dw_elf_read_named(const struct dw_elf *elf, const char *name, size_t *n)
{
	const struct dw_elf_section *s = dw_elf_section(elf, name);
	uint8_t *bytes = NULL;

	*n = 0;
	if (s && s->type != SHT_NOBITS)
		(void)dw_elf_read_section(elf, s, &bytes, n, NULL);
	return bytes;
}

int dw_elf_read_svma(const struct dw_elf *elf, struct dw_svma svma, void *buf, size_t n)
{
	const struct dw_elf_segment *s = load_segment(elf, svma.v, n, false);
	int rc;

	if (!s)
		return DWELL_ERR_NOT_FOUND;
	rc = read_offset(elf, svma.v - s->svma.v + s->offset.v, buf, n);
	return rc == DWELL_ERR_FORMAT ? DWELL_ERR_NOT_FOUND : rc;
}

size_t dw_elf_notes_build_id(const uint8_t *notes, size_t n, uint8_t *id, size_t max)
{
	struct dw_cursor c;

	dw_cursor_init(&c, notes, n);
	while (dw_cursor_left(&c) >= sizeof(Elf64_Nhdr)) {
		uint32_t name_n = dw_cursor_u32(&c), desc_n = dw_cursor_u32(&c);
		uint32_t type = dw_cursor_u32(&c);
		const uint8_t *name = dw_cursor_bytes(&c, ((size_t)name_n + 3) & ~(size_t)3);
		const uint8_t *desc = dw_cursor_bytes(&c, desc_n);

		if (desc && desc_n && type == NT_GNU_BUILD_ID && name_n == sizeof ELF_NOTE_GNU &&
		    !memcmp(name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU)) {
			if (desc_n > max)
				desc_n = (uint32_t)max;
			memcpy(id, desc, desc_n);
			return desc_n;
		}
		dw_cursor_skip(&c, -desc_n & 3);
	}
	return 0;
}

/* Look for a build-id among the notes [@offset, @offset + @n) of the file. */
static size_t find_build_id(const struct dw_elf *elf, uint64_t offset, uint64_t n, uint8_t *id,
			    size_t max)
{
	dw_auto_free uint8_t *notes = NULL;

	if (!n || n > MAX_NOTE_BYTES || n > elf->size)
		return 0;
	notes = malloc(n);
	return notes && !read_offset(elf, offset, notes, n)
		       ? dw_elf_notes_build_id(notes, n, id, max)
		       : 0;
}

size_t dw_elf_build_id(const struct dw_elf *elf, uint8_t *id, size_t max)
{
	size_t got = 0;

	for (size_t i = 0; i < elf->segments_n && !got; i++)
		if (elf->segments[i].type == PT_NOTE)
			got = find_build_id(elf, elf->segments[i].offset.v,
					    elf->segments[i].file_bytes, id, max);
	for (size_t i = 0; i < elf->sections_n && !got; i++)
		if (elf->sections[i].type == SHT_NOTE)
			got = find_build_id(elf, elf->sections[i].offset.v, elf->sections[i].bytes,
					    id, max);
	return got;
}

int dw_elf_bias(const struct dw_elf *elf, struct dw_avma start, struct dw_foff pgoff,
		uint64_t *ret_bias)
{
	const struct dw_elf_segment *found = NULL;

	for (size_t i = 0; i < elf->segments_n; i++) {
		const struct dw_elf_segment *s = &elf->segments[i];
		uint64_t first_page = s->offset.v & ~PAGE_MASK;

		if (s->type != PT_LOAD || !s->file_bytes || pgoff.v < first_page ||
		    pgoff.v - first_page >= s->file_bytes + (s->offset.v & PAGE_MASK))
			continue;
		if (!found || (s->flags & PF_X && !(found->flags & PF_X)))
			found = s;
	}
	if (!found)
		return DWELL_ERR_NOT_FOUND;
	*ret_bias = start.v - (pgoff.v - found->offset.v + found->svma.v);
	return 0;
}
