/* Missing debug information; see fetch.h. Helpers look for what is here, with the rights of whom
 * the module belongs to, as they do for names. */
#include "symbol/fetch.h"

#include "symbol/ask.h"

#include "base/cleanup.h"
#include "code/elf/elf.h"

#include <errno.h>
#include <stdlib.h>

enum { LOOK_MS = 10000 };

DW_DEFINE_FREEP(dw_elf)

/* A question whose module lacks debug information. */
struct missing {
	size_t question;
	size_t addresses;
};

struct search {
	const struct dw_question *questions;
	DW_VEC(struct missing) missing;
};

static int note_presence(void *ctx, size_t i, struct dw_answer *answer)
{
	struct search *s = ctx;

	if (!answer || answer->has_debug)
		return 0;
	return dw_vec_push(&s->missing, (struct missing){i, s->questions[i].n});
}

/* Ask which modules of @questions have nothing here. */
static int search(struct search *s, const struct dw_question *questions, size_t n,
		  struct dw_error *err)
{
	dw_auto_free struct dw_question *presence = calloc(n + 1, sizeof *presence);

	if (!presence)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		presence[i] = questions[i];
		presence[i].n = 0;
		presence[i].presence_only = true;
	}
	return dw_ask(presence, n, LOOK_MS, note_presence, s, err);
}

static int by_addresses(const void *pa, const void *pb)
{
	const struct missing *a = pa, *b = pb;

	if (a->addresses != b->addresses)
		return a->addresses < b->addresses ? 1 : -1;
	return (a->question > b->question) - (a->question < b->question);
}

/* Read the build-id of a file into @f. False: it has none. */
static bool read_id(const struct dw_module_source *source, struct dw_debuginfod_file *f)
{
	dw_auto_ptr(dw_elf) elf = NULL;

	if (source->fd < 0 || dw_elf_open(source->fd, &elf, NULL))
		return false;
	f->id_n = dw_elf_build_id(elf, f->id, sizeof f->id);
	return f->id_n > 1;
}

int dw_fetch_missing(struct dw_question *questions, size_t n, uint32_t timeout_ms,
		     struct dw_fetched *ret, struct dw_error *err)
{
	struct search s = {.questions = questions};
	dw_auto_free size_t *question_of = calloc(n + 1, sizeof *question_of);
	int rc = question_of ? search(&s, questions, n, err) : -ENOMEM;

	*ret = (struct dw_fetched){.files = calloc(s.missing.n + 1, sizeof *ret->files)};
	if (!ret->files)
		rc = -ENOMEM;
	if (!rc && s.missing.n)
		qsort(s.missing.v, s.missing.n, sizeof *s.missing.v, by_addresses);
	dw_vec_each(m, &s.missing) {
		if (rc || !read_id(questions[m->question].source, &ret->files[ret->n]))
			continue;
		question_of[ret->n++] = m->question;
	}
	if (!rc)
		rc = dw_debuginfod_get(ret->files, ret->n, timeout_ms, &ret->stats, err);
	for (size_t i = 0; i < ret->n && !rc; i++) {
		questions[question_of[i]].debug_fd = ret->files[i].fd;
		questions[question_of[i]].alt_fd = ret->files[i].alt_fd;
	}
	if (rc)
		ret->n = 0;
	dw_vec_release(&s.missing);
	return rc;
}

void dw_fetched_release(struct dw_fetched *f)
{
	for (size_t i = 0; i < f->n; i++) {
		dw_cleanup_close(&f->files[i].fd);
		dw_cleanup_close(&f->files[i].alt_fd);
	}
	free(f->files);
	*f = (struct dw_fetched){0};
}
