/* The cache folder by the XDG base directory specification 0.8: relative paths in XDG_CACHE_HOME do
 * not count. */
#include "cli/cache-folder.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

/* A folder that exists, or could be made. */
static int ensure(const char *path)
{
	return mkdir(path, 0700) && errno != EEXIST ? -errno : 0;
}

char *dw_cache_folder(void)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	dw_auto_free char *base = NULL;
	char *folder = NULL;

	if (xdg && xdg[0] == '/')
		home = NULL;
	else if (!home || home[0] != '/')
		return NULL;
	if (asprintf(&base, "%s%s", home ? home : xdg, home ? "/.cache" : "") < 0 ||
	    asprintf(&folder, "%s/dwell", base) < 0)
		return NULL;
	if (ensure(base) || ensure(folder)) {
		free(folder);
		return NULL;
	}
	return folder;
}
