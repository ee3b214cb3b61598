/* Windows for samples; see sample-windows.h. */
#include "record/sample-windows.h"

#define OPEN_NS	   20000000ull	/* a window */
#define LOOK_NS	   100000000ull /* as long as all time is one */
#define RUNS_A_S   1000.0	/* in windows, in a second of processor time: half of the samples */
#define PART_MIN   0.1
#define PART_WHOLE 0.8 /* turning would not be worth it */

enum {
	COST_SHARE = 200,
	RUNS_MIN = 100, /* fewer cost next to nothing */
};

void dw_sample_windows_begin(struct dw_sample_windows *w, uint64_t now)
{
	*w = (struct dw_sample_windows){
		.is_open = true,
		.since_ns = now,
		.next_ns = now + OPEN_NS,
		.part = 1,
		.turns_seed = 1,
	};
}

void dw_sample_windows_learn(struct dw_sample_windows *w, uint64_t runs, uint64_t ran_ns)
{
	double part = runs < RUNS_MIN ? 1 : RUNS_A_S * (double)ran_ns / 1e9 / (double)runs;

	w->part = part < PART_MIN ? PART_MIN : part < PART_WHOLE ? part : 1;
}

/* From 0.5 to 1.5. */
static double draw(struct dw_sample_windows *w)
{
	w->turns_seed = w->turns_seed * 1664525 + 1013904223;
	return 0.5 + (double)(w->turns_seed >> 8) / (1 << 24);
}

bool dw_sample_windows_turn(struct dw_sample_windows *w, uint64_t now, uint64_t cost_ns)
{
	bool was_open = w->is_open;
	uint64_t least = cost_ns * COST_SHARE, wait;

	w->is_open = !was_open || w->part >= 1;
	wait = was_open && w->is_open ? LOOK_NS : OPEN_NS;
	if (wait < least)
		wait = least;
	if (!w->is_open)
		wait = (uint64_t)((double)wait * (1 / w->part - 1) * draw(w));
	w->next_ns = now + wait;
	if (w->is_open == was_open)
		return false;
	if (was_open)
		w->open_ns += now - w->since_ns;
	w->since_ns = now;
	return true;
}

uint64_t dw_sample_windows_open_ns(const struct dw_sample_windows *w, uint64_t now)
{
	return w->open_ns + (w->is_open && now > w->since_ns ? now - w->since_ns : 0);
}

double dw_sample_windows_part(const struct dw_sample_windows *w, struct dw_samples_seen *seen,
			      uint64_t now)
{
	struct dw_samples_seen before = *seen;

	*seen = (struct dw_samples_seen){now, dw_sample_windows_open_ns(w, now)};
	if (now <= before.at_ns || seen->open_ns <= before.open_ns)
		return 1;
	return (double)(seen->open_ns - before.open_ns) / (double)(now - before.at_ns);
}
