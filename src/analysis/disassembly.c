/*
 * Code by address; see disassembly.h. Compilers write a function's instructions one behind the
 * other, so that decoding from its start meets each; what does not decode is gone over by single
 * bytes. The bytes come from a session's file and may be anything.
 */
#include "analysis/disassembly.h"

#include "base/cleanup.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>

/* Functions that lie inside of others make the one before an address not the only candidate. */
enum { STEPS_BACK_MAX = 8 };

static int compare(const void *pa, const void *pb)
{
	const struct dw_code_stretch *a = pa, *b = pb;

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	if (a->svma != b->svma)
		return a->svma < b->svma ? -1 : 1;
	return (a->end > b->end) - (a->end < b->end);
}

int dw_disassembly_init(struct dw_disassembly *d, const struct dw_profile *p)
{
	*d = (struct dw_disassembly){.profile = p};
	dw_vec_each(code, &p->codes.rows) {
		const struct dw_function *f = dw_functions_get(&p->functions, code->function);
		const struct dw_code_stretch s = {f ? f->module : 0, code->function, code->svma,
						  code->svma + code->bytes_n, code};

		if (f && s.end > s.svma && dw_vec_push(&d->codes, s))
			return -ENOMEM;
	}
	for (uint32_t id = 1; id <= dw_functions_count(&p->functions); id++) {
		const struct dw_function *f = dw_functions_get(&p->functions, id);
		const struct dw_code_stretch s = {f->module, id, f->svma, f->svma + f->bytes, NULL};

		if (s.end > s.svma && !(f->flags & DWELL_FUNCTION_INLINED) &&
		    dw_vec_push(&d->functions, s))
			return -ENOMEM;
	}
	if (d->codes.n)
		qsort(d->codes.v, d->codes.n, sizeof *d->codes.v, compare);
	if (d->functions.n)
		qsort(d->functions.v, d->functions.n, sizeof *d->functions.v, compare);
	return 0;
}

static const struct dw_code_stretch *find(const struct dw_code_stretch *v, size_t n,
					  uint32_t module, uint64_t svma)
{
	size_t i = dw_sorted_count(v, n, s,
				   s->module < module || (s->module == module && s->svma <= svma));

	for (int steps = 0; i-- > 0 && steps < STEPS_BACK_MAX && v[i].module == module; steps++)
		if (svma < v[i].end)
			return &v[i];
	return NULL;
}

const struct dw_code_stretch *dw_disassembly_find(const struct dw_disassembly *d, uint32_t module,
						  uint64_t svma)
{
	return find(d->codes.v, d->codes.n, module, svma);
}

const struct dw_code_stretch *dw_disassembly_function(const struct dw_disassembly *d,
						      uint32_t module, uint64_t svma)
{
	return find(d->functions.v, d->functions.n, module, svma);
}

/* Frames by module and address. */
struct placed {
	uint32_t module;
	uint32_t frame;
	uint64_t svma;
};

static int compare_placed(const void *pa, const void *pb)
{
	const struct placed *a = pa, *b = pb;

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	if (a->svma != b->svma)
		return a->svma < b->svma ? -1 : 1;
	return (a->frame > b->frame) - (a->frame < b->frame);
}

/* Tell the instructions of the frames in @s, the first of which is @v, at most @n. Returns how many
 * they are. */
static size_t tell_stretch(const struct dw_code_stretch *s, const struct placed *v, size_t n,
			   struct dw_frame_instruction *ret)
{
	size_t i = 0;

	for (uint64_t at = s->svma, next;
	     at < s->end && i < n && v[i].module == s->module && v[i].svma < s->end; at = next) {
		uint32_t first = v[i].frame;

		next = at + dw_disassembly_step(s, at);
		for (; i < n && v[i].module == s->module && v[i].svma < next; i++)
			ret[v[i].frame] = (struct dw_frame_instruction){at, first};
	}
	return i;
}

static void tell(const struct dw_disassembly *d, const struct placed *v, size_t n,
		 struct dw_frame_instruction *ret)
{
	size_t i = 0;

	dw_vec_each(s, &d->codes) {
		while (i < n && (v[i].module < s->module ||
				 (v[i].module == s->module && v[i].svma < s->svma)))
			i++;
		i += tell_stretch(s, v + i, n - i, ret);
	}
}

int dw_disassembly_tell(struct dw_profile *p)
{
	size_t n = dw_frames_count(&p->frames);
	dw_auto_free struct placed *v = calloc(n + 1, sizeof *v);
	struct dw_disassembly d;
	int rc = dw_disassembly_init(&d, p);

	if (!v || (!rc && dw_vec_reserve(&p->frames.instructions, n + 1)))
		rc = -ENOMEM;
	for (uint32_t id = 0; id <= n && !rc; id++) {
		const struct dw_frame *f = dw_frames_get(&p->frames, id);

		if (f)
			v[id - 1] = (struct placed){f->module, id, f->svma};
		p->frames.instructions.v[id] = (struct dw_frame_instruction){f ? f->svma : 0, id};
	}
	if (!rc) {
		p->frames.instructions.n = n + 1;
		qsort(v, n, sizeof *v, compare_placed);
		tell(&d, v, n, p->frames.instructions.v);
	}
	dw_disassembly_release(&d);
	return rc;
}

void dw_disassembly_release(struct dw_disassembly *d)
{
	dw_vec_release(&d->codes);
	dw_vec_release(&d->functions);
	*d = (struct dw_disassembly){0};
}
