/*
 * Files that appear whole; see whole-file.h. A file that is replaced keeps its mode, and a new one
 * has that of any new file.
 */
#include "cli/whole-file.h"

#include "base/cleanup.h"
#include "cli/leftovers.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40 }; /* as the kernel follows */

/* What the link at @path is a name of, by one step. NULL: it is none, or without memory. */
static char *step(const char *path)
{
	char to[PATH_MAX];
	ssize_t n = readlink(path, to, sizeof to - 1);
	dw_auto_free char *copy = n < 0 ? NULL : strdup(path);
	char *next = NULL;

	if (!copy)
		return NULL;
	to[n] = '\0';
	if (*to == '/')
		return strdup(to);
	return asprintf(&next, "%s/%s", dirname(copy), to) < 0 ? NULL : next;
}

/* The name that a file gets that is not there, under @path, which may be a link that leads nowhere.
 * The caller frees it. NULL: errno tells. */
static char *follow(const char *path)
{
	char *at = strdup(path), *next;

	for (int n = 0; at && (next = step(at)); n++) {
		free(at);
		at = next;
		if (n == LINKS_MAX) {
			free(at);
			errno = ELOOP;
			return NULL;
		}
	}
	return at;
}

static mode_t new_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* Open what stands in for the regular file @f->path, which may be there with @mode. */
static int open_temporary(struct dw_whole_file *f, mode_t mode)
{
	sigset_t before;

	if (asprintf(&f->temporary, "%s.partial-XXXXXX", f->path) < 0) {
		f->temporary = NULL;
		errno = ENOMEM;
		return -1;
	}
	dw_leftovers_begin(&before);
	f->fd = mkostemp(f->temporary, O_CLOEXEC);
	f->leftover = f->fd < 0 ? 0 : dw_leftovers_add(f->temporary);
	dw_leftovers_end(&before);
	if (f->fd < 0) {
		free(f->temporary);
		f->temporary = NULL;
	} else if (fchmod(f->fd, mode)) {
		/* A file system without modes: it stays as it was made. */
		errno = 0;
	}
	return f->fd;
}

bool dw_whole_file_is_in_place(const char *path)
{
	struct stat st;

	/* What these stand for may be a file. */
	if (!strcmp(path, "/dev/stdout") || !strcmp(path, "/dev/stderr") ||
	    !strncmp(path, "/dev/fd/", strlen("/dev/fd/")))
		return true;
	return !stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

int dw_whole_file_open(struct dw_whole_file *f, const char *path, struct dw_error *err)
{
	const bool in_place = dw_whole_file_is_in_place(path);
	struct stat st;
	bool is_new = stat(path, &st);
	int rc = 0;

	*f = (struct dw_whole_file){.fd = -1};
	f->path = in_place ? strdup(path) : is_new ? follow(path) : realpath(path, NULL);
	if (!f->path)
		rc = errno;
	else if (!is_new && S_ISDIR(st.st_mode))
		rc = EISDIR;
	else if (in_place)
		f->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	else
		open_temporary(f, is_new ? new_mode() : st.st_mode & 0777);
	if (!rc && f->fd < 0)
		rc = errno;
	if (!rc)
		return 0;
	free(f->path);
	*f = (struct dw_whole_file){.fd = -1};
	return dw_error_set_errno(err, rc, "cannot write '%s'", path);
}

int dw_whole_file_close(struct dw_whole_file *f, struct dw_error *err)
{
	int rc = close(f->fd) ? errno : 0;

	f->fd = -1;
	return rc ? dw_error_set_errno(err, rc, "cannot write '%s'", f->path) : 0;
}

int dw_whole_file_keep(struct dw_whole_file *f, struct dw_error *err)
{
	if (f->temporary && rename(f->temporary, f->path))
		return dw_error_set_errno(err, errno, "cannot write '%s'", f->path);
	dw_leftovers_drop(f->leftover);
	f->leftover = 0;
	free(f->temporary);
	f->temporary = NULL;
	return 0;
}

void dw_whole_file_release(struct dw_whole_file *f)
{
	if (!f->path)
		return;
	if (f->fd >= 0)
		close(f->fd);
	if (f->temporary)
		unlink(f->temporary);
	dw_leftovers_drop(f->leftover);
	free(f->temporary);
	free(f->path);
	*f = (struct dw_whole_file){.fd = -1};
}
