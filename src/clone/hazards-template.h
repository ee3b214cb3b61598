/*
 * Templates: code that its program never runs in place but copies elsewhere.
 */
#pragma once

#include "clone/module.h"

/* Set DWELL_LEFT_TEMPLATE on functions that are templates. After decoding. */
void dw_templates_find(struct dw_clone_module *m);
