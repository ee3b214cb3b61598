/*
 * Putting an image together: from a laid out module to the bytes of the file.
 */
#pragma once

#include "base/error.h"
#include "clone/clone.h"
#include "clone/layout.h"
#include "clone/module.h"
#include "clone/patches.h"

#include <stddef.h>
#include <stdint.h>

/* What the bytes of an image are made from. */
struct dw_image_parts {
	const struct dw_clone_module *m; /* laid out */
	const struct dw_clone_layout *layout;
	const struct dw_patches *patches; /* linked */
	const struct dw_clone_options *options;
	const uint8_t *maker; /* build-id of this dwell, as in the header */
};

/*
 * Write the image. *@ret, @ret_n bytes, is the caller's to free(). 0; -ENOMEM; DWELL_ERR_LIMIT.
 * Takes up to two threads.
 */
int dw_clone_image_write(const struct dw_image_parts *parts, uint8_t **ret, size_t *ret_n,
			 struct dw_error *err);
