/* One segment, four sections; see elf-image.h. */
#include "elf-image.h"

#include <dwarf.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

static const char names[] = "\0.eh_frame\0.debug_frame\0.names";

struct image {
	Elf64_Ehdr head;
	Elf64_Phdr seg;
	Elf64_Shdr sec[4];
	char names[sizeof names];
};

_Static_assert(sizeof(struct image) <= ELF_IMAGE_EH, "headers fit");

static void fill(struct image *m, size_t eh_n, size_t debug_n, size_t n)
{
	*m = (struct image){
		.head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     EV_CURRENT},
			 .e_type = ET_DYN,
			 .e_machine = EM_X86_64,
			 .e_phoff = offsetof(struct image, seg),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 1,
			 .e_shoff = offsetof(struct image, sec),
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = 4,
			 .e_shstrndx = 3},
		.seg = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = n, .p_memsz = n},
		.sec = {{0},
			{.sh_name = 1,
			 .sh_type = SHT_PROGBITS,
			 .sh_addr = ELF_IMAGE_EH,
			 .sh_offset = ELF_IMAGE_EH,
			 .sh_size = eh_n},
			{.sh_name = 11,
			 .sh_type = SHT_PROGBITS,
			 .sh_offset = ELF_IMAGE_EH + eh_n,
			 .sh_size = debug_n},
			{.sh_name = 24,
			 .sh_type = SHT_STRTAB,
			 .sh_offset = offsetof(struct image, names),
			 .sh_size = sizeof names}},
	};
	memcpy(m->names, names, sizeof names);
}

uint8_t *elf_image_make(const void *eh, size_t eh_n, const void *debug, size_t debug_n, size_t *n)
{
	struct image m;
	uint8_t *bytes;

	*n = ELF_IMAGE_EH + eh_n + debug_n;
	if (*n < ELF_IMAGE_TEXT_BYTES)
		*n = ELF_IMAGE_TEXT_BYTES;
	bytes = calloc(1, *n);
	if (!bytes)
		return NULL;
	fill(&m, eh_n, debug_n, *n);
	memcpy(bytes, &m, sizeof m);
	if (eh_n)
		memcpy(bytes + ELF_IMAGE_EH, eh, eh_n);
	if (debug_n)
		memcpy(bytes + ELF_IMAGE_EH + eh_n, debug, debug_n);
	return bytes;
}

/* Start an entry with @id behind its length, which end_entry() fills in. */
static size_t start_entry(struct dw_buf *b, uint32_t id)
{
	uint32_t head[2] = {0, id};
	size_t at = b->len;

	dw_buf_put(b, head, sizeof head);
	return at;
}

static void end_entry(struct dw_buf *b, size_t at)
{
	uint32_t length;

	while ((b->len - at) % 8 != 4)
		dw_buf_putc(b, DW_CFA_nop);
	length = (uint32_t)(b->len - at - sizeof length);
	if (!b->failed)
		memcpy(b->data + at, &length, sizeof length);
}

/* Alignments, return register and the program that all CIEs start with. */
static void put_usual(struct dw_buf *b)
{
	static const uint8_t program[] = {DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1};

	dw_buf_put(b, program, sizeof program);
}

size_t elf_image_cie(struct dw_buf *b, const char *letters, const char *data,
		     const uint8_t *program, size_t n)
{
	size_t at = start_entry(b, 0);

	dw_buf_putc(b, 1);
	dw_buf_put(b, letters, strlen(letters) + 1);
	dw_buf_put(b, "\x01\x78\x10", 3);
	if (letters[0] == 'z') {
		dw_buf_put_uleb(b, strlen(data));
		dw_buf_puts(b, data);
	}
	put_usual(b);
	dw_buf_put(b, program, n);
	end_entry(b, at);
	return at;
}

void elf_image_fde(struct dw_buf *b, size_t cie, uint32_t start, uint32_t end,
		   const uint8_t *program, size_t n)
{
	uint32_t range[2] = {start, end - start};
	size_t at = start_entry(b, (uint32_t)(b->len + 4 - cie));

	dw_buf_put(b, range, sizeof range);
	dw_buf_putc(b, 0);
	dw_buf_put(b, program, n);
	end_entry(b, at);
}

size_t elf_image_debug_cie(struct dw_buf *b, const uint8_t *program, size_t n)
{
	size_t at = start_entry(b, UINT32_MAX);

	dw_buf_put(b, "\x04\0\x08\0\x01\x78\x10", 7);
	put_usual(b);
	dw_buf_put(b, program, n);
	end_entry(b, at);
	return at;
}

void elf_image_debug_fde(struct dw_buf *b, size_t cie, uint32_t start, uint32_t end,
			 const uint8_t *program, size_t n)
{
	uint64_t range[2] = {start, end - start};
	size_t at = start_entry(b, (uint32_t)cie);

	dw_buf_put(b, range, sizeof range);
	dw_buf_put(b, program, n);
	end_entry(b, at);
}
