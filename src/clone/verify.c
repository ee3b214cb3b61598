/*
 * The verifier; see verify.h. Everything is checked twice: with the area where the image wants it,
 * and elsewhere, so that a field without its relocation, or with one too many, leads astray.
 */
#include "clone/verify-probes.h"
#include "clone/verify-state.h"

#include <string.h>

enum { SHIFT = -0x123000 };

static int verify_at(struct dw_verify *v, int64_t shift)
{
	int rc = dw_verify_place(v, shift);

	if (!rc)
		rc = dw_verify_functions(v);
	if (!rc)
		rc = dw_verify_probes(v);
	if (!rc)
		rc = dw_verify_code(v);
	if (!rc)
		rc = dw_verify_unwind(v);
	if (!rc)
		rc = dw_verify_patches(v);
	if (!rc)
		dw_verify_probe_lists(v);
	return rc;
}

int dw_clone_verify(const struct dw_elf *elf, const uint8_t *image, size_t n,
		    struct dw_verify_result *ret, struct dw_error *err)
{
	struct dw_verify v = {.ret = ret};
	int rc;

	memset(ret, 0, sizeof *ret);
	rc = dw_verify_open(&v, elf, image, n, err);
	if (!rc) {
		rc = verify_at(&v, 0);
		if (!rc)
			rc = verify_at(&v, SHIFT);
		if (rc)
			dw_error_set(err, rc, "cannot verify the image");
	}
	dw_verify_close(&v);
	return rc;
}
