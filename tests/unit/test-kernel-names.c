/* The kernel's list of its symbols, from texts of our own. */
#include "check.h"

#include "base/cleanup.h"
#include "scratch.h"
#include "symbol/kernel-names.h"

#include <string.h>

static int parse(struct dw_kernel_names *k, const char *text)
{
	struct dw_buf b = DW_BUF_INIT;

	int rc;

	dw_buf_puts(&b, text);
	rc = dw_kernel_names_parse(k, &b);
	dw_buf_release(&b);
	return rc;
}

static const char *name_at(const struct dw_kernel_names *k, uint64_t svma)
{
	struct dw_kernel_symbol s;
	uint64_t end;

	return dw_kernel_names_find(k, svma, &s, &end) ? s.name : "";
}

TEST(names_by_address)
{
	dw_auto(dw_kernel_names) k = {0};
	struct dw_kernel_symbol s;
	uint64_t end;

	CHECK_INT(parse(&k, "ffffffff81000300 t last\n"
			    "ffffffff81000100 t __local\n"
			    "ffffffff81000100 T _text\n"
			    "ffffffff81000100 T first\n"
			    "ffffffff81000180 D data\n"
			    "ffffffffc0000000 t in_module\t[mod]\n"
			    "ffffffff81000200 W weak"),
		  0);
	CHECK_STR(name_at(&k, 0xffffffff810000ff), "");
	CHECK_STR(name_at(&k, 0xffffffff81000100), "first");
	CHECK_STR(name_at(&k, 0xffffffff810001ff), "first");
	CHECK_STR(name_at(&k, 0xffffffff81000200), "weak");
	CHECK_STR(name_at(&k, 0xffffffff81000300), "last");
	CHECK(dw_kernel_names_find(&k, 0xffffffffc0000010, &s, &end));
	CHECK_STR(s.module, "mod");
	CHECK_STR(name_at(&k, 0xffffffffc0001000), "");
	CHECK(dw_kernel_names_find(&k, 0xffffffff81000210, &s, &end));
	CHECK(end == 0xffffffff81000300);
}

TEST(another_kernels_place)
{
	static const uint8_t notes[] = "\6\0\0\0\4\0\0\0\1\0\0\0Linux\0\0\0abcd"
				       "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\x01\x02\xfe\xff";
	static const char text[] = "ffffffff81000000 T _stext\nffffffff81000000 T _text\n"
				   "ffffffff81000100 T _text_end";
	static const char *const wrong[] = {
		"",
		"0102feff",
		"0102feff _text",
		"0102fefe _text ffffffff81000000",
		"0102feff _text ffffffff81000100",
		"0102feff _tex ffffffff81000000",
		"0102feff _text ffffffff8100000",
		"0102feff _text 0",
		"61626364 _text ffffffff81000000",
	};

	CHECK(dw_kernel_names_agree("0102feff _text ffffffff81000000", text, notes,
				    sizeof notes - 1));
	CHECK(dw_kernel_names_agree("0102feff _text_end ffffffff81000100", text, notes,
				    sizeof notes - 1));
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		CHECK(!dw_kernel_names_agree(wrong[i], text, notes, sizeof notes - 1));
	for (size_t n = 0; n < sizeof notes - 1; n++)
		CHECK(!dw_kernel_names_agree("0102feff _text ffffffff81000000", text, notes, n));
}

TEST(hidden_and_senseless)
{
	static const char *const texts[] = {
		"",
		"\n",
		"0000000000000000 T hidden\n0000000000000000 t too\n",
		"zz",
		"ffffffff81000000",
		"ffffffff81000000 T",
		"ffffffff81000000 T ",
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		dw_auto(dw_kernel_names) k = {0};

		CHECK_INT(parse(&k, texts[i]), 0);
		CHECK_INT(k.rows.n, 0);
		CHECK_STR(name_at(&k, 0xffffffff81000000), "");
	}
}

TEST(another_boot)
{
	dw_auto(dw_kernel_names) k = {0};

	CHECK_INT(dw_kernel_names_read(&k, "00000000-0000-0000-0000-000000000000", NULL, 1), 0);
	CHECK_INT(k.rows.n, 0);
	CHECK_INT(dw_kernel_names_read(&k, NULL, NULL, 1), 0);
	CHECK_INT(k.rows.n, 0);
}

static const char boot[] = "01234567-89ab-cdef-0123-456789abcdef\n";
static const char kept[] = "cache/0123456789abcdef0123456789abcdef-kernel";

TEST(the_kernels_own_functions_are_kept)
{
	dw_auto(dw_kernel_names) k = {0}, again = {0}, other = {0};

	CHECK_INT(parse(&k, "ffffffff81000000 T first\nffffffff81000100 t second\n"
			    "ffffffff81000200 T third\nffffffffc0000000 t loaded\t[mod]\n"),
		  0);
	CHECK(dw_kernel_cache_read("cache", boot, &again));
	dw_kernel_cache_write("cache", boot, &k);
	CHECK_INT(dw_kernel_cache_read("cache", boot, &again), 0);
	CHECK_STR(name_at(&again, 0xffffffff81000000), "first");
	CHECK(dw_kernel_cache_spans(&again, 0xffffffff81000110));
	CHECK(!dw_kernel_cache_spans(&again, 0xffffffffc0000000));
	CHECK_STR(name_at(&again, 0xffffffff81000110), "second");
	CHECK_STR(name_at(&again, 0xffffffffc0000000), "");
	CHECK(dw_kernel_cache_read("cache", "11234567-89ab-cdef-0123-456789abcdef", &other));
	CHECK(dw_kernel_cache_read("cache", "no boot", &other));
}

/* Read what is kept with the byte at @at changed, of @n. */
static int read_changed(const uint8_t *bytes, size_t n, size_t at, struct dw_kernel_names *ret)
{
	FILE *f = fopen(kept, "wb");

	if (!f)
		return 0;
	fwrite(bytes, 1, at, f);
	if (at < n)
		fputc(bytes[at] ^ 0x41, f);
	if (at < n)
		fwrite(bytes + at + 1, 1, n - at - 1, f);
	fclose(f);
	return dw_kernel_cache_read("cache", boot, ret);
}

TEST(broken_files_are_none)
{
	dw_auto(dw_kernel_names) k = {0};
	uint8_t bytes[4096];
	FILE *f;
	size_t n;

	CHECK_INT(parse(&k, "ffffffff81000000 T first\nffffffff81000100 t second\n"), 0);
	dw_kernel_cache_write("cache", boot, &k);
	f = fopen(kept, "rb");
	CHECK(f);
	n = fread(bytes, 1, sizeof bytes, f);
	CHECK(!fclose(f) && n > 50 && n < sizeof bytes);
	for (size_t at = 0; at < n; at++) {
		dw_auto(dw_kernel_names) changed = {0}, cut = {0};
		int rc = read_changed(bytes, n, at, &changed);

		for (uint64_t svma = 0xffffffff81000000; !rc && svma < 0xffffffff81000200; svma++)
			CHECK(strlen(name_at(&changed, svma)) < n);
		CHECK(at >= 16 || rc);
		CHECK(read_changed(bytes, at, at, &cut));
	}
}

TEST_MAIN()
