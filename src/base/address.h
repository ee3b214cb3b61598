/*
 * Address kinds as types of their own, so that the compiler catches the classic mix-up.
 *
 * avma: as the running process sees it. svma: as the file states it (ELF p_vaddr space). foff: byte
 * in the file. avma = svma + the mapping's bias; svma = foff - p_offset + p_vaddr of the segment
 * that holds it.
 */
#pragma once

#include <stdint.h>

struct dw_avma {
	uint64_t v;
};

struct dw_svma {
	uint64_t v;
};

struct dw_foff {
	uint64_t v;
};
