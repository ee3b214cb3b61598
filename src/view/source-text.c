/*
 * Source files; see source-text.h. A path in a session can be any text: what is no regular file of
 * a moderate size is left alone.
 */
#include "view/source-text.h"

#include "base/buf.h"
#include "base/cleanup.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FILE_MAX_BYTES = 16 << 20,
	ALL_MAX_BYTES = 128 << 20, /* then files are forgotten */
};

static int open_regular(const char *path, size_t *ret_bytes)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= FILE_MAX_BYTES) {
		*ret_bytes = (size_t)st.st_size;
		return fd;
	}
	close(fd);
	return -1;
}

/* Open @path below @dir, whole or without its first folders, as little of it as must be. */
static int open_below(const char *dir, const char *path, size_t *ret_bytes)
{
	dw_auto(dw_buf) whole = DW_BUF_INIT;
	int fd = -1;

	for (const char *part = path; part && fd < 0; part = strchr(part, '/')) {
		part += strspn(part, "/");
		dw_buf_clear(&whole);
		dw_buf_printf(&whole, "%s/%s", dir, part);
		if (*part && !whole.failed)
			fd = open_regular(dw_buf_str(&whole), ret_bytes);
	}
	return fd;
}

static int open_source(const struct dw_source_text *s, const char *path, size_t *ret_bytes)
{
	int fd = -1;

	for (size_t i = 0; i < s->dirs_n && fd < 0; i++)
		fd = open_below(s->dirs[i], path, ret_bytes);
	return fd < 0 ? open_regular(path, ret_bytes) : fd;
}

static void read_text(struct dw_source_file *f, int fd, size_t bytes)
{
	char *text = malloc(bytes + 1);
	size_t n = 0;
	ssize_t got = 1;

	while (text && n < bytes && got > 0) {
		got = read(fd, text + n, bytes - n);
		n += got > 0 ? (size_t)got : 0;
	}
	f->text = text;
	f->bytes = text ? n : 0;
}

/* Without memory for them the later lines are not there. */
static void find_lines(struct dw_source_file *f)
{
	size_t at = 0;

	while (at < f->bytes && !dw_vec_push(&f->starts, (uint32_t)at)) {
		const char *end = memchr(f->text + at, '\n', f->bytes - at);

		at = end ? (size_t)(end - f->text) + 1 : f->bytes;
	}
	if (dw_vec_push(&f->starts, (uint32_t)at) && f->starts.n)
		f->starts.n--;
}

static void forget(struct dw_source_text *s)
{
	dw_vec_each(f, &s->files) {
		free(f->text);
		dw_vec_release(&f->starts);
	}
	s->files.n = 0;
	s->bytes = 0;
	dw_map_release(&s->by_name);
}

/* Fill @f from the session where that has the file, else from the disk. */
static void read_file(const struct dw_source_text *s, uint32_t name, struct dw_source_file *f)
{
	const struct dw_source *packed = dw_sources_get(&s->profile->sources, name);
	size_t bytes = 0;
	int fd;

	if (packed) {
		f->text = malloc(packed->bytes_n + 1);
		f->bytes = f->text ? packed->bytes_n : 0;
		if (f->bytes)
			memcpy(f->text, packed->text, f->bytes);
		return;
	}
	if (s->only_packed)
		return;
	fd = open_source(s, dw_strings_get(&s->profile->strings, name), &bytes);
	if (fd < 0)
		return;
	read_text(f, fd, bytes);
	close(fd);
}

static const struct dw_source_file *get(struct dw_source_text *s, uint32_t name)
{
	uint32_t index = dw_map_get(&s->by_name, name);
	struct dw_source_file f = {0};

	if (index)
		return &s->files.v[index];
	if (s->bytes > ALL_MAX_BYTES)
		forget(s);
	read_file(s, name, &f);
	if (f.text) {
		find_lines(&f);
	} else {
		s->missing = name;
		s->missing_n++;
	}
	if ((!s->files.n && dw_vec_push(&s->files, (struct dw_source_file){0})) ||
	    dw_vec_reserve(&s->files, 1) || dw_map_put(&s->by_name, name, (uint32_t)s->files.n)) {
		free(f.text);
		dw_vec_release(&f.starts);
		return NULL;
	}
	s->bytes += f.bytes;
	s->files.v[s->files.n++] = f;
	return &s->files.v[s->files.n - 1];
}

const char *dw_source_text_line(struct dw_source_text *s, uint32_t file, uint32_t line, size_t *n)
{
	const struct dw_source_file *f = get(s, file);

	if (!f || !f->text || !line || line >= f->starts.n)
		return NULL;
	*n = f->starts.v[line] - f->starts.v[line - 1];
	return f->text + f->starts.v[line - 1];
}

void dw_source_text_init(struct dw_source_text *s, const struct dw_profile *p,
			 const char *const *dirs, size_t dirs_n)
{
	*s = (struct dw_source_text){.profile = p, .dirs = dirs, .dirs_n = dirs_n};
}

void dw_source_text_release(struct dw_source_text *s)
{
	forget(s);
	dw_vec_release(&s->files);
}
