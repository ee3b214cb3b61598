/* Unit tests of src/session: round trips. Damage and dying writers are in test-session-damage.c. */
#include "check.h"

#include "analysis/totals.h"
#include "session/read.h"
#include "session/write.h"
#include "synthetic.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct synthetic small = SYNTHETIC_SMALL;

/* A fresh folder for this run, entered. */
__attribute__((constructor)) static void enter_scratch(void)
{
	static char name[] = "/tmp/test-session-XXXXXX";

	if (!mkdtemp(name) || chdir(name))
		abort();
}

__attribute__((destructor)) static void leave_scratch(void)
{
	char here[64], command[96];

	if (getcwd(here, sizeof here)) {
		snprintf(command, sizeof command, "rm -rf %s", here);
		if (chdir("/") || system(command))
			perror(command);
	}
}

/* Record the small profile into @path's partial, in @flushes parts. */
static int record(const char *path, uint32_t flushes, struct dw_error *err)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_session_writer *w = NULL;
	uint32_t *leaves = NULL, each = small.samples / flushes;
	int rc = dw_session_create(path, &w, err);

	if (!rc)
		rc = synthetic_tables(&small, &p, &leaves);
	for (uint32_t i = 0; i < flushes && !rc; i++) {
		rc = synthetic_samples(&small, leaves, i * each, (i + 1) * each, &p);
		if (!rc)
			rc = dw_session_flush(w, &p, err);
	}
	if (!rc)
		rc = dw_session_close_partial(w, err);
	dw_session_writer_free(w, false);
	dw_profile_release(&p);
	free(leaves);
	return rc;
}

/* What record() has handed over, as one profile. */
static int expected(struct dw_profile *p, bool symbols)
{
	uint32_t *leaves;
	int rc = synthetic_tables(&small, p, &leaves);

	if (!rc)
		rc = synthetic_samples(&small, leaves, 0, small.samples, p);
	if (!rc && symbols)
		rc = synthetic_symbols(&small, p);
	free(leaves);
	return rc;
}

/* Finish @partial as @path, with symbols. */
static int finish(const char *partial, const char *path, struct dw_error *err)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals totals = {0};
	int rc = dw_session_load(partial, &p, NULL, err);

	if (!rc)
		rc = synthetic_symbols(&small, &p);
	if (!rc)
		rc = dw_totals_compute(&p, NULL, DWELL_TOTALS_ALL, &totals);
	if (!rc)
		rc = dw_session_finish(partial, path, &p, &totals, err);
	dw_totals_release(&totals);
	dw_profile_release(&p);
	return rc;
}

#define SAME_ROWS(a, b, table)                                                \
	((a)->table.rows.n == (b)->table.rows.n &&                            \
	 (!(a)->table.rows.n || !memcmp((a)->table.rows.v, (b)->table.rows.v, \
					(a)->table.rows.n * sizeof *(a)->table.rows.v)))

static bool same_strings(const struct dw_strings *a, const struct dw_strings *b)
{
	bool same = a->n == b->n;

	for (uint32_t i = 0; i < a->n && same; i++)
		same = !strcmp(dw_strings_get(a, i), dw_strings_get(b, i));
	return same;
}

static bool same_samples(const struct dw_samples *a, const struct dw_samples *b)
{
	return a->n == b->n && !memcmp(a->time_ns, b->time_ns, a->n * sizeof *a->time_ns) &&
	       !memcmp(a->thread, b->thread, a->n * sizeof *a->thread) &&
	       !memcmp(a->stack, b->stack, a->n * sizeof *a->stack);
}

/* Rows with padding, field by field. */
static bool same_processes(const struct dw_processes *a, const struct dw_processes *b)
{
	bool same = a->rows.n == b->rows.n;

	for (size_t i = 1; i < a->rows.n && same; i++) {
		const struct dw_process *x = &a->rows.v[i], *y = &b->rows.v[i];

		same = x->pid == y->pid && x->parent == y->parent && x->name == y->name &&
		       x->begin_ns == y->begin_ns && x->end_ns == y->end_ns &&
		       x->user_cpu_ns == y->user_cpu_ns && x->kernel_cpu_ns == y->kernel_cpu_ns;
	}
	return same;
}

static bool same_threads(const struct dw_threads *a, const struct dw_threads *b)
{
	bool same = a->rows.n == b->rows.n;

	for (size_t i = 1; i < a->rows.n && same; i++) {
		const struct dw_thread *x = &a->rows.v[i], *y = &b->rows.v[i];

		same = x->process == y->process && x->tid == y->tid && x->name == y->name &&
		       x->start == y->start && x->begin_ns == y->begin_ns && x->end_ns == y->end_ns;
	}
	return same;
}

static bool same_modules(const struct dw_modules *a, const struct dw_modules *b)
{
	bool same = a->rows.n == b->rows.n;

	for (size_t i = 1; i < a->rows.n && same; i++) {
		const struct dw_module *x = &a->rows.v[i], *y = &b->rows.v[i];

		same = x->kind == y->kind && x->path == y->path && x->name == y->name &&
		       x->build_id_bytes == y->build_id_bytes &&
		       !memcmp(x->build_id, y->build_id, x->build_id_bytes) &&
		       x->deleted == y->deleted && x->device == y->device && x->inode == y->inode;
	}
	return same;
}

static bool same_facts(const struct dw_facts *a, const struct dw_facts *b)
{
	bool same = a->rows.n == b->rows.n;

	dw_vec_each(f, &a->rows)
		same &= dw_facts_get(b, f->key, -1) == dw_facts_get(a, f->key, -1) &&
			(!f->text || !strcmp(f->text, dw_facts_get_text(b, f->key)));
	return same;
}

static bool same_codes(const struct dw_codes *a, const struct dw_codes *b)
{
	bool same = a->rows.n == b->rows.n;

	for (size_t i = 0; i < a->rows.n && same; i++)
		same = a->rows.v[i].function == b->rows.v[i].function &&
		       a->rows.v[i].svma == b->rows.v[i].svma &&
		       a->rows.v[i].bytes_n == b->rows.v[i].bytes_n &&
		       !memcmp(a->rows.v[i].bytes, b->rows.v[i].bytes, a->rows.v[i].bytes_n);
	return same;
}

/* The name of the first table in which the profiles differ. */
static const char *difference(const struct dw_profile *a, const struct dw_profile *b)
{
	if (!same_strings(&a->strings, &b->strings))
		return "strings";
	if (!same_facts(&a->facts, &b->facts))
		return "facts";
	if (!same_modules(&a->modules, &b->modules))
		return "modules";
	if (!same_processes(&a->processes, &b->processes))
		return "processes";
	if (!same_threads(&a->threads, &b->threads))
		return "threads";
	if (!SAME_ROWS(a, b, frames))
		return "frames";
	if (!SAME_ROWS(a, b, stacks))
		return "stacks";
	if (!same_samples(&a->samples, &b->samples))
		return "samples";
	if (!SAME_ROWS(a, b, functions))
		return "functions";
	if (!SAME_ROWS(a, b, locations) || a->locations.first.n != b->locations.first.n)
		return "locations";
	return same_codes(&a->codes, &b->codes) ? "none" : "codes";
}

/* The first column of the first row of @sql in @path as an integer, -1 on failure. */
static int64_t query(const char *path, const char *sql)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *st = NULL;
	int64_t v = -1;

	if (!sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) &&
	    !sqlite3_prepare_v2(db, sql, -1, &st, NULL) && sqlite3_step(st) == SQLITE_ROW)
		v = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
	return v;
}

TEST(partial_round_trip)
{
	struct dw_profile got = DW_PROFILE_INIT, want = DW_PROFILE_INIT;
	struct dw_session_info info = {.finished = true};
	struct dw_error err = DW_ERROR_INIT;

	CHECK_INT(record("a.dwell", 5, &err), 0);
	CHECK_INT(dw_session_load("a.dwell.partial", &got, &info, &err), 0);
	CHECK(!info.finished);
	CHECK_INT(expected(&want, false), 0);
	CHECK_STR(difference(&got, &want), "none");
	CHECK_INT(access("a.dwell.partial-wal", F_OK), -1);
	CHECK_INT(access("a.dwell", F_OK), -1);
	dw_profile_release(&got);
	dw_profile_release(&want);
}

TEST(finished_round_trip)
{
	struct dw_profile got = DW_PROFILE_INIT, want = DW_PROFILE_INIT;
	struct dw_session_info info = {0};
	struct dw_error err = DW_ERROR_INIT;

	CHECK_INT(record("b.dwell", 4, &err), 0);
	CHECK_INT(finish("b.dwell.partial", "b.dwell", &err), 0);
	CHECK_INT(access("b.dwell.partial", F_OK), -1);
	CHECK_INT(dw_session_load("b.dwell", &got, &info, &err), 0);
	CHECK(info.finished);
	CHECK_INT(expected(&want, true), 0);
	CHECK_STR(difference(&got, &want), "none");
	CHECK_INT(query("b.dwell", "SELECT sum(exclusive_samples) FROM functions"), small.samples);
	CHECK_INT(query("b.dwell", "SELECT sum(exclusive_samples) FROM instructions"),
		  small.samples);
	CHECK_INT(query("b.dwell", "SELECT sum(exclusive_samples) FROM processes"), small.samples);
	CHECK_INT(query("b.dwell", "SELECT sum(exclusive_samples) FROM threads"), small.samples);
	CHECK_INT(query("b.dwell", "SELECT count(*) FROM functions WHERE function_name IS NULL"),
		  0);
	dw_profile_release(&got);
	dw_profile_release(&want);
}

TEST_MAIN()
