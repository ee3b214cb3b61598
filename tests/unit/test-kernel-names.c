/* The kernel's list of its symbols, from texts of our own. */
#include "check.h"

#include "base/cleanup.h"
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
	uint64_t end;
	const struct dw_kernel_symbol *s = dw_kernel_names_find(k, svma, &end);

	return s ? s->name : "";
}

TEST(names_by_address)
{
	dw_auto(dw_kernel_names) k = {0};
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
	CHECK_STR(dw_kernel_names_find(&k, 0xffffffffc0000010, &end)->module, "mod");
	CHECK_STR(name_at(&k, 0xffffffffc0001000), "");
	dw_kernel_names_find(&k, 0xffffffff81000210, &end);
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

	CHECK_INT(dw_kernel_names_read(&k, "00000000-0000-0000-0000-000000000000", NULL), 0);
	CHECK_INT(k.rows.n, 0);
	CHECK_INT(dw_kernel_names_read(&k, NULL, NULL), 0);
	CHECK_INT(k.rows.n, 0);
}

TEST_MAIN()
