/*
 * Jitdumps in books; see dump-book.h. Records have times, so code is known from when on it lay
 * there. A move is the same code once more, at another address.
 */
#include "collect/jit/dump-book.h"

#include <errno.h>

/* Add the piece @piece, which is code at @r. */
static int add_piece(struct dw_jit_process *p, const struct dw_jitdump_record *r,
		     const struct dw_jit_piece *piece)
{
	const struct dw_code_piece code = {r->start, r->start + r->code_bytes,
					   p->dump.header.has_other_time ? p->told_ns : r->time_ns,
					   (uint32_t)p->pieces.n};
	uint64_t index = r->index;
	int rc;

	if (p->pieces.n >= DWELL_JIT_PIECES_MAX) {
		p->jit->dropped++;
		return 0;
	}
	rc = dw_vec_push(&p->pieces, *piece);
	if (!rc)
		rc = dw_map_put(&p->by_index, index, code.row);
	return rc ? rc : dw_code_map_add(&p->map, &code);
}

static int take_load(struct dw_jit_process *p, const struct dw_jitdump_record *r)
{
	struct dw_jit_piece piece = {.lines_at = p->lines_at, .lines_bytes = p->lines_bytes};
	int rc = dw_jit_keep_name(p, r->name, r->name_n, &piece);

	p->lines_bytes = 0;
	return rc ? rc : add_piece(p, r, &piece);
}

static int take_move(struct dw_jit_process *p, const struct dw_jitdump_record *r)
{
	uint32_t row = dw_map_get(&p->by_index, r->index);
	struct dw_jit_piece piece;

	if (!row)
		return 0;
	piece = p->pieces.v[row];
	/* Its lines have the addresses that it had first. */
	piece.function = piece.lines_bytes = 0;
	return add_piece(p, r, &piece);
}

static int take_record(void *ctx, const struct dw_jitdump_record *r, uint64_t at)
{
	struct dw_jit_process *p = ctx;

	switch (r->kind) {
	case DWELL_JITDUMP_LOAD:
		return take_load(p, r);
	case DWELL_JITDUMP_MOVE:
		return take_move(p, r);
	case DWELL_JITDUMP_DEBUG:
		p->lines_at = at;
		p->lines_bytes = (uint32_t)r->bytes;
		return 0;
	default:
		return 0;
	}
}

int dw_jit_read_dump(struct dw_jit_process *p)
{
	return dw_dump_file_more(&p->dump, take_record, p);
}

int dw_jit_read_lines(struct dw_jit_process *p, const struct dw_jit_piece *piece,
		      const struct dw_code_piece *code)
{
	struct dw_jit_functions *functions = &p->jit->functions;
	const struct dw_jit_lines_source from = {
		.fd = p->dump.fd,
		.header = &p->dump.header,
		.at = piece->lines_at,
		.bytes = p->dump.fd < 0 ? 0 : piece->lines_bytes,
		.start = code->start,
		.end = code->end,
		.svma = piece->svma,
		.file = functions->rows.v[piece->function - 1].file,
	};

	return dw_jit_lines_read(&p->jit->lines, &functions->texts, &from);
}
