/*
 * The tables of a .NET agent's region: their rows stand in wire/allocations.h and
 * wire/managed-code.h, their sizes here, for all who read or write them. [signal-safe]
 */
#pragma once

#include "wire/allocations.h"
#include "wire/managed-code.h"

#include <stdint.h>

/* Bytes of a row of @t. */
static inline uint32_t dw_clr_row_bytes(enum dw_clr_table t)
{
	switch (t) {
	case DWELL_CLR_NODES:
		return sizeof(struct dw_clr_node);
	case DWELL_CLR_GROUPS:
		return sizeof(struct dw_clr_group);
	case DWELL_CLR_OLDS:
		return sizeof(struct dw_clr_old);
	case DWELL_CLR_TYPES:
		return sizeof(struct dw_clr_type);
	case DWELL_CLR_FRAMES:
		return sizeof(struct dw_clr_frame);
	case DWELL_CLR_FUNCTIONS:
		return sizeof(struct dw_clr_function);
	case DWELL_CLR_MODULES:
		return sizeof(struct dw_clr_module);
	case DWELL_CLR_THREADS:
		return sizeof(struct dw_clr_thread);
	case DWELL_CLR_GCS:
		return sizeof(struct dw_clr_gc);
	case DWELL_CLR_CODES:
		return sizeof(struct dw_clr_code);
	case DWELL_CLR_IL:
		return sizeof(struct dw_clr_il);
	case DWELL_CLR_NATIVES:
		return sizeof(struct dw_clr_native);
	case DWELL_CLR_PROBED:
		return sizeof(struct dw_clr_probed);
	default:
		return 1;
	}
}
