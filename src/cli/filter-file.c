/*
 * Filter files; see filter-file.h. Lines go through the parser of command lines, so that they mean
 * what they mean there.
 */
#include "cli/filter-file.h"

#include "base/cleanup.h"
#include "base/out.h"
#include "cli/whole-file.h"
#include "model/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX_BYTES = 1 << 20, READ_BYTES = 1 << 14 };

static const struct dw_option table[] = {DW_FILTER_CHOICES(0), {NULL}};

static int read_text(const char *path, struct dw_buf *ret, struct dw_error *err)
{
	dw_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	char bytes[READ_BYTES];
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0 && ret->len <= FILE_MAX_BYTES) {
		n = read(fd, bytes, sizeof bytes);
		if (n > 0 && dw_buf_put(ret, bytes, (size_t)n))
			return dw_error_set(err, -ENOMEM, "no memory");
	}
	if (n < 0)
		return dw_error_set_errno(err, errno, "cannot read '%s'", path);
	if (ret->len > FILE_MAX_BYTES)
		return dw_error_set(err, DWELL_ERR_FORMAT, "%s: more than 1 MB is no filter file",
				    path);
	return 0;
}

/* One word of a command line for the option in @line, which the caller frees. NULL = no memory. */
static char *make_word(const char *line)
{
	size_t n = strcspn(line, "= \t");
	const char *value = line + n;
	char *word;

	if (*value == '=')
		return strdup(line);
	value += strspn(value, " \t");
	if (asprintf(&word, "%.*s%s%s", (int)n, line, *value ? "=" : "", value) < 0)
		return NULL;
	return word;
}

/* The line and what is wrong with it are in @err when it is no option. */
static int take_line(const char *line, struct dw_filter_options *o, struct dw_error *err)
{
	char *word, *argv[3] = {(char *)""};
	int first, rc;

	line += strspn(line, " \t");
	if (!*line || *line == '#')
		return 0;
	if (strncmp(line, "--", 2) != 0 || !line[2])
		return dw_misuse(err, "what is '%s' for? (an option a line, as --process=NAME)",
				 line);
	word = make_word(line);
	/* Values are borrowed from the word, so it lives as long as they do. */
	if (!word || dw_vec_push(&o->words, word)) {
		free(word);
		return dw_error_set(err, -ENOMEM, "no memory");
	}
	argv[1] = word;
	rc = dw_options_parse(table, false, argv, o, &first, err);
	return rc > 0 ? dw_misuse(err, "--help chooses nothing") : rc;
}

int dw_filter_file_read(const char *path, struct dw_filter_options *o, struct dw_error *err)
{
	dw_auto(dw_buf) text = DW_BUF_INIT;
	int rc = read_text(path, &text, err);
	size_t number = 0;
	char *line = text.data, *end = line ? line + text.len : NULL;

	for (; !rc && line < end; number++) {
		char *next = memchr(line, '\n', (size_t)(end - line));
		size_t n;

		next = next ? next : end;
		n = (size_t)(next - line);
		n -= n && line[n - 1] == '\r';
		line[n] = 0;
		if (strlen(line) < n)
			rc = dw_error_set(err, DWELL_ERR_FORMAT, "a NUL byte is in no option");
		else
			rc = take_line(line, o, err);
		if (rc)
			dw_error_prefix(err, "%s:%zu", path, number + 1);
		line = next + 1;
	}
	return rc;
}

int dw_option_filter(const char *value, void *into, struct dw_error *err)
{
	return dw_filter_file_read(value, into, err);
}

static void put_list(struct dw_out *out, const char *name, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		dw_out_printf(out, "--%s=%s\n", name, words[i]);
}

/* In the largest unit that leaves nothing behind the point. */
static void put_time(struct dw_out *out, const char *name, uint64_t ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	size_t unit = 0;

	if (!ns)
		return;
	for (; unit + 1 < sizeof units / sizeof *units && ns % 1000 == 0; unit++)
		ns /= 1000;
	dw_out_printf(out, "--%s=%" PRIu64 "%s\n", name, ns, units[unit]);
}

static void put_waits(struct dw_out *out, dw_wait_kinds left_out)
{
	const char *before = "";

	if (left_out == DWELL_WAITS_FOLDED)
		return;
	dw_out_puts(out, "--waits=");
	for (enum dw_wait_kind kind = 0; kind < DWELL_WAIT_KINDS && left_out; kind++)
		if (!dw_wait_kinds_have(left_out, kind)) {
			dw_out_printf(out, "%s%s", before, dw_wait_kind_name(kind));
			before = ",";
		}
	if (!*before)
		dw_out_puts(out, left_out ? "none" : "all");
	dw_out_puts(out, "\n");
}

/* Refuse values that would be other ones when they are read. */
static int check_list(const char *const *words, size_t n, struct dw_error *err)
{
	for (size_t i = 0; i < n; i++) {
		size_t bytes = strlen(words[i]);

		if (strchr(words[i], '\n') || (bytes && words[i][bytes - 1] == '\r'))
			return dw_error_set(err, DWELL_ERR_REFUSED,
					    "no filter file can hold '%s': a line ends in it",
					    words[i]);
	}
	return 0;
}

/* Whatever else is there was not meant: a session, say. */
static int check_replaced(const char *path, struct dw_error *err)
{
	struct dw_filter_options old = {0};
	int rc = access(path, F_OK) ? 0 : dw_filter_file_read(path, &old, err);

	dw_filter_options_release(&old);
	if (rc == DWELL_ERR_USAGE || rc == DWELL_ERR_FORMAT)
		return dw_error_set(err, DWELL_ERR_REFUSED,
				    "'%s' exists and is no filter file, not overwriting it", path);
	return rc;
}

int dw_filter_file_write(const char *path, const struct dw_filter_words *words,
			 struct dw_error *err)
{
	struct dw_whole_file f = {0};
	struct dw_out out;
	int rc = dw_whole_file_is_in_place(path) ? 0 : check_replaced(path, err), failed;

	rc = rc ? rc : check_list(words->processes, words->processes_n, err);
	rc = rc ? rc : check_list(words->threads, words->threads_n, err);
	rc = rc ? rc : check_list(words->modules, words->modules_n, err);
	rc = rc ? rc : check_list(words->types, words->types_n, err);
	rc = rc ? rc : dw_whole_file_open(&f, path, err);
	if (rc)
		return rc;
	dw_out_init_fd(&out, f.fd);
	dw_out_puts(&out,
		    "# A part of a session, an option a line: dwell report FILE --filter THIS\n");
	put_list(&out, "process", words->processes, words->processes_n);
	put_list(&out, "thread", words->threads, words->threads_n);
	put_list(&out, "module", words->modules, words->modules_n);
	put_list(&out, "type", words->types, words->types_n);
	put_waits(&out, words->waits_left_out);
	put_time(&out, "from", words->from_ns);
	put_time(&out, "until", words->to_ns);
	failed = dw_out_close(&out);
	if (failed)
		rc = dw_error_set_errno(err, -failed, "cannot write '%s'", path);
	rc = rc ? rc : dw_whole_file_close(&f, err);
	rc = rc ? rc : dw_whole_file_keep(&f, err);
	dw_whole_file_release(&f);
	return rc;
}

int dw_filter_options_save(const struct dw_filter_options *o, struct dw_error *err)
{
	const struct dw_filter_words words = dw_filter_options_words(o);

	return o->save ? dw_filter_file_write(o->save, &words, err) : 0;
}
