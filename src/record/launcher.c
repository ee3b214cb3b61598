/*
 * The rule about launchers; see launcher.h. It goes by names, since nothing else tells an
 * interpreter's main() from a small program that uses a large library.
 */
#include "record/launcher.h"

#include "base/cleanup.h"
#include "code/elf/needed.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * "ld.so --list" (ld.so(8)) maps files and prints lines "NAME => PATH (0xADDRESS)" or "PATH
 * (0xADDRESS)"; only the system's own loader is executed, never one that the program names.
 */

#define LOADER "/lib64/ld-linux-x86-64.so.2"

/* Take the path out of @line. */
static int take_line(struct dw_libraries *l, const char *line)
{
	const char *arrow = strstr(line, " => ");
	const char *path = arrow ? arrow + 4 : line + strspn(line, " \t");
	const char *end = strstr(path, " (0x");
	char *copy;

	if (path[0] != '/' || !end)
		return 0;
	copy = strndup(path, (size_t)(end - path));
	if (copy && !dw_vec_push(&l->paths, copy))
		return 0;
	free(copy);
	return -ENOMEM;
}

static int spawn(const char *path, int out, pid_t *pid)
{
	char *argv[] = {(char[]){LOADER}, (char[]){"--list"}, strdup(path), NULL};
	posix_spawn_file_actions_t actions;
	int code = argv[2] ? posix_spawn_file_actions_init(&actions) : ENOMEM;

	if (code)
		return -code;
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	code = posix_spawn(pid, LOADER, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	free(argv[2]);
	return -code;
}

/* Wait for the end of @pid. False: nobody can say how it ended. */
static bool wait_for(pid_t pid, int *status)
{
	pid_t got;

	do
		got = waitpid(pid, status, 0);
	while (got < 0 && errno == EINTR);
	return got == pid;
}

int dw_libraries_list(const char *path, struct dw_libraries *ret, struct dw_error *err)
{
	dw_auto_free char *line = NULL;
	size_t room = 0;
	int ends[2], status, spawned, rc;
	pid_t pid;
	FILE *f;

	*ret = (struct dw_libraries){0};
	if (pipe2(ends, O_CLOEXEC))
		return dw_error_set_errno(err, errno, "cannot make a pipe");
	spawned = spawn(path, ends[1], &pid);
	rc = spawned;
	close(ends[1]);
	f = fdopen(ends[0], "r");
	if (!f)
		close(ends[0]);
	while (f && !rc && getline(&line, &room, f) > 0)
		rc = take_line(ret, line);
	if (f)
		fclose(f);
	if (!spawned && (!wait_for(pid, &status) || status) && !rc)
		rc = DWELL_ERR_FORMAT;
	return rc ? dw_error_set(err, rc, "cannot list the libraries of %s", path) : 0;
}

void dw_libraries_release(struct dw_libraries *l)
{
	dw_vec_each(p, &l->paths)
		free(*p);
	dw_vec_release(&l->paths);
}

enum { NAME_MIN = 2 }; /* letters: one tells nothing ("z" and libz) */

/* Libraries that do an executable's work, though their names do not tell. */
static const struct {
	const char *executable, *library; /* without version */
} known[] = {
	{"R", "R"},
	{"clang", "LLVM"},
	{"octave-cli", "octinterp"},
	{"octave-cli", "octave"},
	{"tclsh", "tcl"},
	{"wish", "tcl"},
	{"wish", "tk"},
};

static const char *file_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Bytes of @name, @n long, before the version at its end: 4 of "ruby3.1", 5 of "guile-3.0". */
static size_t without_version(const char *name, size_t n)
{
	size_t end = n;

	while (end && (isdigit((unsigned char)name[end - 1]) || name[end - 1] == '.'))
		end--;
	if (end < n && end && strchr("-_", name[end - 1]))
		end--;
	return end ? end : n;
}

/* Whether the @library_n bytes at @library are the @n bytes at @name, alone or with another word or
 * a version behind. */
static bool begins_with(const char *library, size_t library_n, const char *name, size_t n)
{
	if (library_n < n || memcmp(library, name, n))
		return false;
	return library_n == n || strchr("-_.", library[n]) || isdigit((unsigned char)library[n]);
}

bool dw_launcher_is_named(const char *executable, const char *library)
{
	size_t n = without_version(executable, strlen(executable)), library_n;
	const char *end = strstr(library, ".so");

	if (strncmp(library, "lib", 3) != 0 || !end)
		return false;
	library += 3;
	library_n = end > library ? (size_t)(end - library) : 0;
	if (n >= NAME_MIN && begins_with(library, library_n, executable, n))
		return true;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strlen(known[i].executable) == n &&
		    !memcmp(known[i].executable, executable, n) &&
		    begins_with(library, library_n, known[i].library, strlen(known[i].library)))
			return true;
	return false;
}

/* Keep those of @needed that may hold the work of the executable @path. */
static void keep_named(struct dw_launcher *l, struct dw_elf_needed *needed, const char *path)
{
	dw_vec_each(name, &needed->names) {
		if (dw_launcher_is_named(file_of(path), *name) &&
		    !dw_vec_push(&l->libraries, *name))
			*name = NULL;
	}
}

void dw_launcher_read(struct dw_launcher *ret, int fd, const char *path)
{
	struct dw_elf_needed needed = {0};
	struct dw_elf *elf;

	*ret = (struct dw_launcher){0};
	if (dw_elf_open(fd, &elf, NULL))
		return;
	ret->code_bytes = dw_elf_code_bytes(elf);
	if (!dw_elf_needed_read(elf, &needed))
		keep_named(ret, &needed, path);
	dw_elf_needed_release(&needed);
	dw_elf_free(elf);
}

bool dw_launcher_names(const struct dw_launcher *l, const char *path)
{
	dw_vec_each(library, &l->libraries) {
		if (!strcmp(*library, file_of(path)))
			return true;
	}
	return false;
}

bool dw_launcher_chooses(const struct dw_launcher *l, const char *path, int fd)
{
	struct dw_elf *elf;
	bool is_larger;

	if (!dw_launcher_names(l, path) || dw_elf_open(fd, &elf, NULL))
		return false;
	is_larger = dw_elf_code_bytes(elf) / DWELL_LAUNCHER_TIMES > l->code_bytes;
	dw_elf_free(elf);
	return is_larger;
}

/* Keep those of @all that do the work of @l. */
static void keep_chosen(const struct dw_launcher *l, struct dw_libraries *all)
{
	size_t to = 0;

	for (size_t i = 0; i < all->paths.n; i++) {
		dw_auto_close int fd = -1;
		char *path = all->paths.v[i];

		if (dw_launcher_names(l, path))
			fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (dw_launcher_chooses(l, path, fd))
			all->paths.v[to++] = path;
		else
			free(path);
	}
	all->paths.n = to;
}

int dw_launcher_list(int fd, const char *path, struct dw_libraries *ret, struct dw_error *err)
{
	struct dw_launcher l;
	int rc = 0;

	*ret = (struct dw_libraries){0};
	dw_launcher_read(&l, fd, path);
	if (l.libraries.n)
		rc = dw_libraries_list(path, ret, err);
	keep_chosen(&l, ret);
	dw_launcher_release(&l);
	return rc;
}

void dw_launcher_release(struct dw_launcher *l)
{
	dw_vec_each(library, &l->libraries)
		free(*library);
	dw_vec_release(&l->libraries);
}
