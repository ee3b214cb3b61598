/*
 * The machine code that the runtime makes or finds, for sampling: each piece is told in the region
 * (wire/managed-code.h). Where collections are allowed. [any-thread]
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Tell what code of the method @function is new. */
void dw_code_compiled(uint64_t function);

/* Tell the code of @function, a method that the program has made. */
void dw_code_dynamic(uint64_t function);

/* The runtime has found precompiled code of @function and enters it soon. Called from the callback
 * for that only. */
void dw_code_searched(uint64_t function);

/* Code of a module goes: its memory may come to hold other code. */
void dw_code_forget(void);

/* The method @function, which the program has made, goes. */
void dw_code_forget_dynamic(uint64_t function);
