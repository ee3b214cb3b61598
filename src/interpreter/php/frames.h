/*
 * The frames of the thread of PHP 7.4 to 8.4 (NTS): a chain from executor_globals on, of functions
 * in PHP and of those in C that these have called. What stands there is written before it is linked
 * and taken out before it goes, so a chain that makes no sense is rare. [async-signal-safe]
 */
#pragma once

#include "interpreter/frames.h"

/*
 * Its layout is struct dw_php_layout, its place executor_globals; type: zend_pass_function, which
 * stands for a constructor that is not there. Generators that others run by `yield from` are not
 * among the frames.
 */
extern const struct dw_interpreter_reader dw_php_reader;
