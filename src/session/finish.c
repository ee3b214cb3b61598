/*
 * From FILE.partial to FILE; see write.h.
 *
 * The session is written anew beside the partial, not in place: the result has no holes, larger
 * chunks pack better, and until the rename the partial is untouched. It is loaded already, so this
 * costs the packing and nothing else. That is done by a thread, while the caller computes totals.
 *
 * What may be millions of rows, nodes of calls and deltas, was not loaded row by row, and naming
 * changes nothing in it: large chunks go over as they are, small ones are put together.
 */
#include "base/cleanup.h"
#include "session/database.h"
#include "session/decode.h"
#include "session/output.h"
#include "session/read.h"
#include "session/tables.h"
#include "session/write.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	FINISHED_LEVEL = 6, /* of zstd: measured, see docs/session-format.md */
	LARGE_ITEMS = 1 << 16,
	JOINED_ITEMS = 1 << 18, /* of small chunks put together */
	CODE_LEVEL = 1,		/* code hardly packs: level 3 takes twice as long for 11 % */
};

struct dw_session_finishing {
	char *partial, *path, *fresh; /* owned */
	int fd;			      /* of the file @fresh, -1 = none */
	const struct dw_profile *p;   /* borrowed */
	struct dw_database db;	      /* the thread's until it has ended */
	pthread_t thread;
	bool has_thread;
	struct dw_error err; /* the thread's */
};

static int put_chunk(void *ctx, struct dw_raw_chunk *c)
{
	struct dw_session_finishing *f = ctx;

	f->db.level = c->kind == DWELL_CHUNK_CODES ? CODE_LEVEL : FINISHED_LEVEL;
	return dw_database_put(&f->db, c, &f->err);
}

/* Chunks of one kind on their way from the partial. */
struct carried {
	struct dw_session_finishing *f;
	enum dw_chunk_kind kind;
	size_t from, to;	  /* nodes: rows of small chunks that are not written yet */
	struct dw_profile joined; /* deltas: likewise in its table, the only one of its own */
	struct dw_raw_chunk small;
};

/* Write what has come in small chunks. */
static int put_small(struct carried *k)
{
	struct dw_profile *p = &k->joined;
	size_t n = p->calls.deltas.n + p->allocations.deltas.n;
	int rc;

	if (k->kind == DWELL_CHUNK_CALL_NODES)
		rc = dw_encode_rows(k->f->p, k->kind, k->from, k->to, put_chunk, k->f);
	else
		rc = dw_encode_rows(p, k->kind, 0, n, put_chunk, k->f);
	k->from = k->to;
	p->calls.deltas.n = p->allocations.deltas.n = 0;
	return rc;
}

/* Keep the rows of @c for now. Nodes are loaded. */
static int join(struct carried *k, const struct dw_packed_chunk *c, struct dw_error *err)
{
	int rc;

	if (k->kind == DWELL_CHUNK_CALL_NODES)
		return 0;
	k->small.kind = k->kind;
	k->small.items = c->items;
	rc = dw_chunk_unpack(c, &k->small.raw);
	if (!rc)
		rc = dw_decode_chunk(&k->small, NULL, &k->joined, err);
	if (!rc && k->joined.calls.deltas.n + k->joined.allocations.deltas.n >= JOINED_ITEMS)
		rc = put_small(k);
	return rc;
}

static int carry_chunk(void *ctx, const struct dw_packed_chunk *c, struct dw_error *err)
{
	struct carried *k = ctx;
	bool is_large = c->items >= LARGE_ITEMS;
	int rc = 0;

	if (k->kind == DWELL_CHUNK_CALL_NODES && c->items > k->f->p->calls.nodes.n - k->to)
		return dw_error_set(err, DWELL_ERR_FORMAT, "it has changed meanwhile");
	if (is_large)
		rc = put_small(k);
	k->to += c->items;
	if (is_large && !rc) {
		k->from = k->to;
		rc = dw_database_put_packed(&k->f->db, k->kind, c, err);
	} else if (!rc) {
		rc = join(k, c, err);
	}
	return rc;
}

static bool is_carried(const struct dw_profile *p, enum dw_chunk_kind kind)
{
	switch (kind) {
	case DWELL_CHUNK_CALL_NODES:
	case DWELL_CHUNK_CALL_DELTAS:
		return dw_calls_summed(&p->calls);
	case DWELL_CHUNK_ALLOC_DELTAS:
		return dw_allocations_summed(&p->allocations);
	default:
		return false;
	}
}

static int carry(struct dw_session_finishing *f, enum dw_chunk_kind kind)
{
	struct carried k = {.f = f, .kind = kind, .joined = *f->p};
	int rc;

	/* What it has in common with f->p is read and not written. */
	memset(&k.joined.calls.deltas, 0, sizeof k.joined.calls.deltas);
	memset(&k.joined.allocations.deltas, 0, sizeof k.joined.allocations.deltas);
	rc = dw_session_each_chunk(f->partial, kind, carry_chunk, &k, &f->err);
	if (!rc)
		rc = put_small(&k);
	dw_vec_release(&k.joined.calls.deltas);
	dw_vec_release(&k.joined.allocations.deltas);
	dw_buf_release(&k.small.raw);
	return rc;
}

static int put_profile(struct dw_session_finishing *f, const struct dw_profile *p)
{
	static const struct dw_encoded nothing;
	struct dw_raw_chunk facts = {.kind = DWELL_CHUNK_FACTS};
	int rc = 0;

	for (enum dw_chunk_kind kind = DWELL_CHUNK_STRINGS; kind < DWELL_CHUNK_KINDS && !rc; kind++)
		rc = is_carried(p, kind) ? carry(f, kind)
					 : dw_encode_kind(p, &nothing, kind, true, put_chunk, f);
	f->db.index.finished = true;
	if (!rc)
		rc = dw_encode_facts(&p->facts, &facts);
	if (rc && !f->err.code)
		dw_error_set(&f->err, rc, "cannot finish the session: %s", dw_err_string(rc));
	if (!rc)
		rc = dw_database_put_state(&f->db, &facts, &f->err);
	dw_buf_release(&facts.raw);
	return rc;
}

/* Everything but the tables, into the empty file. */
static void *write_profile(void *arg)
{
	struct dw_session_finishing *f = arg;
	int rc = dw_database_create(&f->db, f->fresh, false, FINISHED_LEVEL, &f->err);

	if (!rc)
		(void)put_profile(f, f->p);
	return NULL;
}

/* Begin to write, in a thread that no signal reaches. */
static void start_writing(struct dw_session_finishing *f)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	f->has_thread = !pthread_create(&f->thread, NULL, write_profile, f);
	if (!f->has_thread)
		write_profile(f);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* Free @f, whose thread has ended. What it wrote goes, unless it has its name. */
static void finishing_free(struct dw_session_finishing *f)
{
	dw_database_release(&f->db);
	if (f->fd >= 0 && f->fresh)
		dw_output_remove(f->fresh);
	dw_cleanup_close(&f->fd);
	dw_error_clear(&f->err);
	free(f->fresh);
	free(f->path);
	free(f->partial);
	free(f);
}

/* Add the tables, make the file lasting and put it in the place of f->path. */
static int complete(struct dw_session_finishing *f, const struct dw_totals *totals,
		    struct dw_error *err)
{
	int rc = dw_tables_write(&f->db, f->p, totals, err);

	if (!rc)
		rc = dw_database_exec(&f->db, "COMMIT", err);
	dw_database_release(&f->db);
	if (!rc && fsync(f->fd))
		rc = dw_error_set_errno(err, errno, "cannot write the session");
	if (!rc && rename(f->fresh, f->path))
		rc = dw_error_set_errno(err, errno, "cannot rename %s to %s", f->fresh, f->path);
	if (rc)
		return rc;
	close(dw_take_fd(f->fd)); /* what has its name stays */
	dw_output_remove(f->partial);
	return dw_output_sync_folder(f->path, err);
}

int dw_session_hold(const char *partial, int *ret, struct dw_error *err)
{
	dw_auto_close int fd = open(partial, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	int rc;

	if (fd < 0)
		return dw_error_set_errno(err, errno, "%s", partial);
	rc = dw_output_hold(fd, partial, err);
	if (!rc)
		*ret = dw_take_fd(fd);
	return rc;
}

int dw_session_finish_begin(const char *partial, const char *path, const struct dw_profile *p,
			    struct dw_session_finishing **ret, struct dw_error *err)
{
	struct dw_session_finishing *f = calloc(1, sizeof *f);
	int rc;

	if (!f)
		return dw_error_set(err, -ENOMEM, "no memory to finish the session");
	*f = (struct dw_session_finishing){.fd = -1, .p = p};
	f->partial = strdup(partial);
	f->path = strdup(path);
	f->fresh = dw_output_name(path, ".partial-new");
	if (f->partial && f->path && f->fresh)
		rc = dw_session_check_target(path, err);
	else
		rc = dw_error_set(err, -ENOMEM, "no memory to finish the session");
	if (!rc) {
		dw_output_remove(f->fresh);
		rc = dw_output_create(f->fresh, &f->fd, err);
	}
	if (rc) {
		finishing_free(f);
		return rc;
	}
	start_writing(f);
	*ret = f;
	return 0;
}

int dw_session_finish_end(struct dw_session_finishing *f, const struct dw_totals *totals,
			  struct dw_error *err)
{
	int rc;

	if (f->has_thread)
		pthread_join(f->thread, NULL);
	rc = f->err.code;
	if (rc) {
		dw_error_set(err, rc, "%s", dw_error_message(&f->err));
	} else if (totals) {
		rc = complete(f, totals, err);
	}
	finishing_free(f);
	return rc;
}

int dw_session_finish(const char *partial, const char *path, const struct dw_profile *p,
		      const struct dw_totals *totals, struct dw_error *err)
{
	struct dw_session_finishing *f;
	int rc = dw_session_finish_begin(partial, path, p, &f, err);

	return rc ? rc : dw_session_finish_end(f, totals, err);
}
