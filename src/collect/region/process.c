/*
 * From a claimed process to open files; see process.h.
 *
 * Rights are those of the region's owner and group, without the supplementary groups of the
 * process: those could be another process's by now. A file that only such a group may read is not
 * read. The executable is opened by its link, which works however it is called now; a library by
 * the path that its mapping has, else by the path that the loader has, both under the process's
 * root.
 */
#include "collect/region/process.h"

#include "base/cleanup.h"
#include "target/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void read_exe(struct dw_region_process *p)
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof link, "/proc/%d/exe", (int)p->pid);
	n = readlink(link, p->exe, sizeof p->exe - 1);
	p->exe[n > 0 ? n : 0] = 0;
}

int dw_region_process_read(const struct dw_region_owner *owner, struct dw_region_process *ret)
{
	int rc;

	*ret = (struct dw_region_process){.pid = owner->pid, .uid = owner->uid, .gid = owner->gid};
	if (owner->pid <= 0)
		return -ESRCH;
	rc = dw_mappings_read(owner->pid, &ret->mappings);
	if (rc)
		return rc;
	read_exe(ret);
	dw_vec_each(m, &ret->mappings.rows) {
		if (m->inode == owner->inode && !strcmp(m->path, owner->path))
			return 0;
	}
	return DWELL_ERR_REFUSED;
}

static const struct dw_mapping *mapping_of(const struct dw_region_process *p,
					   const struct dw_region_module *m)
{
	dw_vec_each(row, &p->mappings.rows) {
		if (row->start <= m->start && m->start < row->end)
			return row->path[0] == '/' ? row : NULL;
	}
	return NULL;
}

const char *dw_region_process_path(const struct dw_region_process *p,
				   const struct dw_region_module *m)
{
	const struct dw_mapping *row = m->is_main ? NULL : mapping_of(p, m);

	if (m->is_main)
		return p->exe[0] ? p->exe : NULL;
	return row ? row->path : NULL;
}

static int open_library(const struct dw_region_process *p, const struct dw_region_module *m,
			const struct dw_rights *wanted, const struct dw_rights *own)
{
	dw_auto_close int root = dw_target_root_open(p->pid);
	const char *path = dw_region_process_path(p, m);
	int fd = -ENOENT;

	if (root < 0)
		return root;
	if (path)
		fd = dw_target_file_open(root, path, wanted, own);
	if (fd < 0 && m->path[0] == '/')
		fd = dw_target_file_open(root, m->path, wanted, own);
	return fd;
}

int dw_region_process_open(const struct dw_region_process *p, const struct dw_region_module *m,
			   const struct dw_rights *own)
{
	struct dw_rights owners = {.uid = p->uid, .gid = p->gid};
	const struct dw_rights *wanted = p->uid == own->uid ? own : &owners;

	return m->is_main ? dw_target_link_open(p->pid, "exe", wanted, own)
			  : open_library(p, m, wanted, own);
}

void dw_region_process_release(struct dw_region_process *p)
{
	dw_mappings_release(&p->mappings);
}
