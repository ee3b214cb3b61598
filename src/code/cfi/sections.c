/*
 * Unwind sections; see sections.h. Sources: LSB Core, "Exception Frames" and "The .eh_frame_hdr
 * section"; DWARF 5, 6.4.1.
 */
#include "code/cfi/sections.h"

#include "base/cleanup.h"
#include "base/cursor.h"
#include "code/cfi/entry.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

enum { CHUNK_BYTES = 128 << 10, MAX_BYTES = 1 << 30 };

/* Bytes of the file from @svma to the end of its segment. */
static uint64_t left_in_segment(const struct dw_elf *elf, uint64_t svma)
{
	size_t n;
	const struct dw_elf_segment *s = dw_elf_segments(elf, &n);

	for (size_t i = 0; i < n; i++)
		if (s[i].type == PT_LOAD && svma - s[i].svma.v < s[i].file_bytes)
			return s[i].file_bytes - (svma - s[i].svma.v);
	return 0;
}

/* Find .eh_frame through its index, which a segment header points to. */
static void find_by_index(const struct dw_elf *elf, struct dw_cfi_section *s)
{
	size_t n;
	const struct dw_elf_segment *seg = dw_elf_segments(elf, &n);
	uint8_t head[16];

	for (size_t i = 0; i < n; i++) {
		struct dw_cfi_section index = {.bytes = head, .n = sizeof head};
		struct dw_cursor c;
		uint64_t svma;

		if (seg[i].type != PT_GNU_EH_FRAME ||
		    dw_elf_read_svma(elf, seg[i].svma, head, sizeof head) || head[0] != 1)
			continue;
		index.svma = index.data = seg[i].svma.v;
		dw_cursor_init(&c, head, sizeof head);
		dw_cursor_skip(&c, 4);
		if (dw_cfi_read_pointer(&c, &index, head[1], &svma))
			continue;
		s->svma = svma;
		s->n = left_in_segment(elf, svma);
		s->open_ended = true;
		return;
	}
}

static uint64_t section_svma(const struct dw_elf *elf, const char *name)
{
	const struct dw_elf_section *s = dw_elf_section(elf, name);

	return s ? s->svma.v : 0;
}

void dw_cfi_section_find(const struct dw_elf *elf, uint32_t kind, struct dw_cfi_section *s)
{
	const struct dw_elf_section *found =
		dw_elf_section(elf, kind == DWELL_CFI_EH ? ".eh_frame" : ".debug_frame");

	*s = (struct dw_cfi_section){.kind = kind};
	if (found && found->type != SHT_NOBITS) {
		s->n = found->bytes;
		s->svma = found->svma.v;
		s->text = section_svma(elf, ".text");
		s->data = section_svma(elf, ".got");
	} else if (kind == DWELL_CFI_EH) {
		find_by_index(elf, s);
	}
	if (s->n > MAX_BYTES)
		s->n = 0;
}

/* Whether @s is read by address: it is part of the loaded image. */
static bool by_address(const struct dw_elf *elf, const struct dw_cfi_section *s)
{
	return s->kind == DWELL_CFI_EH && s->n <= left_in_segment(elf, s->svma);
}

/* Read a section that no segment holds: .debug_frame, or .eh_frame of an object file. */
static int read_by_header(const struct dw_elf *elf, const struct dw_cfi_section *s, uint8_t **ret,
			  size_t *ret_n, struct dw_error *err)
{
	const struct dw_elf_section *section =
		dw_elf_section(elf, s->kind == DWELL_CFI_EH ? ".eh_frame" : ".debug_frame");

	if (!section)
		return dw_error_set(err, DWELL_ERR_FORMAT, "unwind section is not in the file");
	return dw_elf_read_section(elf, section, ret, ret_n, err);
}

int dw_cfi_section_read(const struct dw_elf *elf, struct dw_cfi_section *s, uint8_t **owned,
			struct dw_error *err)
{
	dw_auto_free uint8_t *bytes = NULL;
	size_t n = s->n;
	int rc;

	if (by_address(elf, s)) {
		bytes = malloc(n + 1);
		if (!bytes)
			return dw_error_set_errno(err, ENOMEM, "cannot read unwind information");
		rc = dw_elf_read_svma(elf, (struct dw_svma){s->svma}, bytes, n);
		if (rc)
			return dw_error_set(err, rc, "cannot read .eh_frame");
	} else {
		rc = read_by_header(elf, s, &bytes, &n, err);
		if (rc)
			return rc;
	}
	*owned = dw_take_ptr(bytes);
	s->bytes = *owned;
	s->n = n;
	return 0;
}

bool dw_cfi_section_same(const struct dw_elf *elf, const struct dw_cfi_section *s)
{
	dw_auto_free uint8_t *buf = NULL;
	size_t n;

	if (!by_address(elf, s))
		return !read_by_header(elf, s, &buf, &n, NULL) && n == s->n &&
		       !memcmp(buf, s->bytes, n);
	buf = malloc(CHUNK_BYTES);
	for (uint64_t at = 0; buf && at < s->n; at += n) {
		n = s->n - at < CHUNK_BYTES ? s->n - at : CHUNK_BYTES;
		if (dw_elf_read_svma(elf, (struct dw_svma){s->svma + at}, buf, n) ||
		    memcmp(buf, s->bytes + at, n))
			return false;
	}
	return buf;
}
