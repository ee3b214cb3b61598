/*
 * The first module; see build.h. Source: Zend/zend_types.h, Zend/zend_modules.h.
 */
#include "interpreter/php/build.h"

#include <stddef.h>

enum {
	TABLE_ROWS = 16,
	TABLE_USED = 24,
	MODULE_BYTES = 168,
	MODULE_BUILD = 8, /* for debugging, for threads */
};

bool dw_php_identify(struct dw_interpreter_memory *m, uint64_t registry,
		     const struct dw_php_layout **ret)
{
	uint64_t used, rows, module, head, build;

	if (!dw_interpreter_load(m, registry + TABLE_USED, &used) || !(uint32_t)used ||
	    !dw_interpreter_load(m, registry + TABLE_ROWS, &rows) ||
	    !dw_interpreter_load(m, rows, &module) || !dw_interpreter_load(m, module, &head) ||
	    !dw_interpreter_load(m, module + MODULE_BUILD, &build) ||
	    (uint16_t)head != MODULE_BYTES)
		return false;
	*ret = (uint16_t)build ? NULL : dw_php_layout(head >> 32);
	return true;
}
