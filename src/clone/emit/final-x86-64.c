/*
 * Final code is a copy of all clones without probes. It begins with the page of the first clone;
 * trampolines there are a copy, too, which nobody runs: agents have made theirs fit the program.
 */
#include "clone/emit/final.h"

#include "wire/no-probe.h"

#include <string.h>

enum { JUMP = 0xe9, JUMP_BYTES = 5, PAGE = DWELL_AREA_PAGE };

static bool loads_rax(enum dw_trampoline trampoline)
{
	return trampoline == DWELL_TRAMPOLINE_ENTER || trampoline == DWELL_TRAMPOLINE_OUT ||
	       trampoline == DWELL_TRAMPOLINE_OUT_POINTER || trampoline == DWELL_TRAMPOLINE_TAIL ||
	       trampoline == DWELL_TRAMPOLINE_LINE;
}

/* Let the probe be a nop that calls @trampoline at @call. */
static void silence(uint8_t *call, enum dw_trampoline trampoline)
{
	uint8_t *probe = call - DWELL_PROBE_LOAD_BYTES;

	if (!loads_rax(trampoline))
		memcpy(call, dw_no_call, sizeof dw_no_call);
	else if (!memcmp(probe, dw_probe_put_away, sizeof dw_probe_put_away))
		memcpy(probe, dw_no_probe, sizeof dw_no_probe);
	else
		memcpy(call, dw_no_probe + DWELL_PROBE_LOAD_BYTES, DWELL_PROBE_CALL_BYTES);
}

/* Let the clone of @f begin with a jump to the module, if it has a probe there. */
static void lead_back(uint8_t *clone, const struct dw_clone_function_entry *f, int64_t distance)
{
	int64_t to = (int64_t)f->start - distance - ((int64_t)f->clone_at + JUMP_BYTES);
	int32_t by = (int32_t)to;

	if (f->prefix_bytes != DWELL_PROBE_BYTES)
		return;
	clone[0] = JUMP;
	memcpy(clone + 1, &by, sizeof by);
}

/* Change @code, a copy of what lies in the image @image from h->final_from on. */
static void change(const uint8_t *image, const struct dw_clone_header *h, uint8_t *code)
{
	const struct dw_clone_function_entry *f = (const void *)(image + h->functions.at);

	for (int trampoline = DWELL_TRAMPOLINE_ENTER; trampoline < DWELL_TRAMPOLINES_N;
	     trampoline++) {
		const struct dw_clone_part *list = &h->trampoline_calls[trampoline];
		const uint32_t *at = (const uint32_t *)(image + list->at);

		for (uint32_t i = 0; i < list->n; i++)
			silence(code + (at[i] - h->final_from), (enum dw_trampoline)trampoline);
	}
	for (uint32_t i = 0; i < h->functions.n; i++)
		if (f[i].clone_at)
			lead_back(code + (f[i].clone_at - h->final_from), &f[i], h->distance);
}

/* Area offset of the first clone, 0 = there is none. */
static uint32_t first_clone(const uint8_t *image, const struct dw_clone_header *h)
{
	const struct dw_clone_function_entry *f = (const void *)(image + h->functions.at);

	for (uint32_t i = 0; i < h->functions.n; i++)
		if (f[i].clone_at)
			return f[i].clone_at;
	return 0;
}

int dw_image_append_final(struct dw_image_bytes *b, struct dw_clone_header *h)
{
	uint32_t first = first_clone(b->bytes.v, h), from = first & -(uint32_t)PAGE;
	size_t at = b->bytes.n;
	int rc;

	if (!first || h->probes < DWELL_PROBES_SYSTEM_CALLS)
		return 0;
	rc = dw_vec_reserve(&b->bytes, at + h->code_at + h->code_bytes - from);
	if (!rc)
		rc = dw_image_append(b, b->bytes.v + from, h->code_at + h->code_bytes - from);
	if (rc)
		return rc;
	h->final_from = from;
	h->final_bytes = h->code_at + h->code_bytes - from;
	change(b->bytes.v, h, b->bytes.v + at);
	return 0;
}
