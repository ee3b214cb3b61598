/*
 * Filters; see filter.h. A word made of digits is a system id (which the system may have given
 * twice: both count), any other a name. A word that fits nothing is an error: an empty report would
 * look like an answer. Functions are looked for in passes, each looser than the one before; the
 * first that finds anything decides.
 */
#include "analysis/filter.h"

#include "base/suggest.h"
#include "model/function-name.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Whether @word is the system id @id or a glob that fits @name. */
static bool fits_task(const char *word, int32_t id, const char *name)
{
	if (word[strspn(word, "0123456789")] || !*word)
		return !strcmp(word, name) || !fnmatch(word, name, 0);
	return strtoull(word, NULL, 10) == (uint64_t)(uint32_t)id;
}

/* Nothing was found for the word of @nearest. */
static int no_fit(const char *kind, const struct dw_suggestion *nearest, struct dw_error *err)
{
	struct dw_buf hint = DW_BUF_INIT;
	int rc;

	dw_suggestion_put(nearest, "", &hint);
	rc = dw_error_set(err, DWELL_ERR_NOT_FOUND, "no %s '%s' in this session%s", kind,
			  nearest->word, dw_buf_str(&hint));
	dw_buf_release(&hint);
	return rc;
}

/* The same of a process, which also has the name before its arguments (target/proc.h). */
static bool has_name(const struct dw_profile *p, const struct dw_process *row, const char *word)
{
	const char *name = dw_strings_get(&p->strings, row->name);
	size_t n = strcspn(name, " ");

	return fits_task(word, row->pid, name) ||
	       (name[n] && strlen(word) == n && !memcmp(word, name, n));
}

static bool fits_text(const char *word, const char *text)
{
	return !strcmp(word, text) || !fnmatch(word, text, 0);
}

/* What reports call it, which tells apart those of one name. */
static bool has_command(const struct dw_profile *p, const struct dw_process *row, const char *word)
{
	return row->command && fits_text(word, dw_strings_get(&p->strings, row->command));
}

static bool has_command_line(const struct dw_profile *p, const struct dw_process *row,
			     const char *word)
{
	return row->command_line && fits_text(word, dw_strings_get(&p->strings, row->command_line));
}

/* Processes that @word is the id or the name of, else the command, else the whole command line. */
static int resolve_process(const struct dw_profile *p, const char *word,
			   struct dw_filter_owned *ret, struct dw_error *err)
{
	bool (*const passes[])(const struct dw_profile *, const struct dw_process *,
			       const char *) = {has_name, has_command, has_command_line};
	const size_t before = ret->processes.n, n = dw_processes_count(&p->processes);
	struct dw_suggestion nearest;

	for (size_t i = 0; i < sizeof passes / sizeof *passes && ret->processes.n == before; i++)
		for (uint32_t id = 1; id <= n; id++)
			if (passes[i](p, dw_processes_get(&p->processes, id), word) &&
			    dw_vec_push(&ret->processes, id))
				return dw_error_set(err, -ENOMEM, "out of memory");
	if (ret->processes.n > before)
		return 0;
	dw_suggestion_begin(&nearest, word, strlen(word));
	for (uint32_t id = 1; id <= n; id++) {
		const struct dw_process *row = dw_processes_get(&p->processes, id);
		const char *name = dw_strings_get(&p->strings, row->name);

		dw_suggestion_offer_part(&nearest, name, strcspn(name, " "), name,
					 strcspn(name, " "));
		if (row->command)
			dw_suggestion_offer(&nearest, dw_strings_get(&p->strings, row->command));
	}
	return no_fit("process", &nearest, err);
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
	struct dw_suggestion nearest;

	dw_suggestion_begin(&nearest, word, strlen(word));
	for (uint32_t id = 1; id <= dw_threads_count(&p->threads); id++) {
		const struct dw_thread *row = dw_threads_get(&p->threads, id);

		dw_suggestion_offer(&nearest, dw_strings_get(&p->strings, row->name));
		if (fits_thread(p, word, row) && dw_vec_push(&ret->threads, id))
			return dw_error_set(err, -ENOMEM, "out of memory");
	}
	return ret->threads.n > before ? 0 : no_fit("thread", &nearest, err);
}

int dw_match_modules(const struct dw_profile *p, const char *word, uint8_t *flags, uint8_t value,
		     struct dw_error *err)
{
	struct dw_suggestion nearest;
	bool found = false;

	dw_suggestion_begin(&nearest, word, strlen(word));
	for (uint32_t id = 1; id <= dw_modules_count(&p->modules); id++) {
		const struct dw_module *m = dw_modules_get(&p->modules, id);

		dw_suggestion_offer(&nearest, dw_strings_get(&p->strings, m->name));
		if (fits_text(word, dw_strings_get(&p->strings, m->name)) ||
		    fits_text(word, dw_strings_get(&p->strings, m->path))) {
			flags[id] = value;
			found = true;
		}
	}
	return found ? 0 : no_fit("module", &nearest, err);
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
	struct dw_suggestion nearest;
	bool found = false;

	dw_suggestion_begin(&nearest, word, strlen(word));
	for (int by_part = 0; by_part < 2 && !found; by_part++) {
		for (size_t i = 0; i < ret->types.n; i++) {
			const char *name =
				dw_strings_get(&p->strings, p->allocations.types.v[i].name);
			size_t n;
			const char *part = last_part(name, by_part, &n);

			dw_suggestion_offer_part(&nearest, part, n, name, strlen(name));
			if (by_part ? fits_last_part(word, name) : fits_text(word, name))
				ret->types.v[i] = found = true;
		}
	}
	return found ? 0 : no_fit("type", &nearest, err);
}

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
		return dw_error_set(err, DWELL_ERR_USAGE,
				    "the range ends before it begins: --until must be later than "
				    "--from");
	for (size_t i = 0; i < words->processes_n && !rc; i++)
		rc = resolve_process(p, words->processes[i], ret, err);
	for (size_t i = 0; i < words->threads_n && !rc; i++)
		rc = resolve_thread(p, words->threads[i], ret, err);
	if (words->modules_n && !rc)
		rc = start_flags(&ret->modules, (size_t)dw_modules_count(&p->modules) + 1, err);
	for (size_t i = 0; i < words->modules_n && !rc; i++)
		rc = dw_match_modules(p, words->modules[i], ret->modules.v, 1, err);
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
		.waits_left_out = words->waits_left_out,
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

enum { LISTED_MAX = 8 };

typedef bool fits_fn(const char *text, const char *name);

static bool is_equal(const char *text, const char *name)
{
	return !strcmp(text, name);
}

static bool fits_glob(const char *text, const char *name)
{
	return !fnmatch(text, name, 0);
}

static bool is_part(const char *text, const char *name)
{
	return *text && strstr(name, text);
}

static bool is_own_name(const char *text, const char *name)
{
	return dw_function_name_is(name, text, strlen(text));
}

/* Likewise with all scopes: beside it, the same name in a scope is not meant. */
static bool is_whole_name(const char *text, const char *name)
{
	struct dw_function_name parts;
	size_t n = strlen(text);

	dw_function_name_parse(name, strlen(name), &parts);
	return is_own_name(text, name) &&
	       (parts.own_end - parts.scope == n || parts.args - parts.scope == n);
}

static const char *name_of(const struct dw_profile *p, const struct dw_function *f)
{
	return dw_strings_get(&p->strings, f->name);
}

static const char *module_of(const struct dw_profile *p, const struct dw_function *f)
{
	const struct dw_module *m = dw_modules_get(&p->modules, f->module);

	return m ? dw_strings_get(&p->strings, m->name) : "";
}

/* Whether @text means @f by name, MODULE!NAME or MODULE!0xADDRESS. @label is scratch. */
static bool fits(const struct dw_profile *p, const struct dw_function *f, const char *text,
		 fits_fn *fn, struct dw_buf *label)
{
	if (fn(text, name_of(p, f)))
		return true;
	if (!strchr(text, '!'))
		return false;
	dw_buf_clear(label);
	dw_buf_printf(label, "%s!%s", module_of(p, f), name_of(p, f));
	if (fn(text, dw_buf_str(label)))
		return true;
	dw_buf_clear(label);
	dw_buf_printf(label, "%s!0x%" PRIx64, module_of(p, f), f->svma);
	return is_equal(text, dw_buf_str(label));
}

struct found {
	DW_VEC(uint32_t) ids;
};

static int search(const struct dw_profile *p, const char *text, fits_fn *fn, struct found *ret)
{
	struct dw_buf label = DW_BUF_INIT;
	int rc = 0;

	for (uint32_t id = 1; id <= dw_functions_count(&p->functions) && !rc; id++)
		if (fits(p, dw_functions_get(&p->functions, id), text, fn, &label))
			rc = dw_vec_push(&ret->ids, id);
	dw_buf_release(&label);
	return rc;
}

static bool is_twin(const struct dw_profile *p, const struct found *found, uint32_t id)
{
	const struct dw_function *a = dw_functions_get(&p->functions, id);

	dw_vec_each(other, &found->ids) {
		const struct dw_function *b = dw_functions_get(&p->functions, *other);

		if (*other != id && a->module == b->module && a->name == b->name)
			return true;
	}
	return false;
}

static int report_several(const struct dw_profile *p, const char *text, const struct found *found,
			  struct dw_error *err)
{
	int rc = dw_error_set(err, DWELL_ERR_NOT_FOUND, "'%s' means %zu functions:", text,
			      found->ids.n);

	for (size_t i = 0; i < found->ids.n && i < LISTED_MAX; i++) {
		uint32_t id = found->ids.v[i];
		const struct dw_function *f = dw_functions_get(&p->functions, id);

		if (is_twin(p, found, id))
			dw_error_add_line(err, "  %s!0x%" PRIx64 "  %s", module_of(p, f), f->svma,
					  name_of(p, f));
		else
			dw_error_add_line(err, "  %s!%s", module_of(p, f), name_of(p, f));
	}
	if (found->ids.n > LISTED_MAX)
		dw_error_add_line(err, "  and %zu more", found->ids.n - LISTED_MAX);
	return rc;
}

/* The function whose name, or its end from some scope on, is nearest to @text. */
static int report_none(const struct dw_profile *p, const char *text, struct dw_error *err)
{
	struct dw_suggestion nearest;

	dw_suggestion_begin(&nearest, text, strlen(text));
	for (uint32_t id = 1; id <= dw_functions_count(&p->functions); id++) {
		const char *name = name_of(p, dw_functions_get(&p->functions, id));
		struct dw_function_name parts;

		dw_function_name_parse(name, strlen(name), &parts);
		dw_suggestion_offer_part(&nearest, name + parts.own, parts.own_end - parts.own,
					 name + parts.scope, parts.args - parts.scope);
		dw_suggestion_offer_part(&nearest, name + parts.scope, parts.args - parts.scope,
					 name + parts.scope, parts.args - parts.scope);
	}
	return no_fit("function", &nearest, err);
}

int dw_match_function(const struct dw_profile *p, const char *text, uint32_t *ret,
		      struct dw_error *err)
{
	fits_fn *const passes[] = {is_equal, is_whole_name, is_own_name, fits_glob, is_part};
	struct found found = {0};
	int rc = 0;

	for (size_t i = 0; i < sizeof passes / sizeof *passes && !found.ids.n && !rc; i++)
		rc = search(p, text, passes[i], &found);
	if (rc)
		dw_error_set(err, rc, "out of memory");
	else if (found.ids.n == 1)
		*ret = found.ids.v[0];
	else if (found.ids.n)
		rc = report_several(p, text, &found, err);
	else
		rc = report_none(p, text, err);
	dw_vec_release(&found.ids);
	return rc;
}

void dw_function_word(const struct dw_profile *p, uint32_t function, struct dw_buf *ret)
{
	const struct dw_function *f = dw_functions_get(&p->functions, function);
	bool has_namesake = false, has_twin = false;

	dw_buf_clear(ret);
	if (!f)
		return;
	for (uint32_t id = 1; id <= dw_functions_count(&p->functions); id++) {
		const struct dw_function *other = dw_functions_get(&p->functions, id);

		/* Names are interned. */
		if (id == function || other->name != f->name)
			continue;
		has_namesake = true;
		has_twin |= !strcmp(module_of(p, other), module_of(p, f));
	}
	if (has_twin)
		dw_buf_printf(ret, "%s!0x%" PRIx64, module_of(p, f), f->svma);
	else if (has_namesake)
		dw_buf_printf(ret, "%s!%s", module_of(p, f), name_of(p, f));
	else
		dw_buf_puts(ret, name_of(p, f));
}

bool dw_select_id(const uint32_t *ids, size_t n, uint32_t id)
{
	for (size_t i = 0; i < n; i++)
		if (ids[i] == id)
			return true;
	return !ids;
}

void dw_select_threads(const struct dw_profile *p, const struct dw_filter *filter,
		       uint32_t *process)
{
	for (uint32_t id = 0; id <= dw_threads_count(&p->threads); id++) {
		const struct dw_thread *t = dw_threads_get(&p->threads, id);
		uint32_t of = t && dw_processes_get(&p->processes, t->process) ? t->process : 0;

		process[id] = dw_select_id(filter->processes, filter->processes_n, of) &&
					      dw_select_id(filter->threads, filter->threads_n, id)
				      ? of
				      : UINT32_MAX;
	}
}

bool dw_select_stack(const struct dw_profile *p, const struct dw_filter *filter, uint32_t stack)
{
	const struct dw_stack *s = dw_stacks_get(&p->stacks, stack);
	const struct dw_frame *f = s ? dw_frames_get(&p->frames, s->frame) : NULL;

	return f && f->module < filter->modules_n && filter->modules[f->module];
}

uint64_t dw_extra_in_sight(const struct dw_profile *p, const struct dw_filter *filter,
			   const uint32_t *lane, const struct dw_extra *x)
{
	if (x->thread > dw_threads_count(&p->threads) || lane[x->thread] == UINT32_MAX ||
	    (filter->modules && !dw_select_stack(p, filter, x->stack)))
		return 0;
	return dw_extra_within(x, filter->from_ns, filter->to_ns);
}

uint64_t dw_extra_passing(const struct dw_profile *p, const struct dw_filter *filter,
			  const uint32_t *lane, const struct dw_extra *x)
{
	if (dw_extra_is_left_out(filter, x))
		return 0;
	return dw_extra_in_sight(p, filter, lane, x);
}

int dw_slices_init(struct dw_slices *s, const struct dw_calls *calls,
		   const struct dw_filter *filter)
{
	struct dw_range_ns range;

	*s = (struct dw_slices){.passes = calloc(calls->slices.n + 1, 1)};
	if (!s->passes)
		return -ENOMEM;
	dw_calls_select(calls, filter->from_ns, filter->to_ns, s->passes, &range);
	if (range.max_ns && (filter->from_ns || filter->to_ns)) {
		s->from_ns = range.min_ns;
		s->to_ns = range.max_ns;
	}
	return 0;
}

void dw_slices_release(struct dw_slices *s)
{
	free(s->passes);
	*s = (struct dw_slices){0};
}
