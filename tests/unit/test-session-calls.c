/* Unit tests of src/session: sessions that hold calls. */
#include "check.h"
#include "scratch.h"

#include "recorded.h"
#include "session/decode.h"
#include "session/encode.h"
#include "session/read.h"

#include <sqlite3.h>

static const struct synthetic calls = SYNTHETIC_CALLS;

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
	struct dw_error err = DW_ERROR_INIT;

	CHECK_INT(recorded_session(&calls, "a.dwell", 3, false, &err), 0);
	CHECK_INT(dw_session_load("a.dwell.partial", &got, NULL, &err), 0);
	CHECK_INT(recorded_expect(&calls, false, &want), 0);
	CHECK(want.calls.deltas.n > want.calls.nodes.n);
	CHECK_STR(recorded_difference(&got, &want), "none");
	dw_profile_release(&got);
	dw_profile_release(&want);
}

TEST(finished_round_trip)
{
	struct dw_profile got = DW_PROFILE_INIT, want = DW_PROFILE_INIT;
	struct dw_error err = DW_ERROR_INIT;

	CHECK_INT(recorded_session(&calls, "b.dwell", 6, true, &err), 0);
	CHECK_INT(dw_session_load("b.dwell", &got, NULL, &err), 0);
	CHECK_INT(recorded_expect(&calls, true, &want), 0);
	CHECK_STR(recorded_difference(&got, &want), "none");
	CHECK_INT(query("b.dwell", "SELECT count(*) FROM chunk WHERE kind = 'call_deltas'"), 1);
	dw_profile_release(&got);
	dw_profile_release(&want);
}

TEST(only_sessions_with_calls_have_the_new_version)
{
	static const struct synthetic samples = SYNTHETIC_SMALL;

	CHECK_INT(recorded_session(&samples, "v1.dwell", 1, true, NULL), 0);
	CHECK_INT(query("v1.dwell", "PRAGMA user_version"), 1);
	CHECK_INT(recorded_session(&calls, "v2.dwell", 1, false, NULL), 0);
	CHECK_INT(query("v2.dwell.partial", "PRAGMA user_version"), 2);
	CHECK_INT(recorded_finish(&calls, "v2.dwell.partial", "v2.dwell", NULL), 0);
	CHECK_INT(query("v2.dwell", "PRAGMA user_version"), 2);
}

static int decode_into(void *ctx, struct dw_raw_chunk *c)
{
	return dw_decode_chunk(c, ctx, NULL);
}

/* What loading says of @p. */
static int reload(const struct dw_profile *p)
{
	static const struct dw_encoded nothing;
	struct dw_profile again = DW_PROFILE_INIT;
	int rc = dw_encode_profile(p, &nothing, false, decode_into, &again);

	dw_profile_release(&again);
	return rc;
}

TEST(any_value_is_kept)
{
	static const struct dw_encoded nothing;
	struct dw_profile p = DW_PROFILE_INIT, again = DW_PROFILE_INIT;
	struct dw_call_values odd = {1,		 UINT64_MAX, 0, UINT64_MAX, 1ull << 63,
				     UINT64_MAX, UINT64_MAX, 7, 8,	    UINT64_MAX};

	CHECK_INT(recorded_expect(&calls, false, &p), 0);
	dw_facts_release(&p.facts); /* they are encoded apart */
	p.calls.deltas.v[5].values = odd;
	p.calls.slow.v[0].exclusive = odd;
	p.calls.extremes.v[0].elapsed_exclusive = (struct dw_range_ns){UINT64_MAX, 3};
	p.calls.slices.v[5].end_ns = UINT64_MAX;
	CHECK_INT(dw_encode_profile(&p, &nothing, false, decode_into, &again), 0);
	CHECK_STR(recorded_difference(&p, &again), "none");
	dw_profile_release(&again);
	dw_profile_release(&p);
}

/* The id of a node whose flags are exactly @flags, behind the roots. */
static uint32_t node_with(const struct dw_calls *t, uint32_t flags)
{
	uint32_t id = 10;

	while (dw_calls_get(t, id)->flags != flags)
		id++;
	return id;
}

/* Loading with @field set to @value says @want, and without this nothing. */
#define CHECK_REFUSED(field, value)                      \
	do {                                             \
		__auto_type was_ = (field);              \
		CHECK_INT(reload(&p), 0);                \
		(field) = (__typeof__(was_))(value);     \
		CHECK_INT(reload(&p), DWELL_ERR_FORMAT); \
		(field) = was_;                          \
	} while (0)

TEST(links_between_nodes_are_checked)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_call_node *n, *overflow, *truncated;

	CHECK_INT(recorded_expect(&calls, false, &p), 0);
	n = &p.calls.nodes.v[node_with(&p.calls, 0) - 1];
	truncated = &p.calls.nodes.v[node_with(&p.calls, DWELL_CALL_TRUNCATED) - 1];
	overflow =
		&p.calls.nodes
			 .v[node_with(&p.calls, DWELL_CALL_OVERFLOW | DWELL_CALL_OUTERMOST_EDGE) -
			    1];
	CHECK_REFUSED(n->thread, 0);
	CHECK_REFUSED(n->thread, n->thread % 4 + 1);
	CHECK_REFUSED(n->thread, 5);
	CHECK_REFUSED(n->parent, 0);
	CHECK_REFUSED(n->parent, n - p.calls.nodes.v + 1);
	CHECK_REFUSED(n->parent, n - p.calls.nodes.v + 2);
	CHECK_REFUSED(n->entry, 501);
	CHECK_REFUSED(n->site, 501);
	CHECK_REFUSED(n->flags, 256);
	CHECK_REFUSED(n->flags, DWELL_CALL_ROOT);
	CHECK_REFUSED(n->flags, DWELL_CALL_OUTERMOST_MODULE);
	CHECK_REFUSED(n->flags, DWELL_CALL_TRUNCATED);
	CHECK_REFUSED(truncated->entry, 1);
	CHECK_REFUSED(truncated->flags, DWELL_CALL_TRUNCATED | DWELL_CALL_OUTSIDE);
	CHECK_REFUSED(overflow->caller, 501);
	CHECK_REFUSED(overflow->parent, overflow - p.calls.nodes.v);
	CHECK_REFUSED(p.calls.nodes.v[0].entry, 1);
	CHECK_REFUSED(p.calls.nodes.v[0].site, 1);
	dw_profile_release(&p);
}

TEST(slices_and_what_names_nodes_are_checked)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_call_delta *last;

	CHECK_INT(recorded_expect(&calls, false, &p), 0);
	last = &p.calls.deltas.v[p.calls.deltas.n - 1];
	CHECK_REFUSED(last->slice, 6);
	CHECK_REFUSED(last->slice, 4);
	CHECK_REFUSED(last->node, 0);
	CHECK_REFUSED(last->node, 1001);
	CHECK_REFUSED(p.calls.slices.v[3].end_ns, 1);
	CHECK_REFUSED(p.calls.slices.n, 0);
	CHECK_REFUSED(p.calls.extremes.v[1].thread, 0);
	CHECK_REFUSED(p.calls.extremes.v[1].thread, 5);
	CHECK_REFUSED(p.calls.extremes.v[1].entry, 501);
	CHECK_REFUSED(p.calls.slow.v[1].node, 0);
	CHECK_REFUSED(p.calls.slow.v[1].node, 1001);
	dw_profile_release(&p);
}

TEST_MAIN()
