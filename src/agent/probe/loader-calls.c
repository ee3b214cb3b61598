/*
 * dlopen() and its like: the way to the real functions, and what happens to libraries they bring.
 *
 * A `ret` for dw_call_from() is taken where unwinding through it is exact: behind the one
 * instruction of a function that does nothing else, or behind or in front of all functions, where
 * no unwind table says anything. One thread at a time opens through here, waiting a bounded time
 * for others; when one could not wait, or code that is no clone opens something meanwhile, what is
 * found afterwards may be in use already and is left alone.
 */
#include "agent/probe/loader-calls.h"

#include "agent/core/agent.h"
#include "agent/core/syscall-x86-64.h"
#include "agent/probe/modules.h"
#include "agent/probe/reals.h"
#include "agent/probe/state.h"

#include <dlfcn.h>

#define STAND_IN __attribute__((visibility("default")))

enum {
	RET = 0xc3,
	JUMP_BYTES = 5, /* at a function's start are the patch's */
	SHORT_BYTES = 20,
	ENDBR_BYTES = 4,   /* endbr64 stays in front of the patch */
	LENGTHS_BYTES = 9, /* of three instructions at most */
	NO_RET = 1,
	OPEN_TRIES = 2000,
	OPEN_WAIT_NS = 1000000,
};

/* For loader-calls-x86-64.S. */
extern const uint32_t dw_loader_ids[] __attribute__((visibility("hidden")));
const uint32_t dw_loader_ids[] = {DWELL_REAL_dlsym, DWELL_REAL_dlvsym, DWELL_REAL_dlopen,
				  DWELL_REAL_dlmopen};

static __thread bool is_opening;

static void *no_function(void)
{
	return NULL;
}

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

/* Whether @f is one instruction, after an endbr64 perhaps, and a `ret` that no patch covers. */
static bool is_plain(const struct dw_area *area, const struct dw_clone_function_entry *f)
{
	const uint8_t *code = (const uint8_t *)(area->module + f->start);
	const uint8_t *lengths =
		(const uint8_t *)(area->area + area->header->instructions.at) + f->instructions;

	if (!f->clone_at || f->bytes <= JUMP_BYTES || f->bytes > SHORT_BYTES ||
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
		if (at - area->module - p[i].at < JUMP_BYTES)
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

static uint64_t find_ret(const struct dw_area *area)
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

static uint64_t ret_of(struct dw_area *area)
{
	uint64_t ret = __atomic_load_n(&area->ret, __ATOMIC_RELAXED);

	if (!ret) {
		ret = find_ret(area);
		__atomic_store_n(&area->ret, ret, __ATOMIC_RELAXED);
	}
	return ret == NO_RET || *(const uint8_t *)ret != RET ? 0 : ret;
}

struct dw_route dw_loader_route(uint64_t caller, uint32_t id)
{
	const struct dw_area *area = dw_area_of_clone(caller);
	struct dw_route route = {dw_real_of(id), 0};

	if (!route.real)
		route.real = (void *)no_function;
	if (area)
		route.ret = ret_of(&dw_probe.areas[area - dw_probe.areas]);
	if (!route.ret && (id == DWELL_REAL_dlopen || id == DWELL_REAL_dlmopen) && !is_opening)
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
	tasks = dw_modules_tasks();
	handle = dw_call_from(a, b, c, ret, real);
	dw_modules_opened(tasks && tasks == dw_modules_tasks() &&
			  !__atomic_load_n(&dw_probe.is_disturbed, __ATOMIC_ACQUIRE));
	is_opening = false;
	__atomic_store_n(&dw_probe.opener, 0, __ATOMIC_RELEASE);
	return handle;
}

STAND_IN int dlclose(void *handle)
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
