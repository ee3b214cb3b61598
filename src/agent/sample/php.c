/*
 * PHP in this process; see interpreter.h. Its version can be told when its modules are registered,
 * which happens after our constructor has run.
 */
#include "agent/core/agent.h"
#include "agent/core/system-calls.h"
#include "agent/sample/interpreter.h"
#include "interpreter/php/build.h"
#include "interpreter/php/frames.h"

static bool find(struct dw_interpreter_found *ret)
{
	ret->told = (struct dw_interpreter_runtime){
		.language = DWELL_PHP,
		.eval = (uint64_t)dw_loader_first("execute_ex"),
		.data = (uint64_t)dw_loader_first("executor_globals"),
		.type = (uint64_t)dw_loader_first("zend_pass_function"),
		.modules = (uint64_t)dw_loader_first("module_registry")};
	ret->is_complete = !ret->told.data; /* it was built for threads */
	return ret->told.eval && ret->told.modules && dw_loader_first("zend_execute_ex");
}

static bool identify(struct dw_interpreter_found *found, struct dw_interpreter_memory *m)
{
	const struct dw_php_layout *l;

	if (!dw_php_identify(m, found->told.modules, &l))
		return false;
	found->told.version = l ? l->version : 0;
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
