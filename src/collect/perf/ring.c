/*
 * Reading perf rings; see ring.h and the comment on data_head in linux/perf_event.h for the
 * barriers.
 *
 * Each CPU writes its own ring in the order of time, so all of them are merged by comparing heads:
 * with a ring or two per CPU a plain scan beats any heap. A record whose size makes no sense can
 * only come from a broken ring: everything in it is dropped, and counted.
 */
#include "collect/perf/ring.h"

#include "collect/perf/records.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RECORD_BYTES_MAX = 1 << 16, TOUCHED_BYTES = 256 };

void dw_ring_init(struct dw_ring *r, struct perf_event_mmap_page *page, const uint8_t *data,
		  size_t bytes)
{
	*r = (struct dw_ring){.page = page,
			      .data = data,
			      .bytes = bytes,
			      .head = page->data_tail,
			      .tail = page->data_tail,
			      .next_ns = UINT64_MAX};
}

int dw_ring_open(struct dw_ring *r, int fd, size_t bytes)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, page_bytes + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return -errno;
	dw_ring_init(r, page, (const uint8_t *)page + page_bytes, bytes);
	r->mapped = true;
	return 0;
}

/* Copy @n bytes at position @at, which may wrap around. */
static void copy_out(const struct dw_ring *r, uint64_t at, void *to, size_t n)
{
	uint64_t from = at & (r->bytes - 1);
	size_t first = n < r->bytes - from ? n : (size_t)(r->bytes - from);

	memcpy(to, r->data + from, first);
	memcpy((char *)to + first, r->data, n - first);
}

/* The next record's bytes in one piece. NULL = no memory. */
static const void *contiguous(struct dw_ring *r, size_t n)
{
	uint64_t from = r->tail & (r->bytes - 1);

	if (from + n <= r->bytes)
		return r->data + from;
	if (!r->assembled)
		r->assembled = malloc(RECORD_BYTES_MAX);
	if (r->assembled)
		copy_out(r, r->tail, r->assembled, n);
	return r->assembled;
}

/* Drop all that the ring holds. */
static void drop_all(struct dw_ring *r)
{
	r->tail = r->head;
	r->dropped++;
}

/* Find out size and time of the record at the tail. */
static void look_at_next(struct dw_ring *r)
{
	struct perf_event_header h;
	const void *p = NULL;

	r->next_ns = UINT64_MAX;
	if (r->head - r->tail > r->bytes)
		drop_all(r);
	while (!p && r->head - r->tail >= sizeof h) {
		copy_out(r, r->tail, &h, sizeof h);
		if (h.size < sizeof h || h.size > r->head - r->tail) {
			drop_all(r);
			return;
		}
		r->next_bytes = h.size;
		p = contiguous(r, h.size);
		if (!p) { /* no memory to put it together */
			r->tail += h.size;
			r->dropped++;
		}
	}
	if (p)
		r->next_ns = dw_perf_record_time(p, h.size);
}

/* Let the kernel have the room before the tail. */
static void give_back(struct dw_ring *r)
{
	__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
}

void dw_ring_refresh(struct dw_ring *r)
{
	bool was_empty = r->next_ns == UINT64_MAX;

	r->head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	if (!was_empty)
		return;
	look_at_next(r);
	give_back(r);
}

const void *dw_ring_peek(struct dw_ring *r, size_t *ret_bytes)
{
	if (r->next_ns == UINT64_MAX)
		return NULL;
	*ret_bytes = r->next_bytes;
	return contiguous(r, r->next_bytes);
}

/* Read what is read first of a record, which most likely has the @n bytes at @p. */
static void touch(const volatile uint8_t *p, size_t n)
{
	for (size_t i = 0; i < TOUCHED_BYTES && i < n; i += 64)
		(void)p[i];
	(void)p[n - 1];
}

const void *dw_ring_peek_behind(const struct dw_ring *r, size_t *ret_bytes)
{
	uint64_t at = r->tail + r->next_bytes, from = at & (r->bytes - 1);
	const uint8_t *p = r->data + from;
	struct perf_event_header h;

	if (r->next_ns == UINT64_MAX || r->head - at < sizeof h || from + sizeof h > r->bytes)
		return NULL;
	memcpy(&h, p, sizeof h);
	if (h.size < sizeof h || h.size > r->head - at || from + h.size > r->bytes)
		return NULL;
	*ret_bytes = h.size;
	if (r->head - at >= 2u * h.size && from + 2u * h.size <= r->bytes)
		touch(p + h.size, h.size);
	return p;
}

void dw_ring_consume(struct dw_ring *r)
{
	if (r->next_ns != UINT64_MAX)
		r->tail += r->next_bytes;
	look_at_next(r);
	give_back(r);
}

void dw_ring_close(struct dw_ring *r)
{
	if (r->mapped)
		munmap(r->page, (size_t)sysconf(_SC_PAGESIZE) + r->bytes);
	free(r->assembled);
	*r = (struct dw_ring){.next_ns = UINT64_MAX};
}

void dw_rings_refresh(struct dw_rings *rings)
{
	dw_vec_each(r, &rings->v)
		dw_ring_refresh(r);
}

struct dw_ring *dw_rings_next(struct dw_rings *rings, uint64_t limit_ns)
{
	struct dw_ring *best = NULL;

	dw_vec_each(r, &rings->v) {
		if (r->next_ns <= limit_ns && r->next_ns != UINT64_MAX &&
		    (!best || r->next_ns < best->next_ns))
			best = r;
	}
	return best;
}

void dw_rings_release(struct dw_rings *rings)
{
	dw_vec_each(r, &rings->v)
		dw_ring_close(r);
	dw_vec_release(&rings->v);
}
