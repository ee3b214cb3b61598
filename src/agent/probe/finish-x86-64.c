/*
 * The last change of images; see finish.h.
 *
 * All of an image changes at once: code without probes, the page that a fork would wipe, and
 * tables, where relocation has made them its own; else these stay the file's, which processes
 * share. What begins in a clone with a probe at its entry
 * begins in the module: the jump there has the length of the probe's first instruction, so that
 * tasks that are in the probe find what they need.
 */
#include "agent/probe/finish.h"

#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/probe/mute.h"
#include "agent/probe/restore.h"
#include "agent/probe/state.h"
#include "agent/probe/text.h"

enum { CALL = 0xe8 };

/* Images that lie side by side. */
struct run {
	uint64_t at, end;
};

/* Whether the image of @a has probes that measure, and can still be changed. */
static bool is_wanted(const struct dw_area *a)
{
	return !a->is_closed && !a->is_final && a->header->probes >= DWELL_PROBES_SYSTEM_CALLS &&
	       a->header->wiped_at >= a->header->code_at + a->header->code_bytes;
}

static bool loads_rax(enum dw_gate gate)
{
	return gate == DWELL_GATE_ENTER || gate == DWELL_GATE_OUT ||
	       gate == DWELL_GATE_OUT_POINTER || gate == DWELL_GATE_TAIL || gate == DWELL_GATE_LINE;
}

/* Let the probes of @a be nops in @copy, its image. */
static void silence(const struct dw_area *a, uint8_t *copy)
{
	const struct dw_clone_header *h = a->header;

	for (uint32_t gate = DWELL_GATE_ENTER; gate < DWELL_GATES_N; gate++) {
		const struct dw_clone_part *list = &h->gate_calls[gate];
		const uint32_t *sites = (const uint32_t *)(a->area + list->at);

		for (uint32_t i = 0; i < list->n; i++) {
			uint32_t at = sites[i], bytes;
			uint8_t code[DWELL_PROBE_BYTES];

			if (at - h->code_at >= h->code_bytes || copy[at] != CALL)
				continue;
			bytes = dw_mute_code(a, loads_rax((enum dw_gate)gate), &at, code);
			if (at + bytes <= h->code_at + h->code_bytes)
				memcpy(copy + at, code, bytes);
		}
	}
}

/* Let the entries of clones with a probe there lead to the module. */
static void lead_back(const struct dw_area *a, uint8_t *copy)
{
	const struct dw_clone_header *h = a->header;
	const struct dw_clone_function_entry *f = dw_functions(a), *end = f + h->functions.n;

	for (; f < end; f++)
		if (f->clone_at && f->prefix_bytes == DWELL_PROBE_BYTES &&
		    f->clone_at - h->code_at < h->code_bytes &&
		    f->clone_bytes <= h->code_at + h->code_bytes - f->clone_at)
			dw_text_write_jump(copy + f->clone_at, a->area + f->clone_at,
					   a->module + f->start);
}

static void edit(void *ctx, uint8_t *copy)
{
	const struct run *run = ctx;

	for (uint32_t i = 0; i < dw_probe.area_n; i++) {
		const struct dw_area *a = &dw_probe.areas[i];
		uint8_t *image = copy + (a->area - run->at);

		if (!is_wanted(a) || a->area - run->at >= run->end - run->at)
			continue;
		silence(a, image);
		if (a->is_restored)
			lead_back(a, image);
		((uint64_t *)(image + a->header->wiped_at))[DWELL_WIPED_ALIVE] = 1;
	}
}

/* The wanted image that is the first at @at or behind. NULL = none. */
static struct dw_area *next(uint64_t at)
{
	struct dw_area *found = NULL;

	for (uint32_t i = 0; i < dw_probe.area_n; i++) {
		struct dw_area *a = &dw_probe.areas[i];

		if (is_wanted(a) && a->area >= at && (!found || a->area < found->area))
			found = a;
	}
	return found;
}

/* Change the images of @run. */
static bool change(const struct run *run)
{
	if (dw_text_share(run->at, run->end - run->at, edit, (void *)run))
		return false;
	for (struct dw_area *a = next(run->at); a && a->area < run->end; a = next(a->area))
		a->is_final = true;
	return true;
}

/* The end of what changes of @a's image. */
static uint64_t end_of(const struct dw_area *a)
{
	return a->area + (a->has_own_tables ? a->bytes : a->header->wiped_at + DWELL_PAGE_BYTES);
}

/* Change all images: those that lie side by side at once, each by itself where that is refused. */
static void change_all(void)
{
	struct dw_area *a = next(0), *behind;

	while (a) {
		struct run run = {a->area, end_of(a)};

		for (behind = next(run.end); behind && behind->area == run.end;
		     behind = next(run.end))
			run.end = end_of(behind);
		if (!change(&run))
			for (; a && a->area < run.end; a = next(a->area + 1))
				change(&(struct run){a->area, end_of(a)});
		a = next(run.end);
	}
}

/* Whether nothing can measure any more, and nothing of the agent's memory tells what runs where. */
static bool is_done(void)
{
	for (uint32_t i = 0; i < dw_probe.area_n; i++) {
		const struct dw_area *a = &dw_probe.areas[i];

		if (!a->is_closed && (!a->is_final || (a->left && !a->is_restored)))
			return false;
	}
	return true;
}

void dw_finish_all(void)
{
	if (dw_probe.is_finished || !dw_agent_enter())
		return;
	for (uint32_t i = 0; i < dw_probe.area_n && !dw_probe.is_finished; i++)
		if (is_wanted(&dw_probe.areas[i]))
			dw_restore_module(&dw_probe.areas[i]);
	if (!dw_probe.is_finished) {
		change_all();
		dw_probe.is_finished = true;
		if (is_done())
			dw_agent_retire();
	}
	dw_agent_leave();
}

void dw_finish_set_alive(uint64_t is_alive)
{
	for (uint32_t i = 0; i < dw_probe.area_n; i++) {
		const struct dw_area *a = &dw_probe.areas[i];
		uint64_t *wiped;

		if (a->is_closed || a->is_final)
			continue;
		wiped = (uint64_t *)(a->area + a->header->wiped_at);
		if (wiped[DWELL_WIPED_ALIVE] != is_alive)
			wiped[DWELL_WIPED_ALIVE] = is_alive;
	}
}
