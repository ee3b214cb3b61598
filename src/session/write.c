/*
 * Recording into FILE.partial; see write.h.
 *
 * The caller's thread only turns new rows into bytes (a millisecond for a second of samples); a
 * thread of the writer's own packs them and commits. Deltas wait in a queue between the two, so a
 * slow disk costs memory, up to QUEUE_BYTES_MAX, and never time of the caller.
 */
#include "session/write.h"

#include "base/cleanup.h"
#include "session/database.h"
#include "session/output.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	QUEUE_BYTES_MAX = 256 << 20,
	RECORDING_LEVEL = 3, /* of zstd: 300 MB/s, and finishing packs again */
};

/* What one flush hands over: one transaction. */
struct delta {
	struct delta *next;
	struct dw_raw_chunks chunks;
	struct dw_raw_chunk facts;
	uint64_t bytes;
};

struct dw_session_writer {
	char *partial;
	struct dw_database db;	/* of the writer thread while it runs */
	struct dw_encoded done; /* of the caller */
	int fd;			/* holds the lock */
	bool running;
	pthread_t thread;
	pthread_mutex_t lock;	   /* guards all below */
	pthread_cond_t wake, idle; /* for the writer thread; for who waits for it */
	struct delta *first, **last;
	uint64_t queued_bytes;
	bool closing;
	struct dw_error state; /* first failure of the writer thread */
};

static void delta_free(struct delta *d)
{
	if (!d)
		return;
	dw_raw_chunks_release(&d->chunks);
	dw_buf_release(&d->facts.raw);
	free(d);
}

static int commit(struct dw_session_writer *w, const struct delta *d, struct dw_error *err)
{
	int rc = dw_database_exec(&w->db, "BEGIN", err);

	dw_vec_each(c, &d->chunks.rows)
		if (!rc)
			rc = dw_database_put(&w->db, c, err);
	if (!rc)
		rc = dw_database_put_state(&w->db, &d->facts, err);
	if (!rc)
		rc = dw_database_commit_alone(&w->db, w->fd, err);
	if (rc && !sqlite3_get_autocommit(w->db.sql))
		dw_database_exec(&w->db, "ROLLBACK", NULL);
	return rc;
}

/* Take the first delta; NULL: closing, and none is left. */
static struct delta *next_delta(struct dw_session_writer *w)
{
	struct delta *d;

	pthread_mutex_lock(&w->lock);
	while (!w->first && !w->closing)
		pthread_cond_wait(&w->wake, &w->lock);
	d = w->first;
	if (d) {
		w->first = d->next;
		if (!w->first)
			w->last = &w->first;
	}
	pthread_mutex_unlock(&w->lock);
	return d;
}

static void *writer_main(void *arg)
{
	struct dw_session_writer *w = arg;
	struct dw_error err = DW_ERROR_INIT;
	struct delta *d;

	while ((d = next_delta(w))) {
		if (!err.code)
			commit(w, d, &err);
		pthread_mutex_lock(&w->lock);
		w->queued_bytes -= d->bytes;
		if (!w->queued_bytes)
			pthread_cond_broadcast(&w->idle);
		if (err.code && !w->state.code)
			dw_error_set(&w->state, err.code, "%s", dw_error_message(&err));
		pthread_mutex_unlock(&w->lock);
		delta_free(d);
	}
	dw_error_clear(&err);
	return NULL;
}

static int state_of(struct dw_session_writer *w, struct dw_error *err)
{
	int rc;

	pthread_mutex_lock(&w->lock);
	rc = w->state.code;
	if (rc)
		dw_error_set(err, rc, "%s", dw_error_message(&w->state));
	pthread_mutex_unlock(&w->lock);
	return rc;
}

/* Start the writer thread with all signals blocked: they are the caller's. */
static int start_thread(struct dw_session_writer *w, struct dw_error *err)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&w->thread, NULL, writer_main, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc)
		return dw_error_set_errno(err, rc, "cannot start the writer thread");
	w->running = true;
	return 0;
}

static struct dw_session_writer *writer_new(const char *path)
{
	struct dw_session_writer *w = calloc(1, sizeof *w);

	if (!w)
		return NULL;
	w->fd = -1;
	w->last = &w->first;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->wake, NULL);
	pthread_cond_init(&w->idle, NULL);
	w->partial = dw_output_name(path, ".partial");
	if (w->partial)
		return w;
	dw_session_writer_free(w, false);
	return NULL;
}

/* Make FILE.partial with its schema and an index of nothing. */
static int create_partial(struct dw_session_writer *w, struct dw_error *err)
{
	struct dw_raw_chunk facts = {.kind = DWELL_CHUNK_FACTS};
	int rc = dw_output_claim(w->partial, &w->fd, err);

	if (!rc)
		rc = dw_database_create(&w->db, w->partial, true, RECORDING_LEVEL, err);
	if (!rc)
		rc = dw_database_put_state(&w->db, &facts, err);
	if (!rc)
		rc = dw_database_commit_alone(&w->db, w->fd, err);
	return rc;
}

int dw_session_create(const char *path, struct dw_session_writer **ret, struct dw_error *err)
{
	struct dw_session_writer *w;
	int rc = dw_session_check_output(path, err);

	if (rc)
		return rc;
	w = writer_new(path);
	if (!w)
		return dw_error_set(err, -ENOMEM, "no memory to write a session");
	rc = create_partial(w, err);
	if (!rc)
		rc = start_thread(w, err);
	if (rc) {
		dw_session_writer_free(w, w->fd >= 0);
		return rc;
	}
	*ret = w;
	return 0;
}

static int keep_chunk(void *ctx, struct dw_raw_chunk *c)
{
	struct dw_raw_chunks *chunks = ctx;
	int rc = dw_vec_push(&chunks->rows, *c);

	if (!rc)
		c->raw = (struct dw_buf)DW_BUF_INIT;
	return rc;
}

/* Everything new in @p as a delta; NULL without memory. */
static struct delta *delta_new(const struct dw_session_writer *w, const struct dw_profile *p)
{
	struct delta *d = calloc(1, sizeof *d);

	if (!d || dw_encode_profile(p, &w->done, false, keep_chunk, &d->chunks) ||
	    dw_encode_facts(&p->facts, &d->facts)) {
		delta_free(d);
		return NULL;
	}
	d->bytes = dw_raw_chunks_bytes(&d->chunks) + d->facts.raw.len;
	return d;
}

/* Hand @d to the writer thread, which frees it. */
static int enqueue(struct dw_session_writer *w, struct delta *d, struct dw_error *err)
{
	int rc = 0;

	pthread_mutex_lock(&w->lock);
	if (w->queued_bytes && w->queued_bytes + d->bytes > QUEUE_BYTES_MAX) {
		rc = dw_error_set(&w->state, DWELL_ERR_LIMIT,
				  "cannot write the session: the disk does not keep up, %d MB wait",
				  QUEUE_BYTES_MAX >> 20);
		dw_error_set(err, rc, "%s", dw_error_message(&w->state));
	} else {
		w->queued_bytes += d->bytes;
		*w->last = d;
		w->last = &d->next;
		pthread_cond_signal(&w->wake);
	}
	pthread_mutex_unlock(&w->lock);
	if (rc)
		delta_free(d);
	return rc;
}

int dw_session_flush(struct dw_session_writer *w, struct dw_profile *p, struct dw_error *err)
{
	int rc = state_of(w, err);
	struct delta *d;

	if (rc)
		return rc;
	d = delta_new(w, p);
	if (!d)
		return dw_error_set(err, -ENOMEM, "no memory to write the session");
	rc = enqueue(w, d, err);
	if (rc)
		return rc;
	dw_encoded_advance(&w->done, p);
	dw_vec_each(row, &p->processes.rows)
		row->dirty = false;
	dw_vec_each(row, &p->threads.rows)
		row->dirty = false;
	dw_samples_clear(&p->samples);
	p->extras.rows.n = 0;
	p->calls.deltas.n = p->calls.extremes.n = p->calls.slow.n = p->calls.files.n = 0;
	p->allocations.deltas.n = 0;
	return 0;
}

int dw_session_wait(struct dw_session_writer *w, struct dw_error *err)
{
	pthread_mutex_lock(&w->lock);
	while (w->queued_bytes)
		pthread_cond_wait(&w->idle, &w->lock);
	pthread_mutex_unlock(&w->lock);
	return state_of(w, err);
}

int dw_session_close_partial(struct dw_session_writer *w, struct dw_error *err)
{
	if (w->running) {
		pthread_mutex_lock(&w->lock);
		w->closing = true;
		pthread_cond_signal(&w->wake);
		pthread_mutex_unlock(&w->lock);
		pthread_join(w->thread, NULL);
		w->running = false;
	}
	dw_database_release(&w->db);
	return state_of(w, err);
}

void dw_session_writer_free(struct dw_session_writer *w, bool discard)
{
	if (!w)
		return;
	dw_session_close_partial(w, NULL);
	if (discard)
		dw_output_remove(w->partial);
	if (w->fd >= 0)
		close(dw_take_fd(w->fd));
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->wake);
	pthread_cond_destroy(&w->idle);
	dw_error_clear(&w->state);
	free(w->partial);
	free(w);
}
