/*
 * The verifier: reads a module and its clone image side by side and proves each clone faithful.
 *
 * Shares with the maker the decoder, the readers of ELF and unwind entries and the trampolines'
 * fixed code, no decision. For every instruction: the same operation and operands, rip operands and
 * branches that resolve to the same module address or to the clone of the same instruction; only
 * the known sequences may stand around it (prefix, leaving probe, translated jump, kept return).
 * Translated jumps are run for targets of all kinds; tables of jumps, maps, patches, relocations
 * (applied at another distance too), unwind rows at each instruction and LSDA call sites equal the
 * module's. Not proven: that a table has as many entries as its jump can reach, and which registers
 * callers and callees look at. Both inputs may be hostile. One thread.
 */
#pragma once

#include "base/error.h"
#include "code/elf/elf.h"

#include <stddef.h>
#include <stdint.h>

struct dw_verify_finding {
	uint64_t svma;	   /* in the module */
	uint32_t clone_at; /* area offset */
	char text[120];
};

struct dw_verify_result {
	uint64_t functions; /* verified */
	uint64_t instructions;
	uint64_t findings_n; /* all; the first few are in findings[] */
	struct dw_verify_finding findings[16];
};

/* Verify @image (@n bytes) against @elf. 0, also with findings; DWELL_ERR_FORMAT when the image is
 * none. */
int dw_clone_verify(const struct dw_elf *elf, const uint8_t *image, size_t n,
		    struct dw_verify_result *ret, struct dw_error *err);
