/*
 * Showing clones to unwinders: stand-ins for _dl_find_object() and dl_iterate_phdr().
 *
 * Every unwinder on this system asks one of the two where the unwind table of an address is: libgcc
 * (shared, or linked into the program), LLVM's libunwind, Rust's and glibc's own uses of them. Each
 * area is listed directly behind its module, while the loader's lock keeps both in place, under its
 * image's path, which is an ELF file with symbols.
 */
#include "agent/probe/reals.h"
#include "agent/probe/state.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#define STAND_IN __attribute__((visibility("default")))

static void *unwind_table(const struct dw_area *area)
{
	uint32_t at = area->header->eh_frame_hdr_at;

	return at ? (void *)(area->area + at) : NULL;
}

STAND_IN int _dl_find_object(void *pc, struct dl_find_object *ret)
{
	const struct dw_area *area = dw_area_of_clone((uint64_t)pc);
	__typeof__(&_dl_find_object) real;

	if (area) {
		*ret = (struct dl_find_object){
			.dlfo_map_start = (void *)area->area,
			.dlfo_map_end = (void *)(area->area + area->bytes),
			.dlfo_link_map = area->link_map,
			.dlfo_eh_frame = unwind_table(area),
		};
		return 0;
	}
	real = DW_REAL(_dl_find_object);
	return real ? real(pc, ret) : -1;
}

/* One caller's walk over modules and areas. */
struct listing {
	int (*callback)(struct dl_phdr_info *info, size_t size, void *data);
	void *data;
	uint64_t adds, subs; /* areas opened and closed so far */
};

static uint64_t module_start(const struct dl_phdr_info *info)
{
	uint64_t low = UINT64_MAX;

	for (uint32_t i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_vaddr < low)
			low = info->dlpi_phdr[i].p_vaddr;
	return (info->dlpi_addr + low) & -(uint64_t)DWELL_PAGE_BYTES;
}

/* What dl_iterate_phdr() tells of an area. */
static struct dl_phdr_info info_of(const struct dw_area *area, const struct dl_phdr_info *module)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)area->area;

	return (struct dl_phdr_info){
		.dlpi_addr = area->area,
		.dlpi_name = area->image,
		.dlpi_phdr = (const Elf64_Phdr *)(area->area + head->e_phoff),
		.dlpi_phnum = head->e_phnum,
		.dlpi_adds = module->dlpi_adds,
		.dlpi_subs = module->dlpi_subs,
	};
}

static int list(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct listing *l = ctx;
	struct dl_phdr_info clones;
	const struct dw_area *area;
	int result;

	if (size >= sizeof(*info)) {
		info->dlpi_adds += l->adds;
		info->dlpi_subs += l->subs;
	}
	result = l->callback(info, size, l->data);
	if (result || size < sizeof(*info))
		return result;
	area = dw_area_of_module(module_start(info));
	if (!area)
		return 0;
	clones = info_of(area, info);
	return l->callback(&clones, sizeof(clones), l->data);
}

STAND_IN int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
	__typeof__(&dl_iterate_phdr) real = DW_REAL(dl_iterate_phdr);
	struct listing l = {callback, data, __atomic_load_n(&dw_probe.area_n, __ATOMIC_ACQUIRE), 0};

	if (!real)
		return 0;
	if (!l.adds)
		return real(callback, data);
	for (uint32_t i = 0; i < l.adds; i++)
		l.subs += dw_probe.areas[i].is_closed;
	return real(list, &l);
}
