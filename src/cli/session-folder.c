/* Folders for sessions; see session-folder.h. */
#include "cli/session-folder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *dw_session_folder_new(const char *name, struct dw_error *err)
{
	const char *temporary = getenv("TMPDIR");
	char *path;

	if (asprintf(&path, "%s/%s-XXXXXX", temporary && *temporary ? temporary : "/tmp", name) < 0)
		path = NULL;
	if (path && mkdtemp(path))
		return path;
	dw_error_set_errno(err, path ? errno : ENOMEM, "cannot make a temporary folder");
	free(path);
	return NULL;
}

void dw_session_files_remove(const char *path)
{
	static const char *const endings[] = {
		"", ".partial", ".partial-new", ".partial-wal", ".partial-shm", ".partial-journal"};
	char name[PATH_MAX];

	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		if (strlen(path) + strlen(endings[i]) < sizeof name) {
			stpcpy(stpcpy(name, path), endings[i]);
			unlink(name);
		}
	}
}
