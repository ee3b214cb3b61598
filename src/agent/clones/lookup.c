/*
 * From clones to the module and back.
 *
 * Both ways find the function by binary search (clones stand in the order of their functions) and
 * then walk its instructions. No lock: areas are only appended, and what they point to stays as
 * long as code of theirs can run. There are few areas, so they are looked through one by one.
 */
#include "agent/clones/clones.h"

/* The walk along a function's instructions. */
struct walk {
	const uint8_t *p, *end;
	uint32_t at, bytes;	     /* the instruction: module offset */
	uint32_t clone, clone_bytes; /* area offset */
	uint32_t module_end;
};

struct dw_probe dw_probe;

static uint32_t area_n(void)
{
	return __atomic_load_n(&dw_probe.area_n, __ATOMIC_ACQUIRE);
}

static bool is_closed(const struct dw_area *a)
{
	return __atomic_load_n(&a->is_closed, __ATOMIC_ACQUIRE);
}

const struct dw_area *dw_area_of_clone(uint64_t pc)
{
	for (uint32_t i = 0, n = area_n(); i < n; i++) {
		const struct dw_area *a = &dw_probe.areas[i];

		if (pc - a->area < a->bytes && !is_closed(a) &&
		    pc - a->area - a->header->code_at < a->header->code_bytes)
			return a;
	}
	return NULL;
}

struct dw_area *dw_area_at(uint64_t at)
{
	for (uint32_t i = 0; i < dw_probe.area_n; i++)
		if (dw_probe.areas[i].area == at && !dw_probe.areas[i].is_closed)
			return &dw_probe.areas[i];
	return NULL;
}

const struct dw_area *dw_area_of_module(uint64_t pc)
{
	for (uint32_t i = 0, n = area_n(); i < n; i++) {
		const struct dw_area *a = &dw_probe.areas[i];

		if (pc - a->module < a->module_bytes && !is_closed(a))
			return a;
	}
	return NULL;
}

const struct dw_clone_function_entry *dw_functions(const struct dw_area *area)
{
	return (const struct dw_clone_function_entry *)(area->area + area->header->functions.at);
}

uint32_t dw_function_of_clone(const struct dw_area *area, uint32_t at)
{
	const struct dw_clone_function_entry *f = dw_functions(area);
	uint32_t n = area->header->functions.n, low = 0, high = n, found = n, middle, k;

	while (low < high) {
		middle = low + (high - low) / 2;
		for (k = middle; k > low && !f[k].clone_at;)
			k--;
		if (!f[k].clone_at || f[k].clone_at <= at) {
			found = f[k].clone_at ? k : found;
			low = middle + 1;
		} else {
			high = k;
		}
	}
	return found < n && at - f[found].clone_at < f[found].clone_bytes ? found : n;
}

/* The function whose range in the module holds the offset @at, else functions.n. */
static uint32_t function_of_module(const struct dw_area *area, uint32_t at)
{
	const struct dw_clone_function_entry *f = dw_functions(area);
	uint32_t n = area->header->functions.n, low = 0, high = n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (f[middle].start <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low && at - f[low - 1].start < f[low - 1].bytes ? low - 1 : n;
}

/* Whether @function runs from the module again. */
static bool has_left(const struct dw_area *a, uint32_t function)
{
	return __atomic_load_n(&a->is_restored, __ATOMIC_ACQUIRE) ||
	       (a->left && a->left[function / 8] >> function % 8 & 1);
}

bool dw_is_probed(uint64_t pc)
{
	const struct dw_area *area = dw_area_of_module(pc);
	const struct dw_clone_function_entry *f;
	const uint8_t wanted = DWELL_CLONE_PROBED | DWELL_CLONE_REDIRECTED;
	uint32_t function;

	if (!area)
		return false;
	function = function_of_module(area, (uint32_t)(pc - area->module));
	if (function == area->header->functions.n)
		return false;
	f = &dw_functions(area)[function];
	return f->start == pc - area->module && (f->flags & wanted) == wanted &&
	       !has_left(area, function);
}

static struct walk walk_begin(const struct dw_area *area, uint32_t function)
{
	const struct dw_clone_part *part = &area->header->instructions;
	const struct dw_clone_function_entry *f = &dw_functions(area)[function];
	const uint8_t *first = (const uint8_t *)(area->area + part->at);

	return (struct walk){.p = first + f->instructions,
			     .end = first + part->n,
			     .at = f->start,
			     .clone = f->clone_at,
			     .module_end = f->start + f->bytes};
}

/* Step to the next instruction; false behind the last. */
static bool walk_next(struct walk *w)
{
	uint8_t both;

	w->at += w->bytes;
	w->clone += w->clone_bytes;
	if (w->p >= w->end || w->at >= w->module_end)
		return false;
	both = *w->p++;
	w->bytes = both >> 4;
	w->clone_bytes = both & 15;
	if (w->clone_bytes == 15 && w->end - w->p >= 2) {
		w->clone_bytes = (uint32_t)w->p[0] | (uint32_t)w->p[1] << 8;
		w->p += 2;
	}
	return true;
}

uint64_t dw_original(uint64_t pc, bool is_return)
{
	const struct dw_area *area = dw_area_of_clone(pc - is_return);
	uint32_t at, function;
	struct walk w;

	if (!area)
		return pc;
	at = (uint32_t)(pc - is_return - area->area);
	function = dw_function_of_clone(area, at);
	if (function == area->header->functions.n)
		return pc;
	w = walk_begin(area, function);
	while (walk_next(&w))
		if (at - w.clone < w.clone_bytes)
			return area->module + w.at + (is_return ? w.bytes : 0);
	return pc;
}

uint64_t dw_clone_of(uint64_t pc)
{
	const struct dw_area *area = dw_area_of_module(pc);
	const struct dw_clone_function_entry *f;
	uint32_t at, function;
	struct walk w;

	if (!area)
		return pc;
	at = (uint32_t)(pc - area->module);
	function = function_of_module(area, at);
	if (function == area->header->functions.n)
		return pc;
	f = &dw_functions(area)[function];
	if (!f->clone_at || has_left(area, function))
		return pc;
	w = walk_begin(area, function);
	while (walk_next(&w) && w.at <= at)
		if (w.at == at)
			return area->area + w.clone + (at == f->start ? f->prefix_bytes : 0);
	return pc;
}
