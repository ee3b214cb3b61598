/*
 * Unit tests of src/collect/in-process/process.h: rings as agents write them, and as they never
 * would.
 */
#include "check.h"
#include "scratch.h"

#include "region-writer.h"

#include "collect/in-process/process.h"

enum { RING_BYTES = 4096 };

/* A region with a ring, and what was read from it. */
struct fixture {
	struct region_writer w;
	struct dw_sample_ring *page;
	uint8_t *data;
	struct dw_in_process_ring ring;
	struct dw_in_process_buffer buffer;
	int taken;
	char order[16]; /* of the first ones, by their kinds */
	struct dw_in_process_record last;
	uint8_t first_byte, last_byte;
};

/* Where the ring's chunk begins, as aligned as in an agent's region. */
#define CHUNK_AT ((sizeof(struct dw_region_header) + 4095) & ~(size_t)4095)

static void set_up(struct fixture *f)
{
	static int n;
	char name[16];
	struct dw_region_header *h;

	snprintf(name, sizeof name, "ring%d", n++);
	*f = (struct fixture){
		.w = region_write(".", name,
				  CHUNK_AT - sizeof *h + DWELL_SAMPLE_PAGE + RING_BYTES)};
	h = f->w.h;
	h->chunks[0] = (struct dw_region_chunk){DWELL_REGION_CHUNK_SAMPLES, 0, CHUNK_AT,
						DWELL_SAMPLE_PAGE + RING_BYTES};
	h->chunk_n = 1;
	f->page = (void *)((uint8_t *)h + CHUNK_AT);
	f->data = (uint8_t *)f->page + DWELL_SAMPLE_PAGE;
	f->page->bytes = RING_BYTES;
}

static void tear_down(struct fixture *f)
{
	free(f->buffer.bytes);
	munmap(f->w.h, CHUNK_AT + DWELL_SAMPLE_PAGE + RING_BYTES);
	close(f->w.fd);
}

/* Write a record with @content bytes, each @byte; it is whole, or was only begun. */
static struct dw_sample_record *write_record(struct fixture *f, uint32_t content, uint8_t byte,
					     bool is_whole)
{
	uint64_t at = f->page->head;
	struct dw_sample_record *r = (void *)(f->data + at % RING_BYTES);

	*r = (struct dw_sample_record){.bytes = (32 + content + 31) & -32u,
				       .content = content,
				       .kind = DWELL_SAMPLE_STACK,
				       .tid = 77,
				       .time_ns = 1000};
	for (uint32_t i = 0; i < content; i++)
		f->data[(at + 32 + i) % RING_BYTES] = byte;
	r->seal = is_whole ? dw_sample_seal_end(at) : dw_sample_seal_begin(at);
	f->page->head += r->bytes;
	return r;
}

static int take(void *ctx, const struct dw_in_process_record *record)
{
	struct fixture *f = ctx;

	if (f->taken < (int)sizeof f->order - 1) {
		f->order[f->taken] = record->kind == DWELL_SAMPLE_MAPS ? 'm' : 's';
		f->order[f->taken + 1] = 0;
	}
	f->taken++;
	f->last = *record;
	if (record->content_bytes) {
		f->first_byte = record->content[0];
		f->last_byte = record->content[record->content_bytes - 1];
	}
	return 0;
}

static int read_ring(struct fixture *f, bool is_last)
{
	f->taken = 0;
	return dw_in_process_ring_read(&f->ring, f->w.fd, &f->buffer, is_last, take, f);
}

TEST(records_come_once_and_give_their_room_back)
{
	struct fixture f;

	set_up(&f);
	write_record(&f, 100, 1, true);
	write_record(&f, 0, 2, true);
	CHECK_INT(read_ring(&f, false), 0);
	CHECK_INT(f.taken, 2);
	CHECK_INT(f.last.tid, 77);
	CHECK_INT(f.page->tail, f.page->head);
	CHECK_INT(read_ring(&f, false), 0);
	CHECK_INT(f.taken, 0);
	tear_down(&f);
}

TEST(records_wrap_around)
{
	struct fixture f;

	set_up(&f);
	for (int i = 0; i < 50; i++) {
		write_record(&f, 1000, (uint8_t)i, true);
		CHECK_INT(read_ring(&f, false), 0);
		CHECK_INT(f.taken, 1);
		CHECK_INT(f.last.content_bytes, 1000);
		CHECK_INT(f.first_byte, i);
		CHECK_INT(f.last_byte, i);
	}
	tear_down(&f);
}

TEST(what_is_being_written_is_waited_for)
{
	struct fixture f;
	struct dw_sample_record *r;

	set_up(&f);
	write_record(&f, 10, 1, true);
	r = write_record(&f, 10, 2, false);
	write_record(&f, 10, 3, true);
	CHECK_INT(read_ring(&f, false), 0);
	CHECK_INT(f.taken, 1);
	r->seal ^= 1;
	CHECK_INT(read_ring(&f, false), 0);
	CHECK_INT(f.taken, 2);
	tear_down(&f);
}

TEST(what_was_begun_is_left_out_at_the_end)
{
	struct fixture f;

	set_up(&f);
	write_record(&f, 10, 1, false);
	write_record(&f, 10, 2, true);
	CHECK_INT(read_ring(&f, true), 0);
	CHECK_INT(f.taken, 1);
	CHECK_INT(f.first_byte, 2);
	tear_down(&f);
}

TEST(mappings_come_before_their_samples)
{
	struct fixture f;

	set_up(&f);
	write_record(&f, 10, 1, true);
	write_record(&f, 10, 2, true);
	write_record(&f, 10, 3, true)->kind = DWELL_SAMPLE_MAPS;
	write_record(&f, 10, 4, true);
	write_record(&f, 10, 5, true)->kind = DWELL_SAMPLE_MAPS;
	write_record(&f, 10, 6, true)->kind = DWELL_SAMPLE_MAPS;
	write_record(&f, 10, 7, true);
	CHECK_INT(read_ring(&f, false), 0);
	CHECK_STR(f.order, "mssmsms");
	CHECK_INT(f.page->tail, f.page->head);
	write_record(&f, 10, 8, false);
	write_record(&f, 10, 9, true)->kind = DWELL_SAMPLE_MAPS;
	CHECK_INT(read_ring(&f, false), 0);
	CHECK_INT(f.taken, 0);
	CHECK_INT(read_ring(&f, true), 0);
	CHECK_STR(f.order, "m");
	tear_down(&f);
}

TEST(what_an_older_record_left_is_none)
{
	struct fixture f;

	set_up(&f);
	for (int i = 0; i < 4; i++)
		write_record(&f, 1000 - 8, 1, true);
	CHECK_INT(read_ring(&f, false), 0);
	f.page->head += 1024; /* taken, and nothing written yet */
	CHECK_INT(read_ring(&f, false), 0);
	CHECK_INT(f.taken, 0);
	CHECK_INT(read_ring(&f, true), 0);
	CHECK_INT(f.taken, 0);
	tear_down(&f);
}

TEST(lengths_are_checked)
{
	static const uint32_t bytes[] = {0, 16, 33, 4096, UINT32_MAX, 0x80000000};
	struct fixture f;

	for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
		set_up(&f);
		write_record(&f, 10, 1, true)->bytes = bytes[i];
		CHECK_INT(read_ring(&f, true), 0);
		CHECK_INT(f.taken, 0);
		tear_down(&f);
	}
	set_up(&f);
	write_record(&f, 10, 1, true)->content = 33;
	CHECK_INT(read_ring(&f, true), 0);
	CHECK_INT(f.taken, 0);
	tear_down(&f);
}

TEST(a_ring_that_makes_no_sense_is_left)
{
	struct fixture f;

	set_up(&f);
	write_record(&f, 10, 1, true);
	f.page->bytes = 3000;
	CHECK_INT(read_ring(&f, false), 0);
	CHECK(f.ring.is_bad);
	tear_down(&f);
	set_up(&f);
	f.page->head = RING_BYTES + 32;
	CHECK_INT(read_ring(&f, false), 0);
	CHECK(f.ring.is_bad);
	tear_down(&f);
	set_up(&f);
	write_record(&f, 10, 1, true);
	f.page->bytes = (uint64_t)1 << 40;
	CHECK_INT(read_ring(&f, false), 0);
	CHECK(f.ring.is_bad);
	CHECK_INT(f.taken, 0);
	tear_down(&f);
}

TEST(a_file_that_was_cut_is_left)
{
	struct fixture f;

	set_up(&f);
	write_record(&f, 10, 1, true);
	CHECK(!ftruncate(f.w.fd, (off_t)(sizeof *f.w.h + DWELL_SAMPLE_PAGE)));
	CHECK_INT(read_ring(&f, true), 0);
	CHECK_INT(f.taken, 0);
	tear_down(&f);
}

TEST_MAIN()
