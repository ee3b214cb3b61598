/*
 * Rows of the formats for machines; see records.h.
 *
 * Both memories are tables of slots in which a new text replaces one with the same hash, so that
 * they stay small however long a report gets. Of the columns that a place decides only one run of
 * neighbours is copied; in all views those columns do stand together.
 */
#include "format/records.h"

#include "base/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 8192, PERCENTS = 2048 }; /* slots, powers of two */

struct dw_format_place {
	struct dw_row_place place;
	struct dw_out cells; /* as written; empty = free slot */
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
			   dw_format_put_fn *put)
{
	*r = (struct dw_format_records){.job = job, .put = put};
	for (; job->columns[r->columns_n]; r->columns_n++)
		dw_column_key(job->columns[r->columns_n], r->key[r->columns_n]);
	find_run(r);
	r->places = calloc(PLACES, sizeof *r->places);
	r->percents = calloc(PERCENTS, sizeof *r->percents);
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
	uint64_t h = dw_hash_u64((uint64_t)place->process << 32 ^ place->function);

	h ^= (uint64_t)place->file << 32 ^ (uint64_t)place->module << 8 ^ place->kind;
	return &r->places[dw_hash_u64(h) & (PLACES - 1)];
}

/* The cells of the run, from a slot if they can be. */
static void put_place(struct dw_format_records *r, struct dw_out *out, const struct dw_row *row)
{
	struct dw_format_place *slot;
	struct dw_row_place place;

	if (!dw_row_place(row, &place))
		return put_cells(r, out, row, r->place_begin, r->place_end);
	slot = slot_of(r, &place);
	if (!slot->cells.buf.len || memcmp(&slot->place, &place, sizeof place)) {
		if (!slot->cells.buf.data)
			dw_out_init_buffer(&slot->cells);
		dw_buf_clear(&slot->cells.buf);
		slot->place = place;
		put_cells(r, &slot->cells, row, r->place_begin, r->place_end);
		if (slot->cells.failed)
			out->failed = slot->cells.failed;
	}
	dw_out_write(out, dw_buf_str(&slot->cells.buf), slot->cells.buf.len);
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
	default:
		return dw_format_count(out, c->number);
	}
}

void dw_format_records_release(struct dw_format_records *r)
{
	for (size_t i = 0; r->places && i < PLACES; i++)
		dw_buf_release(&r->places[i].cells.buf);
	free(r->places);
	free(r->percents);
	dw_buf_release(&r->scratch[0]);
	dw_buf_release(&r->scratch[1]);
}
