/*
 * What finding Ruby must know of the processor.
 */
#pragma once

#include <stdint.h>

/*
 * Where Ruby keeps its table of names, which no symbol leads to: found in the code of rb_id2str()
 * at @id2str (0 = there is none), which loads it beside the number of the last name. 0 = not found.
 * In the constructor.
 */
uint64_t dw_ruby_names(uint64_t id2str);
