/*
 * Reading a module and an image for the verifier; see state.h.
 *
 * What the loader does to words is found as the loader finds it, through the dynamic section:
 * sections are for linkers, and in a damaged file may tell otherwise.
 */
#include "clone/verify/state.h"

#include "base/cleanup.h"
#include "base/vec.h"

#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, MAX_BYTES = 1 << 30, LOCK = 0xf0 };

const uint8_t *dw_verify_module_bytes(const struct dw_verify *v, uint64_t svma, size_t *left)
{
	dw_vec_each(s, &v->spans) {
		if (svma - s->svma < s->n) {
			*left = s->n - (svma - s->svma);
			return s->bytes + (svma - s->svma);
		}
	}
	return NULL;
}

/* Values of the dynamic section by tag. */
struct dynamic {
	uint64_t value[DT_JMPREL + 1];
};

static void read_values(const struct dw_verify *v, struct dynamic *ret)
{
	size_t n, left = 0;
	const struct dw_elf_segment *s = dw_elf_segments(v->elf, &n);
	const uint8_t *bytes = NULL;
	Elf64_Dyn entry;

	for (size_t i = 0; i < n && !bytes; i++) {
		if (s[i].type != PT_DYNAMIC)
			continue;
		bytes = dw_verify_module_bytes(v, s[i].svma.v, &left);
		if (left < s[i].file_bytes)
			bytes = NULL;
		left = s[i].file_bytes; /* no further, also without an end */
	}
	for (; bytes && left >= sizeof entry; bytes += sizeof entry, left -= sizeof entry) {
		memcpy(&entry, bytes, sizeof entry);
		if (entry.d_tag == DT_NULL)
			return;
		if (entry.d_tag > 0 && entry.d_tag <= DT_JMPREL)
			ret->value[entry.d_tag] = entry.d_un.d_val;
	}
}

/* Whether symbol @i is a function that switches stacks. */
static bool names_switch(const struct dw_verify *v, const struct dynamic *d, uint64_t i)
{
	static const char all[] =
		" swapcontext setcontext jump_fcontext ontop_fcontext co_switch coro_transfer ";
	size_t left = 0;
	const uint8_t *bytes =
		dw_verify_module_bytes(v, d->value[DT_SYMTAB] + i * sizeof(Elf64_Sym), &left);
	char word[32];
	Elf64_Sym sym;

	if (!i || !bytes || left < sizeof sym)
		return false;
	memcpy(&sym, bytes, sizeof sym);
	bytes = dw_verify_module_bytes(v, d->value[DT_STRTAB] + sym.st_name, &left);
	if (!bytes || !memchr(bytes, 0, left))
		return false;
	snprintf(word, sizeof word, " %.28s ", (const char *)bytes);
	return strstr(all, word);
}

static int add_relocation(struct dw_verify *v, const struct dynamic *d, const Elf64_Rela *r)
{
	struct dw_verify_pointer pointer = {r->r_offset, (uint64_t)r->r_addend};
	struct dw_verify_slot slot = {.at = r->r_offset};

	switch (ELF64_R_TYPE(r->r_info)) {
	case R_X86_64_RELATIVE:
	case R_X86_64_IRELATIVE:
		return dw_vec_push(&v->pointers, pointer);
	case R_X86_64_GLOB_DAT:
	case R_X86_64_JUMP_SLOT:
		slot.switches = names_switch(v, d, ELF64_R_SYM(r->r_info));
		return dw_vec_push(&v->slots, slot);
	}
	return 0;
}

static int add_table(struct dw_verify *v, const struct dynamic *d, uint64_t svma, uint64_t n)
{
	size_t left = 0;
	const uint8_t *bytes = dw_verify_module_bytes(v, svma, &left);
	Elf64_Rela r;
	int rc = 0;

	if (n > left)
		return 0;
	for (uint64_t at = 0; bytes && n - at >= sizeof r && !rc; at += sizeof r) {
		memcpy(&r, bytes + at, sizeof r);
		rc = add_relocation(v, d, &r);
	}
	return rc;
}

static int read_dynamic(struct dw_verify *v)
{
	struct dynamic d = {{0}};
	int rc;

	read_values(v, &d);
	rc = add_table(v, &d, d.value[DT_RELA], d.value[DT_RELASZ]);
	if (!rc)
		rc = add_table(v, &d, d.value[DT_JMPREL], d.value[DT_PLTRELSZ]);
	if (v->pointers.n)
		qsort(v->pointers.v, v->pointers.n, sizeof *v->pointers.v, dw_verify_by_svma);
	if (v->slots.n)
		qsort(v->slots.v, v->slots.n, sizeof *v->slots.v, dw_verify_by_svma);
	return rc;
}

static int read_spans(struct dw_verify *v)
{
	size_t n;
	const struct dw_elf_segment *s = dw_elf_segments(v->elf, &n);

	v->start = UINT64_MAX;
	for (size_t i = 0; i < n; i++) {
		uint64_t end = s[i].svma.v + s[i].memory_bytes;
		struct dw_verify_span span = {s[i].svma.v, s[i].file_bytes, s[i].flags, NULL};

		if (s[i].type != PT_LOAD || !s[i].memory_bytes)
			continue;
		v->start = span.svma < v->start ? span.svma : v->start;
		v->bytes = end > v->bytes ? end : v->bytes;
		if (span.n > MAX_BYTES)
			return DWELL_ERR_LIMIT;
		if (!span.n)
			continue;
		span.bytes = malloc(span.n);
		if (!span.bytes || dw_vec_push(&v->spans, span)) {
			free(span.bytes);
			return -ENOMEM;
		}
		if (dw_elf_read_svma(v->elf, s[i].svma, span.bytes, span.n))
			return DWELL_ERR_FORMAT;
	}
	v->start &= -(uint64_t)PAGE;
	v->bytes = ((v->bytes + PAGE - 1) & -(uint64_t)PAGE) - v->start;
	return v->spans.n ? 0 : DWELL_ERR_FORMAT;
}

static int read_unwind(struct dw_verify *v, struct dw_error *err)
{
	struct dw_cfi_spans spans = {0};
	int rc;

	dw_cfi_section_find(v->elf, DWELL_CFI_EH, &v->sections[DWELL_CFI_EH]);
	rc = dw_cfi_section_read(v->elf, &v->sections[DWELL_CFI_EH], &v->section_memory, err);
	if (!rc)
		rc = dw_cfi_spans_read(v->elf, &spans);
	if (!rc)
		rc = dw_cfi_fdes_read(v->sections, &spans, &v->fdes);
	dw_cfi_spans_release(&spans);
	return rc;
}

/* Whether @n records of @bytes each lie in the image. */
static bool part_fits(const struct dw_verify *v, struct dw_clone_part part, size_t bytes)
{
	return part.at <= v->h.bytes && (uint64_t)part.n * bytes <= v->h.bytes - part.at;
}

static bool header_fits(const struct dw_verify *v)
{
	const struct dw_clone_header *h = &v->h;
	bool ok = h->bytes % PAGE == 0 && h->code_at % PAGE == 0 && h->code_at <= h->bytes &&
		  h->code_bytes <= h->bytes - h->code_at && h->constants_at <= h->bytes - PAGE &&
		  h->wiped_at <= h->bytes - PAGE && h->eh_frame_at <= h->bytes &&
		  h->eh_frame_hdr_at <= h->bytes - 12 && h->bytes > PAGE;

	for (unsigned i = 0; i < sizeof h->relocations / sizeof *h->relocations; i++)
		ok = ok && part_fits(v, h->relocations[i], sizeof(uint32_t));
	for (int i = 0; i < DWELL_TRAMPOLINES_N; i++)
		ok = ok && part_fits(v, h->trampoline_calls[i], sizeof(uint32_t));
	ok = ok && (!h->final_bytes || (h->final_from % PAGE == 0 && h->final_from >= h->code_at &&
					h->final_from + (uint64_t)h->final_bytes ==
						h->code_at + (uint64_t)h->code_bytes));
	return ok && part_fits(v, h->functions, sizeof(struct dw_clone_function_entry)) &&
	       part_fits(v, h->instructions, 1) &&
	       part_fits(v, h->patches, sizeof(struct dw_clone_patch)) &&
	       part_fits(v, h->returns, sizeof(struct dw_clone_return)) &&
	       part_fits(v, h->imports, sizeof(struct dw_clone_import)) &&
	       part_fits(v, h->statements, sizeof(struct dw_clone_statement));
}

int dw_verify_open(struct dw_verify *v, const struct dw_elf *elf, const uint8_t *image, size_t n,
		   struct dw_error *err)
{
	int rc;

	v->elf = elf;
	v->image = image;
	v->is_fixed = dw_elf_type(elf) == ET_EXEC;
	v->walked = UINT64_MAX;
	if (n < DWELL_CLONE_HEADER_OFFSET + sizeof v->h)
		return dw_error_set(err, DWELL_ERR_FORMAT, "too short for a clone image");
	memcpy(&v->h, image + DWELL_CLONE_HEADER_OFFSET, sizeof v->h);
	if (memcmp(v->h.magic, DWELL_CLONE_MAGIC, sizeof DWELL_CLONE_MAGIC) ||
	    v->h.version != DWELL_CLONE_VERSION || v->h.header_bytes != sizeof v->h ||
	    v->h.bytes + (uint64_t)v->h.final_bytes > n || !header_fits(v))
		return dw_error_set(err, DWELL_ERR_FORMAT, "no clone image");
	v->area_n = v->h.bytes;
	rc = read_spans(v);
	if (!rc)
		rc = read_dynamic(v);
	if (rc)
		return dw_error_set(err, rc, "cannot read the module");
	return read_unwind(v, err);
}

/* Add @d to the field of @kind at @at of the area. */
static void relocate(struct dw_verify *v, unsigned kind, uint32_t at, uint64_t d)
{
	size_t bytes = kind == DWELL_RELOC_AREA_64 ? 8 : 4;
	uint64_t value = 0;

	if (at > v->area_n - bytes) {
		dw_verify_find(v, 0, at, "a relocation outside the area");
		return;
	}
	memcpy(&value, v->area + at, bytes);
	if (kind == DWELL_RELOC_TO_MODULE)
		value -= d;
	else if (kind == DWELL_RELOC_AREA_64 && !v->is_fixed)
		value += v->area_svma;
	else
		value += d;
	memcpy(v->area + at, &value, bytes);
}

static bool is_zero(const uint8_t *page)
{
	for (size_t i = 0; i < PAGE; i++)
		if (page[i])
			return false;
	return true;
}

int dw_verify_place(struct dw_verify *v, int64_t shift)
{
	if (!is_zero(v->image + v->h.constants_at) || !is_zero(v->image + v->h.wiped_at))
		dw_verify_find(v, 0, v->h.constants_at, "pages that the agent fills are not empty");
	free(v->area);
	v->area = malloc(v->area_n);
	if (!v->area)
		return -ENOMEM;
	memcpy(v->area, v->image, v->area_n);
	v->area_svma = v->start + (uint64_t)v->h.distance + (uint64_t)shift;
	for (unsigned kind = 0; kind < 4; kind++)
		for (uint32_t i = 0; i < v->h.relocations[kind].n; i++) {
			uint32_t at;

			memcpy(&at, v->image + v->h.relocations[kind].at + i * sizeof at,
			       sizeof at);
			relocate(v, kind, at, (uint64_t)shift);
		}
	return 0;
}

bool dw_verify_trampoline_call(struct dw_verify *v, enum dw_trampoline trampoline, uint32_t at)
{
	const struct dw_clone_part *list = &v->h.trampoline_calls[trampoline];
	uint32_t listed;

	if (v->trampoline_calls[trampoline] == list->n)
		return false;
	memcpy(&listed, v->image + list->at + v->trampoline_calls[trampoline]++ * sizeof listed,
	       sizeof listed);
	return listed == at;
}

void dw_verify_close(struct dw_verify *v)
{
	dw_vec_each(s, &v->spans) {
		free(s->bytes);
	}
	dw_vec_release(&v->spans);
	free(v->section_memory);
	dw_cfi_fdes_release(&v->fdes);
	free(v->area);
	dw_vec_release(&v->functions);
	dw_vec_release(&v->insns);
	dw_vec_release(&v->pointers);
	dw_vec_release(&v->loads);
	dw_vec_release(&v->regions);
	dw_pairs_release(&v->unread);
	dw_pairs_release(&v->read);
	dw_vec_release(&v->slots);
	dw_vec_release(&v->pads);
	dw_vec_release(&v->entered);
	dw_vec_release(&v->reached);
}

void dw_verify_find(struct dw_verify *v, uint64_t svma, uint32_t clone_at, const char *fmt, ...)
{
	struct dw_verify_finding *f;
	va_list ap;

	if (v->ret->findings_n++ >= sizeof v->ret->findings / sizeof *v->ret->findings)
		return;
	f = &v->ret->findings[v->ret->findings_n - 1];
	f->svma = svma;
	f->clone_at = clone_at;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof f->text, fmt, ap);
	va_end(ap);
}

const uint8_t *dw_verify_bytes(const struct dw_verify *v, uint64_t svma, size_t *left)
{
	if (svma - v->area_svma < v->area_n) {
		*left = v->area_n - (svma - v->area_svma);
		return v->area + (svma - v->area_svma);
	}
	return dw_verify_module_bytes(v, svma, left);
}

const struct dw_verify_function *dw_verify_function_at(const struct dw_verify *v, uint64_t svma)
{
	size_t behind = dw_sorted_count(v->functions.v, v->functions.n, f, f->start <= svma);

	return behind && svma < v->functions.v[behind - 1].end ? &v->functions.v[behind - 1] : NULL;
}

/* The instruction of @f that begins at @svma; NULL = none. */
static const struct dw_verify_insn *insn_at(const struct dw_verify *v,
					    const struct dw_verify_function *f, uint64_t svma)
{
	const struct dw_verify_insn *insns = v->insns.v + f->first;
	size_t i = dw_sorted_count(insns, f->n, e, e->svma < svma);

	return i < f->n && insns[i].svma == svma ? &insns[i] : NULL;
}

uint64_t dw_verify_clone_of(const struct dw_verify *v, uint64_t svma, bool inside)
{
	const struct dw_verify_function *f = dw_verify_function_at(v, svma);
	const struct dw_verify_insn *insn;

	if (!f || !f->clone_at)
		return 0;
	if (svma == f->start)
		return v->area_svma + f->clone_at + (inside ? f->prefix_bytes : 0);
	insn = insn_at(v, f, svma);
	return insn ? v->area_svma + insn->clone_at : 0;
}

uint64_t dw_verify_front_of(const struct dw_verify *v, const struct dw_verify_function *f,
			    uint64_t svma)
{
	const struct dw_verify_insn *insn;

	if (svma == f->start || svma == f->end)
		return v->area_svma + (svma == f->start ? f->clone_at : f->clone_end);
	insn = insn_at(v, f, svma);
	return insn ? v->area_svma + insn->front : 0;
}

bool dw_verify_is_linkage(const struct dw_elf *elf, uint64_t svma)
{
	size_t n;
	const struct dw_elf_section *s = dw_elf_sections(elf, &n);

	for (size_t i = 0; i < n; i++)
		if (s[i].flags & SHF_EXECINSTR && svma - s[i].svma.v < s[i].bytes &&
		    (!strncmp(s[i].name, ".plt", 4) || !strncmp(s[i].name, ".init", 5) ||
		     !strncmp(s[i].name, ".fini", 5)))
			return true;
	return false;
}

bool dw_verify_same_place(const struct dw_verify *v, uint64_t svma, uint64_t to, bool inside)
{
	uint64_t clone = dw_verify_clone_of(v, svma, inside);
	const uint8_t *before;
	size_t left;

	if (!clone) { /* behind a lock prefix, which is copied, goes on there */
		before = dw_verify_bytes(v, svma - 1, &left);
		clone = before && *before == LOCK ? dw_verify_clone_of(v, svma - 1, true) : 0;
		clone += clone != 0;
	}
	return to == (clone ? clone : svma);
}
