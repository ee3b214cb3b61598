/*
 * Bodies of methods from anywhere: the input is one, and what becomes of it is proven by the unit
 * tests' verifier.
 */
#include "agent/clr/il/rewrite.h"

#include "../tests/unit/il-verify.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void prove(const uint8_t *data, size_t size, const struct dw_il_output *output,
		  const struct dw_il_scan *scan, const struct dw_il_probes *probes)
{
	struct verify proof = {.probes = *probes};

	if (verify_body(data, size, output, scan, &proof))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct dw_il_probes probes = {0x11223344, 0x11000001, 0x7f0011223344aa,
						   0x7f0011223344bb, 0x7f0011223344cc};
	struct dw_il_body body;
	struct dw_il_scan scan;
	uint32_t *marks;

	if (dw_il_open(data, size, &body))
		return 0;
	marks = malloc(dw_il_marks(&body) * sizeof(*marks));
	if (marks && !dw_il_scan(&body, marks, &scan)) {
		struct dw_il_output output = {malloc(scan.body_bytes), scan.body_bytes,
					      malloc(scan.map_rows * sizeof(*output.map)),
					      scan.map_rows};

		if (output.body && output.map) {
			if (dw_il_rewrite(&body, marks, &scan, &probes, &output))
				abort();
			prove(data, size, &output, &scan, &probes);
		}
		free(output.body);
		free(output.map);
	}
	free(marks);
	return 0;
}
