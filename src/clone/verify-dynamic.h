/*
 * What the loader does to a module's words, by the module's dynamic section, for the verifier.
 */
#pragma once

#include "clone/verify-state.h"

/* Fill v->pointers and v->slots, both by place. The spans are read. 0 or -ENOMEM. */
int dw_verify_dynamic(struct dw_verify *v);
