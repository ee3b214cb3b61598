/*
 * Mapping a clone image: identity, rights, relocation, then the patches.
 *
 * The order keeps the program whole whatever is refused: the module is looked at first, the image
 * is mapped and finished where nobody knows of it, the area is published, and only then the
 * module's entries are patched. The image is mapped from its file; where that may not be executed
 * (a noexec mount) its code goes to anonymous memory. Limits: modules with one executable segment,
 * readable and not writable.
 */
#include "agent/clones/area.h"

#include "agent/calls/threads.h"
#include "agent/clones/calibrate.h"
#include "agent/clones/clones.h"
#include "agent/clones/counts.h"
#include "agent/clones/debugger.h"
#include "agent/clones/disable.h"
#include "agent/clones/rooms.h"
#include "agent/clones/trampolines.h"
#include "agent/clones/text.h"
#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/memory.h"
#include "agent/core/slow.h"
#include "agent/core/system-calls.h"
#include "wire/identity.h"

#include <dlfcn.h>
#include <errno.h>

bool dw_real_find_object(uint64_t pc, struct dl_find_object *ret)
{
	__typeof__(&_dl_find_object) find = DW_REAL(_dl_find_object);
	bool is_own = dw_slow_begin_own((uint64_t)__builtin_frame_address(0));
	bool is_found = find && !find((void *)pc, ret);

	dw_slow_end_own(is_own);
	return is_found;
}

struct dw_module dw_module_read(uint64_t bias, const Elf64_Phdr *headers, uint32_t headers_n)
{
	struct dw_module m = {.bias = bias, .headers = headers, .headers_n = headers_n};
	uint64_t low = UINT64_MAX, high = 0;
	uint32_t code_n = 0;

	for (uint32_t i = 0; i < headers_n; i++) {
		const Elf64_Phdr *p = &headers[i];

		if (p->p_type != PT_LOAD || !p->p_memsz)
			continue;
		low = p->p_vaddr < low ? p->p_vaddr : low;
		high = p->p_vaddr + p->p_memsz > high ? p->p_vaddr + p->p_memsz : high;
		if (p->p_flags & PF_X)
			m.code = code_n++ || p->p_flags != (PF_R | PF_X) ? NULL : p;
	}
	if (!high)
		return m;
	m.start = (bias + low) & -(uint64_t)DWELL_PAGE_BYTES;
	m.bytes = ((bias + high + DWELL_PAGE_BYTES - 1) & -(uint64_t)DWELL_PAGE_BYTES) - m.start;
	return m;
}

static bool is_same_layout(const struct dw_module *m, const struct dw_module_identity *want)
{
	uint64_t headers =
		dw_identity_hash(DWELL_HASH_INIT, m->headers, m->headers_n * sizeof(*m->headers));

	return headers == want->headers_hash && m->code->p_filesz == want->code_bytes;
}

/* Whether the module of @a has the code that its clones were made from. All of its code would be a
 * megabyte of a C library of which few functions are cloned. */
static bool is_same_code(const struct dw_area *a)
{
	uint32_t n = a->header->functions.n;
	uint64_t hash = DWELL_HASH_INIT, text = a->text - a->module;
	struct dw_identity_run run;

	for (uint32_t i = 0; i < n;) {
		i = dw_identity_run(dw_functions(a), n, i, &run);
		if (run.end < run.start || run.end > text + a->text_bytes ||
		    (run.end > run.start && run.start < text))
			return false;
		hash = dw_identity_hash(hash, (const void *)(a->module + run.start),
					run.end - run.start);
	}
	return hash == a->header->cloned_hash;
}

static bool is_part(const struct dw_clone_header *h, const struct dw_clone_part *part, size_t size)
{
	return part->at <= h->bytes && part->n <= (h->bytes - part->at) / size;
}

static bool is_page(const struct dw_clone_header *h, uint32_t at)
{
	return !(at % DWELL_PAGE_BYTES) && at >= DWELL_PAGE_BYTES &&
	       at <= h->bytes - DWELL_PAGE_BYTES;
}

/* Whether final code stands for the end of code, or there is none. */
static bool is_final(const struct dw_clone_header *h)
{
	return !h->final_bytes ||
	       (is_page(h, h->final_from) && h->final_from >= h->code_at &&
		!(h->final_bytes % DWELL_PAGE_BYTES) &&
		h->final_from + (uint64_t)h->final_bytes == h->code_at + (uint64_t)h->code_bytes);
}

/* Whether the header is one that this agent understands, of a file with @file_bytes. */
static bool is_header(const struct dw_clone_header *h, uint64_t file_bytes)
{
	for (int i = 0; i < DWELL_RELOCATIONS; i++)
		if (!is_part(h, &h->relocations[i], sizeof(uint32_t)))
			return false;
	for (int i = 0; i < DWELL_TRAMPOLINES_N; i++)
		if (!is_part(h, &h->trampoline_calls[i], sizeof(uint32_t)))
			return false;
	return dw_text_equal(h->magic, DWELL_CLONE_MAGIC) && h->version == DWELL_CLONE_VERSION &&
	       h->header_bytes == sizeof(*h) && !(h->bytes % DWELL_PAGE_BYTES) &&
	       h->bytes >= 4 * DWELL_PAGE_BYTES &&
	       file_bytes == h->bytes + (uint64_t)h->final_bytes && is_final(h) &&
	       is_page(h, h->code_at) && h->code_bytes <= h->bytes - h->code_at &&
	       is_page(h, h->constants_at) && is_page(h, h->wiped_at) &&
	       h->wiped_at == h->constants_at + DWELL_PAGE_BYTES && h->eh_frame_hdr_at < h->bytes &&
	       is_part(h, &h->functions, sizeof(struct dw_clone_function_entry)) &&
	       is_part(h, &h->instructions, 1) &&
	       is_part(h, &h->patches, sizeof(struct dw_clone_patch)) &&
	       h->module_bytes < DWELL_ROOM_REACH;
}

static size_t field_bytes(uint32_t kind)
{
	return kind == DWELL_RELOC_AREA_64 ? 8 : 4;
}

/* Add to each field of one kind what the area's place asks for. */
static void relocate_kind(uint64_t area, const struct dw_clone_header *h, uint32_t kind,
			  uint64_t add)
{
	const struct dw_clone_part *part = &h->relocations[kind];
	const uint32_t *at = (const uint32_t *)(area + part->at);
	size_t size = field_bytes(kind);

	for (uint32_t i = 0; i < part->n && add; i++) {
		uint8_t *field = (uint8_t *)area + at[i];
		uint64_t value = 0;

		if (at[i] > h->bytes - size)
			continue;
		__builtin_memcpy(&value, field, size);
		value += add;
		__builtin_memcpy(field, &value, size);
	}
}

/* The pages of the image, area offsets, that hold fields of the kinds for which there is something
 * to @add. False = there are none. */
static bool pages_to_relocate(uint64_t area, const struct dw_clone_header *h,
			      const uint64_t add[static DWELL_RELOCATIONS], uint32_t *first,
			      uint32_t *end)
{
	*first = UINT32_MAX;
	*end = 0;
	for (uint32_t kind = 0; kind < DWELL_RELOCATIONS; kind++) {
		const struct dw_clone_part *part = &h->relocations[kind];
		const uint32_t *at = (const uint32_t *)(area + part->at);

		for (uint32_t i = 0; i < part->n && add[kind]; i++) {
			if (at[i] > h->bytes - field_bytes(kind))
				continue;
			*first = at[i] < *first ? at[i] : *first;
			*end = at[i] + (uint32_t)field_bytes(kind) > *end
				       ? at[i] + (uint32_t)field_bytes(kind)
				       : *end;
		}
	}
	*first &= -(uint32_t)DWELL_PAGE_BYTES;
	*end = (*end + DWELL_PAGE_BYTES - 1) & -(uint32_t)DWELL_PAGE_BYTES;
	return *end;
}

/* Relocate the image, mapped without rights to write, for its place. What is code may be left
 * writable, as it is made executable next. 0 or -errno. */
static int relocate(const struct dw_module *m, struct dw_area *fill,
		    const struct dw_clone_header *h)
{
	const uint64_t area = fill->area;
	const uint64_t moved = area - m->start - (uint64_t)h->distance;
	const uint64_t from = h->fixed_start ? h->fixed_start + (uint64_t)h->distance : 0;
	const uint64_t add[DWELL_RELOCATIONS] = {
		[DWELL_RELOC_TO_MODULE] = -moved,
		[DWELL_RELOC_FROM_MODULE] = moved,
		[DWELL_RELOC_AREA_64] = area - from,
		[DWELL_RELOC_AREA_32] = area - from,
		[DWELL_RELOC_THREAD] = (uint64_t)dw_thread_offset(),
	};
	uint32_t first, end;
	int error;

	if (!pages_to_relocate(area, h, add, &first, &end))
		return 0;
	error = dw_sys_mprotect((void *)(area + first), end - first, PROT_READ | PROT_WRITE);
	if (error)
		return error;
	for (uint32_t kind = 0; kind < DWELL_RELOCATIONS; kind++)
		relocate_kind(area, h, kind, add[kind]);
	if (first >= h->code_at && end <= h->code_at + h->code_bytes)
		return 0;
	fill->has_own_tables = true;
	return dw_sys_mprotect((void *)(area + first), end - first, PROT_READ);
}

/* Give pages of zeros to the area at @at: the constants, and the words that a fork wipes. */
static int fresh_pages(uint64_t at)
{
	const uint64_t bytes = 2 * DWELL_PAGE_BYTES, wiped = at + DWELL_PAGE_BYTES;
	void *pages = dw_sys_mmap((void *)at, bytes, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (!dw_is_mapped(pages))
		return (int)(long)pages;
	return (int)dw_syscall(SYS_madvise, wiped, DWELL_PAGE_BYTES, MADV_WIPEONFORK);
}

/* Make the code executable, from the file if that is allowed, else as a copy. */
static int make_code(struct dw_area *fill, const struct dw_clone_header *h)
{
	const uint64_t at = fill->area + h->code_at;
	const uint64_t bytes = (h->code_bytes + DWELL_PAGE_BYTES - 1) & -(uint64_t)DWELL_PAGE_BYTES;

	if (dw_sys_mprotect((void *)at, bytes, PROT_READ | PROT_EXEC))
		return dw_text_swap(at, bytes, NULL, NULL);
	/* Trampolines are, whatever the place: code of a private mapping has been written by now.
	 */
	fill->may_change = h->relocations[DWELL_RELOC_THREAD].n > 0 && dw_agent_files_are_alike();
	return 0;
}

static void fill_constants(const struct dw_module *m, const struct dw_area *fill,
			   const struct dw_clone_header *h, uint64_t *constants)
{
	constants[DWELL_CONSTANT_SLOW_COUNT] = (uint64_t)dw_count_slow;
	constants[DWELL_CONSTANT_SLOW] = (uint64_t)dw_timing_slow;
	constants[DWELL_CONSTANT_FIRST_ID] = dw_timing_first_id(fill->region_module, h);
	constants[DWELL_CONSTANT_PROBED] = m->start + h->probed_start;
	constants[DWELL_CONSTANT_PROBED_BYTES] = h->probed_end - h->probed_start;
	constants[DWELL_CONSTANT_AREA_BYTES] = h->bytes;
	constants[DWELL_CONSTANT_DISABLED] = (uint64_t)&dw_agent_region()->disabled.serial;
}

/* Turn the reserved range into the image of @fd, finished but for the patches. 0 or -errno. */
static int map_image(const struct dw_module *m, struct dw_area *fill, int fd,
		     const struct dw_clone_header *h)
{
	uint64_t area = fill->area;
	uint64_t *constants = (uint64_t *)(area + h->constants_at);
	void *mapped =
		dw_sys_mmap((void *)area, h->bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0);
	int error = dw_is_mapped(mapped) ? 0 : (int)(long)mapped;

	if (!error)
		error = relocate(m, fill, h);
	if (!error)
		error = fresh_pages(area + h->constants_at);
	if (error)
		return error;
	fill_constants(m, fill, h, constants);
	dw_debugger_write_object(area, h);
	error = dw_sys_mprotect(constants, DWELL_PAGE_BYTES, PROT_READ);
	if (error)
		return error;
	((uint64_t *)(area + h->wiped_at))[DWELL_WIPED_ALIVE] = !dw_probe.is_blind;
	return make_code(fill, h);
}

/* Map the final code of @fd for the end, if it fits the area's place. */
static void map_final(const struct dw_module *m, struct dw_area *fill, int fd,
		      const struct dw_clone_header *h)
{
	void *at = NULL;

	if (h->final_bytes && fill->area - m->start == (uint64_t)h->distance)
		at = dw_agent_addresses(h->final_bytes);
	if (!at)
		return;
	if (dw_is_mapped(dw_sys_mmap(at, h->final_bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd,
				     h->bytes)))
		fill->final = at;
	else
		dw_agent_addresses_free(at, h->final_bytes);
}

/* Give final code back that has not become the image's. */
static void unmap_final(struct dw_area *a)
{
	if (a->final)
		dw_agent_addresses_free((void *)a->final, a->header->final_bytes);
	a->final = NULL;
}

/* The loader's name for the module, as unwinders get it. */
static void *link_map_of(const struct dw_module *m)
{
	struct dl_find_object found;

	return dw_real_find_object(m->bias + m->code->p_vaddr, &found) ? found.dlfo_link_map : NULL;
}

/* Where the area goes: to the place that the module had before it was closed, else a new one. */
static struct dw_area *choose_place(const struct dw_area *fill)
{
	for (uint32_t i = 0; i < dw_probe.area_n; i++)
		if (dw_probe.areas[i].is_closed &&
		    dw_probe.areas[i].region_module == fill->region_module)
			return &dw_probe.areas[i];
	return &dw_probe.areas[dw_probe.area_n];
}

/*
 * Write the area to its place. Who looks through all areas meanwhile, and finds an address in half
 * the old and half the new one, finds it closed.
 */
static void put_in_place(struct dw_area *a, struct dw_area *fill)
{
	const struct dw_region_module *r = &dw_agent_region()->modules[fill->region_module];

	if (a->counts && r->counts_n == fill->header->functions.n)
		fill->counts = a->counts;
	fill->is_closed = true;
	*a = *fill;
	__atomic_store_n(&a->is_closed, false, __ATOMIC_RELEASE);
	if (a == &dw_probe.areas[dw_probe.area_n])
		__atomic_store_n(&dw_probe.area_n, dw_probe.area_n + 1, __ATOMIC_RELEASE);
}

/* Patch the module of @a. Its text is not made writable where it might not become code again. */
static int patch(struct dw_area *a, bool is_alone)
{
	int error = 0;

	if (is_alone && !a->may_change)
		error = dw_text_may_change(dw_agent_region()->modules[a->region_module].path);
	return error ? error : dw_text_patch(a, is_alone);
}

/* Make the area known and patch the module. A state of the region. */
static uint32_t publish(struct dw_area *fill, const struct dw_module *m, bool is_alone,
			uint32_t *error)
{
	struct dw_area *a = choose_place(fill);
	int failed;

	fill->module = m->start;
	fill->module_bytes = m->bytes;
	fill->text = (m->bias + m->code->p_vaddr) & -(uint64_t)DWELL_PAGE_BYTES;
	fill->text_bytes = ((m->bias + m->code->p_vaddr + m->code->p_memsz + DWELL_PAGE_BYTES - 1) &
			    -(uint64_t)DWELL_PAGE_BYTES) -
			   fill->text;
	fill->header = (const struct dw_clone_header *)(fill->area + DWELL_CLONE_HEADER_OFFSET);
	fill->link_map = link_map_of(m);
	fill->seen = dw_probe.walks;
	if (!is_same_code(fill) || dw_text_check(fill))
		return DWELL_MODULE_DIFFERS;
	put_in_place(a, fill);
	if (a->header->probes == DWELL_PROBES_TIME && !dw_probe.is_calibrated) {
		dw_calibrate(a);
		dw_calibrate_tell_children();
		dw_probe.is_calibrated = true;
	}
	dw_disable_area(a);
	failed = patch(a, is_alone);
	if (!failed) {
		dw_debugger_add(a);
		return DWELL_MODULE_CLONED;
	}
	__atomic_store_n(&a->is_closed, true, __ATOMIC_RELEASE);
	*error = (uint32_t)-failed;
	return DWELL_MODULE_REFUSED;
}

/* Open the file and read its header. The descriptor, or -errno. */
static int open_image(const char *path, struct dw_clone_header *ret)
{
	int fd = dw_sys_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0);
	struct stat st;

	if (fd < 0)
		return fd;
	if (!dw_sys_fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    dw_sys_pread(fd, ret, sizeof(*ret), DWELL_CLONE_HEADER_OFFSET) == sizeof(*ret) &&
	    is_header(ret, (uint64_t)st.st_size))
		return fd;
	dw_sys_close(fd);
	return -ENOEXEC;
}

/* Map and publish what open_image() has opened. */
static uint32_t place(const struct dw_module *m, struct dw_area *fill, int fd,
		      const struct dw_clone_header *h, uint32_t *error)
{
	int failed;

	fill->area = dw_rooms_take(m, h);
	fill->bytes = h->bytes;
	if (!fill->area)
		return DWELL_MODULE_NO_SPACE;
	failed = map_image(m, fill, fd, h);
	if (!failed)
		return DWELL_MODULE_CLONED;
	*error = (uint32_t)-failed;
	return DWELL_MODULE_REFUSED;
}

uint32_t dw_area_open(const struct dw_module *m, const char *path, bool is_alone,
		      uint32_t region_module, uint32_t *error)
{
	struct dw_area fill = {.region_module = region_module};
	struct dw_clone_header h;
	uint32_t state;
	int fd;

	*error = ENOTSUP;
	if (!m->code)
		return DWELL_MODULE_SCATTERED;
	if (!dw_text_append(fill.image, sizeof fill.image, path))
		return DWELL_MODULE_REFUSED;
	fd = open_image(path, &h);
	if (fd < 0) {
		*error = (uint32_t)-fd;
		return DWELL_MODULE_REFUSED;
	}
	state = is_same_layout(m, &h.module) ? place(m, &fill, fd, &h, error)
					     : DWELL_MODULE_DIFFERS;
	if (state == DWELL_MODULE_CLONED)
		map_final(m, &fill, fd, &h);
	dw_sys_close(fd);
	if (state == DWELL_MODULE_CLONED)
		state = publish(&fill, m, is_alone, error);
	if (state != DWELL_MODULE_CLONED && fill.area) {
		unmap_final(&fill);
		dw_rooms_free(fill.area, fill.bytes);
	}
	return state;
}

void dw_area_close(struct dw_area *area)
{
	__atomic_store_n(&area->is_closed, true, __ATOMIC_RELEASE);
	dw_agent_memory_free(area->left, area->header->functions.n / 8 + 1);
	dw_disable_forget(area);
	dw_debugger_remove(area);
	unmap_final(area);
	dw_rooms_free(area->area, area->bytes);
}
