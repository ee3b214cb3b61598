/*
 * Putting images together; see emit.h and wire/clone-image.h.
 *
 * Code and maps have their places by the layout and are written in two threads, of which one writes
 * the unwind tables first; everything behind is appended in turn. The image is the same whoever
 * wrote what.
 */
#include "clone/emit/emit.h"

#include "clone/emit/image-elf.h"
#include "wire/identity.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 256, INT3 = 0xcc }; /* functions that a thread takes at a time */

/* Clones being written: chunk by chunk, each by the thread that takes it. */
struct work {
	struct dw_emit_target target;
	struct dw_emit_result *results; /* by chunk, the last one of the jump tables */
	size_t chunks;
	size_t next; /* atomic */
	int rc;	     /* atomic */
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

static int write_chunk(struct work *w, size_t chunk)
{
	const struct dw_clone_module *m = w->target.m;
	size_t end = (chunk + 1) * CHUNK < m->functions.n ? (chunk + 1) * CHUNK : m->functions.n;
	struct dw_emit_result result = {0}; /* apart from that of the other thread's core */
	int rc = 0;

	for (size_t i = chunk * CHUNK; i < end && !rc; i++) {
		const struct dw_clone_function *f = &m->functions.v[i];

		if (!f->clone_at)
			continue;
		rc = dw_emit_function(&w->target, f, &result);
		if (f->map_at)
			write_map(&w->target, f);
	}
	w->results[chunk] = result;
	return rc;
}

static void *write_chunks(void *arg)
{
	struct work *w = arg;
	size_t chunk;

	while ((chunk = __atomic_fetch_add(&w->next, 1, __ATOMIC_RELAXED)) < w->chunks) {
		int rc = write_chunk(w, chunk);

		if (rc)
			__atomic_store_n(&w->rc, rc, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* The trampolines, and int3 between them and the clones. */
static void write_between(const struct dw_image_parts *parts, uint8_t *area)
{
	uint32_t end = parts->layout->trampolines.at + dw_trampolines_bytes(parts->m->probes);

	dw_trampolines_write(&parts->layout->trampolines, area);
	dw_vec_each(f, &parts->m->functions) {
		if (!f->clone_at)
			continue;
		memset(area + end, INT3, f->clone_at - end);
		end = f->clone_at + f->clone_bytes;
	}
	memset(area + end, INT3, parts->layout->code_at + parts->layout->code_bytes - end);
}

/* Write all clones and, meanwhile, the unwind tables @u for area offset @unwind_at. */
static int write_clones(const struct dw_image_parts *parts, struct work *w, uint32_t unwind_at,
			struct dw_clone_unwind *u)
{
	struct dw_clone_trampoline_range trampolines =
		dw_trampolines_range(&parts->layout->trampolines);
	pthread_t other;
	bool is_other = !pthread_create(&other, NULL, write_chunks, w);
	int rc = dw_clone_unwind_write(parts->m, &trampolines, 1, unwind_at, u);

	write_between(parts, w->target.area);
	write_chunks(w);
	if (!rc)
		rc = dw_emit_tables(&w->target, &w->results[w->chunks]);
	if (is_other)
		pthread_join(other, NULL);
	return rc ? rc : w->rc;
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

enum { LENGTH_BYTES_MAX = 3 };

/* Write the lengths of an instruction and its clone at @to. Where they end. */
static uint8_t *put_length(uint8_t *to, uint32_t module, uint32_t clone)
{
	*to++ = (uint8_t)(module << 4 | (clone < 15 ? clone : 15));
	if (clone >= 15) {
		*to++ = (uint8_t)clone;
		*to++ = (uint8_t)(clone >> 8);
	}
	return to;
}

static int append_insns(const struct dw_clone_module *m, const struct dw_clone_function *f,
			struct dw_image_bytes *b)
{
	uint32_t from = f->clone_at, last = f->first + f->n - 1;
	uint8_t *end;

	if (dw_vec_reserve(&b->bytes, (size_t)f->n * LENGTH_BYTES_MAX))
		return -ENOMEM;
	end = b->bytes.v + b->bytes.n;
	for (uint32_t i = f->first; i <= last; i++) {
		uint32_t to = i < last ? dw_clone_front(m, i + 1) : f->clone_at + f->clone_bytes;

		if (to - from > UINT16_MAX)
			return DWELL_ERR_LIMIT;
		end = put_length(end, m->insns.v[i].length, to - from);
		from = to;
	}
	b->bytes.n = (size_t)(end - b->bytes.v);
	return 0;
}

/* The hash of what the clones of @functions, @n, were made from. */
static uint64_t hash_cloned(const struct dw_clone_module *m,
			    const struct dw_clone_function_entry *functions, size_t n)
{
	uint64_t hash = DWELL_HASH_INIT;
	struct dw_identity_run run;
	const uint8_t *bytes;

	for (uint32_t i = 0; i < n;) {
		i = dw_identity_run(functions, (uint32_t)n, i, &run);
		bytes = dw_clone_module_bytes(m, m->start + run.start, run.end - run.start);
		if (bytes) /* else it lies in several segments, as no module that has an image */
			hash = dw_identity_hash(hash, bytes, run.end - run.start);
	}
	return hash;
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
	h->cloned_hash = hash_cloned(m, list.v, list.n);
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

/* Append what keys beyond those of functions stand for. */
static int append_imports(const struct dw_clone_module *m, struct dw_image_bytes *b,
			  struct dw_clone_header *h)
{
	int rc = append(b, m->imports.v, m->imports.n, sizeof *m->imports.v, &h->imports);

	if (rc)
		return rc;
	return append(b, m->statements.v, m->statements.n, sizeof *m->statements.v, &h->statements);
}

static int append_unwind(const struct dw_clone_unwind *u, struct dw_image_bytes *b,
			 struct dw_clone_header *h)
{
	int rc = dw_image_append(b, u->bytes.v, u->bytes.n);

	h->eh_frame_hdr_at = u->eh_frame_hdr_at;
	h->eh_frame_hdr_bytes = u->eh_frame_at - u->eh_frame_hdr_at;
	h->eh_frame_at = u->eh_frame_at;
	h->eh_frame_bytes = (uint32_t)b->bytes.n - u->eh_frame_at;
	return rc;
}

static int append_thread_fields(const struct dw_trampolines *trampolines, struct dw_image_bytes *b)
{
	uint32_t at;
	int rc = 0;

	for (uint32_t i = 0; !rc && (at = dw_trampolines_thread_field(trampolines, i)); i++)
		rc = dw_image_append(b, &at, sizeof at);
	return rc;
}

static int append_relocations(const struct work *w, const struct dw_clone_unwind *u,
			      struct dw_image_bytes *b, struct dw_clone_header *h)
{
	int rc = 0;

	for (int kind = 0; kind < DWELL_RELOCATIONS && !rc; kind++) {
		struct dw_clone_part *part = &h->relocations[kind];
		size_t start;

		rc = append(b, NULL, 0, 0, part);
		start = b->bytes.n;
		for (size_t i = 0; i <= w->chunks && !rc; i++)
			rc = dw_image_append(b, w->results[i].relocations[kind].v,
					     w->results[i].relocations[kind].n * sizeof(uint32_t));
		if (!rc && kind == DWELL_RELOC_TO_MODULE)
			rc = dw_image_append(b, u->to_module.v, u->to_module.n * sizeof(uint32_t));
		if (!rc && kind == DWELL_RELOC_THREAD)
			rc = append_thread_fields(&w->target.trampolines, b);
		part->n = (uint32_t)((b->bytes.n - start) / sizeof(uint32_t));
	}
	return rc;
}

static int append_trampoline_calls(const struct work *w, struct dw_image_bytes *b,
				   struct dw_clone_header *h)
{
	int rc = 0;

	for (int trampoline = 0; trampoline < DWELL_TRAMPOLINES_N && !rc; trampoline++) {
		rc = append(b, NULL, 0, 0, &h->trampoline_calls[trampoline]);
		for (size_t i = 0; i < w->chunks && !rc; i++) {
			size_t n = w->results[i].trampoline_calls[trampoline].n;

			h->trampoline_calls[trampoline].n += (uint32_t)n;
			rc = dw_image_append(b, w->results[i].trampoline_calls[trampoline].v,
					     n * sizeof(uint32_t));
		}
	}
	return rc;
}

static void set_probed(const struct dw_clone_module *m, struct dw_clone_header *h)
{
	dw_vec_each(f, &m->functions) {
		if (!(f->flags & DWELL_CLONE_PROBED))
			continue;
		if (!h->probed_end)
			h->probed_start = (uint32_t)(f->start - m->start);
		h->probed_end = (uint32_t)(f->end - m->start);
	}
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
	h->constants_at = layout->trampolines.constants_at;
	h->wiped_at = layout->trampolines.wiped_at;
	dw_trampolines_interrupted(&layout->trampolines, h->trampolines);
	dw_trampolines_slow_path(&layout->trampolines, h);
	dw_trampolines_places(&layout->trampolines, h->trampoline_at);
	h->system_calls = m->system_calls;
	h->system_calls_left = m->system_calls_left;
	h->statements_left = m->statements_left;
	set_probed(m, h);
}

/* Append all that stands behind code and maps. */
static int append_rest(const struct dw_image_parts *parts, const struct work *w,
		       const struct dw_clone_unwind *u, struct dw_image_bytes *b,
		       struct dw_clone_header *h)
{
	int rc = append_unwind(u, b, h);

	if (!rc)
		rc = append_functions(parts->m, b, h);
	if (!rc)
		rc = append_patches(parts->patches, b, h);
	if (!rc)
		rc = append_imports(parts->m, b, h);
	if (!rc)
		rc = append_relocations(w, u, b, h);
	if (!rc)
		rc = append_trampoline_calls(w, b, h);
	return rc ? rc : dw_image_add_elf(b, parts, h);
}

/* Start @b and @w: room for code and maps, and for results. */
static int start(const struct dw_image_parts *parts, struct dw_image_bytes *b, struct work *w)
{
	w->chunks = (parts->m->functions.n + CHUNK - 1) / CHUNK;
	w->results = calloc(w->chunks + 1, sizeof *w->results);
	b->bytes.v = calloc(1, parts->layout->end);
	if (!w->results || !b->bytes.v)
		return -ENOMEM;
	b->bytes.n = b->bytes.cap = parts->layout->end;
	w->target = (struct dw_emit_target){parts->m, parts->layout->trampolines, b->bytes.v};
	return 0;
}

int dw_clone_image_write(const struct dw_image_parts *parts, uint8_t **ret, size_t *ret_n,
			 struct dw_error *err)
{
	struct dw_image_bytes b = {0};
	struct dw_clone_header h = {0};
	struct dw_clone_unwind u = {0};
	struct work w = {0};
	int rc = start(parts, &b, &w);

	fill_header(parts, &h);
	if (!rc)
		rc = write_clones(parts, &w, parts->layout->end, &u);
	if (!rc)
		rc = append_rest(parts, &w, &u, &b, &h);
	for (size_t i = 0; w.results && i <= w.chunks; i++)
		dw_emit_result_release(&w.results[i]);
	free(w.results);
	dw_clone_unwind_release(&u);
	if (rc) {
		dw_vec_release(&b.bytes);
		return dw_error_set(err, rc, "cannot write its clones");
	}
	*ret = b.bytes.v;
	*ret_n = b.bytes.n;
	return 0;
}
