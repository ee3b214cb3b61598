/*
 * From FILE.partial to FILE; see write.h.
 *
 * The session is written anew beside the partial, not in place: the result has no holes, larger
 * chunks pack better, and until the rename the partial is untouched. It is loaded already, so this
 * costs the packing and nothing else.
 */
#include "base/cleanup.h"
#include "session/database.h"
#include "session/output.h"
#include "session/tables.h"
#include "session/write.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum {
	FINISHED_LEVEL = 6, /* of zstd: measured, see docs/session-format.md */
	CODE_LEVEL = 1,	    /* code hardly packs: level 3 takes twice as long for 12 % */
};

struct finishing {
	struct dw_database db;
	struct dw_error *err;
};

static int put_chunk(void *ctx, struct dw_raw_chunk *c)
{
	struct finishing *f = ctx;

	f->db.level = c->kind == DWELL_CHUNK_CODES ? CODE_LEVEL : FINISHED_LEVEL;
	return dw_database_put(&f->db, c, f->err);
}

static int put_profile(struct finishing *f, const struct dw_profile *p)
{
	static const struct dw_encoded nothing;
	int rc = dw_encode_profile(p, &nothing, true, put_chunk, f);
	struct dw_raw_chunk facts = {.kind = DWELL_CHUNK_FACTS};

	f->db.index.finished = true;
	if (!rc)
		rc = dw_encode_facts(&p->facts, &facts);
	if (rc == -ENOMEM)
		dw_error_set(f->err, rc, "no memory to finish the session");
	if (!rc)
		rc = dw_database_put_state(&f->db, &facts, f->err);
	dw_buf_release(&facts.raw);
	return rc;
}

/* Fill the empty file @path and close it. */
static int write_session(const char *path, const struct dw_profile *p,
			 const struct dw_totals *totals, struct dw_error *err)
{
	struct finishing f = {.err = err};
	int rc = dw_database_create(&f.db, path, false, FINISHED_LEVEL, err);

	if (!rc)
		rc = put_profile(&f, p);
	if (!rc)
		rc = dw_tables_write(&f.db, p, totals, err);
	if (!rc)
		rc = dw_database_exec(&f.db, "COMMIT", err);
	dw_database_release(&f.db);
	return rc;
}

/* Block SIGXFSZ: at a file-size limit the write fails and tells. */
static void block_file_size_signal(sigset_t *old)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &set, old);
}

/* Drop a SIGXFSZ that came meanwhile and restore the mask. */
static void restore_signals(const sigset_t *old)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	if (!sigismember(old, SIGXFSZ))
		while (sigtimedwait(&set, NULL, &(struct timespec){0}) > 0)
			;
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

/* Write @fresh, make it lasting and put it in the place of @path. */
static int write_and_rename(const char *fresh, const char *path, const struct dw_profile *p,
			    const struct dw_totals *totals, struct dw_error *err)
{
	dw_auto_close int fd = -1;
	sigset_t old;
	int rc;

	unlink(fresh);
	rc = dw_output_create(fresh, &fd, err);
	if (rc)
		return rc;
	block_file_size_signal(&old);
	rc = write_session(fresh, p, totals, err);
	restore_signals(&old);
	if (!rc && fsync(fd))
		rc = dw_error_set_errno(err, errno, "cannot write the session");
	if (!rc && rename(fresh, path))
		rc = dw_error_set_errno(err, errno, "cannot rename %s to %s", fresh, path);
	if (rc)
		dw_output_remove(fresh);
	return rc;
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

int dw_session_finish(const char *partial, const char *path, const struct dw_profile *p,
		      const struct dw_totals *totals, struct dw_error *err)
{
	dw_auto_free char *fresh = dw_output_name(path, ".partial-new");
	int rc;

	if (!fresh)
		return dw_error_set(err, -ENOMEM, "no memory to finish the session");
	rc = dw_session_check_target(path, err);
	if (!rc)
		rc = write_and_rename(fresh, path, p, totals, err);
	if (rc)
		return rc;
	dw_output_remove(partial);
	return dw_output_sync_folder(path, err);
}
