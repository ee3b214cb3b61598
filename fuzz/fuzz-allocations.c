/*
 * Fuzz target: the tables of a .NET agent as a hostile target leaves them. The input begins with
 * struct dw_clr_head; the bytes behind it are the tables in their order, each as long as the head
 * says, the last ones as far as the input goes. They are read twice: with half the rows of each
 * table, then with all, with a part of them changed meanwhile; as those of an agent that counts
 * objects and as those of one that tells where code lies.
 */
#include "collect/clr/allocations.h"
#include "collect/clr/tables.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What every profile keeps to. */
static void check_profile(const struct dw_profile *p)
{
	const struct dw_allocations *a = &p->allocations;

	dw_vec_each(g, &a->groups) {
		if (!dw_threads_get(&p->threads, g->thread) ||
		    !dw_allocations_get_type(a, g->type) ||
		    (g->stack && !dw_stacks_get(&p->stacks, g->stack)))
			abort();
	}
	dw_vec_each(t, &a->types) {
		if (!t->name || (t->module && !dw_modules_get(&p->modules, t->module)))
			abort();
	}
	dw_vec_each(m, &a->methods) {
		if (!m->name || !dw_modules_get(&p->modules, m->module) || m->token >> 24)
			abort();
	}
	dw_vec_each(d, &a->deltas) {
		if (!dw_allocations_get_group(a, d->group))
			abort();
	}
	dw_vec_each(gc, &a->gcs) {
		if (gc->generation > 2 ||
		    (gc->thread && !dw_threads_get(&p->threads, gc->thread)) ||
		    (gc->stack && !dw_stacks_get(&p->stacks, gc->stack)))
			abort();
	}
}

/* Lay out the chunks: the head at the start of @size bytes behind the header, each table behind the
 * one before. */
static void lay_out(struct dw_region_header *h, const struct dw_clr_head *head, size_t size)
{
	uint64_t at = sizeof *head;

	h->chunks[0] = (struct dw_region_chunk){DWELL_REGION_CHUNK_CLR, 0, sizeof *h, sizeof *head};
	h->chunk_n = 1;
	for (uint32_t i = 0; i < DWELL_CLR_TABLES && at < size; i++) {
		uint64_t bytes = (uint64_t)head->rows[i] * dw_clr_row_bytes(i);

		if (bytes > size - at)
			bytes = size - at;
		h->chunks[h->chunk_n++] = (struct dw_region_chunk){DWELL_REGION_CHUNK_CLR + 1 + i,
								   0, sizeof *h + at, bytes};
		at += bytes;
	}
}

static void put(int fd, const void *from, size_t n, size_t at)
{
	if (pwrite(fd, from, n, (off_t)at) != (ssize_t)n)
		abort();
}

/* Where managed code lay, as the sampler reads it. */
struct code {
	struct dw_clr_tables tables;
	struct dw_code_map map;
	uint32_t taken;
};

/* Each piece is found where it begins, at its time, but for those that others came to lie over. */
static void check_code(const struct code *c)
{
	struct dw_clr_code row;

	dw_vec_each(piece, &c->map.pieces) {
		if (piece->end <= piece->start ||
		    dw_code_map_find(&c->map, piece->start, UINT64_MAX) != piece ||
		    !dw_clr_tables_get(&c->tables, DWELL_CLR_CODES, piece->row, &row))
			abort();
	}
	dw_vec_each(piece, &c->map.old)
		dw_code_map_find(&c->map, piece->start, piece->since_ns);
}

static void read_region(int fd, struct dw_region_allocations *r, struct code *c, uint32_t slice)
{
	struct dw_region_head head;
	const struct dw_allocations_reading now = {&head, 1000, slice};

	if (dw_region_read_head(fd, &head))
		abort();
	dw_region_allocations_read(r, fd, &now);
	if (dw_clr_tables_more(&c->tables, fd, &head))
		return;
	if (dw_clr_codes_take(&c->map, &c->taken, &c->tables))
		abort();
	check_code(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct dw_region_header h = {.magic = DWELL_REGION_MAGIC,
					    .version = DWELL_REGION_VERSION,
					    .header_bytes = sizeof h};
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_region_allocations *r = NULL;
	struct code c = {0};
	struct dw_clr_head head, half;
	int fd;

	if (size < sizeof head)
		return 0;
	memcpy(&head, data, sizeof head);
	half = head;
	for (int i = 0; i < DWELL_CLR_TABLES; i++)
		half.rows[i] /= 2;
	lay_out(&h, &head, size);
	fd = memfd_create("region", MFD_CLOEXEC);
	if (fd < 0 || dw_region_allocations_new(&p, 1, 0, &r))
		abort();
	put(fd, &h, sizeof h, 0);
	put(fd, data, size, sizeof h);
	put(fd, &half, sizeof half, sizeof h);
	read_region(fd, r, &c, 0);
	check_profile(&p);
	put(fd, &head, sizeof head, sizeof h);
	put(fd, data, (size - sizeof head) / 2, sizeof h + sizeof head + (size - sizeof head) / 2);
	read_region(fd, r, &c, 1);
	check_profile(&p);
	dw_region_allocations_free(r);
	dw_code_map_release(&c.map);
	dw_clr_tables_release(&c.tables);
	dw_profile_release(&p);
	close(fd);
	return 0;
}
