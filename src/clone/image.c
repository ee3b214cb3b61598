/*
 * Putting images together; see image.h and wire/clone-image.h. Code and maps have their places by
 * the layout and are written in two threads; everything behind them is appended in turn.
 */
#include "clone/image.h"

#include "clone/emit.h"
#include "clone/image-elf.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 2, INT3 = 0xcc };

/* What one thread writes: functions [first, last). */
struct share {
	const struct dw_emit_target *target;
	size_t first, last;
	struct dw_emit_result result;
	int rc;
};

static void write_map(const struct dw_emit_target *t, const struct dw_clone_function *f)
{
	uint32_t at = 0;

	for (uint32_t i = f->first; i < f->first + f->n; i++) {
		int32_t distance = (int32_t)(t->m->places.v[i] - f->map_at);

		memcpy(t->area + f->map_at + at * sizeof distance, &distance, sizeof distance);
		at += t->m->insns.v[i].length;
	}
}

static void *write_share(void *arg)
{
	struct share *s = arg;
	const struct dw_clone_module *m = s->target->m;

	for (size_t i = s->first; i < s->last && !s->rc; i++) {
		const struct dw_clone_function *f = &m->functions.v[i];

		if (!f->clone_at)
			continue;
		s->rc = dw_emit_function(s->target, f, &s->result);
		if (f->map_at)
			write_map(s->target, f);
	}
	return NULL;
}

/* The gates, and int3 between them and the clones. */
static void write_between(const struct dw_image_parts *parts, uint8_t *area)
{
	uint32_t end = parts->layout->gates.at + dw_gates_bytes();

	dw_gates_write(&parts->layout->gates, area);
	dw_vec_each(f, &parts->m->functions) {
		if (!f->clone_at)
			continue;
		memset(area + end, INT3, f->clone_at - end);
		end = f->clone_at + f->clone_bytes;
	}
	memset(area + end, INT3, parts->layout->code_at + parts->layout->code_bytes - end);
}

static int write_clones(const struct dw_image_parts *parts, uint8_t *area,
			struct share shares[THREADS])
{
	const struct dw_emit_target target = {parts->m, parts->layout->gates, area};
	size_t half = parts->m->functions.n / 2;
	pthread_t other;
	bool is_other;

	shares[0] = (struct share){.target = &target, .last = half};
	shares[1] = (struct share){.target = &target, half, parts->m->functions.n};
	is_other = !pthread_create(&other, NULL, write_share, &shares[1]);
	write_between(parts, area);
	write_share(&shares[0]);
	if (!shares[0].rc)
		shares[0].rc = dw_emit_tables(&target, &shares[0].result);
	if (is_other)
		pthread_join(other, NULL);
	else
		write_share(&shares[1]);
	return shares[0].rc ? shares[0].rc : shares[1].rc;
}

/* Append @n records of @size bytes, 8-aligned, as @part. */
static int append(struct dw_image_bytes *b, const void *records, size_t n, size_t size,
		  struct dw_clone_part *part)
{
	int rc = dw_image_align(b, 8);

	part->at = (uint32_t)b->bytes.n;
	part->n = (uint32_t)n;
	return rc ? rc : dw_image_append(b, records, n * size);
}

static int append_length(struct dw_image_bytes *b, uint32_t module, uint32_t clone)
{
	uint8_t bytes[3] = {(uint8_t)(module << 4 | (clone < 15 ? clone : 15)), (uint8_t)clone,
			    (uint8_t)(clone >> 8)};

	return dw_image_append(b, bytes, clone < 15 ? 1 : 3);
}

/* Append the lengths of the instructions of @f. */
static int append_insns(const struct dw_clone_module *m, const struct dw_clone_function *f,
			struct dw_image_bytes *b)
{
	uint32_t from = f->clone_at, last = f->first + f->n - 1;
	int rc = 0;

	for (uint32_t i = f->first; i <= last && !rc; i++) {
		uint32_t to = i < last ? m->places.v[i + 1] : f->clone_at + f->clone_bytes;

		rc = to - from > UINT16_MAX ? DWELL_ERR_LIMIT
					    : append_length(b, m->insns.v[i].length, to - from);
		from = to;
	}
	return rc;
}

static int append_functions(const struct dw_clone_module *m, struct dw_image_bytes *b,
			    struct dw_clone_header *h)
{
	DW_VEC(struct dw_clone_function_entry) list = {0};
	int rc = dw_vec_reserve(&list, m->functions.n);

	if (!rc)
		rc = dw_image_align(b, 8);
	h->instructions.at = (uint32_t)b->bytes.n;
	for (size_t i = 0; i < m->functions.n && !rc; i++) {
		const struct dw_clone_function *f = &m->functions.v[i];
		struct dw_clone_function_entry entry = {
			.start = (uint32_t)(f->start - m->start),
			.bytes = (uint32_t)(f->end - f->start),
			.clone_at = f->clone_at,
			.clone_bytes = f->clone_bytes,
			.prefix_bytes = f->prefix_bytes,
			.reason = f->reason,
			.flags = f->flags,
		};

		if (f->clone_at) {
			entry.instructions = (uint32_t)b->bytes.n - h->instructions.at;
			rc = append_insns(m, f, b);
		}
		list.v[list.n++] = entry;
	}
	h->instructions.n = (uint32_t)b->bytes.n - h->instructions.at;
	if (!rc)
		rc = append(b, list.v, list.n, sizeof *list.v, &h->functions);
	dw_vec_release(&list);
	return rc;
}

static int append_patches(const struct dw_patches *p, struct dw_image_bytes *b,
			  struct dw_clone_header *h)
{
	int rc = append(b, NULL, 0, 0, &h->patches);

	dw_vec_each(x, &p->list)
		if (!rc)
			rc = dw_image_append(b, &x->patch, sizeof x->patch);
	h->patches.n = (uint32_t)p->list.n;
	if (!rc)
		rc = append(b, NULL, 0, 0, &h->returns);
	dw_vec_each(x, &p->list) {
		struct dw_clone_return back = {x->patch.at, x->patch.target};

		if (rc || x->insn == UINT32_MAX)
			continue;
		rc = dw_image_append(b, &back, sizeof back);
		h->returns.n++;
	}
	return rc;
}

static int append_unwind(const struct dw_image_parts *parts, struct dw_clone_unwind *u,
			 struct dw_image_bytes *b, struct dw_clone_header *h)
{
	struct dw_clone_gate_range gates = dw_gates_range(&parts->layout->gates);
	int rc = dw_image_align(b, 8);

	if (!rc)
		rc = dw_clone_unwind_write(parts->m, &gates, 1, (uint32_t)b->bytes.n, u);
	if (!rc)
		rc = dw_image_append(b, u->bytes.v, u->bytes.n);
	if (rc)
		return rc;
	h->eh_frame_hdr_at = u->eh_frame_hdr_at;
	h->eh_frame_hdr_bytes = u->eh_frame_at - u->eh_frame_hdr_at;
	h->eh_frame_at = u->eh_frame_at;
	h->eh_frame_bytes = (uint32_t)b->bytes.n - u->eh_frame_at;
	return 0;
}

/* Append the relocations, with those of the unwind tables. */
static int append_relocations(const struct share shares[THREADS], const struct dw_clone_unwind *u,
			      struct dw_image_bytes *b, struct dw_clone_header *h)
{
	int rc = 0;

	for (int kind = 0; kind < 4 && !rc; kind++) {
		rc = append(b, NULL, 0, 0, &h->relocations[kind]);
		for (int i = 0; i < THREADS && !rc; i++) {
			const uint32_t *v = shares[i].result.relocations[kind].v;
			size_t n = shares[i].result.relocations[kind].n;

			rc = dw_image_append(b, v, n * sizeof *v);
			h->relocations[kind].n += (uint32_t)n;
		}
		if (!rc && kind == DWELL_RELOC_TO_MODULE) {
			rc = dw_image_append(b, u->to_module.v,
					     u->to_module.n * sizeof *u->to_module.v);
			h->relocations[kind].n += (uint32_t)u->to_module.n;
		}
	}
	return rc;
}

static void fill_header(const struct dw_image_parts *parts, struct dw_clone_header *h)
{
	const struct dw_clone_layout *layout = parts->layout;
	const struct dw_clone_module *m = parts->m;

	memcpy(h->magic, DWELL_CLONE_MAGIC, sizeof h->magic);
	h->version = DWELL_CLONE_VERSION;
	h->header_bytes = sizeof *h;
	memcpy(h->maker, parts->maker, sizeof h->maker);
	h->probes = parts->options->probes;
	h->module = m->identity;
	h->module_bytes = m->bytes;
	h->distance = m->distance;
	h->fixed_start = m->is_fixed ? m->start : 0;
	h->code_at = layout->code_at;
	h->code_bytes = layout->code_bytes;
	h->constants_at = layout->gates.constants_at;
	h->wiped_at = layout->gates.wiped_at;
}

/* Append all that stands behind code and maps. */
static int append_rest(const struct dw_image_parts *parts, const struct share shares[THREADS],
		       struct dw_image_bytes *b, struct dw_clone_header *h)
{
	struct dw_clone_unwind u = {0};
	int rc = append_unwind(parts, &u, b, h);

	if (!rc)
		rc = append_functions(parts->m, b, h);
	if (!rc)
		rc = append_patches(parts->patches, b, h);
	if (!rc)
		rc = append_relocations(shares, &u, b, h);
	dw_clone_unwind_release(&u);
	return rc ? rc : dw_image_add_elf(b, parts, h);
}

int dw_clone_image_write(const struct dw_image_parts *parts, uint8_t **ret, size_t *ret_n,
			 struct dw_error *err)
{
	struct dw_image_bytes b = {0};
	struct dw_clone_header h = {0};
	struct share shares[THREADS] = {0};
	int rc = -ENOMEM;

	b.bytes.v = calloc(1, parts->layout->end);
	if (b.bytes.v) {
		b.bytes.n = b.bytes.cap = parts->layout->end;
		fill_header(parts, &h);
		rc = write_clones(parts, b.bytes.v, shares);
	}
	if (!rc)
		rc = append_rest(parts, shares, &b, &h);
	for (int i = 0; i < THREADS; i++)
		dw_emit_result_release(&shares[i].result);
	if (rc) {
		dw_vec_release(&b.bytes);
		return dw_error_set(err, rc, "cannot write its clones");
	}
	*ret = b.bytes.v;
	*ret_n = b.bytes.n;
	return 0;
}
