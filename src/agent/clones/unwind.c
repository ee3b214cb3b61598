/*
 * Unwinding: stand-ins for what shows clones to unwinders, and for what tells the program where it
 * is.
 *
 * Every unwinder on this system asks _dl_find_object() or dl_iterate_phdr() where the unwind table
 * of an address is: libgcc (shared, or linked into the program), LLVM's libunwind, Rust's and
 * glibc's own uses of them. Each area is listed directly behind its module, while the loader's lock
 * keeps both in place, under its image's path, which is an ELF file with symbols. The agent itself
 * and the program's area, which stay for good, come last: the address sanitizer insists on being
 * the first library.
 *
 * For the program addresses in clones become the module's own. backtrace() translates what the real
 * one gives and drops the agent's own frames (signals.c calls handlers). _Unwind_Backtrace() sets
 * the frame's address before the program's callback sees it: both libgcc and LLVM's libunwind have
 * found the next frame's rules by then, or find the same ones at the module's address, where the
 * frame looks alike. Personality routines still see clones.
 */
#include "agent/clones/clones.h"
#include "agent/core/agent.h"
#include "agent/core/memory.h"
#include "agent/core/slow.h"

#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <link.h>
#include <unwind.h>

static void *unwind_table(const struct dw_area *area)
{
	uint32_t at = area->header->eh_frame_hdr_at;

	return at ? (void *)(area->area + at) : NULL;
}

DWELL_STAND_IN int _dl_find_object(void *pc, struct dl_find_object *ret)
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

DWELL_STAND_IN int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *),
				   void *data)
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

enum {
	STACK_FRAMES = 64, /* more go to memory of their own */
	OWN_FRAMES = 16,   /* that a stack may hold besides the program's */
};

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden"))); /* behind all code */

static bool is_own(uint64_t pc)
{
	return pc >= (uint64_t)__ehdr_start && pc < (uint64_t)_DYNAMIC;
}

/* Copy the frames of the program from @from, @n of them, to @to as original addresses. */
static int translate(void *const *from, int n, void **to, int room)
{
	int kept = 0;

	for (int i = 0; i < n && kept < room; i++)
		if (!is_own((uint64_t)from[i]))
			to[kept++] = (void *)dw_original((uint64_t)from[i], true);
	return kept;
}

/* Room for @n addresses; give_back() after. NULL = none. */
static void **borrow(size_t n)
{
	return dw_agent_memory(n * sizeof(void *));
}

static void give_back(void **memory, size_t n)
{
	dw_agent_memory_free(memory, n * sizeof(*memory));
}

DWELL_STAND_IN int backtrace(void **buffer, int size)
{
	__typeof__(&backtrace) real = DW_REAL(backtrace);
	void *few[STACK_FRAMES], **frames = few;
	int n, room = size + OWN_FRAMES;

	if (!real || size <= 0)
		return 0;
	if (room > STACK_FRAMES)
		frames = borrow((size_t)room);
	if (!frames) {
		frames = buffer;
		room = size;
	}
	n = real(frames, room);
	n = translate(frames, n, buffer, size);
	if (frames != few && frames != buffer)
		give_back(frames, (size_t)room);
	return n;
}

DWELL_STAND_IN char **backtrace_symbols(void *const *buffer, int size)
{
	__typeof__(&backtrace_symbols) real = DW_REAL(backtrace_symbols);
	void **frames = real && size > 0 ? borrow((size_t)size) : NULL;
	char **symbols;

	if (!frames)
		return real ? real(buffer, size) : NULL;
	for (int i = 0; i < size; i++)
		frames[i] = (void *)dw_original((uint64_t)buffer[i], true);
	symbols = real(frames, size);
	give_back(frames, (size_t)size);
	return symbols;
}

DWELL_STAND_IN void backtrace_symbols_fd(void *const *buffer, int size, int fd)
{
	__typeof__(&backtrace_symbols_fd) real = DW_REAL(backtrace_symbols_fd);

	for (int i = 0; i < size && real; i++) {
		void *frame = (void *)dw_original((uint64_t)buffer[i], true);

		real(&frame, 1, fd);
	}
}

DWELL_STAND_IN int dladdr(const void *address, Dl_info *ret)
{
	__typeof__(&dladdr) real = DW_REAL(dladdr);

	return real ? real((const void *)dw_original((uint64_t)address, false), ret) : 0;
}

DWELL_STAND_IN int dladdr1(const void *address, Dl_info *ret, void **extra, int flags)
{
	__typeof__(&dladdr1) real = DW_REAL(dladdr1);

	return real ? real((const void *)dw_original((uint64_t)address, false), ret, extra, flags)
		    : 0;
}

/* A program's walk over its frames. */
struct frames {
	_Unwind_Trace_Fn callback;
	void *data;
	__typeof__(&_Unwind_GetIPInfo) get;
	__typeof__(&_Unwind_SetIP) set;
};

static _Unwind_Reason_Code frame(struct _Unwind_Context *context, void *ctx)
{
	const struct frames *f = ctx;
	bool is_own_call = dw_slow_begin_own((uint64_t)__builtin_frame_address(0));
	int is_exact = 0; /* the frame was interrupted there: no return address */
	uint64_t pc = f->get(context, &is_exact), original = pc;

	if (!is_own(pc))
		original = dw_original(pc, !is_exact);
	if (original != pc)
		f->set(context, original);
	dw_slow_end_own(is_own_call);
	return is_own(pc) ? _URC_NO_REASON : f->callback(context, f->data);
}

DWELL_STAND_IN _Unwind_Reason_Code _Unwind_Backtrace(_Unwind_Trace_Fn callback, void *data)
{
	__typeof__(&_Unwind_Backtrace) real = DW_REAL(_Unwind_Backtrace);
	struct frames f = {callback, data, DW_REAL(_Unwind_GetIPInfo), DW_REAL(_Unwind_SetIP)};

	if (!real)
		return _URC_END_OF_STACK;
	return f.get && f.set ? real(frame, &f) : real(callback, data);
}

DWELL_STAND_IN void *_Unwind_FindEnclosingFunction(void *pc)
{
	__typeof__(&_Unwind_FindEnclosingFunction) real = DW_REAL(_Unwind_FindEnclosingFunction);

	return real ? real((void *)dw_original((uint64_t)pc, true)) : NULL;
}
