/*
 * Registers of x86-64 by DWARF number (System V ABI x86-64, fig. 3.36): 0 rax, 1 rdx, 2 rcx, 3 rbx,
 * 4 rsi, 5 rdi, 6 rbp, 7 rsp, r8 to r15, and 16, which is rip, or the return address in call frame
 * rules. See arch/registers.h.
 */
#pragma once

enum {
	DWELL_REG_FP = 6,
	DWELL_REG_SP = 7,
	DWELL_REG_PC = 16,
	DWELL_REG_COUNT = 17,
};

enum {
	DWELL_RETURN_AT = -8,	/* from the CFA: calls push the return address */
	DWELL_ELF_MACHINE = 62, /* EM_X86_64 */
	DWELL_INSN_BYTES_MAX = 15,
};

#define DWELL_ARCH_NAME "x86-64"
