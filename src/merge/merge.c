/* Sessions through the writer of recordings; see merge.h. */
#include "merge/merge.h"

#include "base/cleanup.h"
#include "merge/join.h"
#include "record/finish.h"
#include "session/decode.h"
#include "session/output.h"
#include "session/read.h"
#include "session/write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct dw_merge {
	char *path, *partial; /* owned */
	char *first;	      /* owned: what the first session is called */
	struct dw_session_writer *writer;
	struct dw_joined joined;
	bool is_ended;
};

int dw_merge_begin(const char *path, struct dw_merge **ret, struct dw_error *err)
{
	struct dw_merge *m = calloc(1, sizeof *m);
	int rc = 0;

	if (m) {
		m->path = strdup(path);
		m->partial = dw_output_name(path, ".partial");
	}
	if (!m || !m->path || !m->partial)
		rc = dw_error_set(err, -ENOMEM, "no memory to merge sessions");
	else
		rc = dw_session_create(path, &m->writer, err);
	if (rc) {
		dw_merge_free(m);
		return rc;
	}
	*ret = m;
	return 0;
}

void dw_merge_free(struct dw_merge *m)
{
	if (!m)
		return;
	dw_session_writer_free(m->writer, !m->is_ended);
	dw_joined_release(&m->joined);
	free(m->first);
	free(m->partial);
	free(m->path);
	free(m);
}

/* Hand what is new to the writer and wait for it. */
static int flush(struct dw_merge *m, struct dw_error *err)
{
	int rc = dw_session_flush(m->writer, &m->joined.profile, err);

	if (!rc)
		rc = dw_session_wait(m->writer, err);
	if (!rc)
		dw_calls_forget(&m->joined.profile.calls);
	return rc;
}

/* What slices have, on its way. */
struct passing {
	struct dw_merge *m;
	const struct dw_join *j;
	enum dw_chunk_kind kind;
	struct dw_profile chunk; /* the session's tables, but deltas of its own */
	struct dw_raw_chunk raw;
};

/* Give the deltas that were read to the writer under their new ids. */
static int pass_deltas(struct passing *p, struct dw_error *err)
{
	struct dw_profile *to = &p->m->joined.profile;
	__auto_type calls = to->calls.deltas;
	__auto_type allocations = to->allocations.deltas;
	int rc;

	dw_vec_each(delta, &p->chunk.calls.deltas) {
		delta->slice += p->j->slices;
		delta->node += p->j->nodes;
	}
	dw_vec_each(delta, &p->chunk.allocations.deltas) {
		delta->slice += p->j->slices;
		delta->group += p->j->groups;
	}
	to->calls.deltas = p->chunk.calls.deltas;
	to->allocations.deltas = p->chunk.allocations.deltas;
	rc = flush(p->m, err);
	to->calls.deltas = calls;
	to->allocations.deltas = allocations;
	p->chunk.calls.deltas.n = p->chunk.allocations.deltas.n = 0;
	return rc;
}

static int pass_chunk(void *ctx, const struct dw_packed_chunk *c, struct dw_error *err)
{
	struct passing *p = ctx;
	int rc;

	if (c->items > DWELL_CHUNK_ITEMS_MAX)
		return dw_error_set(err, DWELL_ERR_FORMAT, "damaged: a chunk of %s is too large",
				    dw_chunk_kind_name(p->kind));
	p->raw.kind = p->kind;
	p->raw.items = c->items;
	rc = dw_chunk_unpack(c, &p->raw.raw);
	if (rc)
		return dw_error_set(err, rc, "damaged: a chunk of %s does not unpack",
				    dw_chunk_kind_name(p->kind));
	rc = dw_decode_chunk(&p->raw, NULL, &p->chunk, err);
	return rc ? rc : pass_deltas(p, err);
}

/* Everything of @kind, of which the session at @path is loaded without. */
static int pass(struct dw_merge *m, const struct dw_join *j, const char *path,
		enum dw_chunk_kind kind, struct dw_error *err)
{
	struct passing p = {.m = m, .j = j, .kind = kind, .chunk = *j->from};
	int rc;

	memset(&p.chunk.calls.deltas, 0, sizeof p.chunk.calls.deltas);
	memset(&p.chunk.allocations.deltas, 0, sizeof p.chunk.allocations.deltas);
	rc = dw_session_each_chunk(path, kind, pass_chunk, &p, err);
	dw_vec_release(&p.chunk.calls.deltas);
	dw_vec_release(&p.chunk.allocations.deltas);
	dw_buf_release(&p.raw.raw);
	return rc;
}

static int join(struct dw_merge *m, struct dw_join *j, const char *path, struct dw_error *err)
{
	int rc = dw_join_facts(j, path, m->first, err);

	if (rc)
		return rc;
	if (dw_join_tables(j))
		return dw_error_set(err, -ENOMEM, "no memory to merge it");
	rc = flush(m, err);
	if (!rc)
		rc = pass(m, j, path, DWELL_CHUNK_CALL_DELTAS, err);
	if (!rc)
		rc = pass(m, j, path, DWELL_CHUNK_ALLOC_DELTAS, err);
	return rc;
}

int dw_merge_add(struct dw_merge *m, const char *path, struct dw_error *err)
{
	struct dw_profile from = DW_PROFILE_INIT;
	struct dw_session_info info = {0};
	struct dw_join j = {0};
	int rc = dw_session_load_to_finish(path, &from, &info, err);

	if (!rc && !m->first && !(m->first = strdup(path)))
		rc = dw_error_set(err, -ENOMEM, "no memory to merge sessions");
	if (!rc && !info.finished)
		rc = dw_error_set(err, DWELL_ERR_UNSUPPORTED,
				  "%s is not finished: 'dwell recover' does that", path);
	if (!rc) {
		rc = dw_join_begin(&j, &m->joined, &from, err);
		if (!rc)
			rc = join(m, &j, path, err);
		if (rc && rc != DWELL_ERR_UNSUPPORTED)
			dw_error_prefix(err, "%s", path);
	}
	dw_join_end(&j);
	dw_profile_release(&from);
	return rc;
}

/* All but what dw_joined_give() takes: it is in the file. */
static void forget(struct dw_joined *to)
{
	struct dw_profile *p = &to->profile;

	dw_strings_release(&p->strings);
	dw_frames_release(&p->frames);
	dw_stacks_release(&p->stacks);
	dw_samples_release(&p->samples);
	dw_vec_release(&p->extras.rows);
	dw_calls_release(&p->calls);
	dw_allocations_release(&p->allocations);
	dw_idset_release(&p->functions.set);
}

int dw_merge_end(struct dw_merge *m, struct dw_error *err)
{
	struct dw_profile p = DW_PROFILE_INIT;
	int rc = dw_session_close_partial(m->writer, err);

	if (rc)
		return rc;
	forget(&m->joined);
	rc = dw_session_load_to_finish(m->partial, &p, NULL, err);
	if (!rc && dw_joined_give(&m->joined, &p))
		rc = dw_error_set(err, -ENOMEM, "no memory to merge sessions");
	if (!rc)
		rc = dw_finish_named(&p, m->partial, m->path, err);
	m->is_ended = !rc;
	dw_profile_release(&p);
	return rc;
}
