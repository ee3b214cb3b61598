/*
 * Unit tests of src/session: files that are damaged, foreign or hostile. Each gives one line, or
 * loads what was written.
 */
#include "check.h"
#include "scratch.h"

#include "base/buf.h"
#include "recorded.h"
#include "session/chunk.h"
#include "session/read.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

static const struct synthetic tiny = {.samples = 400,
				      .stacks = 60,
				      .depth = 8,
				      .addresses = 90,
				      .functions = 30,
				      .modules = 3,
				      .threads = 3,
				      .processes = 2,
				      .rate_hz = 1000,
				      .seed = 3};

static int read_file(const char *path, struct dw_buf *ret)
{
	char block[65536];
	FILE *f = fopen(path, "rb");
	size_t n;

	if (!f)
		return -errno;
	while ((n = fread(block, 1, sizeof block, f)))
		dw_buf_put(ret, block, n);
	return fclose(f);
}

static int write_file(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");

	if (!f)
		return -errno;
	fwrite(bytes, 1, n, f);
	return fclose(f);
}

/* Whether @bytes as a session give one line, or exactly @want. */
static bool is_told_or_equal(const void *bytes, size_t n, const struct dw_profile *want)
{
	struct dw_profile got = DW_PROFILE_INIT;
	struct dw_error err = DW_ERROR_INIT;
	bool good;
	int rc;

	if (write_file("damaged.dwell", bytes, n))
		return false;
	rc = dw_session_load("damaged.dwell", &got, NULL, &err);
	if (rc)
		good = !strncmp(dw_error_message(&err), "damaged.dwell: ", 15) &&
		       !strchr(dw_error_message(&err), '\n');
	else
		good = !strcmp(recorded_difference(&got, want), "none");
	if (!good)
		printf("# %d: %s\n", rc, rc ? dw_error_message(&err) : "other data");
	dw_profile_release(&got);
	dw_error_clear(&err);
	return good;
}

/* The offset of the first flipped byte, each @step bytes, whose damage goes unseen; -1 = none. */
static int64_t flip_all(const char *path, size_t step, const struct dw_profile *want)
{
	struct dw_buf b = DW_BUF_INIT;
	int64_t bad = -1;

	if (read_file(path, &b))
		return 0;
	for (size_t i = 0; i < b.len && bad < 0; i += i < 100 ? 1 : step) {
		char was = b.data[i];

		b.data[i] ^= (char)(i % 3 ? 1 << i % 8 : 0xff);
		if (!is_told_or_equal(b.data, b.len, want))
			bad = (int64_t)i;
		b.data[i] = was;
	}
	dw_buf_release(&b);
	return bad;
}

/* The first length at which a cut file is neither told nor complete; -1 = none. */
static int64_t cut_all(const char *path, size_t step, const struct dw_profile *want)
{
	struct dw_buf b = DW_BUF_INIT;
	int64_t bad = -1;

	if (read_file(path, &b))
		return 0;
	for (size_t n = 0; n < b.len && bad < 0; n += n < 200 ? 1 : step)
		if (!is_told_or_equal(b.data, n, want))
			bad = (int64_t)n;
	dw_buf_release(&b);
	return bad;
}

TEST(damage_to_a_finished_session_is_seen)
{
	struct dw_profile want = DW_PROFILE_INIT;

	CHECK_INT(recorded_session(&tiny, "f.dwell", 2, true, NULL), 0);
	CHECK_INT(recorded_expect(&tiny, true, &want), 0);
	CHECK_INT(flip_all("f.dwell", 151, &want), -1);
	CHECK_INT(cut_all("f.dwell", 2039, &want), -1);
	dw_profile_release(&want);
}

TEST(damage_to_a_partial_is_seen)
{
	struct dw_profile want = DW_PROFILE_INIT;

	CHECK_INT(recorded_session(&tiny, "p.dwell", 4, false, NULL), 0);
	CHECK_INT(recorded_expect(&tiny, false, &want), 0);
	CHECK_INT(flip_all("p.dwell.partial", 151, &want), -1);
	CHECK_INT(cut_all("p.dwell.partial", 2039, &want), -1);
	dw_profile_release(&want);
}

TEST(damage_to_calls_is_seen)
{
	static const struct synthetic calls = SYNTHETIC_CALLS;
	struct dw_profile want = DW_PROFILE_INIT;

	CHECK_INT(recorded_session(&calls, "c.dwell", 3, false, NULL), 0);
	CHECK_INT(recorded_expect(&calls, false, &want), 0);
	CHECK_INT(flip_all("c.dwell.partial", 151, &want), -1);
	CHECK_INT(cut_all("c.dwell.partial", 2039, &want), -1);
	dw_profile_release(&want);
}

/* Load @path, which must fail, and keep the words in @message. Returns the code. */
static int load_error(const char *path, char message[256])
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_error err = DW_ERROR_INIT;
	int rc = dw_session_load(path, &p, NULL, &err);

	snprintf(message, 256, "%s", rc ? dw_error_message(&err) : "it loaded");
	dw_profile_release(&p);
	dw_error_clear(&err);
	return rc;
}

/* Run @sql on the database @path. */
static int change(const char *path, const char *sql)
{
	sqlite3 *db = NULL;
	int rc = sqlite3_open(path, &db);

	if (!rc)
		rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
	sqlite3_close(db);
	return rc;
}

TEST(foreign_files_are_told_apart)
{
	char message[256];

	CHECK_INT(load_error("absent", message), -ENOENT);
	CHECK_STR(message, "absent: cannot open: No such file or directory");
	CHECK_INT(write_file("empty", "", 0), 0);
	CHECK_INT(load_error("empty", message), DWELL_ERR_FORMAT);
	CHECK_STR(message, "empty: not a dwell session (empty)");
	CHECK_INT(write_file("text", "hello", 5), 0);
	CHECK_INT(load_error("text", message), DWELL_ERR_FORMAT);
	CHECK_STR(message, "text: not a dwell session");
	CHECK_INT(load_error(".", message), -EISDIR);
	CHECK_STR(message, ".: not a dwell session: Is a directory");
	CHECK_INT(mkfifo("fifo", 0600), 0);
	CHECK_INT(load_error("fifo", message), DWELL_ERR_FORMAT);
	CHECK_STR(message, "fifo: not a dwell session (not a regular file)");
	CHECK_INT(change("other.db", "CREATE TABLE chunk (id INTEGER PRIMARY KEY)"), 0);
	CHECK_INT(load_error("other.db", message), DWELL_ERR_FORMAT);
	CHECK_STR(message, "other.db: not a dwell session (a SQLite database of something else)");
}

TEST(newer_versions_are_refused)
{
	char message[256];

	CHECK_INT(recorded_session(&tiny, "newer.dwell", 1, true, NULL), 0);
	CHECK_INT(change("newer.dwell", "PRAGMA user_version = 5"), 0);
	CHECK_INT(load_error("newer.dwell", message), DWELL_ERR_UNSUPPORTED);
	CHECK_STR(message,
		  "newer.dwell: written by a newer dwell (format 5, this one reads up to 4)");
}

TEST(files_without_rights_are_told)
{
	char message[256];
	int rc;

	CHECK_INT(recorded_session(&tiny, "secret.dwell", 1, true, NULL), 0);
	CHECK_INT(chmod("secret.dwell", 0), 0);
	if (!getuid())
		CHECK_INT(seteuid(65534), 0);
	rc = load_error("secret.dwell", message);
	CHECK_INT(seteuid(getuid()), 0);
	CHECK_INT(rc, -EACCES);
}

/* Put @raw in the place of the chunk of @kind, with a right checksum, as an attacker would. */
static int replace_chunk(const char *path, enum dw_chunk_kind kind, uint64_t items,
			 const struct dw_buf *raw)
{
	struct dw_packed_chunk c = {.kind = dw_chunk_kind_name(kind), .items = items};
	struct dw_buf packed = DW_BUF_INIT;
	sqlite3 *db = NULL;
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_open(path, &db);

	c.raw_bytes = raw->len;
	if (!rc)
		rc = sqlite3_prepare_v2(db, "SELECT id FROM chunk WHERE kind = ?", -1, &st, NULL);
	sqlite3_bind_text(st, 1, c.kind, -1, SQLITE_STATIC);
	if (!rc && sqlite3_step(st) == SQLITE_ROW)
		c.id = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	if (!rc)
		rc = dw_chunk_pack(NULL, raw, 3, &packed);
	if (!rc) /* only the writer lengthens it */
		packed.len = ZSTD_findFrameCompressedSize(packed.data, packed.len);
	c.data = packed.data;
	c.bytes = packed.len;
	if (!rc)
		rc = sqlite3_prepare_v2(db, "REPLACE INTO chunk VALUES (?, ?, ?, ?, ?, ?)", -1, &st,
					NULL);
	sqlite3_bind_int64(st, 1, c.id);
	sqlite3_bind_text(st, 2, c.kind, -1, SQLITE_STATIC);
	sqlite3_bind_int64(st, 3, (int64_t)items);
	sqlite3_bind_int64(st, 4, (int64_t)c.raw_bytes);
	sqlite3_bind_int64(st, 5, dw_chunk_checksum(&c));
	sqlite3_bind_blob64(st, 6, packed.data, packed.len, SQLITE_STATIC);
	if (!rc)
		rc = sqlite3_step(st) == SQLITE_DONE ? 0 : 1;
	sqlite3_finalize(st);
	sqlite3_close(db);
	dw_buf_release(&packed);
	return rc;
}

TEST(ids_out_of_range_are_seen)
{
	static const enum dw_chunk_kind kinds[] = {
		DWELL_CHUNK_MODULES,   DWELL_CHUNK_PROCESSES, DWELL_CHUNK_THREADS,
		DWELL_CHUNK_FRAMES,    DWELL_CHUNK_STACKS,    DWELL_CHUNK_SAMPLES,
		DWELL_CHUNK_FUNCTIONS, DWELL_CHUNK_LOCATIONS, DWELL_CHUNK_CODES,
	};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct dw_buf raw = DW_BUF_INIT;
		char message[256], want[128];

		CHECK_INT(recorded_session(&tiny, "ids.dwell", 1, true, NULL), 0);
		for (int k = 0; k < 12; k++) /* one item, every number far out */
			dw_buf_put_uleb(&raw, 5000000);
		CHECK_INT(replace_chunk("ids.dwell", kinds[i], 1, &raw), 0);
		dw_buf_release(&raw);
		CHECK_INT(load_error("ids.dwell", message), DWELL_ERR_FORMAT);
		snprintf(want, sizeof want, "ids.dwell: damaged: a chunk of %s makes no sense",
			 dw_chunk_kind_name(kinds[i]));
		CHECK_STR(message, want);
	}
}

TEST(more_items_than_bytes_are_seen)
{
	struct dw_buf raw = DW_BUF_INIT;
	char message[256];

	CHECK_INT(recorded_session(&tiny, "many.dwell", 1, true, NULL), 0);
	dw_buf_put(&raw, "\1\1\1\1", 4);
	CHECK_INT(replace_chunk("many.dwell", DWELL_CHUNK_STACKS, UINT32_MAX, &raw), 0);
	CHECK_INT(load_error("many.dwell", message), DWELL_ERR_FORMAT);
	dw_buf_release(&raw);
}

TEST(bombs_are_refused)
{
	struct dw_buf raw = DW_BUF_INIT;
	char message[256];
	struct stat st;

	CHECK_INT(recorded_session(&tiny, "bomb.dwell", 1, true, NULL), 0);
	CHECK_INT(dw_buf_reserve(&raw, 200 << 20), 0);
	memset(raw.data, 1, 200 << 20);
	raw.len = 200 << 20;
	CHECK_INT(replace_chunk("bomb.dwell", DWELL_CHUNK_STACKS, 100 << 20, &raw), 0);
	dw_buf_release(&raw);
	CHECK_INT(stat("bomb.dwell", &st), 0);
	CHECK(st.st_size < 400000);
	CHECK_INT(load_error("bomb.dwell", message), DWELL_ERR_FORMAT);
	CHECK_CONTAINS(message, "would unpack to too much");
}

TEST(missing_chunks_are_seen)
{
	static const char *const kinds[] = {"index",  "facts",	 "strings",   "threads",
					    "stacks", "samples", "locations", "codes"};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		char sql[128], message[256];

		CHECK_INT(recorded_session(&tiny, "gone.dwell", 1, true, NULL), 0);
		snprintf(sql, sizeof sql, "DELETE FROM chunk WHERE kind = '%s'", kinds[i]);
		CHECK_INT(change("gone.dwell", sql), 0);
		CHECK_INT(load_error("gone.dwell", message), DWELL_ERR_FORMAT);
		CHECK_CONTAINS(message, "gone.dwell: damaged: ");
	}
}

TEST(sql_of_the_file_is_not_run)
{
	static const char *const schemas[] = {
		/* A view, another definition, and something computed under the name that is read.
		 */
		"ALTER TABLE chunk RENAME TO real; CREATE VIEW chunk AS SELECT * FROM real",
		"ALTER TABLE chunk ADD COLUMN more INTEGER",
		"ALTER TABLE chunk ADD COLUMN evil AS (zeroblob(1000000000))",
	};

	for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
		char message[256];

		CHECK_INT(recorded_session(&tiny, "sql.dwell", 1, true, NULL), 0);
		CHECK_INT(change("sql.dwell", schemas[i]), 0);
		CHECK_INT(load_error("sql.dwell", message), DWELL_ERR_FORMAT);
		CHECK_STR(message, "sql.dwell: damaged: it has no table of chunks");
	}
}

TEST(later_kinds_are_skipped)
{
	struct dw_packed_chunk c = {.id = 0, .kind = "marks", .items = 1, .raw_bytes = 1};
	struct dw_profile p = DW_PROFILE_INIT;
	char sql[256];

	CHECK_INT(recorded_session(&tiny, "later.dwell", 1, true, NULL), 0);
	c.data = "x";
	c.bytes = 1;
	snprintf(sql, sizeof sql, "INSERT INTO chunk VALUES (0, 'marks', 1, 1, %u, x'78')",
		 dw_chunk_checksum(&c));
	CHECK_INT(change("later.dwell", sql), 0);
	CHECK_INT(dw_session_load("later.dwell", &p, NULL, NULL), 0);
	dw_profile_release(&p);
}

TEST_MAIN()
