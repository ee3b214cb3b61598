/*
 * Files that appear whole; see whole-file.h. A file that is replaced keeps its mode, and a new one
 * has that of any new file.
 */
#include "cli/whole-file.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static mode_t new_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* Open what stands in for the regular file @f->path, which may be there with @mode. */
static int open_temporary(struct dw_whole_file *f, mode_t mode)
{
	if (asprintf(&f->temporary, "%s.partial-XXXXXX", f->path) < 0) {
		f->temporary = NULL;
		errno = ENOMEM;
		return -1;
	}
	f->fd = mkostemp(f->temporary, O_CLOEXEC);
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
	f->path = is_new || in_place ? strdup(path) : realpath(path, NULL);
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
	free(f->temporary);
	free(f->path);
	*f = (struct dw_whole_file){.fd = -1};
}
