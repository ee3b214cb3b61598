/* Unit tests of src/session: round trips. Damage and dying writers are in test-session-damage.c. */
#include "check.h"
#include "scratch.h"

#include "session/read.h"
#include "recorded.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct synthetic small = SYNTHETIC_SMALL;

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

	CHECK_INT(recorded_session(&small, "a.dwell", 5, false, &err), 0);
	CHECK_INT(dw_session_load("a.dwell.partial", &got, &info, &err), 0);
	CHECK(!info.finished);
	CHECK_INT(recorded_expect(&small, false, &want), 0);
	CHECK_STR(recorded_difference(&got, &want), "none");
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

	CHECK_INT(recorded_session(&small, "b.dwell", 3, true, &err), 0);
	CHECK_INT(access("b.dwell.partial", F_OK), -1);
	CHECK_INT(dw_session_load("b.dwell", &got, &info, &err), 0);
	CHECK(info.finished);
	CHECK_INT(recorded_expect(&small, true, &want), 0);
	CHECK_STR(recorded_difference(&got, &want), "none");
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
