/*
 * Filters from words; see filter.h. A word made of digits is a system id (which the system may have
 * given twice: both count), any other a name. A word that fits nothing is an error: an empty report
 * would look like an answer.
 */
#include "analysis/filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Whether @word is the system id @id or a glob that fits @name. */
static bool fits_task(const char *word, int32_t id, const char *name)
{
	if (word[strspn(word, "0123456789")] || !*word)
		return !strcmp(word, name) || !fnmatch(word, name, 0);
	return strtoull(word, NULL, 10) == (uint64_t)(uint32_t)id;
}

static int no_fit(const char *kind, const char *word, struct dw_error *err)
{
	return dw_error_set(err, DWELL_ERR_NOT_FOUND, "no %s '%s' in this session", kind, word);
}

/* The same of a process, which also has the name before its arguments (target/proc.h). */
static bool fits_process(const char *word, int32_t pid, const char *name)
{
	size_t n = strcspn(name, " ");

	return fits_task(word, pid, name) ||
	       (name[n] && strlen(word) == n && !memcmp(word, name, n));
}

static int resolve_process(const struct dw_profile *p, const char *word,
			   struct dw_filter_owned *ret, struct dw_error *err)
{
	size_t before = ret->processes.n;

	for (uint32_t id = 1; id <= dw_processes_count(&p->processes); id++) {
		const struct dw_process *row = dw_processes_get(&p->processes, id);

		if (fits_process(word, row->pid, dw_strings_get(&p->strings, row->name)) &&
		    dw_vec_push(&ret->processes, id))
			return dw_error_set(err, -ENOMEM, "out of memory");
	}
	return ret->processes.n > before ? 0 : no_fit("process", word, err);
}

/* A thread goes by what it calls itself and by its start function. */
static bool fits_thread(const struct dw_profile *p, const char *word, const struct dw_thread *row)
{
	const struct dw_function *start = dw_functions_get(&p->functions, row->start);

	return fits_task(word, row->tid, dw_strings_get(&p->strings, row->name)) ||
	       (start && fits_task(word, row->tid, dw_strings_get(&p->strings, start->name)));
}

static int resolve_thread(const struct dw_profile *p, const char *word, struct dw_filter_owned *ret,
			  struct dw_error *err)
{
	size_t before = ret->threads.n;

	for (uint32_t id = 1; id <= dw_threads_count(&p->threads); id++)
		if (fits_thread(p, word, dw_threads_get(&p->threads, id)) &&
		    dw_vec_push(&ret->threads, id))
			return dw_error_set(err, -ENOMEM, "out of memory");
	return ret->threads.n > before ? 0 : no_fit("thread", word, err);
}

/* Whether @word is @text, or a glob that fits it. */
static bool fits_text(const char *word, const char *text)
{
	return !strcmp(word, text) || !fnmatch(word, text, 0);
}

static int resolve_module(const struct dw_profile *p, const char *word, struct dw_filter_owned *ret,
			  struct dw_error *err)
{
	bool found = false;

	for (uint32_t id = 1; id < ret->modules.n; id++) {
		const struct dw_module *m = dw_modules_get(&p->modules, id);

		if (fits_text(word, dw_strings_get(&p->strings, m->name)) ||
		    fits_text(word, dw_strings_get(&p->strings, m->path)))
			ret->modules.v[id] = found = true;
	}
	return found ? 0 : no_fit("module", word, err);
}

/* The last part of the type @name, without its namespace, the types around it and what is between
 * its brackets, if @is_plain. Borrowed from @name, *@ret_n its bytes. */
static const char *last_part(const char *name, bool is_plain, size_t *ret_n)
{
	const char *part = name, *end = name + strlen(name), *open = NULL;
	int depth = 0;

	for (const char *at = name; *at; at++) {
		if (*at == '<' && !depth++)
			open = at;
		depth -= *at == '>' && depth;
		if (*at == '.' && !depth) {
			part = at + 1;
			open = NULL;
		}
	}
	*ret_n = (size_t)((is_plain && open ? open : end) - part);
	return part;
}

static bool fits_last_part(const char *word, const char *name)
{
	for (int is_plain = 0; is_plain < 2; is_plain++) {
		size_t n;
		const char *part = last_part(name, is_plain, &n);
		char copy[256];

		if (n >= sizeof copy)
			continue;
		memcpy(copy, part, n);
		copy[n] = '\0';
		if (fits_text(word, copy))
			return true;
	}
	return false;
}

/* Types that @word fits, else those whose last part it fits. */
static int resolve_type(const struct dw_profile *p, const char *word, struct dw_filter_owned *ret,
			struct dw_error *err)
{
	bool found = false;

	for (int by_part = 0; by_part < 2 && !found; by_part++) {
		for (size_t i = 0; i < ret->types.n; i++) {
			const char *name =
				dw_strings_get(&p->strings, p->allocations.types.v[i].name);

			if (by_part ? fits_last_part(word, name) : fits_text(word, name))
				ret->types.v[i] = found = true;
		}
	}
	return found ? 0 : no_fit("type", word, err);
}

/* @n flags, all off. */
static int start_flags(struct dw_filter_flags *flags, size_t n, struct dw_error *err)
{
	if (dw_vec_reserve(flags, n + 1))
		return dw_error_set(err, -ENOMEM, "out of memory");
	memset(flags->v, 0, n);
	flags->n = n;
	return 0;
}

int dw_filter_resolve(const struct dw_profile *p, const struct dw_filter_words *words,
		      struct dw_filter_owned *ret, struct dw_error *err)
{
	int rc = 0;

	*ret = (struct dw_filter_owned){0};
	if (words->to_ns && words->to_ns <= words->from_ns)
		return dw_error_set(err, DWELL_ERR_USAGE, "the range ends before it begins");
	for (size_t i = 0; i < words->processes_n && !rc; i++)
		rc = resolve_process(p, words->processes[i], ret, err);
	for (size_t i = 0; i < words->threads_n && !rc; i++)
		rc = resolve_thread(p, words->threads[i], ret, err);
	if (words->modules_n && !rc)
		rc = start_flags(&ret->modules, (size_t)dw_modules_count(&p->modules) + 1, err);
	for (size_t i = 0; i < words->modules_n && !rc; i++)
		rc = resolve_module(p, words->modules[i], ret, err);
	if (words->types_n && !rc)
		rc = start_flags(&ret->types, p->allocations.types.n, err);
	for (size_t i = 0; i < words->types_n && !rc; i++)
		rc = resolve_type(p, words->types[i], ret, err);
	ret->filter = (struct dw_filter){
		.processes = ret->processes.v,
		.processes_n = ret->processes.n,
		.threads = ret->threads.v,
		.threads_n = ret->threads.n,
		.modules = ret->modules.v,
		.modules_n = ret->modules.n,
		.types = words->types_n ? ret->types.v : NULL,
		.types_n = ret->types.n,
		.from_ns = words->from_ns,
		.to_ns = words->to_ns,
	};
	return rc;
}

void dw_filter_release(struct dw_filter_owned *f)
{
	dw_vec_release(&f->processes);
	dw_vec_release(&f->threads);
	dw_vec_release(&f->modules);
	dw_vec_release(&f->types);
	f->filter = (struct dw_filter){0};
}
