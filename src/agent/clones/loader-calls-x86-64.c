/*
 * dlopen() and its like: the way to the real functions, and what happens to libraries they bring.
 *
 * What looks at its return address finds a `ret` of the module that calls when a clone calls, and
 * always when it opens something: control must come back here. One thread at a time opens, waiting
 * a bounded time for others; when one could not wait, or no `ret` was found, what is found
 * afterwards may be in use already and is left alone.
 *
 * Such a `ret` is taken where unwinding through it is exact: behind the one instruction of a
 * function that does nothing else, where the frame is the return address alone. A cloned module's
 * image tells where functions and instructions are. Of others the agent reads no table: there the
 * common shapes of functions with one instruction are looked for where functions are aligned to. A
 * wrong guess is still a `ret` of the module; unwinders that pass it would only end early.
 */
#include "agent/clones/area.h"
#include "agent/clones/clones.h"
#include "agent/clones/modules.h"
#include "agent/clones/text.h"
#include "agent/core/agent.h"
#include "agent/core/system-calls.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>

enum {
	OPEN_TRIES = 2000,
	OPEN_WAIT_NS = 1000000,
};

/* What the stand-ins in loader-calls-x86-64.S ask for, by these numbers. */
enum { ROUTE_DLSYM, ROUTE_DLVSYM, ROUTE_DLOPEN, ROUTE_DLMOPEN, ROUTES };

static const char *const names[ROUTES] = {"dlsym", "dlvsym", "dlopen", "dlmopen"};
static void *reals[ROUTES];

static __thread bool is_opening;

/* Both in registers: rax, rdx. */
struct dw_route {
	void *real;
	uint64_t ret; /* avma of a `ret` of the caller's module; 0: the real function sees the
			 caller */
};

/*
 * The way for a call that returns to @caller: of the real function @id (ROUTE_*). With ret 0
 * the real function is jumped to as if it had been called. [any-thread]
 */
struct dw_route dw_loader_route(uint64_t caller, uint32_t id);

/* Call @real(@a, @b, @c) so that it finds @ret, which is a `ret`, as its return address. */
void *dw_call_from(void *a, void *b, void *c, uint64_t ret, void *real);

/* dlopen() or dlmopen() of a clone: dw_call_from(), then what was opened is cloned. */
void *dw_open_from(void *a, void *b, void *c, uint64_t ret, void *real);

enum {
	RET = 0xc3,
	SHORT_BYTES = 20,
	ENDBR_BYTES = 4,   /* endbr64 stays in front of the patch */
	LENGTHS_BYTES = 9, /* of three instructions at most */
	ALIGNMENT = 16,
	NO_RET = 1,
};

/* An instruction that leaves the stack alone: its first bytes, and how long it is. */
static const struct shape {
	uint8_t bytes, known;
	uint8_t code[3];
} shapes[] = {
	{2, 2, {0x31, 0xc0}},	    /* xor %eax, %eax */
	{5, 1, {0xb8}},		    /* mov $..., %eax */
	{7, 3, {0x48, 0x8d, 0x05}}, /* lea ...(%rip), %rax */
	{7, 3, {0x48, 0x8b, 0x05}}, /* mov ...(%rip), %rax */
	{6, 2, {0x8b, 0x05}},	    /* mov ...(%rip), %eax */
	{3, 3, {0x48, 0x89, 0xf8}}, /* mov %rdi, %rax */
	{3, 3, {0x48, 0x8b, 0x07}}, /* mov (%rdi), %rax */
	{2, 2, {0x8b, 0x07}},	    /* mov (%rdi), %eax */
	{4, 3, {0x48, 0x8b, 0x47}}, /* mov ...(%rdi), %rax */
	{3, 2, {0x8b, 0x47}},	    /* mov ...(%rdi), %eax */
};

/* The next instruction's length in the module. */
static uint32_t next_length(const uint8_t **lengths)
{
	uint8_t both = *(*lengths)++;

	if ((both & 15) == 15)
		*lengths += 2;
	return both >> 4;
}

static bool is_marked(const uint8_t *code)
{
	return code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa;
}

/* Whether @f is one instruction, after an endbr64 perhaps, and a `ret`. */
static bool is_plain(const struct dw_area *area, const struct dw_clone_function_entry *f)
{
	const uint8_t *code = (const uint8_t *)(area->module + f->start);
	const uint8_t *lengths =
		(const uint8_t *)(area->area + area->header->instructions.at) + f->instructions;

	if (!f->clone_at || f->bytes <= DWELL_JUMP_BYTES || f->bytes > SHORT_BYTES ||
	    code[f->bytes - 1] != RET ||
	    f->instructions + LENGTHS_BYTES > area->header->instructions.n)
		return false;
	return next_length(&lengths) + 1 == f->bytes ||
	       (is_marked(code) && ENDBR_BYTES + next_length(&lengths) + 1 == f->bytes);
}

static bool is_patched(const struct dw_area *area, uint64_t at)
{
	const struct dw_clone_patch *p =
		(const struct dw_clone_patch *)(area->area + area->header->patches.at);

	for (uint32_t i = 0; i < area->header->patches.n; i++)
		if (at - area->module - p[i].at < DWELL_JUMP_BYTES)
			return true;
	return false;
}

/* A byte in [@at, @end) that is a `ret`, whatever it was meant to be. 0 = none. */
static uint64_t find_byte(const struct dw_area *area, uint64_t at, uint64_t end)
{
	for (; at < end; at++)
		if (*(const uint8_t *)at == RET && !is_patched(area, at))
			return at;
	return 0;
}

static uint64_t find_site(const struct dw_area *area)
{
	const struct dw_clone_function_entry *f = dw_functions(area);
	uint32_t n = area->header->functions.n;
	uint64_t end = area->text + area->text_bytes, found;

	for (uint32_t i = 0; i < n; i++) {
		found = area->module + f[i].start + f[i].bytes - 1;
		if (is_plain(area, &f[i]) && !is_patched(area, found))
			return found;
	}
	found = find_byte(area, n ? area->module + f[n - 1].start + f[n - 1].bytes : area->text,
			  end);
	if (!found && n)
		found = find_byte(area, area->text, area->module + f[0].start);
	return found ? found : NO_RET;
}

/* The avma of a `ret` in the module of @area, 0 = none. Where no function fits, behind or in front
 * of all functions, where no unwind table says anything. */
static uint64_t ret_site(const struct dw_area *area)
{
	struct dw_area *a = &dw_probe.areas[area - dw_probe.areas];
	uint64_t ret = __atomic_load_n(&a->ret, __ATOMIC_RELAXED);

	if (!ret) {
		ret = find_site(area);
		__atomic_store_n(&a->ret, ret, __ATOMIC_RELAXED);
	}
	return ret == NO_RET || *(const uint8_t *)ret != RET ? 0 : ret;
}

/* Where the `ret` behind one instruction at @code is, if that looks like a whole function. */
static const uint8_t *ret_behind(const uint8_t *code)
{
	code += is_marked(code) ? ENDBR_BYTES : 0;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		const struct shape *s = &shapes[i];
		uint8_t k = 0;

		while (k < s->known && code[k] == s->code[k])
			k++;
		if (k == s->known && code[s->bytes] == RET)
			return code + s->bytes;
	}
	return NULL;
}

/* The avma of a `ret` in the module without clones that holds @pc, 0 = none. */
static uint64_t ret_site_elsewhere(uint64_t pc)
{
	struct dl_find_object found;
	struct dw_module m;
	const Elf64_Ehdr *head;
	uint64_t at, end;

	if (!dw_real_find_object(pc, &found))
		return 0;
	head = found.dlfo_map_start;
	if (__builtin_memcmp(head->e_ident, ELFMAG, SELFMAG))
		return 0;
	m = dw_module_read(found.dlfo_link_map->l_addr,
			   (const Elf64_Phdr *)((const char *)head + head->e_phoff), head->e_phnum);
	at = m.code ? m.bias + m.code->p_vaddr : 0;
	end = m.code ? at + m.code->p_memsz : 0;
	at = (at + ALIGNMENT - 1) & -(uint64_t)ALIGNMENT;
	for (; at + ALIGNMENT <= end; at += ALIGNMENT) {
		const uint8_t *ret = ret_behind((const uint8_t *)at);

		if (ret)
			return (uint64_t)ret;
	}
	return 0;
}

static void *no_function(void)
{
	return NULL;
}

static bool opens(uint32_t id)
{
	return id == ROUTE_DLOPEN || id == ROUTE_DLMOPEN;
}

struct dw_route dw_loader_route(uint64_t caller, uint32_t id)
{
	const struct dw_area *area = dw_area_of_clone(caller);
	struct dw_route route = {dw_real_once(&reals[id], names[id]), 0};

	if (!route.real)
		route.real = (void *)no_function;
	if (!area && opens(id) && dw_probe.is_started)
		area = dw_area_of_module(caller);
	if (area)
		route.ret = ret_site(area);
	else if (opens(id) && dw_probe.is_started)
		route.ret = ret_site_elsewhere(caller);
	if (!route.ret && opens(id) && !is_opening)
		__atomic_store_n(&dw_probe.is_disturbed, true, __ATOMIC_RELEASE);
	return route;
}

/* Become the one that opens. A holder that was lost in a fork holds nothing in the child. */
static bool begin_opening(void)
{
	uint32_t self;

	if (is_opening || !dw_probe.is_started)
		return false;
	dw_agent_after_fork();
	if (!dw_agent_is_on() || !dw_agent_is_self())
		return false;
	self = dw_sys_getpid();
	for (int i = 0; i < OPEN_TRIES; i++) {
		uint32_t holder = __atomic_load_n(&dw_probe.opener, __ATOMIC_RELAXED);

		if (holder != self &&
		    __atomic_compare_exchange_n(&dw_probe.opener, &holder, self, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
		dw_sys_sleep_ns(OPEN_WAIT_NS);
	}
	__atomic_store_n(&dw_probe.is_disturbed, true, __ATOMIC_RELEASE);
	return false;
}

void *dw_open_from(void *a, void *b, void *c, uint64_t ret, void *real)
{
	uint64_t tasks;
	void *handle;

	if (!begin_opening())
		return dw_call_from(a, b, c, ret, real);
	is_opening = true;
	__atomic_store_n(&dw_probe.is_disturbed, false, __ATOMIC_RELEASE);
	dw_modules_remember();
	tasks = dw_sys_tasks();
	handle = dw_call_from(a, b, c, ret, real);
	dw_agent_after_fork(); /* constructors may fork */
	if (dw_agent_is_self())
		dw_modules_opened(tasks && tasks == dw_sys_tasks() &&
				  !__atomic_load_n(&dw_probe.is_disturbed, __ATOMIC_ACQUIRE));
	is_opening = false;
	__atomic_store_n(&dw_probe.opener, 0, __ATOMIC_RELEASE);
	return handle;
}

DWELL_STAND_IN int dlclose(void *handle)
{
	__typeof__(&dlclose) real = DW_REAL(dlclose);
	int result = real ? real(handle) : -1;

	if (result || !dw_probe.area_n)
		return result;
	dw_agent_after_fork();
	if (dw_agent_is_self())
		dw_modules_closed();
	return result;
}
