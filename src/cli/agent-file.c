/* Files of agents; see agent-file.h. */
#include "cli/agent-file.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

char *dw_agent_file(const char *name)
{
	static const char *const places[] = {"", "../lib/dwell/"};
	dw_auto_free char *self = realpath("/proc/self/exe", NULL);
	char *slash = self ? strrchr(self, '/') : NULL, *path;

	for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
		if (asprintf(&path, "%.*s/%s%s", (int)(slash - self), self, places[i], name) < 0)
			return NULL;
		if (!access(path, R_OK))
			return path;
		free(path);
	}
	return NULL;
}
