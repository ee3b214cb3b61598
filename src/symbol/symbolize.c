/*
 * Symbolizing a profile; see symbolize.h. Frames are sorted by module and address; modules whose
 * files are opened with the same rights are asked of one helper. Its answers are merged into the
 * profile, where equal functions of one module become one row. Frames without a symbol are named
 * here, from unwind ranges, which our own bounds-checked reader finds.
 */
#include "symbol/symbolize.h"

#include "base/cleanup.h"
#include "symbol/helper.h"
#include "symbol/module-symbols.h"
#include "symbol/prefetch.h"
#include "symbol/debuginfod.h"
#include "symbol/kernel-names.h"
#include "symbol/symbol-cache.h"
#include "symbol/question.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_MS = 60000 };

#define METHOD_BYTES ((uint64_t)1 << 32) /* of svmas (model/allocations.h) */

/* Frame @frame lies at @svma of @module. */
struct wanted {
	uint32_t module;
	uint32_t frame;
	uint64_t svma;
};

/* The wanted frames of one module: @n from index @start. */
struct job {
	uint32_t module;
	size_t start;
	size_t n;
};

struct chain {
	uint32_t start; /* in rows */
	uint32_t n;
};

struct symbolizer {
	struct dw_profile *p;
	const struct dw_module_source *sources;
	size_t sources_n;
	struct dw_symbol_options options;
	struct dw_symbol_stats stats;
	DW_VEC(struct wanted) wanted;
	uint64_t *svmas; /* of wanted, in the same order */
	DW_VEC(struct job) jobs;
	DW_VEC(struct dw_question) questions;
	DW_VEC(struct job *) asked; /* by question */
	/* By question, too: what is asked is all of this; NULL = no more than the job's. */
	DW_VEC(struct dw_symbol_cache *) caches;
	DW_VEC(struct dw_location) rows; /* in the order of jobs */
	struct chain *chains;		 /* by frame id */
	bool *entries;			 /* by frame id: the first instruction of a callee */
	struct dw_kernel_names kernel;
	struct dw_map methods; /* module and token of managed code -> method id */
};

static const struct dw_module_source *source_of(const struct symbolizer *s, uint32_t module)
{
	return dw_module_source_at(s->sources, s->sources_n, module);
}

static const char *module_name(const struct symbolizer *s, uint32_t module)
{
	const struct dw_module *m = dw_modules_get(&s->p->modules, module);
	const char *name = m ? dw_strings_get(&s->p->strings, m->name) : "";

	return *name ? name : "[unknown]";
}

static uint64_t method_key(uint32_t module, uint64_t token)
{
	return (uint64_t)module << 32 | (uint32_t)token;
}

/* Whether the line of the IL at @svma in @module is known: *@ret. */
static bool find_il_line(const struct symbolizer *s, uint32_t module, uint64_t svma,
			 struct dw_il_line *ret)
{
	const struct dw_symbol_options *o = &s->options;

	return o->il_line && o->il_line(o->il_line_ctx, module, svma, ret);
}

/* The function row of the method of managed code at @svma, 0 = it was not recorded. */
static int add_method(struct symbolizer *s, uint32_t module, uint64_t svma, uint32_t *ret)
{
	uint32_t id = dw_map_get(&s->methods, method_key(module, svma >> 32));
	struct dw_function f = {
		.module = module, .svma = svma & -METHOD_BYTES, .bytes = METHOD_BYTES};
	struct dw_il_line line;
	int rc = 0;

	*ret = 0;
	if (!id)
		return 0;
	f.name = s->p->allocations.methods.v[id - 1].name;
	if (find_il_line(s, module, f.svma, &line)) {
		f.line = line.line;
		rc = dw_strings_adds(&s->p->strings, line.file, &f.file);
	}
	return rc ? rc : dw_functions_add(&s->p->functions, &f, ret);
}

/* Fill in the line of the IL at @svma in @module, if it is known. */
static int add_il_line(struct symbolizer *s, uint32_t module, uint64_t svma, struct dw_location *l)
{
	struct dw_il_line line;

	if (!find_il_line(s, module, svma, &line))
		return 0;
	l->line = line.line;
	l->column = line.column;
	l->line_end = line.line_end;
	l->column_end = line.column_end;
	return dw_strings_adds(&s->p->strings, line.file, &l->file);
}

/* Fill in @l, the location of JIT code at @svma. Its function is 0 when nothing is known of it. */
static int add_jit(struct symbolizer *s, uint32_t module, uint64_t svma, struct dw_location *l)
{
	struct dw_jit_symbol symbol;
	struct dw_function f = {0};
	int rc;

	if (!s->options.jit_symbol ||
	    !s->options.jit_symbol(s->options.jit_symbol_ctx, module, svma, &symbol))
		return 0;
	l->line = symbol.at_line;
	l->column = symbol.at_column;
	f.module = symbol.module ? symbol.module : module;
	f.svma = symbol.svma;
	f.bytes = symbol.bytes;
	f.line = symbol.line;
	rc = dw_strings_adds(&s->p->strings, symbol.name, &f.name);
	if (!rc)
		rc = dw_strings_adds(&s->p->strings, symbol.file, &f.file);
	if (!rc && symbol.at_line)
		rc = dw_strings_adds(&s->p->strings, symbol.at_file, &l->file);
	if (!rc && symbol.il_module)
		rc = add_il_line(s, symbol.il_module, symbol.il, l);
	return rc ? rc : dw_functions_add(&s->p->functions, &f, &l->function);
}

/* The function row of the kernel's code at @svma, 0 = it has no name. */
static int add_kernel(struct symbolizer *s, uint32_t module, uint64_t svma, uint32_t *ret)
{
	const struct dw_module *m = dw_modules_get(&s->p->modules, module);
	struct dw_function f = {.module = module};
	struct dw_kernel_symbol symbol;
	dw_auto(dw_buf) name = DW_BUF_INIT;
	uint64_t end;
	int rc;

	*ret = 0;
	if (!m || m->kind != DWELL_MODULE_KERNEL)
		return 0;
	rc = dw_kernel_names_read(&s->kernel, dw_facts_get_text(&s->p->facts, "boot"),
				  dw_facts_get_text(&s->p->facts, "kernel_place"), svma);
	if (rc || !dw_kernel_names_find(&s->kernel, svma, &symbol, &end))
		return rc;
	f.svma = symbol.start;
	f.bytes = end - symbol.start;
	dw_buf_puts(&name, symbol.name);
	if (*symbol.module)
		dw_buf_printf(&name, " [%s]", symbol.module);
	rc = name.failed ? -ENOMEM : dw_strings_adds(&s->p->strings, dw_buf_str(&name), &f.name);
	return rc ? rc : dw_functions_add(&s->p->functions, &f, ret);
}

static int list_methods(struct symbolizer *s)
{
	int rc = 0;

	for (uint32_t i = 0; i < s->p->allocations.methods.n && !rc; i++) {
		const struct dw_alloc_method *m = &s->p->allocations.methods.v[i];

		rc = dw_map_put(&s->methods, method_key(m->module, m->token), i + 1);
	}
	return rc;
}

/* The function row of a frame that has no symbol: its unwind range, else its address. Code in no
 * module is one row. */
static int add_nameless(struct symbolizer *s, const struct dw_module_code *code, uint32_t module,
			uint64_t svma, uint32_t *ret)
{
	struct dw_cfi_range range = {svma, svma};
	struct dw_function f = {.module = module, .flags = DWELL_FUNCTION_NO_SYMBOL};
	dw_auto(dw_buf) name = DW_BUF_INIT;
	int rc = add_method(s, module, svma, ret);

	if (!rc && !*ret)
		rc = add_kernel(s, module, svma, ret);
	if (rc || *ret)
		return rc;
	if (module) {
		dw_module_code_unwind_range(code, svma, &range);
		f.svma = range.start;
		f.bytes = range.end - range.start;
		dw_buf_printf(&name, "%s+0x%" PRIx64, module_name(s, module), f.svma);
	} else {
		dw_buf_puts(&name, module_name(s, 0));
	}
	if (name.failed)
		return -ENOMEM;
	rc = dw_strings_add(&s->p->strings, name.data, name.len, &f.name);
	return rc ? rc : dw_functions_add(&s->p->functions, &f, ret);
}

/* An answer on its way into the profile: ids in the answer -> ids in the profile, 0 = not yet. */
struct merge {
	struct symbolizer *s;
	const struct dw_answer *a;
	uint32_t module;
	uint32_t *strings;
	uint32_t *functions;
};

static int merge_string(struct merge *m, uint32_t id, uint32_t *ret)
{
	const struct dw_strings *from = &m->a->strings;
	int rc = 0;

	if (id && !m->strings[id])
		rc = dw_strings_add(&m->s->p->strings, dw_strings_get(from, id),
				    dw_strings_len(from, id), &m->strings[id]);
	*ret = id ? m->strings[id] : 0;
	return rc;
}

/* Call @f as those did who imported it: a function may have many names. */
static int name_as_imported(struct symbolizer *s, struct dw_function *f)
{
	const struct dw_symbol_options *o = &s->options;
	const char *name = NULL;

	if (o->import_name && !f->linkage_name && !(f->flags & DWELL_FUNCTION_INLINED))
		name = o->import_name(o->import_name_ctx, f->module, f->svma);
	return name ? dw_strings_adds(&s->p->strings, name, &f->name) : 0;
}

static int merge_function(struct merge *m, uint32_t id, uint32_t *ret)
{
	struct dw_function f = m->a->functions.v[id];
	int rc = 0;

	if (!m->functions[id]) {
		f.module = m->module;
		rc = merge_string(m, f.name, &f.name);
		if (!rc)
			rc = merge_string(m, f.linkage_name, &f.linkage_name);
		if (!rc)
			rc = merge_string(m, f.file, &f.file);
		if (!rc)
			rc = name_as_imported(m->s, &f);
		if (!rc)
			rc = dw_functions_add(&m->s->p->functions, &f, &m->functions[id]);
	}
	*ret = m->functions[id];
	return rc;
}

/* Append row @from of the answer, of the frame at @svma. */
static int merge_row(struct merge *m, const struct dw_module_code *code, uint64_t svma,
		     const struct dw_location *from)
{
	struct dw_location l = *from;
	int rc;

	if (l.function)
		rc = merge_function(m, l.function, &l.function);
	else
		rc = add_nameless(m->s, code, m->module, svma, &l.function);
	if (!rc)
		rc = merge_string(m, from->file, &l.file);
	return rc ? rc : dw_vec_push(&m->s->rows, l);
}

/* Fill in @l, the location of code at @svma that no symbol is of: JIT code, managed code, or code
 * without a name. */
static int add_unnamed(struct symbolizer *s, const struct dw_module_code *code, uint32_t module,
		       uint64_t svma, struct dw_location *l)
{
	int rc = add_jit(s, module, svma, l);

	if (rc || l->function)
		return rc;
	rc = add_nameless(s, code, module, svma, &l->function);
	if (rc || !dw_map_get(&s->methods, method_key(module, svma >> 32)))
		return rc;
	return add_il_line(s, module, svma, l);
}

/* Give the @i-th frame of @job its chain. @m NULL = no answer. */
static int put_chain(struct symbolizer *s, const struct job *job, size_t i, struct merge *m,
		     const struct dw_module_code *code)
{
	const struct wanted *w = &s->wanted.v[job->start + i];
	uint32_t start = (uint32_t)s->rows.n;
	int rc = 0;

	for (uint32_t k = m ? m->a->first.v[i] : 0; m && k < m->a->first.v[i + 1] && !rc; k++)
		rc = merge_row(m, code, w->svma, &m->a->rows.v[k]);
	if (!rc && s->rows.n == start) {
		struct dw_location l = {0};

		rc = add_unnamed(s, code, job->module, w->svma, &l);
		if (!rc)
			rc = dw_vec_push(&s->rows, l);
	}
	if (s->rows.n > UINT32_MAX)
		return -ENOMEM;
	/* Who is called is the function itself, whatever it begins with. */
	if (!rc && s->entries[w->frame]) {
		s->rows.v[start] = s->rows.v[s->rows.n - 1];
		s->rows.n = start + 1;
	}
	s->chains[w->frame] = (struct chain){start, (uint32_t)s->rows.n - start};
	return rc;
}

static void count(struct symbolizer *s, const struct chain *chain)
{
	const struct dw_location *l = &s->rows.v[chain->start];

	s->stats.frames++;
	s->stats.frames_named +=
		!(s->p->functions.rows.v[l->function].flags & DWELL_FUNCTION_NO_SYMBOL);
	s->stats.frames_lines += l->line != 0;
}

/* Copy the machine code of the functions that @job's frames lie in. */
static int copy_code(struct symbolizer *s, const struct job *job, const struct dw_module_code *code)
{
	dw_auto_free struct dw_code_range *ranges = calloc(job->n + 1, sizeof *ranges);

	if (!ranges)
		return -ENOMEM;
	for (size_t i = 0; i < job->n; i++) {
		const struct wanted *w = &s->wanted.v[job->start + i];
		const struct chain *c = &s->chains[w->frame];
		uint32_t outermost = s->rows.v[c->start + c->n - 1].function;

		ranges[i] = dw_module_code_range(code, outermost,
						 &s->p->functions.rows.v[outermost], w->svma);
	}
	return dw_module_code_copy(code, ranges, job->n, &s->p->codes);
}

/* Finish @job with the answer @a, NULL = none. */
static int finish_job(struct symbolizer *s, struct job *job, const struct dw_answer *a)
{
	struct merge m = {s, a, job->module, NULL, NULL};
	struct dw_module_code code;
	int rc = 0;

	dw_module_code_open(&code, source_of(s, job->module));
	if (a) {
		m.strings = calloc((size_t)a->strings.n + 1, sizeof *m.strings);
		m.functions = calloc(a->functions.n + 1, sizeof *m.functions);
		rc = m.strings && m.functions ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < job->n && !rc; i++) {
		rc = put_chain(s, job, i, a ? &m : NULL, &code);
		if (!rc)
			count(s, &s->chains[s->wanted.v[job->start + i].frame]);
	}
	if (!rc && !s->options.without_code)
		rc = copy_code(s, job, &code);
	free(m.strings);
	free(m.functions);
	dw_module_code_release(&code);
	return rc;
}

/* Finish the job of the @i-th question; keep its answer @a (NULL = none) where that is worth it. */
static int answered(void *ctx, size_t i, struct dw_answer *a)
{
	struct symbolizer *s = ctx;
	struct job *job = s->asked.v[i];
	const struct dw_symbol_cache *k = s->caches.v[i];
	int rc = 0;

	s->stats.modules_failed += !a;
	if (a)
		dw_unpacked_keep(s->options.cache_dir, &s->questions.v[i]);
	if (a && k) {
		if (a->has_debug && dw_symbol_cache_may_keep(&s->questions.v[i]))
			(void)dw_symbol_cache_write(s->options.cache_dir, &s->questions.v[i], k, a);
		rc = dw_symbol_cache_narrow(k, s->svmas + job->start, job->n, a);
	}
	return rc ? rc : finish_job(s, job, a);
}

static int ask_about(struct symbolizer *s, struct job *job)
{
	struct dw_question q = dw_module_question(s->p, source_of(s, job->module), job->module);

	q.debug_dirs = s->options.debug_dirs;
	q.names_only = s->options.names_only;
	q.svmas = s->svmas + job->start;
	q.n = job->n;
	return dw_vec_push(&s->questions, q) || dw_vec_push(&s->asked, job) ||
			       dw_vec_push(&s->caches, NULL)
		       ? -ENOMEM
		       : 0;
}

/* Whether @k has all addresses of @q. */
static bool has_all(const struct dw_symbol_cache *k, const struct dw_question *q)
{
	size_t i = 0;

	while (i < q->n && dw_symbol_cache_has(k, q->svmas[i]))
		i++;
	return i == q->n;
}

/* Answer the @i-th question by what is known already, if that can be. Else it becomes one about all
 * that was ever asked. */
static bool ask_cache(struct symbolizer *s, size_t i, int *rc)
{
	struct dw_question *q = &s->questions.v[i];
	struct dw_symbol_cache *k;
	bool done;

	if (!s->options.cache_dir || !s->p->calls.nodes.n || !dw_symbol_cache_may_keep(q))
		return false;
	k = s->caches.v[i] = calloc(1, sizeof *k);
	if (!k || dw_symbol_cache_read(s->options.cache_dir, q, k) == -ENOMEM)
		*rc = -ENOMEM;
	done = !*rc && k->n && has_all(k, q);
	if (done)
		*rc = dw_symbol_cache_narrow(k, q->svmas, q->n, &k->answer);
	if (done && !*rc)
		*rc = finish_job(s, s->asked.v[i], &k->answer);
	if (!done && !*rc)
		*rc = dw_symbol_cache_widen(k, q->svmas, q->n);
	if (!done && !*rc) {
		q->svmas = k->svmas;
		q->n = k->n;
	}
	return done;
}

static void free_cache(struct dw_symbol_cache *k)
{
	if (k)
		dw_symbol_cache_release(k);
	free(k);
}

/* Ask the prefetching helper the @i-th question. False: others have to answer. */
static bool ask_prefetch(struct symbolizer *s, size_t i, int *rc)
{
	const struct dw_question *q = &s->questions.v[i];
	uint32_t module = s->asked.v[i]->module;
	struct dw_answer a = {0};
	bool done = q->debug_fd < 0 && dw_prefetch_knows(s->options.prefetch, module) &&
		    !dw_prefetch_ask(s->options.prefetch, module, q, s->options.timeout_ms, &a);

	if (done)
		*rc = answered(s, i, &a);
	dw_answer_release(&a);
	return done;
}

/* Ask @ask, which knows some answers, everything. Questions for others stay. */
static int ask_first(struct symbolizer *s, bool (*ask)(struct symbolizer *s, size_t i, int *rc))
{
	size_t to = 0;
	int rc = 0;

	for (size_t i = 0; i < s->questions.n; i++) {
		if (!rc && ask(s, i, &rc)) {
			free_cache(s->caches.v[i]);
			continue;
		}
		s->questions.v[to] = s->questions.v[i];
		s->caches.v[to] = s->caches.v[i];
		s->asked.v[to++] = s->asked.v[i];
	}
	s->questions.n = s->asked.n = s->caches.n = to;
	return rc;
}

static int run_jobs(struct symbolizer *s, struct dw_error *err)
{
	struct dw_fetched fetched = {0};
	int rc = 0;

	dw_vec_each(job, &s->jobs) {
		if (rc)
			break;
		rc = source_of(s, job->module) ? ask_about(s, job) : finish_job(s, job, NULL);
	}
	if (!rc)
		rc = ask_first(s, ask_cache);
	if (!rc && s->options.debuginfod_ms && !s->options.names_only)
		rc = dw_fetch_missing(s->questions.v, s->questions.n, s->options.debuginfod_ms,
				      &fetched, err);
	if (!rc)
		rc = ask_first(s, ask_prefetch);
	if (!rc) {
		dw_unpacked_open(s->options.cache_dir, s->questions.v, s->questions.n);
		dw_unpacked_want(s->options.cache_dir, s->questions.v, s->questions.n);
		rc = dw_ask(s->questions.v, s->questions.n, s->options.timeout_ms, answered, s,
			    err);
		dw_unpacked_close(s->questions.v, s->questions.n);
	}
	s->stats.debuginfod = fetched.stats;
	dw_fetched_release(&fetched);
	return rc;
}

static int compare_wanted(const void *pa, const void *pb)
{
	const struct wanted *a = pa, *b = pb;

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return (a->svma > b->svma) - (a->svma < b->svma);
}

/* List the frames by module and address, and a job for each module. */
static int list_jobs(struct symbolizer *s)
{
	uint32_t frames = dw_frames_count(&s->p->frames);
	struct job *job = NULL;

	for (uint32_t id = 1; id <= frames; id++) {
		const struct dw_frame *f = dw_frames_get(&s->p->frames, id);

		if (f->kind == DWELL_FRAME_CODE &&
		    dw_vec_push(&s->wanted, (struct wanted){f->module, id, f->svma}))
			return -ENOMEM;
	}
	if (s->wanted.n)
		qsort(s->wanted.v, s->wanted.n, sizeof *s->wanted.v, compare_wanted);
	s->svmas = calloc(s->wanted.n + 1, sizeof *s->svmas);
	s->chains = calloc((size_t)frames + 1, sizeof *s->chains);
	if (!s->svmas || !s->chains)
		return -ENOMEM;
	for (size_t i = 0; i < s->wanted.n; i++) {
		uint32_t module = s->wanted.v[i].module;

		s->svmas[i] = s->wanted.v[i].svma;
		if (!job || job->module != module) {
			if (dw_vec_push(&s->jobs, (struct job){.module = module, .start = i}))
				return -ENOMEM;
			job = &s->jobs.v[s->jobs.n - 1];
		}
		job->n++;
	}
	return 0;
}

static int find_entries(struct symbolizer *s)
{
	s->entries = calloc((size_t)dw_frames_count(&s->p->frames) + 1, sizeof *s->entries);
	if (!s->entries)
		return -ENOMEM;
	dw_vec_each(node, &s->p->calls.nodes)
		s->entries[node->entry] = s->entries[node->caller] = true;
	return 0;
}

/* Lay out the chains by frame id in the profile. */
static int put_locations(struct symbolizer *s)
{
	struct dw_locations *t = &s->p->locations;
	uint32_t frames = dw_frames_count(&s->p->frames);

	dw_locations_release(t);
	if (dw_vec_reserve(&t->first, (size_t)frames + 2) ||
	    dw_vec_reserve(&t->rows, s->rows.n + 1))
		return -ENOMEM;
	t->first.v[t->first.n++] = 0;
	for (uint32_t id = 0; id <= frames; id++) {
		const struct chain *c = &s->chains[id];

		for (uint32_t i = 0; i < c->n; i++)
			t->rows.v[t->rows.n++] = s->rows.v[c->start + i];
		t->first.v[t->first.n++] = (uint32_t)t->rows.n;
	}
	return 0;
}

int dw_symbolize(struct dw_profile *p, const struct dw_module_source *sources, size_t sources_n,
		 const struct dw_symbol_options *options, struct dw_symbol_stats *stats,
		 struct dw_error *err)
{
	struct symbolizer s = {.p = p, .sources = sources, .sources_n = sources_n};
	int rc;

	if (options)
		s.options = *options;
	s.kernel.cache_dir = s.options.cache_dir;
	if (!s.options.debug_dirs)
		s.options.debug_dirs = DWELL_DEBUG_DIRS;
	if (!s.options.timeout_ms)
		s.options.timeout_ms = TIMEOUT_MS;
	rc = list_jobs(&s);
	if (!rc)
		rc = list_methods(&s);
	if (!rc)
		rc = find_entries(&s);
	if (!rc)
		rc = run_jobs(&s, err);
	if (!rc)
		rc = put_locations(&s);
	if (!rc && stats)
		*stats = s.stats;
	dw_vec_release(&s.wanted);
	dw_vec_release(&s.jobs);
	dw_vec_release(&s.questions);
	dw_vec_release(&s.asked);
	dw_vec_each(k, &s.caches)
		free_cache(*k);
	dw_vec_release(&s.caches);
	dw_vec_release(&s.rows);
	dw_map_release(&s.methods);
	dw_kernel_names_release(&s.kernel);
	free(s.svmas);
	free(s.chains);
	free(s.entries);
	return rc;
}
