/*
 * Perf records of arbitrary bytes through decoding, tracking, address spaces and unwinding. The
 * input is a sequence of records as a ring holds them; nothing outside is looked at.
 */
#include "base/cleanup.h"
#include "collect/perf/records.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Feed the records of @data, each in memory of its own so that every read beyond one is seen. */
static void feed(struct dw_dispatcher *in, const uint8_t *data, size_t n)
{
	while (n >= sizeof(struct perf_event_header)) {
		struct perf_event_header h;
		dw_auto_free uint8_t *record = NULL;

		memcpy(&h, data, sizeof h);
		if (h.size < sizeof h || h.size > n)
			return;
		record = malloc(h.size);
		if (!record)
			return;
		memcpy(record, data, h.size);
		if (dw_dispatcher_record(in, record, h.size, h.type != PERF_RECORD_SAMPLE))
			return;
		data += h.size;
		n -= h.size;
	}
}

/* Take in @data as records of one layout of samples. */
static void run(const uint8_t *data, size_t n, bool has_chains)
{
	static struct dw_unwind_frame *frames; /* 40 MB: not to be had anew for each input */
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_dispatcher in;

	dw_dispatcher_init(&in, &p, NULL, true);
	in.unwinder.frames = frames;
	in.has_chains = has_chains;
	if (!dw_track_command(&in.track, 10))
		feed(&in, data, n);
	for (size_t i = 0; i < p.samples.n; i++)
		if (!dw_stacks_get(&p.stacks, p.samples.stack[i]))
			abort();
	frames = in.unwinder.frames;
	in.unwinder.frames = NULL;
	dw_dispatcher_release(&in);
	dw_profile_release(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	run(data, n, false);
	run(data, n, true);
	return 0;
}
