/* Sorting sites by import; see import-sites.h. A probe has `mov $index, %eax` before its gate call,
 * where index counts functions and imports. */
#include "agent/core/memory.h"
#include "agent/probe/import-sites.h"
#include "agent/probe/probe.h"

/* Call @put with each call of an import and its site. */
static void each(const struct dw_area *area, void (*put)(void *ctx, uint32_t import, uint32_t site),
		 void *ctx)
{
	static const enum dw_gate gates[] = {DWELL_GATE_OUT, DWELL_GATE_TAIL};
	const struct dw_clone_header *h = area->header;

	for (uint32_t i = 0; i < sizeof gates / sizeof *gates; i++) {
		const struct dw_clone_part *list = &h->gate_calls[gates[i]];
		const uint32_t *at = (const uint32_t *)(area->area + list->at), *end = at + list->n;
		uint32_t index;

		for (; at < end; at++) {
			if (*at - h->code_at >= h->code_bytes || *at - h->code_at < sizeof index)
				continue;
			__builtin_memcpy(&index, (const void *)(area->area + *at - sizeof index),
					 sizeof index);
			if (index - h->functions.n < h->imports.n)
				put(ctx, index - h->functions.n,
				    *at | (gates[i] == DWELL_GATE_TAIL ? DWELL_SITE_IS_TAIL : 0));
		}
	}
}

/* first[] becomes the number of sites of the import before. */
static void count(void *ctx, uint32_t import, uint32_t site)
{
	struct dw_import_sites *s = ctx;

	(void)site;
	s->first[import + 1]++;
}

/* first[], which is where the import's next site goes, becomes where its sites end. */
static void put(void *ctx, uint32_t import, uint32_t site)
{
	struct dw_import_sites *s = ctx;

	s->at[s->first[import]++] = site;
}

bool dw_import_sites_list(struct dw_import_sites *s, const struct dw_area *area)
{
	const struct dw_clone_header *h = area->header;
	uint64_t sites =
		(uint64_t)h->gate_calls[DWELL_GATE_OUT].n + h->gate_calls[DWELL_GATE_TAIL].n;
	uint32_t n = h->imports.n;

	if (s->first)
		return true;
	s->bytes = (n + 1 + sites) * sizeof *s->at;
	s->first = dw_agent_memory(s->bytes);
	if (!s->first)
		return false;
	s->at = s->first + n + 1;
	each(area, count, s);
	for (uint32_t i = 0; i < n; i++)
		s->first[i + 1] += s->first[i];
	each(area, put, s);
	for (uint32_t i = n; i > 0; i--)
		s->first[i] = s->first[i - 1];
	s->first[0] = 0;
	return true;
}

const uint32_t *dw_import_sites_of(const struct dw_import_sites *s, uint32_t import,
				   const uint32_t **end)
{
	*end = s->at + s->first[import + 1];
	return s->at + s->first[import];
}

void dw_import_sites_release(struct dw_import_sites *s)
{
	dw_agent_memory_free(s->first, s->bytes);
	*s = (struct dw_import_sites){0};
}
