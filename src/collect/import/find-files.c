/*
 * Files found again; see find-files.h.
 *
 * perf record notes build-ids and keeps copies below ~/.debug (`perf buildid-cache`). A file of
 * another build-id than the recorded one is none: its names and unwind rules would be wrong ones.
 */
#include "collect/import/find-files.h"

#include "base/cleanup.h"
#include "target/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int dw_import_files_init(struct dw_import_files *f)
{
	int rc = 0;

	for (size_t i = 0; i < f->file->build_ids.n && !rc; i++) {
		uint32_t id;

		rc = dw_strings_adds(&f->paths, f->file->build_ids.v[i].path, &id);
		if (!rc)
			rc = dw_map_put(&f->by_path, id, (uint32_t)i + 1);
	}
	return rc;
}

/* The build-id recorded for the file at @path. *@n = its bytes, 0 = none. */
static const uint8_t *recorded_id(const struct dw_import_files *f, const char *path, size_t *n)
{
	uint32_t i = dw_map_get(&f->by_path, dw_strings_find(&f->paths, path, strlen(path)));
	const struct dw_perf_build_id *row = i ? &f->file->build_ids.v[i - 1] : NULL;

	*n = f->mapping->build_id_bytes;
	if (*n)
		return f->mapping->build_id;
	if (!row)
		return NULL;
	*n = row->bytes;
	return row->id;
}

/* Open the file at @path if it has the build-id @id (@n = 0: any). */
static int open_image(const struct dw_import_files *f, const char *path, const uint8_t *id,
		      size_t n, struct dw_image **ret)
{
	dw_auto_close int fd = -1;
	struct dw_image *image;
	struct stat st;
	size_t own_n;
	const uint8_t *own;
	int rc;

	/* The path is what a file says: opening a device may do something. */
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return DWELL_ERR_NOT_FOUND;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	rc = dw_image_open(fd, f->cache_dir, &image, NULL);
	if (rc)
		return rc;
	fd = -1;
	own = dw_image_build_id(image, &own_n);
	if (n && (own_n != n || memcmp(own, id, n) != 0)) {
		dw_image_free(image);
		return DWELL_ERR_NOT_FOUND;
	}
	*ret = image;
	return 0;
}

/* perf's own copy of the file with the build-id @id. */
static int open_copy(const struct dw_import_files *f, const char *name, const uint8_t *id, size_t n,
		     struct dw_image **ret)
{
	char path[PATH_MAX];
	size_t at;

	if (!f->home || !n)
		return DWELL_ERR_NOT_FOUND;
	at = (size_t)snprintf(path, sizeof path, "%s/.debug/.build-id/%02x/", f->home, id[0]);
	if (at + 2 * n + 8 >= sizeof path)
		return DWELL_ERR_NOT_FOUND;
	for (size_t i = 1; i < n; i++)
		at += (size_t)snprintf(path + at, sizeof path - at, "%02x", id[i]);
	snprintf(path + at, sizeof path - at, "/%s", name);
	return open_image(f, path, id, n, ret);
}

int dw_import_files_find(void *ctx, const char *path, bool is_vdso, struct dw_image **ret)
{
	struct dw_import_files *f = ctx;
	size_t n, own_n;
	const uint8_t *id = recorded_id(f, path, &n), *own;
	struct dw_image *image;
	int rc;

	if (!is_vdso) {
		rc = open_image(f, path, id, n, ret);
		return rc ? open_copy(f, "elf", id, n, ret) : 0;
	}
	if (!dw_image_vdso(f->cache_dir, &image, NULL)) {
		own = dw_image_build_id(image, &own_n);
		if (!n || (own_n == n && !memcmp(own, id, n))) {
			*ret = image;
			return 0;
		}
		dw_image_free(image);
	}
	return open_copy(f, "vdso", id, n, ret);
}

void dw_import_files_release(struct dw_import_files *f)
{
	dw_map_release(&f->by_path);
	dw_strings_release(&f->paths);
}
