/*
 * ELF around an image; see image-elf.h. Addresses are area offsets, which are file offsets too.
 */
#include "clone/image-elf.h"

#include "base/buf.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

enum {
	SECTION_NONE,
	SECTION_TEXT,
	SECTION_EH_FRAME,
	SECTION_EH_FRAME_HDR,
	SECTION_SYMTAB,
	SECTION_STRTAB,
	SECTION_NAMES,
	SECTIONS
};

enum { SEGMENTS = 6, MAX_BYTES = INT32_MAX };

static const char section_names[] =
	"\0.text\0.eh_frame\0.eh_frame_hdr\0.symtab\0.strtab\0.shstrtab";

/* Offsets in section_names. */
static const uint8_t name_at[SECTIONS] = {0, 1, 7, 17, 31, 39, 47};

int dw_image_append(struct dw_image_bytes *b, const void *bytes, size_t n)
{
	if (n > MAX_BYTES - b->bytes.n)
		return DWELL_ERR_LIMIT;
	if (dw_vec_reserve(&b->bytes, n))
		return -ENOMEM;
	if (n)
		memcpy(b->bytes.v + b->bytes.n, bytes, n);
	b->bytes.n += n;
	return 0;
}

int dw_image_align(struct dw_image_bytes *b, size_t to)
{
	static const uint8_t zeros[DWELL_AREA_PAGE];

	return dw_image_append(b, zeros, (to - b->bytes.n % to) % to);
}

/* Append the symbol table; its names go to @names. */
static int append_symbols(struct dw_image_bytes *b, const struct dw_image_parts *parts,
			  struct dw_buf *names)
{
	const struct dw_clone_options *o = parts->options;
	Elf64_Sym none = {0};
	int rc = dw_image_append(b, &none, sizeof none);

	dw_buf_putc(names, 0);
	dw_vec_each(f, &parts->m->functions) {
		const char *name = o->name && f->clone_at ? o->name(o->ctx, f->start) : NULL;
		Elf64_Sym sym = {
			.st_name = (Elf64_Word)names->len,
			.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
			.st_shndx = SECTION_TEXT,
			.st_value = f->clone_at,
			.st_size = f->clone_bytes,
		};

		if (!name || rc)
			continue;
		rc = dw_image_append(b, &sym, sizeof sym);
		dw_buf_put(names, name, strlen(name) + 1);
	}
	return names->failed ? -ENOMEM : rc;
}

static Elf64_Shdr section(int i, uint32_t type, uint64_t at, uint64_t bytes)
{
	return (Elf64_Shdr){
		.sh_name = name_at[i],
		.sh_type = type,
		.sh_flags = i < SECTION_SYMTAB ? SHF_ALLOC : 0,
		.sh_addr = i < SECTION_SYMTAB ? at : 0,
		.sh_offset = at,
		.sh_size = bytes,
		.sh_addralign = 1,
	};
}

/* Append symbols, names and section headers. *@at = where the headers stand. */
static int append_sections(struct dw_image_bytes *b, const struct dw_image_parts *parts,
			   const struct dw_clone_header *h, uint64_t *at)
{
	struct dw_buf names = DW_BUF_INIT;
	Elf64_Shdr s[SECTIONS] = {0};
	int rc = dw_image_align(b, 8);
	uint64_t from = b->bytes.n;

	s[SECTION_TEXT] = section(SECTION_TEXT, SHT_PROGBITS, h->code_at, h->code_bytes);
	s[SECTION_TEXT].sh_flags |= SHF_EXECINSTR;
	if (h->eh_frame_at) {
		s[SECTION_EH_FRAME] =
			section(SECTION_EH_FRAME, SHT_PROGBITS, h->eh_frame_at, h->eh_frame_bytes);
		s[SECTION_EH_FRAME_HDR] = section(SECTION_EH_FRAME_HDR, SHT_PROGBITS,
						  h->eh_frame_hdr_at, h->eh_frame_hdr_bytes);
	}
	if (!rc)
		rc = append_symbols(b, parts, &names);
	s[SECTION_SYMTAB] = section(SECTION_SYMTAB, SHT_SYMTAB, from, b->bytes.n - from);
	s[SECTION_SYMTAB].sh_link = SECTION_STRTAB;
	s[SECTION_SYMTAB].sh_entsize = sizeof(Elf64_Sym);
	s[SECTION_SYMTAB].sh_info = (uint32_t)((b->bytes.n - from) / sizeof(Elf64_Sym));
	s[SECTION_STRTAB] = section(SECTION_STRTAB, SHT_STRTAB, b->bytes.n, names.len);
	if (!rc)
		rc = dw_image_append(b, names.data, names.len);
	dw_buf_release(&names);
	s[SECTION_NAMES] = section(SECTION_NAMES, SHT_STRTAB, b->bytes.n, sizeof section_names);
	if (!rc)
		rc = dw_image_append(b, section_names, sizeof section_names);
	if (!rc)
		rc = dw_image_align(b, 8);
	*at = b->bytes.n;
	return rc ? rc : dw_image_append(b, s, sizeof s);
}

static Elf64_Phdr segment(uint32_t flags, uint64_t from, uint64_t to)
{
	return (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = flags,
		.p_offset = from,
		.p_vaddr = from,
		.p_paddr = from,
		.p_filesz = to - from,
		.p_memsz = to - from,
		.p_align = DWELL_AREA_PAGE,
	};
}

static void write_headers(uint8_t *bytes, const struct dw_clone_header *h, uint64_t sections_at)
{
	uint32_t slots_end = h->wiped_at + DWELL_AREA_PAGE;
	Elf64_Ehdr head = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof head,
		.e_shoff = sections_at,
		.e_ehsize = sizeof head,
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = SEGMENTS,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS,
		.e_shstrndx = SECTION_NAMES,
	};
	Elf64_Phdr segments[SEGMENTS] = {
		segment(PF_R, 0, h->code_at),
		segment(PF_R | PF_X, h->code_at, h->code_at + h->code_bytes),
		segment(PF_R | PF_W, h->constants_at, slots_end),
		segment(PF_R, slots_end, h->bytes),
		segment(PF_R, h->eh_frame_hdr_at, h->eh_frame_hdr_at + h->eh_frame_hdr_bytes),
		{.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W},
	};

	segments[4].p_type = h->eh_frame_hdr_at ? PT_GNU_EH_FRAME : PT_NULL;
	segments[4].p_align = 4;
	memcpy(bytes, &head, sizeof head);
	memcpy(bytes + sizeof head, segments, sizeof segments);
	memcpy(bytes + DWELL_CLONE_HEADER_OFFSET, h, sizeof *h);
}

int dw_image_add_elf(struct dw_image_bytes *b, const struct dw_image_parts *parts,
		     struct dw_clone_header *h)
{
	uint64_t sections_at;
	int rc = append_sections(b, parts, h, &sections_at);

	if (!rc)
		rc = dw_image_align(b, DWELL_AREA_PAGE);
	h->bytes = (uint32_t)b->bytes.n;
	if (!rc)
		write_headers(b->bytes.v, h, sections_at);
	return rc;
}
