/* Which modules' files a helper opens while the recording goes on; see symbolize.h. */
#include "symbol/symbolize.h"

#include "symbol/ask.h"
#include "symbol/early.h"
#include "symbol/known.h"
#include "symbol/module-question.h"
#include "symbol/unpacked.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { EARLY_MODULES_MAX = 8, EARLY_FILE_BYTES_MAX = 64 << 20 };

/* Whether frames of the profile so far lie in modules, by id. NULL = no memory. */
static bool *modules_with_frames(const struct dw_profile *p)
{
	uint32_t frames = dw_frames_count(&p->frames), modules = dw_modules_count(&p->modules);
	bool *has = calloc((size_t)modules + 1, sizeof *has);

	for (uint32_t id = 1; id <= frames && has; id++) {
		const struct dw_frame *f = dw_frames_get(&p->frames, id);

		if (f->kind == DWELL_FRAME_CODE && f->module <= modules)
			has[f->module] = true;
	}
	return has;
}

static bool is_small(const struct dw_module_source *source)
{
	struct stat st;

	return source->fd >= 0 && !fstat(source->fd, &st) && st.st_size <= EARLY_FILE_BYTES_MAX;
}

/* Whether @dir has the names of all frames so far in module @id, which @q is about. */
static bool is_known(const struct dw_profile *p, uint32_t id, const struct dw_question *q,
		     const char *dir)
{
	uint32_t frames = dw_frames_count(&p->frames);
	struct dw_known k = {0};
	bool is = dir && dw_known_may_keep(q) && !dw_known_read(dir, q, &k);

	for (uint32_t i = 1; i <= frames && is; i++) {
		const struct dw_frame *f = dw_frames_get(&p->frames, i);

		is = f->kind != DWELL_FRAME_CODE || f->module != id || dw_known_has(&k, f->svma);
	}
	dw_known_release(&k);
	return is;
}

int dw_symbolize_early(struct dw_profile *p, const struct dw_module_source *sources,
		       size_t sources_n, const char *cache_dir, struct dw_early **ret)
{
	dw_auto_free bool *has = modules_with_frames(p);
	struct dw_question questions[EARLY_MODULES_MAX];
	uint32_t modules[EARLY_MODULES_MAX];
	size_t n = 0;
	int rc;

	*ret = NULL;
	if (!has)
		return -ENOMEM;
	for (uint32_t id = 1; id < sources_n && n < EARLY_MODULES_MAX; id++) {
		const struct dw_module_source *source = dw_module_source_at(sources, sources_n, id);

		if (id > dw_modules_count(&p->modules) || !has[id] || !source ||
		    !is_small(source) || (n && !dw_has_same_rights(questions[0].source, source)))
			continue;
		questions[n] = dw_module_question(p, source, id);
		if (!is_known(p, id, &questions[n], cache_dir))
			modules[n++] = id;
	}
	dw_unpacked_open(cache_dir, questions, n);
	rc = n ? dw_early_begin(questions, modules, n, ret) : 0;
	dw_unpacked_close(questions, n);
	return rc;
}
