/*
 * Owners; see owners.h. Two roots are the same when mount namespace, device and inode are: the same
 * directory in another namespace may have other things mounted below.
 */
#include "collect/samples/owners.h"

#include "base/cleanup.h"
#include "target/file.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void owner_free(struct dw_owner *w)
{
	if (!w)
		return;
	if (w->root_fd >= 0)
		close(w->root_fd);
	dw_rights_release(&w->rights);
	free(w);
}

/* Look at @pid. */
static int owner_read(pid_t pid, struct dw_owner **ret)
{
	struct dw_owner *w = calloc(1, sizeof *w);
	char path[48];
	struct stat ns, root;
	int rc;

	if (!w)
		return -ENOMEM;
	w->root_fd = -1;
	rc = dw_rights_read(pid, &w->rights);
	if (!rc)
		w->root_fd = rc = dw_target_root_open(pid);
	snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)pid);
	if (rc < 0 || stat(path, &ns) || fstat(w->root_fd, &root)) {
		owner_free(w);
		return rc < 0 ? rc : -ENOENT;
	}
	w->mount_ns = ns.st_ino;
	w->root_device = root.st_dev;
	w->root_inode = root.st_ino;
	*ret = w;
	return 0;
}

static bool is_same_root(const struct dw_owner *a, const struct dw_owner *b)
{
	return a->mount_ns == b->mount_ns && a->root_device == b->root_device &&
	       a->root_inode == b->root_inode;
}

/* The known owner that equals @w, or @w itself, taken over. NULL = no memory. */
static struct dw_owner *intern(struct dw_owners *o, struct dw_owner *w)
{
	for (size_t i = 0; i < o->v.n; i++)
		if (is_same_root(o->v.v[i], w) && dw_rights_equal(&o->v.v[i]->rights, &w->rights)) {
			owner_free(w);
			return o->v.v[i];
		}
	if (o->v.n && is_same_root(o->v.v[0], w)) {
		close(w->root_fd);
		w->root_fd = -1;
	}
	if (dw_vec_push(&o->v, w)) {
		owner_free(w);
		return NULL;
	}
	return w;
}

const struct dw_owner *dw_owners_self(struct dw_owners *o)
{
	struct dw_owner *w;

	if (!o->v.n && !owner_read(getpid(), &w)) {
		close(w->root_fd);
		w->root_fd = -1;
		intern(o, w);
	}
	return o->v.n ? o->v.v[0] : NULL;
}

const struct dw_owner *dw_owners_get(struct dw_owners *o, pid_t pid,
				     const struct dw_owner *otherwise)
{
	struct dw_owner *w;

	if (!dw_owners_self(o))
		return NULL;
	return owner_read(pid, &w) ? otherwise : intern(o, w);
}

void dw_owners_release(struct dw_owners *o)
{
	dw_vec_each(w, &o->v)
		owner_free(*w);
	dw_vec_release(&o->v);
}
