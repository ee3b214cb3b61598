/*
 * Personality routines: whose tables have the format that dw_lsda_read() understands.
 */
#pragma once

#include "code/elf/elf.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether LSDAs for the personality routine that a relocation of the word at @svma names can be
 * read. Also true when no name can be found: the strict reader decides then.
 */
bool dw_personality_is_known(const struct dw_elf *elf, uint64_t svma);
