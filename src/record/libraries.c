/*
 * Libraries of a program; see libraries.h. "ld.so --list" (ld.so(8)) maps files and prints lines
 * "NAME => PATH (0xADDRESS)" or "PATH (0xADDRESS)"; only the system's own loader is executed, never
 * one that the program names.
 */
#include "record/libraries.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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
