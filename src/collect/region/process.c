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
#include "target/proc.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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
	struct dw_proc_stat st;
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
	/* One that ends has nothing mapped any more. */
	return !dw_proc_stat_read(owner->pid, &st) && st.is_ending ? -ESRCH : DWELL_ERR_REFUSED;
}

/* Whether @pid has the id @inner in the innermost of several pid namespaces. */
static bool has_inner_id(pid_t pid, pid_t inner)
{
	dw_auto(dw_buf) status = DW_BUF_INIT;
	const char *at, *end;
	long id = 0;
	int ids = 0;

	if (dw_proc_read(pid, "status", &status))
		return false;
	at = strstr(dw_buf_str(&status), "\nNSpid:");
	end = at ? strchr(at + 1, '\n') : NULL;
	for (at = at ? at + strlen("\nNSpid:") : NULL; at && at < end; ids++) {
		char *next;

		id = strtol(at, &next, 10);
		if (next == at)
			break;
		at = next;
	}
	return ids > 1 && id == inner;
}

int dw_region_process_search(const struct dw_region_owner *owner, struct dw_region_process *ret)
{
	DIR *dir = opendir("/proc");
	int rc = DWELL_ERR_NOT_FOUND;
	struct dirent *e;

	*ret = (struct dw_region_process){0};
	while (dir && rc && (e = readdir(dir))) {
		struct dw_region_owner outer = *owner;

		outer.pid = (pid_t)strtol(e->d_name, NULL, 10);
		if (outer.pid <= 0 || !has_inner_id(outer.pid, owner->pid))
			continue;
		dw_region_process_release(ret);
		rc = dw_region_process_read(&outer, ret);
	}
	if (dir)
		closedir(dir);
	return rc ? DWELL_ERR_NOT_FOUND : 0;
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
