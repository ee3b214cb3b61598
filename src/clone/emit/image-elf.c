/*
 * The ELF file that an image is: what unwinders read that open the clones' "module". Addresses are
 * area offsets, which are file offsets too. And the object for debuggers (struct dw_clone_object),
 * which shares its symbols and has more of them: whoever stands in a clone or in a trampoline shall
 * see a name.
 */
#include "clone/emit/image-elf.h"

#include "base/buf.h"
#include "clone/emit/final.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	SEGMENTS = 6,
	MAX_BYTES = INT32_MAX,
	NAME_BYTES = 1 << 10, /* of one symbol: a hostile module may give each function megabytes */
};

static const char section_names[] =
	"\0.text\0.eh_frame\0.eh_frame_hdr\0.symtab\0.strtab\0.shstrtab";

/* Offsets in section_names. */
static const uint8_t name_at[DWELL_CLONE_SECTIONS] = {0, 1, 7, 17, 31, 39, 47};

/* Symbols being appended. */
struct symbols {
	struct dw_image_bytes *b;
	const struct dw_image_parts *parts;
	struct dw_buf names;
	DW_VEC(const struct dw_clone_function *) nameless;
	uint64_t from, shown_end, end; /* in the image; those up to shown_end are the module's */
	int rc;
};

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

static void append_symbol(struct symbols *s, const char *name, uint32_t at, uint32_t bytes)
{
	Elf64_Sym sym = {
		.st_name = (Elf64_Word)s->names.len,
		.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
		.st_shndx = DWELL_CLONE_SECTION_TEXT,
		.st_value = at,
		.st_size = bytes,
	};

	if (s->rc)
		return;
	s->rc = dw_image_append(s->b, &sym, sizeof sym);
	dw_buf_put(&s->names, name, strnlen(name, NAME_BYTES - 1));
	dw_buf_putc(&s->names, 0);
}

/* Append the clones of functions that the module has a name for, and note the others. */
static void append_named(struct symbols *s)
{
	const struct dw_clone_options *o = s->parts->options;

	dw_vec_each(f, &s->parts->m->functions) {
		const char *name = o->name && f->clone_at ? o->name(o->ctx, f->start) : NULL;

		if (name)
			append_symbol(s, name, f->clone_at, f->clone_bytes);
		else if (f->clone_at && dw_vec_push(&s->nameless, f))
			s->rc = -ENOMEM;
	}
}

/* Append all that has a name for debuggers only. */
static void append_nameless(struct symbols *s)
{
	char name[32];

	append_symbol(s, "dwell_trampolines", s->parts->layout->trampolines.at,
		      dw_trampolines_bytes(s->parts->m->probes));
	dw_vec_each(f, &s->nameless) {
		/* Without the name of the module's file: images are kept by what modules hold. */
		snprintf(name, sizeof name, "fn_%" PRIx64, (*f)->start);
		append_symbol(s, name, (*f)->clone_at, (*f)->clone_bytes);
	}
}

static int append_symbols(struct symbols *s)
{
	Elf64_Sym none = {0};

	s->rc = dw_image_align(s->b, 8);
	s->from = s->b->bytes.n;
	if (!s->rc)
		s->rc = dw_image_append(s->b, &none, sizeof none);
	dw_buf_putc(&s->names, 0);
	append_named(s);
	s->shown_end = s->b->bytes.n;
	append_nameless(s);
	s->end = s->b->bytes.n;
	return s->names.failed ? -ENOMEM : s->rc;
}

static Elf64_Shdr section(int i, uint32_t type, uint64_t at, uint64_t bytes)
{
	return (Elf64_Shdr){
		.sh_name = name_at[i],
		.sh_type = type,
		.sh_flags = i < DWELL_CLONE_SECTION_SYMTAB ? SHF_ALLOC : 0,
		.sh_addr = i < DWELL_CLONE_SECTION_SYMTAB ? at : 0,
		.sh_offset = at,
		.sh_size = bytes,
		.sh_addralign = 1,
	};
}

/* The symbols [@from, @end). */
static Elf64_Shdr symbol_section(uint64_t from, uint64_t end)
{
	Elf64_Shdr s = section(DWELL_CLONE_SECTION_SYMTAB, SHT_SYMTAB, from, end - from);

	s.sh_link = DWELL_CLONE_SECTION_STRTAB;
	s.sh_entsize = sizeof(Elf64_Sym);
	s.sh_info = (uint32_t)((end - from) / sizeof(Elf64_Sym));
	return s;
}

/* Describe the sections that clones and their unwind table are. */
static void describe_code(const struct dw_clone_header *h,
			  Elf64_Shdr s[static DWELL_CLONE_SECTIONS])
{
	s[DWELL_CLONE_SECTION_TEXT] =
		section(DWELL_CLONE_SECTION_TEXT, SHT_PROGBITS, h->code_at, h->code_bytes);
	s[DWELL_CLONE_SECTION_TEXT].sh_flags |= SHF_EXECINSTR;
	if (!h->eh_frame_at)
		return;
	s[DWELL_CLONE_SECTION_EH_FRAME] = section(DWELL_CLONE_SECTION_EH_FRAME, SHT_PROGBITS,
						  h->eh_frame_at, h->eh_frame_bytes);
	s[DWELL_CLONE_SECTION_EH_FRAME_HDR] =
		section(DWELL_CLONE_SECTION_EH_FRAME_HDR, SHT_PROGBITS, h->eh_frame_hdr_at,
			h->eh_frame_hdr_bytes);
}

/* Append symbols, names and section headers, which are @s too. *@at = where the headers stand. */
static int append_sections(struct symbols *symbols, const struct dw_clone_header *h,
			   Elf64_Shdr s[static DWELL_CLONE_SECTIONS], uint64_t *at)
{
	struct dw_image_bytes *b = symbols->b;
	int rc = append_symbols(symbols);

	describe_code(h, s);
	s[DWELL_CLONE_SECTION_SYMTAB] = symbol_section(symbols->from, symbols->shown_end);
	s[DWELL_CLONE_SECTION_STRTAB] =
		section(DWELL_CLONE_SECTION_STRTAB, SHT_STRTAB, b->bytes.n, symbols->names.len);
	if (!rc)
		rc = dw_image_append(b, symbols->names.data, symbols->names.len);
	s[DWELL_CLONE_SECTION_NAMES] =
		section(DWELL_CLONE_SECTION_NAMES, SHT_STRTAB, b->bytes.n, sizeof section_names);
	if (!rc)
		rc = dw_image_append(b, section_names, sizeof section_names);
	if (!rc)
		rc = dw_image_align(b, 8);
	*at = b->bytes.n;
	return rc ? rc : dw_image_append(b, s, DWELL_CLONE_SECTIONS * sizeof *s);
}

static Elf64_Ehdr elf_header(uint16_t type, uint64_t sections_at)
{
	return (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = type,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_shoff = sections_at,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = DWELL_CLONE_SECTIONS,
		.e_shstrndx = DWELL_CLONE_SECTION_NAMES,
	};
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
	Elf64_Ehdr head = elf_header(ET_DYN, sections_at);
	Elf64_Phdr segments[SEGMENTS] = {
		segment(PF_R, 0, h->code_at),
		segment(PF_R | PF_X, h->code_at, h->code_at + h->code_bytes),
		segment(PF_R | PF_W, h->constants_at, slots_end),
		segment(PF_R, slots_end, h->bytes),
		segment(PF_R, h->eh_frame_hdr_at, h->eh_frame_hdr_at + h->eh_frame_hdr_bytes),
		{.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W},
	};

	head.e_phoff = sizeof head;
	head.e_phentsize = sizeof *segments;
	head.e_phnum = SEGMENTS;
	segments[4].p_type = h->eh_frame_hdr_at ? PT_GNU_EH_FRAME : PT_NULL;
	segments[4].p_align = 4;
	memcpy(bytes, &head, sizeof head);
	memcpy(bytes + sizeof head, segments, sizeof segments);
	memcpy(bytes + DWELL_CLONE_HEADER_OFFSET, h, sizeof *h);
}

/* Write the head of the debuggers' object, whose @sections are those of the image's. */
static void write_object(uint8_t *bytes, const struct dw_clone_header *h,
			 const struct symbols *symbols, const Elf64_Shdr *sections)
{
	const uint64_t start = h->constants_at + DWELL_CLONE_OBJECT_OFFSET;
	struct dw_clone_object o = {.head = elf_header(ET_REL, sizeof o.head)};

	memcpy(o.sections, sections, sizeof o.sections);
	o.sections[DWELL_CLONE_SECTION_SYMTAB] = symbol_section(symbols->from, symbols->end);
	o.sections[DWELL_CLONE_SECTION_EH_FRAME_HDR] = (Elf64_Shdr){0};
	for (int i = DWELL_CLONE_SECTION_EH_FRAME; i < DWELL_CLONE_SECTIONS; i++)
		if (o.sections[i].sh_type != SHT_NULL)
			o.sections[i].sh_offset -= start;
	/* The code stands in front of the object. */
	o.sections[DWELL_CLONE_SECTION_TEXT].sh_type = SHT_NOBITS;
	o.sections[DWELL_CLONE_SECTION_TEXT].sh_addr = 0;
	o.sections[DWELL_CLONE_SECTION_TEXT].sh_offset = sizeof o;
	o.sections[DWELL_CLONE_SECTION_TEXT].sh_size = h->code_at + h->code_bytes;
	memcpy(bytes + DWELL_CLONE_OBJECT_OFFSET, &o, sizeof o);
}

int dw_image_add_elf(struct dw_image_bytes *b, const struct dw_image_parts *parts,
		     struct dw_clone_header *h)
{
	struct symbols symbols = {.b = b, .parts = parts, .names = DW_BUF_INIT};
	Elf64_Shdr sections[DWELL_CLONE_SECTIONS] = {0};
	uint64_t sections_at;
	int rc = append_sections(&symbols, h, sections, &sections_at);

	if (!rc)
		rc = dw_image_align(b, DWELL_AREA_PAGE);
	h->bytes = (uint32_t)b->bytes.n;
	if (!rc)
		rc = dw_image_append_final(b, h);
	if (!rc) {
		write_headers(b->bytes.v, h, sections_at);
		write_object(b->bytes.v, h, &symbols, sections);
	}
	dw_buf_release(&symbols.names);
	dw_vec_release(&symbols.nameless);
	return rc;
}
