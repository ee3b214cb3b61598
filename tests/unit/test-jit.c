/* JIT code: perf maps, names in them, frames of it. */
#include "check.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "code/jit/perf-map.h"
#include "code/jit/jitdump.h"
#include "unwind/prolog.h"

#include <errno.h>
#include <string.h>

#define BYTES(...)                                                                     \
	(struct dw_code_bytes)                                                         \
	{                                                                              \
		(const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}) \
	}

static bool is_text(struct dw_jit_text t, const char *wanted)
{
	return t.n == strlen(wanted) && (!t.n || !memcmp(t.at, wanted, t.n));
}

TEST(lines_of_maps)
{
	static const char map[] = "0x00007f2d 0x0010 int H.hot(int)\n"
				  "nonsense\n"
				  "10 zz not hex\n"
				  "10 0 nothing\n"
				  "ffffffffffffffff 10 wraps\n"
				  "11111111111111111 10 too long\n"
				  "10 10\n"
				  "ABC  20  name with  blanks\r\n"
				  "1ec 3 cut";
	struct dw_perf_map_line line;
	size_t at = dw_perf_map_next(map, strlen(map), &line), n;

	CHECK_INT(line.start, 0x7f2d);
	CHECK_INT(line.bytes, 0x10);
	CHECK(line.name_n == 14 && !memcmp(line.name, "int H.hot(int)", 14));
	n = dw_perf_map_next(map + at, strlen(map) - at, &line);
	CHECK_INT(line.start, 0xabc);
	CHECK_INT(line.bytes, 0x20);
	CHECK(line.name_n == 17 && !memcmp(line.name, "name with  blanks", 17));
	at += n;
	CHECK_INT(dw_perf_map_next(map + at, strlen(map) - at, &line), 0);
	CHECK_INT(line.bytes, 0);
	/* A whole text of other things is done with. */
	CHECK_INT(dw_perf_map_next("a\nb\nc", 5, &line), 4);
	CHECK_INT(line.bytes, 0);
}

static struct dw_jit_name read_name(const char *text)
{
	return dw_jit_name_read(text, strlen(text));
}

static bool is_name(const char *text, const char *name, const char *file, uint32_t line)
{
	struct dw_jit_name n = read_name(text);

	return is_text(n.name, name) && is_text(n.file, file) && n.line == line;
}

TEST(names)
{
	struct dw_jit_name n;

	CHECK(is_name("JS:*hot /a/b.js:12:8", "hot", "/a/b.js", 12));
	CHECK(is_name("JS:~get size /a b/c.js:3:1", "get size", "/a b/c.js", 3));
	CHECK(is_name("LazyCompile:^ file:///m.mjs:7:1", "(anonymous)", "/m.mjs", 7));
	CHECK(is_name("JS:+next node:internal/a:5:10", "next", "node:internal/a", 5));
	CHECK(is_name("JS:*a", "a", "", 0));
	CHECK(is_name("JS:", "(anonymous)", "", 0));
	CHECK(is_name("JS:*", "(anonymous)", "", 0));
	CHECK(is_name("JS:f :1:2", "f", "", 1));
	CHECK(is_name("LazyCompile:*half /a b/c.js:11", "half", "/a b/c.js", 11));
	CHECK(is_name("Function:^get size /c.js:3", "get size", "/c.js", 3));
	CHECK(is_name("LazyCompile:~ file:///m.mjs:7", "(anonymous)", "/m.mjs", 7));
	CHECK(is_name("JS:f /a:99999999999", "f /a:99999999999", "", 0));
	CHECK(is_name("Builtin:Call", "Builtin:Call", "", 0));
	CHECK(is_name("RegExp:a:1:2", "RegExp:a:1:2", "", 0));
	CHECK(is_name("py::f:/a/b.py", "f", "/a/b.py", 0));
	CHECK(is_name("py::f", "f", "", 0));
	CHECK(is_name("py::", "(anonymous)", "", 0));
	CHECK(is_name("int H.hot(int)", "int H.hot(int)", "", 0));
	n = read_name("instance class [Sys]Sys.A`1<int32[]> [my.Asm] N.T/U`1[int]::M(class [S]S.B)"
		      "[OptimizedTier1]");
	CHECK(is_text(n.name, "N.T/U`1[int]::M"));
	CHECK(is_text(n.assembly, "my.Asm"));
	n = read_name("void [A] ::M()[Tier0]");
	CHECK(is_text(n.assembly, ""));
	CHECK(is_text(n.name, "void [A] ::M()[Tier0]"));
	n = read_name("[]");
	CHECK(is_text(n.name, "[]"));
}

static void put_u32(struct dw_buf *b, uint32_t v)
{
	dw_buf_put(b, &v, sizeof v);
}

static void put_u64(struct dw_buf *b, uint64_t v)
{
	dw_buf_put(b, &v, sizeof v);
}

static void put_header(struct dw_buf *b, uint32_t magic, uint32_t machine, uint32_t reserved)
{
	const uint32_t words[] = {magic, 1, 40, machine, reserved, 7};

	dw_buf_put(b, words, sizeof words);
	put_u64(b, 5);
	put_u64(b, 0);
}

static void put_load(struct dw_buf *b, uint64_t start, uint64_t bytes, const char *name)
{
	size_t n = strlen(name) + 1;

	put_u32(b, DWELL_JITDUMP_LOAD);
	put_u32(b, (uint32_t)(16 + 40 + n + 2));
	put_u64(b, 99);
	put_u64(b, 7);
	put_u64(b, start);
	put_u64(b, start);
	put_u64(b, bytes);
	put_u64(b, 3);
	dw_buf_put(b, name, n);
	dw_buf_put(b, "\xc3\x90", 2);
}

TEST(headers_of_dumps)
{
	struct dw_jitdump_header h;
	dw_auto(dw_buf) b = DW_BUF_INIT;

	put_header(&b, 0x4a695444, 62, 0);
	CHECK_INT(dw_jitdump_header_read(b.data, b.len, &h), 0);
	CHECK(h.bytes == 40 && !h.is_v8 && !h.has_other_time);
	CHECK_INT(dw_jitdump_header_read(b.data, b.len - 1, &h), DWELL_ERR_FORMAT);
	dw_buf_clear(&b);
	put_header(&b, 0x4a695444, 62, 0xdeadbeef);
	CHECK_INT(dw_jitdump_header_read(b.data, b.len, &h), 0);
	CHECK(h.is_v8);
	dw_buf_clear(&b);
	put_header(&b, 0x4454694a, 62, 0);
	CHECK_INT(dw_jitdump_header_read(b.data, b.len, &h), DWELL_ERR_UNSUPPORTED);
	dw_buf_clear(&b);
	put_header(&b, 0x4a695444, 183, 0);
	CHECK_INT(dw_jitdump_header_read(b.data, b.len, &h), DWELL_ERR_UNSUPPORTED);
}

TEST(records_of_dumps)
{
	struct dw_jitdump_record r;
	dw_auto(dw_buf) b = DW_BUF_INIT;

	put_load(&b, 0x1000, 0x20, "f");
	CHECK_INT(dw_jitdump_record_read(b.data, b.len, b.len, &r), 0);
	CHECK(r.kind == DWELL_JITDUMP_LOAD && r.bytes == b.len && r.time_ns == 99);
	CHECK(r.start == 0x1000 && r.code_bytes == 0x20 && r.index == 3);
	CHECK(r.name_n == 1 && r.name[0] == 'f');
	/* Not whole yet; whole, but not all of it at hand: its name is what is there. */
	CHECK_INT(dw_jitdump_record_read(b.data, b.len, b.len - 1, &r), -EAGAIN);
	CHECK_INT(dw_jitdump_record_read(b.data, 15, b.len, &r), -EAGAIN);
	CHECK_INT(dw_jitdump_record_read(b.data, 56, b.len, &r), 0);
	CHECK(r.kind == DWELL_JITDUMP_LOAD && r.name_n == 0);
	CHECK_INT(dw_jitdump_record_read(b.data, 50, b.len, &r), 0);
	CHECK(r.kind == DWELL_JITDUMP_CLOSE);
	memset(b.data + 4, 0, 4);
	CHECK_INT(dw_jitdump_record_read(b.data, b.len, b.len, &r), DWELL_ERR_FORMAT);
	dw_buf_clear(&b);
	put_load(&b, UINT64_MAX - 4, 0x20, "f");
	CHECK_INT(dw_jitdump_record_read(b.data, b.len, b.len, &r), 0);
	CHECK(r.kind == DWELL_JITDUMP_CLOSE);
}

TEST(lines_of_dumps)
{
	static const struct dw_jitdump_header v8 = {.is_v8 = true};
	struct dw_jitdump_lines lines;
	struct dw_jitdump_line line;
	dw_auto(dw_buf) b = DW_BUF_INIT;

	put_u64(&b, DWELL_JITDUMP_DEBUG);
	put_u64(&b, 99);
	put_u64(&b, 0x1000);
	put_u64(&b, 3); /* one more than there are */
	put_u64(&b, 0x1040);
	put_u64(&b, 12 | (uint64_t)4 << 32);
	dw_buf_put(&b, "a.js", 5);
	put_u64(&b, 0x1050);
	put_u64(&b, 13);
	dw_buf_put(&b, "\xff", 2);
	dw_jitdump_lines_init(&lines, b.data, b.len, &v8);
	CHECK(dw_jitdump_lines_next(&lines, &line));
	CHECK(line.avma == 0x1000 && line.line == 12 && line.column == 4);
	CHECK(line.file_n == 4 && !memcmp(line.file, "a.js", 4));
	CHECK(dw_jitdump_lines_next(&lines, &line));
	CHECK(line.avma == 0x1010 && line.line == 13 && line.column == 0);
	CHECK(line.file_n == 4 && !memcmp(line.file, "a.js", 4));
	CHECK(!dw_jitdump_lines_next(&lines, &line));
	CHECK(!dw_jitdump_lines_next(&lines, &line));
}

static bool is_row(struct dw_cfi_row row, int kind, int words, int rbp)
{
	return (row.cfa & 3) == kind && row.cfa >> 2 == words && row.fp == rbp;
}

TEST(frames)
{
	/* mov rbx, [rcx - 8]; push rbp; mov rbp, rsp; push rsi; ... */
	const struct dw_code_bytes begin =
		BYTES(0x48, 0x8b, 0x59, 0xf8, 0x55, 0x48, 0x89, 0xe5, 0x56, 0x57);
	const struct dw_code_bytes body = BYTES(0x33, 0xc0);
	struct dw_cfi_row row;

	CHECK(dw_framed_row(begin, 0, BYTES(0x48, 0x8b), &row));
	CHECK(is_row(row, DWELL_ROW_SP, 1, 0));
	CHECK(dw_framed_row(begin, 4, BYTES(0x55, 0x48), &row));
	CHECK(is_row(row, DWELL_ROW_SP, 1, 0));
	CHECK(dw_framed_row(begin, 5, BYTES(0x48, 0x89, 0xe5), &row));
	CHECK(is_row(row, DWELL_ROW_SP, 2, -2));
	CHECK(dw_framed_row(begin, 8, body, &row));
	CHECK(is_row(row, DWELL_ROW_SPECIAL, DWELL_ROW_NONE, 0));
	/* pop rbp; cmp rcx, 3; jg +3; ret 24 */
	CHECK(dw_framed_row(begin, 90, BYTES(0x5d, 0x48, 0x83, 0xf9, 3, 0x7f, 3, 0xc2), &row));
	CHECK(is_row(row, DWELL_ROW_SP, 2, -2));
	CHECK(dw_framed_row(begin, 91, BYTES(0x48, 0x83, 0xf9, 3, 0x7f, 3, 0xc2, 24, 0), &row));
	CHECK(is_row(row, DWELL_ROW_SP, 1, 0));
	CHECK(dw_framed_row(begin, 97, BYTES(0xc2, 24, 0), &row));
	CHECK(is_row(row, DWELL_ROW_SP, 1, 0));
	CHECK(dw_framed_row(begin, 97, BYTES(0x48, 0x83, 0xf9), &row));
	CHECK(is_row(row, DWELL_ROW_SPECIAL, DWELL_ROW_NONE, 0));
	CHECK(!dw_framed_row(body, 0, body, &row));
	CHECK(!dw_framed_row(BYTES(0x55, 0x48, 0x89), 0, body, &row));
}

TEST_MAIN()
