/*
 * Packages with debug information; see debug-package.h. dpkg knows files by the paths they were
 * packed with: those of a merged /usr may lack it.
 */
#include "symbol/debug-package.h"

#include "base/buf.h"
#include "base/cleanup.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LISTS "/var/lib/dpkg/info"

static bool is_path(const char *line, const char *path)
{
	static const char usr[] = "/usr";

	return !strcmp(line, path) ||
	       (!strncmp(path, usr, sizeof usr - 1) && !strcmp(line, path + sizeof usr - 1)) ||
	       (!strncmp(line, usr, sizeof usr - 1) && !strcmp(line + sizeof usr - 1, path));
}

/* Whether one of @paths is a line of the list @name in @folder. */
static bool search(const char *folder, const char *name, const char *const *paths, unsigned n)
{
	dw_auto_free char *path = NULL, *line = NULL;
	FILE *f = asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : fopen(path, "re");
	bool is_found = false;
	size_t room = 0;
	ssize_t got;

	while (f && !is_found && (got = getline(&line, &room, f)) > 0) {
		line[got - (line[got - 1] == '\n')] = '\0';
		for (unsigned i = 0; i < n; i++)
			is_found |= is_path(line, paths[i]);
	}
	if (f)
		fclose(f);
	return is_found;
}

/* Append the package whose list is called @name: "libssl3:amd64.list", "libssl3-dbgsym". */
static void put_package(struct dw_buf *b, const char *name)
{
	size_t n = strcspn(name, ":");

	if (!name[n])
		n = strlen(name) - strlen(".list");
	if (b->len)
		dw_buf_puts(b, ",");
	dw_buf_put(b, name, n);
	/* The C library's are older than the rule. */
	dw_buf_puts(b, n == strlen("libc6") && !memcmp(name, "libc6", n) ? "-dbg" : "-dbgsym");
}

char *dw_debug_packages_in(const char *folder, const char *const *paths, unsigned n)
{
	struct dw_buf names = DW_BUF_INIT;
	struct dirent *entry;
	DIR *dir = opendir(folder);

	while (dir && (entry = readdir(dir)) != NULL) {
		const char *end = strrchr(entry->d_name, '.');

		if (end && !strcmp(end, ".list") && search(folder, entry->d_name, paths, n))
			put_package(&names, entry->d_name);
	}
	if (dir)
		closedir(dir);
	return names.len ? dw_buf_detach(&names) : NULL;
}

char *dw_debug_packages(const char *const *paths, unsigned n)
{
	return dw_debug_packages_in(LISTS, paths, n);
}
