/*
 * Showing clones to unwinders: stand-ins for _dl_find_object() and dl_iterate_phdr().
 *
 * Every unwinder on this system asks one of the two where the unwind table of an address is: libgcc
 * (shared, or linked into the program), LLVM's libunwind, Rust's and glibc's own uses of them. Each
 * area is listed directly behind its module, while the loader's lock keeps both in place, under its
 * image's path, which is an ELF file with symbols. The agent itself and the program's area, which
 * stay for good, come last: the address sanitizer insists on being the first library.
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

enum { LAST_MAX = 2 }; /* the agent, the program's area */

/* One caller's walk over modules and areas. */
struct listing {
	int (*callback)(struct dl_phdr_info *info, size_t size, void *data);
	void *data;
	uint64_t adds, subs; /* areas opened and closed so far */
	struct dl_phdr_info last[LAST_MAX];
	uint32_t last_n;
};

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

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
	uint64_t start = module_start(info);
	int result;

	if (size < sizeof(*info))
		return l->callback(info, size, l->data);
	info->dlpi_adds += l->adds;
	info->dlpi_subs += l->subs;
	if (start == (uint64_t)__ehdr_start && l->last_n < LAST_MAX) {
		l->last[l->last_n++] = *info;
		return 0;
	}
	result = l->callback(info, size, l->data);
	area = result ? NULL : dw_area_of_module(start);
	if (!area)
		return result;
	clones = info_of(area, info);
	if (info->dlpi_name[0] || l->last_n == LAST_MAX)
		return l->callback(&clones, sizeof(clones), l->data);
	l->last[l->last_n++] = clones;
	return 0;
}

STAND_IN int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
	__typeof__(&dl_iterate_phdr) real = DW_REAL(dl_iterate_phdr);
	struct listing l = {.callback = callback,
			    .data = data,
			    .adds = __atomic_load_n(&dw_probe.area_n, __ATOMIC_ACQUIRE)};

	int result;

	if (!real)
		return 0;
	for (uint32_t i = 0; i < l.adds; i++)
		l.subs += dw_probe.areas[i].is_closed;
	result = real(list, &l);
	for (uint32_t i = 0; i < l.last_n && !result; i++)
		result = callback(&l.last[i], sizeof(l.last[i]), data);
	return result;
}
