/*
 * Samples; see object-samples.h. The runtime's own interval is fixed: longer ones leave out samples
 * by chance, so what is kept is still a fair draw.
 */
#include "agent/clr/object-samples.h"

#include "agent/clr/runtime.h"
#include "agent/core/bytes.h"
#include "agent/core/system-calls.h"
#include "wire/allocations.h"

enum { EVENT_TICK = 10, EVENT_SAMPLED = 303, FIRST_WITH_SAMPLED = 10 };
enum { LEVEL_INFORMATIONAL = 4, LEVEL_VERBOSE = 5 };
#define WORD_SAMPLED 0x80000000000ull

/* Bytes of an event before the type's address, and between the end of its name and the size. */
enum { TICK_HEAD = 18, TICK_MIDDLE = 12, SAMPLED_HEAD = 6, SAMPLED_MIDDLE = 8 };

struct sampling {
	uint64_t interval;
	uint64_t draws; /* that were made */
};

static struct sampling sampling;

bool dw_sample_start(uint64_t interval, uint16_t major)
{
	sampling.interval = interval;
	if (major >= FIRST_WITH_SAMPLED)
		return dw_runtime_listen(WORD_SAMPLED, LEVEL_INFORMATIONAL) >= 0;
	return dw_runtime_listen(DWELL_EVENT_WORD_GC, LEVEL_VERBOSE) >= 0;
}

/* A number that looks random: a counter and the clock, well mixed. */
static uint64_t draw(void)
{
	uint64_t x = __atomic_add_fetch(&sampling.draws, 0x9e3779b97f4a7c15u, __ATOMIC_RELAXED) ^
		     dw_ticks();

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* Whether a sample of the runtime's is one of ours. */
static bool is_drawn(void)
{
	return sampling.interval <= DWELL_CLR_DRAW_BYTES ||
	       draw() % sampling.interval < DWELL_CLR_DRAW_BYTES;
}

static bool read(const uint8_t *data, uint32_t bytes, uint32_t head, uint32_t middle,
		 struct dw_sample *ret)
{
	uint32_t at = head + sizeof(ret->class);

	if (bytes < at)
		return false;
	memcpy(&ret->class, data + head, sizeof(ret->class));
	while (at + 2 <= bytes && (data[at] || data[at + 1])) /* the name, UTF-16 */
		at += 2;
	at += 2 + middle;
	if (at > bytes || bytes - at < sizeof(ret->bytes))
		return false;
	memcpy(&ret->bytes, data + at, sizeof(ret->bytes));
	ret->bytes = (ret->bytes + 7) & ~(uint64_t)7;
	return ret->class && ret->bytes;
}

bool dw_sample_read(uint32_t number, const uint8_t *data, uint32_t bytes, struct dw_sample *ret)
{
	if (number == EVENT_SAMPLED)
		return read(data, bytes, SAMPLED_HEAD, SAMPLED_MIDDLE, ret) && is_drawn();
	return number == EVENT_TICK && read(data, bytes, TICK_HEAD, TICK_MIDDLE, ret) && is_drawn();
}
