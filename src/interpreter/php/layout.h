/*
 * Where fields stand in the objects of each version of PHP, of builds without threads (NTS).
 * Source: offsetof() of the headers of 8.2, and the order of fields in those of the others
 * (Zend/zend_compile.h, Zend/zend_globals.h).
 */
#pragma once

#include <stdint.h>

struct dw_php_layout {
	uint32_t api;	  /* ZEND_MODULE_API_NO, which each module of it has */
	uint16_t version; /* 0x802 = 8.2 */
	uint16_t globals_frame;
	uint8_t function_opcodes, function_last, function_file, function_line;
};

/* The layout of the version with modules of @api, NULL = none is known. [async-signal-safe]
 * [any-thread] */
const struct dw_php_layout *dw_php_layout(uint32_t api);

/* The layout of @version, likewise. */
const struct dw_php_layout *dw_php_layout_of(uint32_t version);
