/*
 * PHP in this process; see interpreter.h.
 *
 * The version stands in every module that is registered, which happens after our constructor has
 * run: what a module's entry says also tells builds for threads and for debugging from the others.
 */
#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/system-calls.h"
#include "agent/sample/interpreter.h"
#include "interpreter/php/frames.h"
#include "interpreter/php/layout.h"

enum {
	/* In the table of modules, module_registry, and in the entry of a module. Source:
	 * Zend/zend_types.h, Zend/zend_modules.h. */
	TABLE_ROWS = 16,
	TABLE_USED = 24,
	MODULE_BYTES = 168,
};

static bool find(struct dw_interpreter_found *ret)
{
	uint64_t globals = (uint64_t)dw_loader_first("executor_globals");

	ret->told = (struct dw_interpreter_runtime){
		.language = DWELL_PHP,
		.eval = (uint64_t)dw_loader_first("execute_ex"),
		.data = globals,
		.type = (uint64_t)dw_loader_first("zend_pass_function")};
	ret->registry = (uint64_t)dw_loader_first("module_registry");
	return ret->told.eval && ret->registry && dw_loader_first("zend_execute_ex");
}

static bool load(uint64_t at, uint64_t *ret)
{
	if (at % sizeof(at) || !dw_is_readable((const void *)at, sizeof(*ret)))
		return false;
	*ret = *(const volatile uint64_t *)at;
	return true;
}

static bool identify(struct dw_interpreter_found *found)
{
	uint64_t used, rows, module, head, build;
	const struct dw_php_layout *l;

	if (!load(found->registry + TABLE_USED, &used) || !(uint32_t)used ||
	    !load(found->registry + TABLE_ROWS, &rows) || !load(rows, &module) ||
	    !load(module, &head) || !load(module + sizeof(head), &build) ||
	    (uint16_t)head != MODULE_BYTES)
		return false;
	l = dw_php_layout(head >> 32);
	found->told.version = l ? l->version : 0;
	if (l && !(uint16_t)build && found->told.data) /* neither for debugging nor for threads */
		found->layout = l;
	return true;
}

static uint64_t place(const struct dw_interpreter_found *found)
{
	const struct dw_php_layout *l = found->layout;
	uint64_t frame = *(const volatile uint64_t *)(found->told.data + l->globals_frame);

	/* Other threads of the process run no PHP. */
	return frame && dw_syscall(SYS_gettid) == dw_sys_getpid() ? found->told.data : 0;
}

const struct dw_interpreter_kind dw_php_kind = {&dw_php_reader, find, identify, place};
