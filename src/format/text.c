/*
 * Foreign text; see text.h. UTF-8 as in RFC 3629: no surrogates, no overlong forms, nothing past
 * U+10FFFF. Widths follow Unicode's East Asian Width in coarse blocks: a name that is off by a
 * column misaligns its own row only.
 */
#include "format/text.h"

#include "base/buf.h"

#include <stdio.h>
#include <string.h>

uint32_t dw_text_next(const char **s)
{
	static const uint32_t smallest[] = {0, 0x80, 0x800, 0x10000};
	const unsigned char *p = (const unsigned char *)*s;
	unsigned more = *p >= 0xf0 ? 3 : *p >= 0xe0 ? 2 : *p >= 0xc0 ? 1 : 0;
	uint32_t c = *p & (0x7fu >> (more ? more + 1 : 0));

	(*s)++;
	if (*p >= 0xf8 || (*p >= 0x80 && *p < 0xc0))
		return DWELL_REPLACEMENT;
	for (unsigned i = 1; i <= more; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return DWELL_REPLACEMENT;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < smallest[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return DWELL_REPLACEMENT;
	*s += more;
	return c;
}

size_t dw_text_encode(uint32_t c, char *ret)
{
	unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};

	ret[0] = (char)(lead[more] | c >> 6 * more);
	for (unsigned i = 1; i <= more; i++)
		ret[i] = (char)(0x80 | (c >> 6 * (more - i) & 0x3f));
	ret[more + 1] = 0;
	return more + 1;
}

bool dw_text_is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
	       (c >= 0xe0000 && c <= 0xe0fff);
}

unsigned dw_text_width(uint32_t c)
{
	if ((c >= 0x300 && c <= 0x36f) || (c >= 0x20d0 && c <= 0x20ff) ||
	    (c >= 0xfe00 && c <= 0xfe0f))
		return 0;
	return (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf && c != 0x303f) ||
			       (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
			       (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
			       (c >= 0xffe0 && c <= 0xffe6) || (c >= 0x1f300 && c <= 0x1faff) ||
			       (c >= 0x20000 && c <= 0x3fffd)
		       ? 2
		       : 1;
}

/* One code point as shown, in @ret (16 bytes). Returns its columns. */
static size_t show(uint32_t c, char *ret)
{
	if (!dw_text_is_control(c)) {
		dw_text_encode(c, ret);
		return dw_text_width(c);
	}
	return (size_t)snprintf(ret, 16, c < 0x100 ? "\\x%02x" : "\\u%04x", c);
}

/* Whether all @n bytes at @s are printable ASCII, eight at a time: most names are. */
static bool is_plain(const char *s, size_t n)
{
	const uint64_t ones = ~0ull / 255;
	uint64_t word, odd = 0;

	for (; n >= 8; s += 8, n -= 8) {
		memcpy(&word, s, 8);
		odd |= (word - 0x20 * ones) | word | (word + ones);
	}
	for (; n; s++, n--)
		odd |= *s < 0x20 || *s > 0x7e ? 0x80 : 0;
	return !(odd & 0x80 * ones);
}

size_t dw_text_plain_run(const char *s, const char *special)
{
	size_t n = strcspn(s, special);

	if (is_plain(s, n))
		return n;
	for (n = 0; s[n] >= 0x20 && s[n] <= 0x7e && !strchr(special, s[n]); n++)
		;
	return n;
}

size_t dw_text_columns(const char *s)
{
	size_t columns = 0, n = strlen(s);
	char shown[16];

	if (is_plain(s, n))
		return n;
	while (*s)
		columns += show(dw_text_next(&s), shown);
	return columns;
}

void dw_text_put(struct dw_out *out, const char *s)
{
	size_t n = strlen(s);
	char shown[16];

	if (is_plain(s, n))
		return dw_out_write(out, s, n);
	while (*s) {
		show(dw_text_next(&s), shown);
		dw_out_puts(out, shown);
	}
}

/* Write code points of *@s while they fit in @columns. Returns the columns written. */
static size_t put_head(struct dw_out *out, const char *s, size_t columns)
{
	size_t used = 0;
	char shown[16];

	while (*s) {
		size_t width = show(dw_text_next(&s), shown);

		if (used + width > columns)
			break;
		dw_out_puts(out, shown);
		used += width;
	}
	return used;
}

/* Write the end of @s, whose columns are @total, in at most @columns. Returns those written. */
static size_t put_tail(struct dw_out *out, const char *s, size_t total, size_t columns)
{
	char shown[16];

	while (*s && total > columns)
		total -= show(dw_text_next(&s), shown);
	dw_text_put(out, s);
	return total;
}

size_t dw_text_put_fitted(struct dw_out *out, const char *s, size_t columns)
{
	size_t n = strlen(s), total, head;

	if (n <= columns && is_plain(s, n)) {
		dw_out_write(out, s, n);
		return n;
	}
	total = dw_text_columns(s);
	if (total <= columns) {
		dw_text_put(out, s);
		return total;
	}
	if (!columns)
		return 0;
	head = put_head(out, s, columns / 2);
	dw_out_puts(out, "…");
	return head + 1 + put_tail(out, s, total, columns - head - 1);
}
