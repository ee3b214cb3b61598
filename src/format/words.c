/* Amounts in words; see words.h. */
#include "format/words.h"

#include "format/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *dw_words_grouped(uint64_t n, char ret[DWELL_GROUPED_MAX_BYTES])
{
	char digits[24];
	size_t len = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, n), out = 0;

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			ret[out++] = ',';
		ret[out++] = digits[i];
	}
	ret[out] = 0;
	return ret;
}

void dw_words_count(struct dw_out *out, uint64_t n, const char *what)
{
	char digits[DWELL_GROUPED_MAX_BYTES], last = what[strlen(what) - 1];

	dw_out_printf(out, "%s %s", dw_words_grouped(n, digits), what);
	if (n != 1)
		dw_out_puts(out, last == 's' || last == 'h' ? "es" : "s");
}

void dw_words_time(struct dw_out *out, int64_t ns)
{
	double s = (double)ns / 1e9;

	if (s < 1e-6)
		dw_out_printf(out, "%.0f ns", s * 1e9);
	else if (s < 1e-3)
		dw_out_printf(out, "%.1f µs", s * 1e6);
	else if (s < 1)
		dw_out_printf(out, "%.1f ms", s * 1e3);
	else if (s < 600)
		dw_out_printf(out, "%.2f s", s);
	else
		dw_out_printf(out, "%.1f min", s / 60);
}

void dw_words_bytes(struct dw_out *out, uint64_t n)
{
	static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
	double v = (double)n / 1e3;
	size_t unit = 0;

	if (n < 10000) {
		dw_out_printf(out, "%" PRIu64 " B", n);
		return;
	}
	for (; v >= 1e3 && unit + 1 < sizeof units / sizeof *units; unit++)
		v /= 1e3;
	dw_out_printf(out, v < 100 ? "%.1f %s" : "%.0f %s", v, units[unit]);
}

void dw_words_shell(struct dw_out *out, const char *s)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_./+:@%-";

	if (*s && !s[strspn(s, safe)])
		return dw_out_puts(out, s);
	dw_out_puts(out, "'");
	while (*s) {
		size_t n = strcspn(s, "'");
		char *part = strndup(s, n);

		dw_text_put(out, part ? part : "");
		free(part);
		s += n;
		if (*s) {
			dw_out_puts(out, "'\\''");
			s++;
		}
	}
	dw_out_puts(out, "'");
}

void dw_words_note(struct dw_out *out, int64_t n, const char *what, const char *meaning)
{
	if (n <= 0)
		return;
	dw_out_puts(out, "  ");
	dw_words_count(out, (uint64_t)n, what);
	dw_out_printf(out, " %s\n", meaning);
}
