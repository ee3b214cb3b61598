/*
 * The ring, and the mappings with code that are told in it, as the kernel lists them.
 *
 * Memory of the program is copied by a system call, because what looks like a stack may be one that
 * ends anywhere, or that another thread unmaps: where nothing is mapped the kernel copies less, and
 * nobody faults. Lists of mappings longer than the room for them lose their end, which the
 * collector can still read itself while the process lives.
 */
#include "agent/sample/sampling.h"

#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

#include <sys/uio.h>

enum { TRIES = 1000 };

/* Raise the head by @bytes: *@position. False: no room. */
static bool take(uint64_t bytes, uint64_t *position)
{
	struct dw_sample_ring *ring = dw_sampling.ring;
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);

	for (int i = 0; i < TRIES; i++) {
		uint64_t used = head - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);

		if (used > dw_sampling.ring_bytes || bytes > dw_sampling.ring_bytes - used)
			return false;
		if (__atomic_compare_exchange_n(&ring->head, &head, head + bytes, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			*position = head;
			return true;
		}
	}
	return false;
}

bool dw_ring_begin(struct dw_ring_place *place, uint32_t kind, uint32_t room)
{
	uint64_t bytes = (sizeof(*place->record) + room + DWELL_SAMPLE_ALIGN - 1) &
			 -(uint64_t)DWELL_SAMPLE_ALIGN;
	struct dw_sample_record *record;

	if (!take(bytes, &place->position)) {
		__atomic_fetch_add(&dw_sampling.ring->lost,
				   kind == DWELL_SAMPLE_STACK ||
					   kind == DWELL_SAMPLE_INTERPRETER_STACK,
				   __ATOMIC_RELAXED);
		return false;
	}
	record = (void *)(dw_sampling.data + place->position % dw_sampling.ring_bytes);
	place->record = record;
	record->bytes = (uint32_t)bytes;
	record->content = 0;
	record->kind = kind;
	record->tid = (int32_t)dw_syscall(SYS_gettid);
	record->time_ns = dw_sys_now_ns();
	__atomic_store_n(&record->seal, dw_sample_seal_begin(place->position), __ATOMIC_RELEASE);
	return true;
}

/* The memory for @n bytes at @offset of the content, in one or two pieces. How many. */
static int pieces(const struct dw_ring_place *place, uint32_t offset, uint32_t n,
		  struct iovec ret[2])
{
	uint64_t at = (place->position + sizeof(*place->record) + offset) % dw_sampling.ring_bytes;
	uint64_t first = dw_sampling.ring_bytes - at;

	first = n < first ? n : first;
	ret[0] = (struct iovec){dw_sampling.data + at, first};
	ret[1] = (struct iovec){dw_sampling.data, n - first};
	return first < n ? 2 : 1;
}

void dw_ring_write(const struct dw_ring_place *place, uint32_t offset, const void *from, uint32_t n)
{
	struct iovec to[2];

	if (pieces(place, offset, n, to) == 2)
		memcpy(to[1].iov_base, (const char *)from + to[0].iov_len, to[1].iov_len);
	memcpy(to[0].iov_base, from, to[0].iov_len);
}

uint32_t dw_ring_copy(const struct dw_ring_place *place, uint32_t offset, uint64_t address,
		      uint32_t n)
{
	const struct iovec from = {(void *)address, n};
	struct iovec to[2];
	int to_n = pieces(place, offset, n, to);
	long got = dw_syscall(SYS_process_vm_readv, dw_sys_getpid(), to, to_n, &from, 1);

	return got > 0 ? (uint32_t)got : 0;
}

void dw_ring_end(const struct dw_ring_place *place, uint32_t content)
{
	place->record->content = content;
	__atomic_store_n(&place->record->seal, dw_sample_seal_end(place->position),
			 __ATOMIC_RELEASE);
}

/* Bytes of /proc/self/maps at @text, whole lines. */
static size_t read_all(char *text)
{
	size_t n = dw_read_file("/proc/self/maps", text, DWELL_SAMPLE_MAPS_MAX);

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
