/*
 * Unwind sections and their entries; see entry.h. Sources: DWARF 5, 6.4.1; LSB Core, "DWARF
 * Extensions", "Exception Frames" (pointer encodings, augmentation z R P L S B and the old "eh")
 * and "The .eh_frame_hdr section".
 *
 * The two sections differ: in .eh_frame a CIE has id 0 and an FDE's pointer counts back from
 * itself, in .debug_frame a CIE has an id of all ones and the pointer is an offset in the section.
 */
#include "code/cfi/entry.h"

#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/error.h"

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

enum {
	PE_ABSPTR = 0x00,
	PE_ULEB128 = 0x01,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SLEB128 = 0x09,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_PCREL = 0x10,
	PE_TEXTREL = 0x20,
	PE_DATAREL = 0x30,
	PE_FUNCREL = 0x40,
	PE_ALIGNED = 0x50,
	PE_INDIRECT = 0x80,
	PE_OMIT = 0xff,
	PE_FORMAT_MASK = 0x0f,
	PE_BASE_MASK = 0x70,
};

/* Real ones have 30 bytes or so. A huge one that many FDEs share would be parsed for each of them.
 */
enum { CIE_MAX_BYTES = 1024 };

/* Read a number in the format of the low bits of @encoding. False: there is no such format. */
static bool read_value(struct dw_cursor *c, uint8_t encoding, uint64_t *ret)
{
	switch (encoding & PE_FORMAT_MASK) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		*ret = dw_cursor_u64(c);
		return true;
	case PE_UDATA4:
		*ret = dw_cursor_u32(c);
		return true;
	case PE_SDATA4:
		*ret = (uint64_t)(int64_t)(int32_t)dw_cursor_u32(c);
		return true;
	case PE_UDATA2:
		*ret = dw_cursor_u16(c);
		return true;
	case PE_SDATA2:
		*ret = (uint64_t)(int64_t)(int16_t)dw_cursor_u16(c);
		return true;
	case PE_ULEB128:
		*ret = dw_cursor_uleb(c);
		return true;
	case PE_SLEB128:
		*ret = (uint64_t)dw_cursor_sleb(c);
		return true;
	}
	return false;
}

int dw_cfi_read_pointer(struct dw_cursor *c, const struct dw_cfi_section *s, uint8_t encoding,
			uint64_t *ret)
{
	uint64_t base = 0, here;

	if (encoding == PE_ALIGNED) {
		here = s->svma + dw_cursor_offset(c);
		dw_cursor_skip(c, -here & 7);
		encoding = PE_ABSPTR;
	}
	here = s->svma + dw_cursor_offset(c);
	switch (encoding & PE_BASE_MASK) {
	case PE_PCREL:
		base = here;
		break;
	case PE_TEXTREL:
		base = s->text;
		break;
	case PE_DATAREL:
		base = s->data;
		break;
	case PE_ABSPTR:
	case PE_FUNCREL: /* only LSDAs use it, whose value nobody needs */
		break;
	default:
		return DWELL_ERR_UNSUPPORTED;
	}
	if (encoding & PE_INDIRECT || !read_value(c, encoding, ret))
		return DWELL_ERR_UNSUPPORTED;
	*ret += base;
	return c->failed ? DWELL_ERR_FORMAT : 0;
}

int dw_cfi_next_entry(const struct dw_cfi_section *s, size_t *offset, struct dw_cfi_entry *ret)
{
	struct dw_cursor c;
	uint64_t length, id;
	size_t id_offset;
	bool wide;

	dw_cursor_init(&c, s->bytes, s->n);
	dw_cursor_seek(&c, *offset);
	do {
		ret->offset = dw_cursor_offset(&c);
		length = dw_cursor_u32(&c);
	} while (!length && !s->open_ended && !c.failed);
	wide = length == 0xffffffff;
	if (wide)
		length = dw_cursor_u64(&c);
	if (c.failed || !length || length > dw_cursor_left(&c))
		return 0;
	id_offset = dw_cursor_offset(&c);
	ret->end_offset = id_offset + length;
	if (s->kind == DWELL_CFI_EH) {
		id = dw_cursor_u32(&c);
		ret->is_cie = !id;
		ret->cie_offset = id_offset - id; /* a wild one wraps and fails later */
	} else {
		id = wide ? dw_cursor_u64(&c) : dw_cursor_u32(&c);
		ret->is_cie = id == (wide ? ~(uint64_t)0 : 0xffffffff);
		ret->cie_offset = id;
	}
	ret->body_offset = dw_cursor_offset(&c);
	*offset = ret->end_offset;
	return !c.failed && ret->body_offset <= ret->end_offset;
}

/* A cursor over the body of @e whose positions count from the section's start. */
static struct dw_cursor body_cursor(const struct dw_cfi_section *s, const struct dw_cfi_entry *e)
{
	struct dw_cursor c;

	dw_cursor_init(&c, s->bytes, e->end_offset);
	dw_cursor_seek(&c, e->body_offset);
	return c;
}

static int read_personality(struct dw_cursor *c, const struct dw_cfi_section *s,
			    struct dw_cfi_cie *cie)
{
	cie->personality_encoding = dw_cursor_u8(c);
	cie->personality_at = dw_cursor_offset(c);
	return dw_cfi_read_pointer(c, s, cie->personality_encoding & (uint8_t)~PE_INDIRECT,
				   &cie->personality);
}

/* Read the augmentation data that the letters of @letters, behind 'z', announce. */
static int read_augmentation(struct dw_cursor *c, const struct dw_cfi_section *s,
			     const char *letters, struct dw_cfi_cie *cie)
{
	uint64_t n = dw_cursor_uleb(c);
	size_t end = dw_cursor_offset(c) + n;
	int rc = 0;

	if (c->failed || n > dw_cursor_left(c))
		return DWELL_ERR_FORMAT;
	for (; *letters && !rc; letters++) {
		if (*letters == 'R')
			cie->pointer_encoding = dw_cursor_u8(c);
		else if (*letters == 'L')
			cie->lsda_encoding = dw_cursor_u8(c);
		else if (*letters == 'P')
			rc = read_personality(c, s, cie);
		else if (*letters == 'S')
			cie->signal = true;
		else if (*letters != 'B') /* of a later day: what follows has no known place */
			break;
	}
	cie->unknown = *letters;
	if (rc || c->failed || dw_cursor_offset(c) > end)
		return DWELL_ERR_FORMAT;
	dw_cursor_seek(c, end);
	return 0;
}

/* Read the fields between version and return register. */
static int read_cie_head(struct dw_cursor *c, const struct dw_cfi_section *s, uint8_t version,
			 struct dw_cfi_cie *cie)
{
	const char *letters = dw_cursor_cstr(c);

	if (!letters)
		return DWELL_ERR_FORMAT;
	if (!strcmp(letters, "eh")) {
		cie->unknown = true;
		dw_cursor_skip(c, 8);
		letters = "";
	}
	if (version >= 4 && dw_cursor_u16(c) != 8)
		return DWELL_ERR_UNSUPPORTED; /* addresses of 8 bytes, no segment selectors */
	cie->code_align = dw_cursor_uleb(c);
	cie->data_align = dw_cursor_sleb(c);
	cie->return_register = version == 1 ? dw_cursor_u8(c) : dw_cursor_uleb(c);
	if (*letters == 'z') {
		cie->augmented = true;
		return read_augmentation(c, s, letters + 1, cie);
	}
	for (; *letters; letters++) {
		if (*letters != 'S' && *letters != 'B')
			return DWELL_ERR_UNSUPPORTED;
		cie->signal |= *letters == 'S';
	}
	return 0;
}

int dw_cfi_read_cie(const struct dw_cfi_section *s, size_t offset, struct dw_cfi_cie *ret)
{
	struct dw_cfi_entry e;
	struct dw_cursor c;
	uint8_t version;
	int rc;

	if (offset >= s->n || !dw_cfi_next_entry(s, &offset, &e) || !e.is_cie ||
	    e.end_offset - e.offset > CIE_MAX_BYTES)
		return DWELL_ERR_FORMAT;
	memset(ret, 0, sizeof *ret);
	ret->personality_encoding = ret->lsda_encoding = PE_OMIT;
	c = body_cursor(s, &e);
	version = dw_cursor_u8(&c);
	if (version != 1 && version != 3 && version != 4)
		return DWELL_ERR_UNSUPPORTED;
	rc = read_cie_head(&c, s, version, ret);
	if (rc)
		return rc;
	if (c.failed || ret->return_register >= DWELL_REG_COUNT)
		return DWELL_ERR_FORMAT;
	ret->program = c.pos;
	ret->program_n = dw_cursor_left(&c);
	return dw_cfi_run_initial(ret, ret->program, ret->program_n);
}

/* Read the augmentation data of an FDE: its LSDA, where a value of 0 stands for none. */
static int read_fde_augmentation(struct dw_cursor *c, const struct dw_cfi_section *s,
				 uint8_t encoding, uint64_t *lsda)
{
	uint64_t n = dw_cursor_uleb(c), value;
	struct dw_cursor at = *c;

	*lsda = 0;
	dw_cursor_skip(c, n);
	if (encoding == PE_OMIT || !n || c->failed)
		return 0;
	if (encoding != PE_ALIGNED) {
		struct dw_cursor raw = at;

		if (!read_value(&raw, encoding, &value) || raw.failed || !value)
			return 0;
	}
	return dw_cfi_read_pointer(&at, s, encoding, lsda);
}

int dw_cfi_read_fde(const struct dw_cfi_section *s, const struct dw_cfi_entry *e,
		    const struct dw_cfi_cie *cie, struct dw_cfi_fde *ret)
{
	struct dw_cursor c = body_cursor(s, e);
	uint64_t length = 0;
	int rc = dw_cfi_read_pointer(&c, s, cie->pointer_encoding, &ret->start);

	if (rc)
		return rc;
	if (!read_value(&c, cie->pointer_encoding, &length))
		return DWELL_ERR_UNSUPPORTED;
	ret->lsda = 0;
	if (cie->augmented)
		rc = read_fde_augmentation(&c, s, cie->lsda_encoding, &ret->lsda);
	if (rc)
		ret->lsda = DWELL_CFI_LSDA_UNKNOWN; /* its rows are good all the same */
	ret->end = ret->start + length;
	ret->program = c.pos;
	ret->program_n = dw_cursor_left(&c);
	return c.failed || ret->end <= ret->start ? DWELL_ERR_FORMAT : 0;
}

int dw_cfi_read(struct dw_cfi_reading *r, const struct dw_cfi_section *s, size_t offset)
{
	struct dw_cfi_entry e;
	int rc;

	if (offset >= s->n || dw_cfi_next_entry(s, &offset, &e) != 1 || e.is_cie)
		return DWELL_ERR_FORMAT;
	if (r->s != s || r->cie_offset != e.cie_offset) {
		r->s = NULL;
		rc = dw_cfi_read_cie(s, e.cie_offset, &r->cie);
		if (rc)
			return rc;
		r->s = s;
		r->cie_offset = e.cie_offset;
	}
	return dw_cfi_read_fde(s, &e, &r->cie, &r->fde);
}
