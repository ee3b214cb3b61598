/*
 * Looking at a program before it starts; see program.h. A text file without "#!" is given to
 * /bin/sh, as execvp() does. execve(2) for the rules of "#!"; ld.so(8) for secure execution.
 */
#include "record/program.h"

#include "base/cleanup.h"
#include "code/clr/assembly.h"
#include "code/elf/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

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

/*
 * The executables that the SDK makes, those with the runtime inside included, are hosts
 * (code/clr/assembly.h).
 */

#define NAME "dotnet"
/* What programs export that have the runtime in themselves. */
#define EXPORT "DotNetRuntimeInfo"

enum {
	WORDS = 16,		  /* of a command line, looked at as files */
	LOOKED_AT_MAX = 16 << 20, /* bytes of a file: the mark is in the front */
	SCRIPT_MAX = 64 << 10,	  /* the same of a script */
};

static bool is_host(int fd)
{
	struct stat st;
	size_t n;
	void *bytes;
	bool has;

	if (fd < 0 || fstat(fd, &st) || st.st_size <= 0)
		return false;
	n = st.st_size < LOOKED_AT_MAX ? (size_t)st.st_size : LOOKED_AT_MAX;
	bytes = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return false;
	has = dw_bundle_is_host(bytes, n);
	munmap(bytes, n);
	return has;
}

static bool is_dotnet_program(const char *name)
{
	struct dw_program program;
	bool is;

	dw_program_find(name, &program);
	is = is_host(program.fd);
	dw_program_release(&program);
	return is;
}

/* Whether the file @path is a script that names the SDK's command. */
static bool is_dotnet_script(const char *path)
{
	dw_auto_free char *text = malloc(SCRIPT_MAX);
	dw_auto_close int fd = -1;
	struct stat st;
	ssize_t n;

	/* A word can name anything, and opening a device may do something. */
	if (!text || stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	n = fd < 0 ? 0 : read(fd, text, SCRIPT_MAX);
	return n > 2 && !memcmp(text, "#!", 2) && memmem(text, (size_t)n, NAME, strlen(NAME));
}

bool dw_is_dotnet_command(char *const *argv)
{
	for (int i = 0; argv[i]; i++)
		if (strstr(argv[i], NAME))
			return true;
	for (int i = 0; argv[i] && i < WORDS; i++)
		if (((!i || strchr(argv[i], '/')) && is_dotnet_program(argv[i])) ||
		    is_dotnet_script(argv[i]))
			return true;
	return false;
}

/* What interpreters' files are called whose frames are known (src/interpreter/). */
static const struct {
	const char *pattern, *language;
} interpreters[] = {
	{"python3.9", "Python"}, {"python3.1[0-3]", "Python"},
	{"php", "PHP"},		 {"php7.4", "PHP"},
	{"php8.[0-4]", "PHP"},	 {"php-fpm*", "PHP"},
	{"php-cgi*", "PHP"},	 {"ruby", "Ruby"},
	{"ruby3.[0-4]", "Ruby"},
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The language of an interpreter whose file is @path. NULL = it is none. */
static const char *language_of(const char *path)
{
	for (size_t i = 0; i < sizeof interpreters / sizeof *interpreters; i++)
		if (!fnmatch(interpreters[i].pattern, base_name(path), 0))
			return interpreters[i].language;
	return NULL;
}

/* Read the first line of the script @name, behind "#!". False: it is none. */
static bool read_first_line(const char *name, char ret[LINE_BYTES + 1])
{
	dw_auto_free char *path = find_path(name);
	dw_auto_close int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	ssize_t n = fd < 0 ? 0 : pread(fd, ret, LINE_BYTES, 0);

	if (n < 2 || memcmp(ret, "#!", 2))
		return false;
	ret[n] = 0;
	memmove(ret, ret + 2, (size_t)n - 1);
	ret[strcspn(ret, "\n")] = 0;
	return true;
}

/* What env(1) starts by the first line @line of a script: the first word that is no option and no
 * variable. NULL = nothing. */
static char *started_by_env(char *line)
{
	char *rest = NULL, *word;

	strtok_r(line, " \t", &rest);
	while ((word = strtok_r(NULL, " \t", &rest)))
		if (*word != '-' && !strchr(word, '='))
			return word;
	return NULL;
}

/* The language of what @name starts, if the agent fits it. A script of such a name, as managers of
 * versions have, starts one. @line: the first line of the script that it is, "" = none. */
static const char *language_started(const char *name, char line[LINE_BYTES + 1])
{
	const char *called = base_name(name), *language = NULL;
	struct dw_program program;

	if (!read_first_line(name, line))
		*line = 0;
	dw_program_find(name, &program);
	if (program.kind == DWELL_PROGRAM_FITS && program.path) {
		language = language_of(program.path);
		if (!language && *line)
			language = !strcmp(called, "python") || !strcmp(called, "python3")
					   ? "Python"
					   : language_of(called);
	}
	if (!program.path || strcmp(base_name(program.path), "env"))
		*line = 0;
	dw_program_release(&program);
	return language;
}

const char *dw_interpreter_command(const char *name)
{
	char line[LINE_BYTES + 1], other[LINE_BYTES + 1];
	const char *language = language_started(name, line), *started;

	if (language)
		return language;
	started = *line ? started_by_env(line) : NULL;
	return started ? language_started(started, other) : NULL;
}

bool dw_has_dotnet_runtime(int fd)
{
	const struct dw_elf_section *names;
	uint8_t *bytes = NULL;
	struct dw_elf *elf;
	bool has;
	size_t n;

	if (dw_elf_open(fd, &elf, NULL))
		return false;
	names = dw_elf_section(elf, ".dynstr");
	has = names && !dw_elf_read_section(elf, names, &bytes, &n, NULL) &&
	      memmem(bytes, n, EXPORT, sizeof EXPORT);
	free(bytes);
	dw_elf_free(elf);
	return has;
}
