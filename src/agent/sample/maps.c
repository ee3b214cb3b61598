/*
 * The mappings with code, as the kernel lists them; see maps.h. Lists longer than the room for them
 * lose their end, which the collector can still read itself while the process lives.
 */
#include "agent/sample/maps.h"

#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/memory.h"
#include "agent/core/syscall-x86-64.h"
#include "agent/sample/ring.h"

/* Bytes of /proc/self/maps at @text, whole lines. */
static size_t read_all(char *text)
{
	int fd = dw_sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	size_t n = 0;
	long more = fd < 0 ? 0 : 1;

	while (more > 0 && n < DWELL_SAMPLE_MAPS_MAX) {
		more = dw_sys_read(fd, text + n, DWELL_SAMPLE_MAPS_MAX - n);
		n += more > 0 ? (size_t)more : 0;
	}
	if (fd >= 0)
		dw_sys_close(fd);
	while (n && text[n - 1] != '\n')
		n--;
	return n;
}

/* Whether the line at @at, "START-END rwxp ...", is of code. */
static bool is_code(const char *at, const char *end)
{
	while (at < end && *at != ' ')
		at++;
	return end - at > 4 && at[3] == 'x';
}

/* Keep the lines of code in @text's @n bytes: how many that are. */
static size_t keep_code(char *text, size_t n)
{
	size_t kept = 0;

	for (size_t at = 0, next; at < n; at = next) {
		for (next = at; text[next] != '\n';)
			next++;
		next++;
		if (!is_code(text + at, text + next))
			continue;
		memmove(text + kept, text + at, next - at);
		kept += next - at;
	}
	return kept;
}

void dw_maps_tell(void)
{
	struct dw_ring_place place;
	char *text = dw_agent_memory(DWELL_SAMPLE_MAPS_MAX);
	uint64_t end;
	size_t n;

	if (!text)
		return;
	n = keep_code(text, read_all(text));
	if (n && dw_ring_begin(&place, DWELL_SAMPLE_MAPS, (uint32_t)n)) {
		dw_ring_write(&place, 0, text, (uint32_t)n);
		end = place.position + place.record->bytes; /* its bytes are the collector's then */
		dw_ring_end(&place, (uint32_t)n);
		__atomic_store_n(&dw_sampling.told, end, __ATOMIC_RELAXED);
	}
	dw_agent_memory_free(text, DWELL_SAMPLE_MAPS_MAX);
}

void dw_maps_tell_of_samples(void)
{
	if (dw_sampling_is_on() && dw_agent_is_on() &&
	    __atomic_load_n(&dw_sampling.ring->head, __ATOMIC_RELAXED) !=
		    __atomic_load_n(&dw_sampling.told, __ATOMIC_RELAXED) &&
	    dw_agent_is_self())
		dw_maps_tell();
}
