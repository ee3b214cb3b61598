/*
 * A fresh folder as current folder for the tests of one program, removed at its end.
 */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char scratch_folder[64] = "/tmp/dwell-test-XXXXXX";
static pid_t scratch_owner;

/* The C library gives constructors what main() gets. */
__attribute__((constructor)) static void scratch_enter(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--helper"))
		return; /* a process of symbol/spawn.h, which ends without destructors */
	scratch_owner = getpid();
	if (!mkdtemp(scratch_folder) || chdir(scratch_folder)) {
		perror(scratch_folder);
		abort();
	}
}

__attribute__((destructor)) static void scratch_leave(void)
{
	char command[96];

	if (getpid() != scratch_owner)
		return; /* a forked child */
	snprintf(command, sizeof command, "rm -rf %s", scratch_folder);
	if (chdir("/") || system(command))
		perror(command);
}

/* The only file in @folder, valid until the next call. */
static inline const char *scratch_only_file(const char *folder)
{
	static char path[300];
	DIR *d = opendir(folder);
	const struct dirent *e;

	while (d && (e = readdir(d)))
		if (*e->d_name != '.')
			snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
	if (d)
		closedir(d);
	return path;
}
