/*
 * Frames whose code is to be told: runtimes keep back what they write, so a sample may come before
 * the name of what it lies in. Such a frame stands for its address at its time. One thread.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct dw_jit_pending {
	uint64_t avma;
	uint64_t time_ns; /* of the first sample there */
	uint64_t svma;	  /* what it turned out to be (functions.h), 0 = not known */
};

/* Of all processes: a frame's svma leads to its row. */
struct dw_jit_pendings {
	DW_VEC(struct dw_jit_pending) rows;
};

/* Those of one process that are not known yet. */
struct dw_jit_open {
	DW_VEC(uint32_t) rows;
	struct dw_map by_avma; /* the newest row + 1 */
};

/* The svma of a frame at @avma at @time_ns into *@ret. 0, -ENOMEM or DWELL_ERR_LIMIT. */
int dw_jit_pending_add(struct dw_jit_pendings *t, struct dw_jit_open *open, uint64_t avma,
		       uint64_t time_ns, uint64_t *ret);

/* The token of row @row, as in svmas. */
uint32_t dw_jit_pending_token(uint32_t row);

/* The row of the frame at @svma, borrowed until the next addition. NULL = it is none. */
const struct dw_jit_pending *dw_jit_pending_at(const struct dw_jit_pendings *t, uint64_t svma);

/* Free the memory of one process's. */
void dw_jit_open_release(struct dw_jit_open *open);
