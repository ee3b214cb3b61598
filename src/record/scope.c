/* Modules in scope; see scope.h. */
#include "record/scope.h"

#include "base/cleanup.h"
#include "record/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

int dw_scope_init(struct dw_scope *s, const struct dw_globs *globs)
{
	*s = (struct dw_scope){.globs = globs, .used = calloc(globs->n + 1, sizeof *s->used)};
	return s->used ? 0 : -ENOMEM;
}

bool dw_scope_names(struct dw_scope *s, const char *path)
{
	int i = dw_probe_selection_find_module(s->globs, path);

	if (i >= 0)
		s->used[i] = true;
	return i >= 0;
}

void dw_scope_look(struct dw_module_image *executable)
{
	if (executable->is_looked_at)
		return;
	executable->is_looked_at = true;
	executable->has_runtime = dw_has_dotnet_runtime(executable->fd);
	dw_launcher_read(&executable->launcher, executable->fd, executable->path);
}

bool dw_scope_leaves(struct dw_module_image *executable)
{
	dw_scope_look(executable);
	return executable->has_runtime;
}

bool dw_scope_may_choose(const struct dw_scope *s, struct dw_module_image *executable,
			 const char *path)
{
	if (s->globs->n)
		return false;
	dw_scope_look(executable);
	return dw_launcher_names(&executable->launcher, path);
}

bool dw_scope_chooses(struct dw_scope *s, const struct dw_module_image *executable,
		      const struct dw_module_image *library, const char *path)
{
	dw_vec_each(c, &s->chosen) {
		if (c->library == library && c->executable == executable)
			return true;
	}
	return dw_launcher_chooses(&executable->launcher, path, library->fd) &&
	       !dw_vec_push(&s->chosen, (struct dw_chosen){library, executable});
}

/* Make the image of the file behind @fd, taken over, unless it @may_be_left. */
static void make_image(struct dw_images *images, int fd, const char *path,
		       const struct dw_rights *own, bool may_be_left)
{
	struct dw_module_image *m = NULL;

	if (fd >= 0)
		m = dw_images_get(images, fd, path, own->uid, own->gid);
	if (m && m->state == DWELL_IMAGE_NEW && !(may_be_left && dw_scope_leaves(m)))
		dw_images_make(images, m);
}

void dw_scope_make_first(const struct dw_scope *s, const struct dw_program *program,
			 const struct dw_rights *own, struct dw_images *images)
{
	struct dw_libraries libraries = {0};

	make_image(images, fcntl(program->fd, F_DUPFD_CLOEXEC, 0), program->path, own,
		   dw_probe_selection_find_module(s->globs, program->path) < 0);
	if (!s->globs->n)
		(void)dw_launcher_list(program->fd, program->path, &libraries, NULL);
	dw_vec_each(path, &libraries.paths) {
		dw_auto_free char *real = realpath(*path, NULL); /* as the kernel calls it */

		if (real)
			make_image(images, open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY),
				   real, own, false);
	}
	dw_libraries_release(&libraries);
}

void dw_scope_release(struct dw_scope *s)
{
	free(s->used);
	dw_vec_release(&s->chosen);
	*s = (struct dw_scope){0};
}
