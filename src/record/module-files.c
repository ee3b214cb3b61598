/*
 * Files of modules, found again by path; see module-files.h. The vdso is the running kernel's own
 * page if the build-id is the recorded one, which holds on the same machine until its kernel
 * changes.
 */
#include "record/module-files.h"

#include "base/cleanup.h"
#include "code/elf/elf.h"
#include "target/file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

enum { VDSO_MAX_BYTES = 64 * 1024 };

static bool has_build_id(const struct dw_elf *elf, const struct dw_module *m)
{
	uint8_t id[DWELL_BUILD_ID_MAX_BYTES];
	size_t n = dw_elf_build_id(elf, id, sizeof id);

	return n && n == m->build_id_bytes && !memcmp(id, m->build_id, n);
}

static bool is_same_file(int fd, const struct dw_module *m)
{
	struct dw_elf *elf;
	struct stat st;
	bool same;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	if (!m->build_id_bytes)
		return m->device == st.st_dev && m->inode == st.st_ino;
	if (dw_elf_open(fd, &elf, NULL))
		return false;
	same = has_build_id(elf, m);
	dw_elf_free(elf);
	return same;
}

static int find_module_file(const struct dw_profile *p, const struct dw_module *m)
{
	const char *path = dw_strings_get(&p->strings, m->path);
	dw_auto_close int fd = -1;
	struct stat st;

	/* The path is what a session says: opening a device may do something. */
	if (!stat(path, &st) && S_ISREG(st.st_mode))
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd >= 0 && is_same_file(fd, m) ? dw_take_fd(fd) : -1;
}

/* The size of the vdso at @image: its section headers come last. */
static size_t vdso_bytes(const uint8_t *image)
{
	Elf64_Ehdr header;
	size_t n;

	memcpy(&header, image, sizeof header);
	n = header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
	return n <= VDSO_MAX_BYTES ? n : 0;
}

static void find_vdso(const struct dw_module *m, struct dw_module_source *source)
{
	const uint8_t *image = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	size_t n = image ? vdso_bytes(image) : 0;
	struct dw_elf *elf;

	if (!n || dw_elf_open_bytes(image, n, true, &elf, NULL))
		return;
	if (has_build_id(elf, m)) {
		source->image = image;
		source->image_bytes = n;
	}
	dw_elf_free(elf);
}

int dw_module_files_find(const struct dw_profile *p, struct dw_module_files *ret)
{
	size_t n = (size_t)dw_modules_count(&p->modules) + 1;
	struct dw_module_source *sources = calloc(n, sizeof *sources);

	if (!sources)
		return -ENOMEM;
	for (size_t id = 0; id < n; id++) {
		const struct dw_module *m = dw_modules_get(&p->modules, (uint32_t)id);

		sources[id] = (struct dw_module_source){
			.fd = -1, .root_fd = -1, .uid = geteuid(), .gid = getegid()};
		if (m && m->kind == DWELL_MODULE_FILE)
			sources[id].fd = find_module_file(p, m);
		else if (m && m->kind == DWELL_MODULE_VDSO)
			find_vdso(m, &sources[id]);
	}
	*ret = (struct dw_module_files){sources, n};
	return 0;
}

void dw_module_files_release(struct dw_module_files *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->sources[i].fd >= 0)
			close(r->sources[i].fd);
	free(r->sources);
	*r = (struct dw_module_files){0};
}

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
