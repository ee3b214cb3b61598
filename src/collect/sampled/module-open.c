/*
 * Ways to a module's bytes, best first; see module-open.h.
 *
 * The path may lead to another file by now, so what it gives must be the mapped inode. Overlay and
 * btrfs report other numbers by stat() than in mappings: there the text in the process's memory is
 * compared with the file's, and once the process is gone an equal inode number must do. The links
 * of /proc/PID lead to the very file: exe is open to all who may look at the process, map_files to
 * privileged ones.
 */
#include "collect/sampled/module-open.h"

#include "base/error.h"
#include "target/file.h"
#include "target/memory.h"
#include "target/maps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { COMPARED_BYTES = 32 << 10 };

/* Whether the text that the process has mapped is what stands in the file @fd. */
static bool is_same_text(const struct dw_opening *o, int fd, bool inode_is_equal)
{
	static const size_t step = 4096;
	uint8_t there[4096], here[4096];

	for (size_t at = 0; at < COMPARED_BYTES && at < o->mapping->bytes; at += step) {
		ssize_t n = dw_memory_read(o->pid, o->mapping->start + at, there, step);

		if (n <= 0)
			return at ? true : inode_is_equal;
		if (pread(fd, here, (size_t)n, (off_t)(o->mapping->offset + at)) <= 0)
			return at ? true : inode_is_equal;
		if (memcmp(there, here, (size_t)n))
			return false;
	}
	return true;
}

/* Whether @fd is the file that is mapped. */
static bool is_mapped_file(const struct dw_opening *o, int fd)
{
	struct stat st;
	bool inode_is_equal;

	if (fstat(fd, &st))
		return false;
	inode_is_equal = st.st_ino == o->mapping->inode;
	if (inode_is_equal && st.st_dev == makedev(o->mapping->major_no, o->mapping->minor_no))
		return true;
	return is_same_text(o, fd, inode_is_equal);
}

/* Make an image of @fd, which is closed if that fails. */
static int image_of(const struct dw_opening *o, int fd, struct dw_opened *ret)
{
	int rc;

	if (!is_mapped_file(o, fd)) {
		close(fd);
		return DWELL_ERR_NOT_FOUND;
	}
	rc = dw_image_open(fd, o->cache_dir, &ret->image, NULL);
	if (rc)
		close(fd);
	return rc;
}

static int open_by_path(const struct dw_opening *o, struct dw_opened *ret)
{
	int fd;

	if (o->deleted)
		return DWELL_ERR_NOT_FOUND;
	fd = dw_target_file_open(o->owner->root_fd, o->path, &o->owner->rights, &o->own->rights);
	return fd < 0 ? fd : image_of(o, fd, ret);
}

static int open_by_link(const struct dw_opening *o, const char *name, struct dw_opened *ret)
{
	int fd = dw_target_link_open(o->pid, name, &o->owner->rights, &o->own->rights);

	return fd < 0 ? fd : image_of(o, fd, ret);
}

static int open_by_map_files(const struct dw_opening *o, struct dw_opened *ret)
{
	char name[64];

	snprintf(name, sizeof name, "map_files/%llx-%llx", (unsigned long long)o->mapping->start,
		 (unsigned long long)(o->mapping->start + o->mapping->bytes));
	return open_by_link(o, name, ret);
}

/* Copy the image out of memory: its header is mapped where the file's offset 0 is. */
static int copy_from_memory(const struct dw_opening *o, struct dw_opened *ret)
{
	struct dw_mappings m;
	uint64_t base = 0;
	int rc = dw_mappings_read(o->pid, &m);

	if (rc)
		return rc;
	dw_vec_each(row, &m.rows) {
		if (row->inode == o->mapping->inode && !row->offset &&
		    row->device == makedev(o->mapping->major_no, o->mapping->minor_no) &&
		    row->start <= o->mapping->start)
			base = row->start;
	}
	dw_mappings_release(&m);
	return base ? dw_image_copy(o->pid, base, o->cache_dir, &ret->image, NULL)
		    : DWELL_ERR_NOT_FOUND;
}

int dw_module_open(const struct dw_opening *o, struct dw_opened *ret)
{
	struct dw_opened opened = {0};
	int rc = open_by_path(o, &opened);
	bool forbidden = rc == -EACCES || rc == -EPERM;

	/* Not ELF, or for another processor: no other way leads to a better file. */
	if (rc == DWELL_ERR_FORMAT || rc == DWELL_ERR_UNSUPPORTED)
		return rc;
	if (rc) {
		opened.replaced = !forbidden;
		rc = open_by_link(o, "exe", &opened);
		if (rc)
			rc = open_by_map_files(o, &opened);
		forbidden |= rc == -EACCES && !dw_rights_equal(&o->owner->rights, &o->own->rights);
	}
	if (rc && rc != DWELL_ERR_FORMAT && rc != DWELL_ERR_UNSUPPORTED) {
		opened.is_private = forbidden;
		rc = copy_from_memory(o, &opened);
	}
	if (!rc)
		*ret = opened;
	return rc;
}
