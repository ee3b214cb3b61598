/*
 * Modules; see loader.h. A module's number for thread-local storage is in no public structure of
 * the loader's, so dl_iterate_phdr() is asked, once.
 */
#include "agent/clr/loader.h"

#include "agent/core/agent.h"
#include "agent/core/bytes.h"

#include <link.h>

typedef int iterate_fn(int (*fn)(struct dl_phdr_info *, size_t, void *), void *ctx);

struct search {
	uint64_t address;
	struct dw_loader_module *ret;
};

struct find {
	const uint8_t *mark;
	uint32_t n, before;
	const uint8_t *found;
};

/* Tell in @m which segment has the unwind tables. */
static void find_unwind(const struct dl_phdr_info *info, struct dw_loader_module *m)
{
	uint64_t table = 0;

	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			table = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD || table < start || table >= start + p->p_filesz)
			continue;
		m->unwind_start = start;
		m->unwind_end = start + p->p_filesz;
	}
}

static int look(struct dl_phdr_info *info, size_t bytes, void *ctx)
{
	struct search *s = ctx;
	struct dw_loader_module m = {.start = UINT64_MAX};
	bool is_in = false;

	if (bytes < sizeof(*info))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + p->p_vaddr, end = start + p->p_memsz;

		if (p->p_type == PT_TLS) {
			m.tls_id = info->dlpi_tls_modid;
			m.tls_bytes = p->p_memsz;
		}
		if (p->p_type != PT_LOAD)
			continue;
		m.start = start < m.start ? start : m.start;
		m.end = end > m.end ? end : m.end;
		is_in |= s->address >= start && s->address < end;
	}
	if (!is_in)
		return 0;
	find_unwind(info, &m);
	*s->ret = m;
	return 1;
}

bool dw_loader_module_at(const void *address, struct dw_loader_module *ret)
{
	iterate_fn *iterate = (iterate_fn *)dw_loader_first("dl_iterate_phdr");
	struct search s = {(uint64_t)address, ret};

	return iterate && iterate(look, &s);
}

/* The program comes first. */
static int find(struct dl_phdr_info *info, size_t bytes, void *ctx)
{
	struct find *f = ctx;

	for (int i = 0; bytes >= sizeof(*info) && i < info->dlpi_phnum && !f->found; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uint8_t *at = (const uint8_t *)info->dlpi_addr + p->p_vaddr + f->before;
		const uint8_t *end = (const uint8_t *)info->dlpi_addr + p->p_vaddr + p->p_filesz;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_W))
			continue;
		while (at + f->n <= end && (*at != *f->mark || memcmp(at, f->mark, f->n)))
			at++;
		if (at + f->n <= end)
			f->found = at;
	}
	return 1;
}

const uint8_t *dw_loader_find_in_program(const uint8_t *mark, uint32_t n, uint32_t before)
{
	iterate_fn *iterate = (iterate_fn *)dw_loader_first("dl_iterate_phdr");
	struct find f = {mark, n, before, NULL};

	if (iterate)
		iterate(find, &f);
	return f.found;
}
