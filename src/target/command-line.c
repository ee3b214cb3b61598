/* Command lines; see command-line.h. What is very long is cut: it is there to be read. */
#include "target/command-line.h"

#include "base/cleanup.h"
#include "target/proc.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { LINE_MAX_BYTES = 4096, EXTENSION_MAX = 8 };

/* Without the NULs that programs leave behind which write their titles over it. */
static size_t trimmed(const char *words, size_t n)
{
	while (n && !words[n - 1])
		n--;
	return n;
}

/* The word at *@at, which moves behind it. NULL at the end of @n bytes; the last word need not end.
 * Into @room. */
static const char *next_word(const char *words, size_t n, size_t *at, struct dw_buf *room)
{
	size_t bytes;

	if (*at >= n)
		return NULL;
	bytes = strnlen(words + *at, n - *at);
	dw_buf_clear(room);
	dw_buf_put(room, words + *at, bytes);
	*at += bytes + 1;
	return dw_buf_str(room);
}

void dw_command_line_quote(const char *words, size_t n, struct dw_buf *ret)
{
	dw_auto(dw_buf) room = DW_BUF_INIT;
	size_t at = 0, start = ret->len;
	const char *word;

	n = trimmed(words, n);
	while ((word = next_word(words, n, &at, &room))) {
		if (ret->len - start + strlen(word) > LINE_MAX_BYTES) {
			dw_buf_puts(ret, " ...");
			return;
		}
		if (ret->len > start)
			dw_buf_putc(ret, ' ');
		dw_buf_put_shell_word(ret, word);
	}
	ret->failed |= room.failed;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool begins(const char *word, const char *with)
{
	return !strncmp(word, with, strlen(with));
}

/* Whether @name ends in a dot and a few letters and digits, as names of files do. */
static bool has_extension(const char *name)
{
	const char *dot = strrchr(name, '.');
	size_t n = dot ? strlen(dot + 1) : 0;
	bool letters = false;

	if (!n || dot == name || n > EXTENSION_MAX)
		return false;
	for (size_t i = 1; i <= n; i++) {
		if (!isalnum((unsigned char)dot[i]))
			return false;
		letters |= isalpha((unsigned char)dot[i]) != 0;
	}
	return letters;
}

/* Whether @word, behind the program's, tells what it works on. @first: the very next one, which may
 * be a script of any name. */
static bool is_telling(const char *word, bool first)
{
	static const char *const elsewhere[] = {"/usr/",     "/lib",   "/tmp/",
						"/var/tmp/", "/proc/", "/dev/"};
	const char *name = last_part(word);

	if (*word == '-' || !*name || strpbrk(word, " \t\n\"'=;|&$()<>*"))
		return false;
	if (first && strchr(word, '/') && !begins(word, "/tmp/") && !begins(word, "/dev/"))
		return true;
	for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
		if (begins(word, elsewhere[i]))
			return false;
	return has_extension(name) && !strstr(name, ".so");
}

/* The program, of a title such as "nginx: worker" all of it. */
static void put_program(const char *word, struct dw_buf *ret)
{
	size_t head = strcspn(word, " ");
	const char *slash = memrchr(word, '/', head);

	dw_buf_puts(ret, slash && slash[1] ? slash + 1 : word);
}

void dw_command_line_shorten(const char *words, size_t n, struct dw_buf *ret)
{
	dw_auto(dw_buf) room = DW_BUF_INIT;
	bool first = true;
	size_t at = 0;
	const char *word;

	n = trimmed(words, n);
	word = next_word(words, n, &at, &room);
	if (word)
		put_program(word, ret);
	while ((word = next_word(words, n, &at, &room)) && !is_telling(word, first))
		first = false;
	if (word)
		dw_buf_printf(ret, " %s", last_part(word));
	ret->failed |= room.failed;
}

int dw_command_line_read(pid_t pid, struct dw_buf *ret_short, struct dw_buf *ret_line)
{
	dw_auto(dw_buf) words = DW_BUF_INIT;
	int rc = dw_proc_read(pid, "cmdline", &words);

	if (rc)
		return rc;
	dw_command_line_shorten(dw_buf_str(&words), words.len, ret_short);
	dw_command_line_quote(dw_buf_str(&words), words.len, ret_line);
	return ret_short->failed || ret_line->failed ? -ENOMEM : 0;
}
