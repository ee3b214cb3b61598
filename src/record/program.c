/*
 * Looking at a program before it starts; see program.h. A text file without "#!" is given to
 * /bin/sh, as execvp() does. execve(2) for the rules of "#!"; ld.so(8) for secure execution.
 */
#include "record/program.h"

#include "base/cleanup.h"
#include "code/elf/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

enum {
	LINE_BYTES = 256, /* of a "#!" line, as the kernel reads */
	SCRIPTS_MAX = 5,  /* that start one another */
	INTERPRETER_BYTES = 256,
};

static bool is_executable(const char *path)
{
	struct stat st;

	return !access(path, X_OK) && !stat(path, &st) && S_ISREG(st.st_mode);
}

/* The file that execvp() would execute for @name, or NULL. The caller frees it. */
static char *find_path(const char *name)
{
	const char *at = getenv("PATH");
	char *path;

	if (strchr(name, '/'))
		return is_executable(name) ? strdup(name) : NULL;
	for (at = at ? at : "/bin:/usr/bin"; *name; at++) {
		size_t n = strcspn(at, ":");

		if (asprintf(&path, "%.*s%s%s", (int)n, at, n ? "/" : "./", name) < 0)
			return NULL;
		if (is_executable(path))
			return path;
		free(path);
		at += n;
		if (!*at)
			break;
	}
	return NULL;
}

/* The interpreter that @line, the @n first bytes of a file, names; NULL = it is no script. The
 * caller frees it. */
static char *interpreter_of(const char *line, size_t n)
{
	size_t at = 2, end;

	if (n < 4)
		return NULL;
	if (memcmp(line, "#!", 2))
		return memcmp(line, ELFMAG, SELFMAG) && !memchr(line, 0, n) ? strdup("/bin/sh")
									    : NULL;
	while (at < n && (line[at] == ' ' || line[at] == '\t'))
		at++;
	for (end = at; end < n && !strchr(" \t\n", line[end]);)
		end++;
	return end > at ? strndup(line + at, end - at) : NULL;
}

/* Open @path and, when it is a script, what interprets it. */
static void open_followed(struct dw_program *p, char *path)
{
	for (int i = 0; path && i < SCRIPTS_MAX; i++) {
		char line[LINE_BYTES];
		char *next;
		ssize_t n;

		dw_cleanup_close(&p->fd);
		free(p->path);
		p->path = realpath(path, NULL);
		p->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		n = p->fd < 0 ? -1 : pread(p->fd, line, sizeof line, 0);
		next = n > 0 ? interpreter_of(line, (size_t)n) : NULL;
		free(path);
		path = next;
	}
	free(path);
}

/* Whether executing @fd changes rights, so that its loader is on its guard. */
static bool is_secure(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
	if ((st.st_mode & S_ISUID) && st.st_uid != geteuid())
		return true;
	if ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != getegid())
		return true;
	return geteuid() && fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

/* What the loader of @elf says about its C library. */
static enum dw_program_kind kind_of_loader(const struct dw_elf *elf, int fd)
{
	size_t n;
	const struct dw_elf_segment *s = dw_elf_segments(elf, &n);
	char name[INTERPRETER_BYTES] = "";

	for (; n > 0 && s->type != PT_INTERP; s++)
		n--;
	if (!n || !s->file_bytes || s->file_bytes >= sizeof name)
		return DWELL_PROGRAM_STATIC;
	if (pread(fd, name, s->file_bytes, (off_t)s->offset.v) < 0)
		return DWELL_PROGRAM_UNKNOWN;
	return strstr(name, "/ld-linux-x86-64.so.2") ? DWELL_PROGRAM_FITS : DWELL_PROGRAM_LIBC;
}

static enum dw_program_kind kind_of_file(int fd)
{
	struct dw_elf *elf;
	enum dw_program_kind kind;
	int rc = dw_elf_open(fd, &elf, NULL);

	if (rc)
		return rc == DWELL_ERR_UNSUPPORTED ? DWELL_PROGRAM_MACHINE : DWELL_PROGRAM_UNKNOWN;
	kind = kind_of_loader(elf, fd);
	dw_elf_free(elf);
	return kind == DWELL_PROGRAM_FITS && is_secure(fd) ? DWELL_PROGRAM_SECURE : kind;
}

void dw_program_find(const char *name, struct dw_program *ret)
{
	char *path = find_path(name);

	*ret = (struct dw_program){.kind = DWELL_PROGRAM_MISSING, .fd = -1};
	if (!path)
		return;
	open_followed(ret, path);
	ret->kind = ret->fd < 0 ? DWELL_PROGRAM_UNKNOWN : kind_of_file(ret->fd);
}

const char *dw_program_reason(enum dw_program_kind kind)
{
	switch (kind) {
	case DWELL_PROGRAM_STATIC:
		return "is statically linked";
	case DWELL_PROGRAM_LIBC:
		return "uses another C library than glibc";
	case DWELL_PROGRAM_MACHINE:
		return "is no program for x86-64";
	case DWELL_PROGRAM_SECURE:
		return "changes its user, group or capabilities when it starts";
	case DWELL_PROGRAM_UNKNOWN:
		return "cannot be read as a program";
	default:
		return "";
	}
}

void dw_program_release(struct dw_program *p)
{
	dw_cleanup_close(&p->fd);
	free(p->path);
	*p = (struct dw_program){.fd = -1};
}
