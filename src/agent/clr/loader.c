/*
 * Modules; see loader.h. A module's number for thread-local storage is in no public structure of
 * the loader's, so dl_iterate_phdr() is asked, once.
 */
#include "agent/clr/loader.h"

#include "agent/core/agent.h"

#include <link.h>

typedef int iterate_fn(int (*fn)(struct dl_phdr_info *, size_t, void *), void *ctx);

struct search {
	uint64_t address;
	struct dw_loader_module *ret;
};

static int look(struct dl_phdr_info *info, size_t bytes, void *ctx)
{
	struct search *s = ctx;
	struct dw_loader_module m = {.start = UINT64_MAX, .is_main = !info->dlpi_name[0]};
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
	if (is_in)
		*s->ret = m;
	return is_in;
}

bool dw_loader_module_at(const void *address, struct dw_loader_module *ret)
{
	iterate_fn *iterate = (iterate_fn *)dw_loader_first("dl_iterate_phdr");
	struct search s = {(uint64_t)address, ret};

	return iterate && iterate(look, &s);
}
