/*
 * Making an image, step by step; see clone.h and module.h. Each step may leave functions alone;
 * room for patches comes after all that decide by the code, since the code of what is left alone
 * goes on running; then nothing is decided any more, only placed and written.
 */
#include "clone/calls-out.h"
#include "clone/choose.h"
#include "clone/clone.h"
#include "clone/hazards.h"
#include "clone/image.h"
#include "clone/jumps.h"
#include "clone/layout.h"
#include "clone/maker.h"
#include "clone/module.h"
#include "clone/patches.h"
#include "clone/statements-x86-64.h"
#include "clone/system-calls-x86-64.h"
#include "clone/unwind-info.h"

#include <errno.h>

/* Find out about the code of @m: what is cloned, and how. */
static int decide(struct dw_clone_module *m, const struct dw_clone_options *options,
		  struct dw_patches *patches)
{
	int rc = dw_clone_module_decode(m);

	if (!rc)
		rc = dw_clone_choose(m, options);
	if (!rc)
		rc = dw_system_calls_find(m);
	if (!rc)
		rc = dw_clone_unwind_check(m);
	if (!rc)
		rc = dw_jumps_plan(m);
	if (!rc)
		rc = dw_hazards_find(m);
	if (!rc)
		rc = dw_patches_plan(m, patches);
	if (!rc)
		dw_clone_choose_probes(m, options);
	if (!rc)
		rc = dw_calls_out_find(m);
	if (!rc)
		rc = dw_statements_find(m, options);
	dw_system_calls_count(m);
	return rc;
}

int dw_clone_make(const struct dw_elf *elf, const struct dw_clone_options *options, uint8_t **ret,
		  size_t *ret_n, struct dw_error *err)
{
	struct dw_clone_layout layout;
	struct dw_patches patches = {0};
	struct dw_clone_module m;
	uint8_t maker[DWELL_MAKER_BYTES];
	struct dw_image_parts parts = {&m, &layout, &patches, options, maker};
	int rc = dw_clone_module_read(elf, &m, err);

	m.probes = options->probes;
	if (!rc) {
		rc = decide(&m, options, &patches);
		if (rc)
			dw_error_set(err, rc, "no memory for its code");
	}
	if (!rc)
		rc = dw_clone_lay_out(&m, &layout, err);
	if (!rc) {
		dw_patches_link(&m, &patches);
		dw_clone_maker(maker);
		rc = dw_clone_image_write(&parts, ret, ret_n, err);
	}
	dw_patches_release(&patches);
	dw_clone_module_release(&m);
	return rc;
}
