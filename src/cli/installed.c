/* Files that come with this program; see installed.h. */
#include "cli/installed.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *dw_installed_file(const char *name, const char *built, const char *installed)
{
	const char *const folders[] = {built, installed};
	dw_auto_free char *self = realpath("/proc/self/exe", NULL);
	char *slash = self ? strrchr(self, '/') : NULL, *path;

	for (size_t i = 0; slash && i < sizeof folders / sizeof *folders; i++) {
		if (asprintf(&path, "%.*s/%s%s", (int)(slash - self), self, folders[i], name) < 0)
			return NULL;
		if (!access(path, R_OK))
			return path;
		free(path);
	}
	return NULL;
}
