/* Unit tests of src/base. */
#include "check.h"

#include "base/buf.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/map.h"
#include "base/out.h"
#include "base/process-setup.h"
#include "base/strings.h"
#include "base/suggest.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

TEST(error_keeps_code_and_words)
{
	struct dw_error err = DW_ERROR_INIT;

	CHECK_INT(dw_error_set(&err, DWELL_ERR_FORMAT, "bad length %d", 7), DWELL_ERR_FORMAT);
	CHECK_INT(dw_error_prefix(&err, "record %d", 812), DWELL_ERR_FORMAT);
	CHECK_STR(dw_error_message(&err), "record 812: bad length 7");
	CHECK_INT(dw_error_set_errno(&err, ENOENT, "a.dwell"), -ENOENT);
	CHECK_STR(dw_error_message(&err), "a.dwell: No such file or directory");
	dw_error_add_line(&err, "one");
	dw_error_add_line(&err, "%s", "two\nthree");
	dw_error_prefix(&err, "open");
	CHECK_STR(dw_error_message(&err), "open: a.dwell: No such file or directory");
	CHECK_STR(err.lines, "\none\ntwo three");
	CHECK_INT(dw_error_set(NULL, -EIO, "x"), -EIO);
	dw_error_clear(&err);
	CHECK_INT(err.code, 0);
}

TEST(buf_grows_and_stays_terminated)
{
	struct dw_buf b = DW_BUF_INIT;

	CHECK_STR(dw_buf_str(&b), "");
	for (int i = 0; i < 1000; i++)
		CHECK_INT(dw_buf_printf(&b, "%d,", i), 0);
	CHECK_INT(b.len, 3890);
	CHECK_INT(b.data[b.len], 0);
	CHECK_INT(dw_buf_reserve(&b, SIZE_MAX - 10), -ENOMEM);
	CHECK(b.failed);
	CHECK_INT(b.len, 3890);
	dw_buf_release(&b);
}

TEST(leb128_round_trip_and_bounds)
{
	static const int64_t values[] = {0, 1, -1, 63, 64, -64, -65, 1 << 20, INT64_MAX, INT64_MIN};
	struct dw_buf b = DW_BUF_INIT;
	struct dw_cursor c;

	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		dw_buf_put_uleb(&b, (uint64_t)values[i]);
		dw_buf_put_zigzag(&b, values[i]);
	}
	dw_cursor_init(&c, b.data, b.len);
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		CHECK_INT(dw_cursor_uleb(&c), values[i]);
		CHECK_INT(dw_cursor_zigzag(&c), values[i]);
	}
	CHECK(!c.failed);
	CHECK_INT(dw_cursor_left(&c), 0);
	CHECK_INT(dw_cursor_uleb(&c), 0);
	CHECK(c.failed);
	dw_cursor_init(&c, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10);
	dw_cursor_uleb(&c);
	CHECK(c.failed);
	dw_cursor_init(&c, "\x7f", 1);
	CHECK_INT(dw_cursor_sleb(&c), -1);
	dw_buf_release(&b);
}

TEST(cursor_never_leaves_its_bytes)
{
	struct dw_cursor c;

	dw_cursor_init(&c, "ab\0cd", 5);
	CHECK_STR(dw_cursor_cstr(&c), "ab");
	CHECK(!dw_cursor_cstr(&c));
	CHECK(c.failed);
	CHECK_INT(dw_cursor_u8(&c), 0);
	dw_cursor_init(&c, "abc", 3);
	CHECK_INT(dw_cursor_u32(&c), 0);
	CHECK(c.failed);
	dw_cursor_init(&c, "abc", 3);
	dw_cursor_seek(&c, 4);
	CHECK(c.failed);
	dw_cursor_init(&c, NULL, 0);
	CHECK_INT(dw_cursor_left(&c), 0);
}

TEST(map_holds_what_was_put)
{
	struct dw_map m = {0};

	for (uint64_t i = 0; i < 100000; i++)
		CHECK_INT(dw_map_put(&m, i << 32, (uint32_t)i + 1), 0);
	for (uint64_t i = 0; i < 100000; i++)
		CHECK_INT(dw_map_get(&m, i << 32), i + 1);
	CHECK_INT(dw_map_get(&m, 77), 0);
	dw_map_release(&m);
}

/* Equal hashes do not make pairs equal. */
TEST(pairs_have_ids_of_their_own)
{
	struct dw_pairs p = {0};
	uint64_t sum = dw_hash_u64(7) + 1;

	for (uint64_t i = 0; i < 1000; i++)
		CHECK_INT(dw_pairs_add(&p, i, sum - dw_hash_u64(i)), i + 1);
	for (uint64_t i = 0; i < 1000; i++) {
		CHECK_INT(dw_pairs_find(&p, i, sum - dw_hash_u64(i)), i + 1);
		CHECK_INT(dw_pairs_add(&p, i, sum - dw_hash_u64(i)), i + 1);
		CHECK_INT(dw_pairs_find(&p, i, sum - dw_hash_u64(i) + 1), 0);
	}
	dw_pairs_release(&p);
	CHECK_INT(dw_pairs_find(&p, 7, 1), 0);
}

TEST(rows_sort_by_number)
{
	enum { ROWS = 5000 };
	static struct dw_sort_row rows[ROWS];
	uint64_t x = 1;

	for (size_t i = 0; i < ROWS; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		rows[i] = (struct dw_sort_row){x >> (i % 3 ? 50 : 0), i};
	}
	for (int times = 0; times < 2; times++) {
		CHECK_INT(dw_sort_rows(rows, ROWS), 0);
		for (size_t i = 1; i < ROWS; i++)
			CHECK(rows[i - 1].key < rows[i].key ||
			      (rows[i - 1].key == rows[i].key && rows[i - 1].row < rows[i].row));
	}
	CHECK_INT(dw_sort_rows(NULL, 0), 0);
}

TEST(a_large_heap_serves)
{
	char *p;

	dw_large_heap();
	p = calloc(1, 100 << 20);
	CHECK(p);
	CHECK_INT(p[0] | p[(100 << 20) - 1], 0);
	free(p);
}

TEST(strings_are_interned)
{
	struct dw_strings t = {0};
	uint32_t a, b, c, long_id;
	static char text[200000];

	memset(text, 'x', sizeof text - 1);
	CHECK_INT(dw_strings_adds(&t, "alpha", &a), 0);
	CHECK_INT(dw_strings_adds(&t, "alp", &b), 0);
	CHECK_INT(dw_strings_adds(&t, "alpha", &c), 0);
	CHECK_INT(dw_strings_add(&t, "alpha\0beta", 10, &c), 0);
	CHECK_INT(a, c);
	CHECK_INT(dw_strings_adds(&t, text, &long_id), 0);
	CHECK_INT(a, c);
	CHECK(a != b && a && b);
	CHECK_STR(dw_strings_get(&t, long_id), text);
	CHECK_STR(dw_strings_get(&t, 0), "");
	CHECK_STR(dw_strings_get(&t, 999), "");
	CHECK_INT(dw_strings_find(&t, "beta", 4), 0);
	CHECK_INT(dw_strings_len(&t, a), 5);
	dw_strings_release(&t);
}

TEST(out_remembers_a_failed_write)
{
	struct dw_out out;
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	dw_out_init_fd(&out, fd);
	dw_out_printf(&out, "%d", 1);
	CHECK_INT(dw_out_close(&out), -ENOSPC);
	close(fd);
	dw_out_init_buffer(&out);
	dw_out_fill(&out, '-', 3);
	CHECK_STR(dw_buf_str(&out.buf), "---");
	CHECK_INT(dw_out_close(&out), 0);
}

/* The word among functions, calltree, callers, modules that is nearest to @word. */
static const char *nearest(const char *word)
{
	static const char *const words[] = {"functions", "calltree", "callers", "modules"};
	struct dw_suggestion s;

	dw_suggestion_begin(&s, word, strlen(word));
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		dw_suggestion_offer(&s, words[i]);
	return s.best ? s.best : "";
}

TEST(the_nearest_word_is_suggested)
{
	static char long_word[300];

	CHECK_STR(nearest("funktions"), "functions");
	CHECK_STR(nearest("FUNCTIONS"), "functions");
	CHECK_STR(nearest("fnuctions"), "functions");
	CHECK_STR(nearest("func"), "functions");
	CHECK_STR(nearest("call"), "calltree");
	CHECK_STR(nearest("caller"), "callers");
	CHECK_STR(nearest("moduls"), "modules");
	CHECK_STR(nearest("lines"), "");
	CHECK_STR(nearest("x"), "");
	CHECK_STR(nearest(""), "");
	memset(long_word, 'f', sizeof long_word - 1);
	CHECK_STR(nearest(long_word), "");
}

TEST(part_of_a_word_may_stand_for_it)
{
	struct dw_suggestion s;
	struct dw_buf text = DW_BUF_INIT;

	dw_suggestion_begin(&s, "psh", 3);
	dw_suggestion_put(&s, "", &text);
	CHECK_STR(dw_buf_str(&text), "");
	CHECK(dw_suggestion_offer_part(&s, "push_back", 4, "v::push(int)", 7));
	CHECK(!dw_suggestion_offer(&s, "plsh"));
	dw_suggestion_put(&s, "the ", &text);
	CHECK_STR(dw_buf_str(&text), " (did you mean the v::push?)");
	dw_buf_release(&text);
}

TEST_MAIN()
