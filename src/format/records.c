/*
 * Rows of the formats for machines; see records.h.
 *
 * Both memories are tables of slots in which what is new replaces what has the same hash; texts are
 * forgotten all together when they get too long. So memory stays small however long a report gets.
 * Of the columns that a place decides only one run of
 * neighbours is copied; in all views those columns do stand together.
 */
#include "format/records.h"

#include "base/map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PLACES = 16384, /* slots, a power of two */
	PERCENTS = 2048,
	TEXTS_MAX_BYTES = 4 << 20,
};

struct dw_format_place {
	struct dw_row_place place;
	uint32_t bytes; /* of its cells as written, 0 = free slot */
	size_t begin;	/* in texts */
};

struct dw_format_percent {
	double value;
	char text[DWELL_DOUBLE_MAX_BYTES];
	uint8_t bytes; /* 0 = free slot */
};

/* The longest run of columns that a row's place decides. */
static void find_run(struct dw_format_records *r)
{
	const enum dw_column *columns = r->job->columns;
	size_t end;

	for (size_t i = 0; columns[i]; i = end + !!columns[end]) {
		for (end = i; columns[end] && dw_column_is_place(columns[end]); end++)
			;
		if (end - i > r->place_end - r->place_begin) {
			r->place_begin = i;
			r->place_end = end;
		}
	}
}

int dw_format_records_init(struct dw_format_records *r, const struct dw_format_job *job,
			   dw_format_put_fn *put, const char *before, const char *after)
{
	*r = (struct dw_format_records){.job = job, .put = put};
	for (; job->columns[r->columns_n]; r->columns_n++) {
		struct dw_format_head *head = &r->head[r->columns_n];
		char key[DWELL_KEY_MAX_BYTES];

		dw_column_key(job->columns[r->columns_n], key);
		head->bytes = (size_t)snprintf(head->text, sizeof head->text, "%s%s%s", before, key,
					       after);
	}
	find_run(r);
	r->places = calloc(PLACES, sizeof *r->places);
	r->percents = calloc(PERCENTS, sizeof *r->percents);
	dw_out_init_buffer(&r->texts);
	return r->places && r->percents ? 0 : -ENOMEM;
}

static void put_cells(struct dw_format_records *r, struct dw_out *out, const struct dw_row *row,
		      size_t begin, size_t end)
{
	struct dw_cell cell;

	for (size_t at = begin; at < end; at++) {
		dw_view_cell(r->job->view, row, r->job->columns[at], &r->scratch[1], &cell);
		r->put(r, out, at, &cell);
	}
}

static struct dw_format_place *slot_of(struct dw_format_records *r,
				       const struct dw_row_place *place)
{
	uint64_t h =
		dw_hash_u64((uint64_t)(place->process ^ place->command) << 32 ^ place->function);

	h ^= (uint64_t)place->file << 32 ^ (uint64_t)place->module << 8 ^ place->kind;
	return &r->places[dw_hash_u64(h) & (PLACES - 1)];
}

/* Write the cells of the run to the texts. 0 or a negative code. */
static int keep_place(struct dw_format_records *r, const struct dw_row *row,
		      struct dw_format_place *slot)
{
	if (r->texts.buf.len > TEXTS_MAX_BYTES) {
		memset(r->places, 0, PLACES * sizeof *r->places);
		dw_buf_clear(&r->texts.buf);
	}
	slot->begin = r->texts.buf.len;
	put_cells(r, &r->texts, row, r->place_begin, r->place_end);
	slot->bytes = (uint32_t)(r->texts.buf.len - slot->begin);
	return r->texts.failed;
}

/* The cells of the run, from a slot if they can be. */
static void put_place(struct dw_format_records *r, struct dw_out *out, const struct dw_row *row)
{
	struct dw_format_place *slot;
	struct dw_row_place place;

	if (!dw_row_place(row, &place))
		return put_cells(r, out, row, r->place_begin, r->place_end);
	slot = slot_of(r, &place);
	if (!slot->bytes || memcmp(&slot->place, &place, sizeof place)) {
		out->failed = out->failed ? out->failed : keep_place(r, row, slot);
		slot->place = place;
	}
	dw_out_write(out, dw_buf_str(&r->texts.buf) + slot->begin, slot->bytes);
}

void dw_format_record(struct dw_format_records *r, struct dw_out *out, size_t i)
{
	struct dw_row row;

	dw_view_row(r->job->view, i, &r->scratch[0], &row);
	put_cells(r, out, &row, 0, r->place_begin);
	if (r->place_begin < r->place_end)
		put_place(r, out, &row);
	put_cells(r, out, &row, r->place_end, r->columns_n);
}

static void put_percent(struct dw_format_records *r, struct dw_out *out, double v)
{
	struct dw_format_percent *slot;
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	slot = &r->percents[dw_hash_u64(bits) & (PERCENTS - 1)];
	if (!slot->bytes || slot->value != v) {
		slot->value = v;
		slot->bytes = (uint8_t)dw_format_double(v, slot->text);
	}
	dw_out_write(out, slot->text, slot->bytes);
}

void dw_format_cell(struct dw_format_records *r, struct dw_out *out, const struct dw_cell *c,
		    void (*put_text)(struct dw_out *out, const char *text))
{
	switch (c->kind) {
	case DWELL_CELL_EMPTY:
		return;
	case DWELL_CELL_TEXT:
		return put_text(out, c->text);
	case DWELL_CELL_PERCENT:
		return put_percent(r, out, c->percent);
	case DWELL_CELL_ADDRESS:
		return dw_format_address(out, c->number);
	case DWELL_CELL_CHANGE:
		if ((int64_t)c->number < 0)
			dw_out_puts(out, "-");
		return dw_format_count(out, (int64_t)c->number < 0 ? -c->number : c->number);
	default:
		return dw_format_count(out, c->number);
	}
}

void dw_format_records_release(struct dw_format_records *r)
{
	free(r->places);
	dw_out_close(&r->texts);
	free(r->percents);
	dw_buf_release(&r->scratch[0]);
	dw_buf_release(&r->scratch[1]);
}
