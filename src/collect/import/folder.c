/* Folders of perf.data; see folder.h. */
#include "collect/import/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX = 4096 };

int dw_perf_folder_open(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

int dw_perf_folder_write(struct dw_perf_file *f, const struct dw_plain_input *first, int folder,
			 struct dw_error *err)
{
	DW_VEC(struct dw_plain_input) inputs = {0};
	int rc = dw_vec_push(&inputs, *first), fd = 0;

	for (int i = 0; i < FILES_MAX && !rc && fd >= 0; i++) {
		struct dw_plain_input in = {.end = INT64_MAX};
		char name[24];

		snprintf(name, sizeof name, "data.%d", i);
		fd = in.fd = dw_perf_folder_open(folder, name);
		if (fd >= 0)
			rc = dw_vec_push(&inputs, in);
		else if (fd != -ENOENT)
			rc = dw_error_set_errno(err, -fd, "cannot open '%s' in it", name);
		if (rc && fd >= 0)
			close(fd);
	}
	if (!rc)
		rc = dw_plain_write(f, inputs.v, inputs.n, err);
	for (size_t i = 1; i < inputs.n; i++)
		close(inputs.v[i].fd);
	dw_vec_release(&inputs);
	return rc;
}
