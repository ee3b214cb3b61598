/* Files of native modules; see native-files.h. */
#include "record/native-files.h"

#include "base/cleanup.h"
#include "code/elf/elf.h"
#include "target/file.h"

#include <errno.h>
#include <sys/stat.h>

/* The file @path of @owner's process, or -errno. */
static int open_file(const char *path, const struct dw_managed_owner *owner,
		     const struct dw_rights *own)
{
	dw_auto_close int root = owner->pid ? dw_target_root_open(owner->pid) : -1;
	const struct dw_rights owners = {.uid = owner->uid, .gid = owner->gid};
	const bool is_ours = owner->uid == own->uid;

	if (root < 0 && !is_ours)
		return -ESRCH;
	return dw_target_file_open(root, path, is_ours ? own : &owners, own);
}

/* Note in @m which file @fd is. */
static void identify(struct dw_module *m, int fd)
{
	struct dw_elf *elf;
	struct stat st;

	if (!fstat(fd, &st)) {
		m->device = st.st_dev;
		m->inode = st.st_ino;
	}
	if (dw_elf_open(fd, &elf, NULL))
		return;
	m->build_id_bytes = (uint8_t)dw_elf_build_id(elf, m->build_id, sizeof m->build_id);
	dw_elf_free(elf);
}

int dw_native_files_add(struct dw_native_files *f, struct dw_profile *p, uint32_t module,
			const struct dw_managed_owner *owner, const struct dw_rights *own)
{
	static const struct dw_module_source none = {.fd = -1, .root_fd = -1};
	struct dw_module *m = dw_modules_get(&p->modules, module);
	struct dw_module_source *source;

	while (f->sources.n <= module)
		if (dw_vec_push(&f->sources, none))
			return -ENOMEM;
	source = &f->sources.v[module];
	source->uid = owner->uid;
	source->gid = owner->gid;
	if (f->open == DWELL_NATIVE_FILES_MAX)
		return 0;
	source->fd = open_file(dw_strings_get(&p->strings, m->path), owner, own);
	if (source->fd < 0)
		return 0;
	f->open++;
	identify(m, source->fd);
	return 0;
}

void dw_native_files_release(struct dw_native_files *f)
{
	dw_vec_each(s, &f->sources)
		dw_cleanup_close(&s->fd);
	dw_vec_release(&f->sources);
}
