/* Where a module's bytes lie in its file. */
#pragma once

#include <stdint.h>

/* The offset in the ELF file @fd of the byte at @svma of a loaded segment; 0 = it has none.
 * [async-signal-safe] [any-thread] */
uint64_t dw_elf_file_offset(int fd, uint64_t svma);
