/*
 * Just My Code; see just-my-code.h.
 *
 * Stacks and nodes of calls are both trees whose parents have smaller ids, so one pass in the order
 * of ids decides for each path whether it stays, what its values go to if it does not, and what is
 * called from it hangs on. Paths keep their ids.
 */
#include "analysis/just-my-code.h"

#include "analysis/filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Modules that are the system's, on any distribution. */
static const char *const system_modules[] = {
	/* C library and loader, of glibc and musl */
	"libc.so*", "libc-*.so*", "ld-linux*", "ld-[0-9]*.so*", "ld-musl-*", "libc.musl-*",
	"libpthread*.so*", "libdl*.so*", "librt[.-]*so*", "libanl*.so*", "libresolv*.so*",
	"libnss_*.so*", "libm.so*", "libm-*.so*", "libmvec*.so*",
	/* run-time libraries of compilers */
	"libstdc++.so*", "libgcc_s.so*", "libc++.so*", "libc++abi.so*", "libgomp.so*",
	"libatomic.so*", "libasan.so*", "libtsan.so*", "libubsan.so*", "liblsan.so*",
	/* .NET */
	"dotnet", "libcoreclr*.so", "libclr*.so", "libhostfxr.so", "libhostpolicy.so",
	"libSystem.*.so", "System.*", "Microsoft.*", "mscorlib*", "netstandard*", "\\[native\\]",
	/* our own */
	"libdwell-*.so"};

/* Modules that interpret somebody's code: what they do for that is its functions' own time, and no
 * call. */
static const char *const interpreters[] = {
	"python3",    "python3.[0-9]*", "libpython3*.so*", /* CPython */
	"php",	      "php[78].[0-9]*", "php-fpm*",	   "php-cgi*",	  "libphp*.so*",
	"opcache.so", "ruby",		"ruby[23].[0-9]*", "libruby*.so*"};

enum path_class {
	NEUTRAL, /* no code: a thread's beginning, a cut, what no memory was left for */
	MINE,
	SYSTEM,
	LIBRARY,     /* of the system's: functions of a language's own library */
	KERNEL,	     /* likewise */
	INTERPRETER, /* likewise; and interrupts, which nobody calls either */
	STATEMENT,   /* of its parent's function */
};

enum path_fact {
	HAS_MINE = 1, /* the user's code is at or above it */
	IS_MINE = 2,  /* its function is the user's */
	STAYS = 4,    /* on a stack that nothing is left out of */
	CALLS_MINE = 8,
};

/* One of the two trees, by id; 0 = none. */
struct paths {
	const struct dw_my_code_rule *rule;
	uint32_t n; /* ids are below this */
	uint8_t *class_of, *facts;
	uint32_t *parent; /* as it is, then as it becomes */
	uint32_t *values; /* the path that its values go to: itself if it stays */
	uint32_t *below;  /* the path that what it calls hangs on */
	/* The path whose call site led to it, for what hangs on it: of folded paths the outermost,
	 * 0 = it is not told. */
	uint32_t *led_by;
	size_t folded; /* paths, and times that those above the user's code were left out */
};

/* Whether the module at @path, a source file or a library, is what an interpreter of PHP or Ruby
 * has in itself, or comes with it: not what was installed beside that. */
static bool comes_with_another(const struct dw_module *m, const char *path)
{
	if (m->kind == DWELL_MODULE_FILE)
		return strstr(path, "/lib/php/20") ||
		       (strstr(path, "/ruby/") && strstr(path, ".so") && !strstr(path, "/gems/"));
	if (m->kind != DWELL_MODULE_JIT)
		return false;
	if (!strcmp(path, "[php]") || !strcmp(path, "[ruby]") ||
	    !strncmp(path, "<internal:", strlen("<internal:")))
		return true;
	return strstr(path, "/lib/ruby/") && !strstr(path, "/gems/");
}

/* Whether the module at @path, a source file of Python's or a library, comes with the interpreter:
 * not what was installed beside that. */
static bool comes_with_python(const struct dw_module *m, const char *path)
{
	const char *at = strstr(path, "/lib/python3");

	if (m->kind == DWELL_MODULE_FILE)
		return at && strstr(at, "/lib-dynload/");
	if (m->kind != DWELL_MODULE_JIT)
		return false;
	return !strncmp(path, "<frozen ", strlen("<frozen ")) ||
	       (at && !strstr(at, "/site-packages/") && !strstr(at, "/dist-packages/"));
}

static bool fits_one(const char *name, const char *const *patterns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!fnmatch(patterns[i], name, 0))
			return true;
	return false;
}

bool dw_is_interpreter(const struct dw_profile *p, uint32_t id)
{
	const struct dw_module *m = dw_modules_get(&p->modules, id);

	return m->kind == DWELL_MODULE_FILE &&
	       fits_one(dw_strings_get(&p->strings, m->name), interpreters,
			sizeof interpreters / sizeof *interpreters);
}

bool dw_is_ruby(const struct dw_profile *p, uint32_t id)
{
	const struct dw_module *m = dw_modules_get(&p->modules, id);
	const char *path = dw_strings_get(&p->strings, m->path);

	if (m->kind == DWELL_MODULE_JIT)
		return !strcmp(path, "[ruby]") ||
		       !strncmp(path, "<internal:", strlen("<internal:"));
	return dw_is_interpreter(p, id) && strstr(dw_strings_get(&p->strings, m->name), "ruby");
}

bool dw_is_python_library(const struct dw_profile *p, uint32_t id)
{
	const struct dw_module *m = dw_modules_get(&p->modules, id);

	return m->kind == DWELL_MODULE_JIT &&
	       comes_with_python(m, dw_strings_get(&p->strings, m->path));
}

/* Whether its functions are of a language's own library. */
static bool is_language_library(const struct dw_profile *p, uint32_t id)
{
	const struct dw_module *m = dw_modules_get(&p->modules, id);

	return dw_is_python_library(p, id) ||
	       (m->kind == DWELL_MODULE_JIT &&
		comes_with_another(m, dw_strings_get(&p->strings, m->path)));
}

/* Whose code a module is that the system has. */
static enum path_class classify_system(const struct dw_profile *p, uint32_t id)
{
	if (dw_modules_get(&p->modules, id)->kind == DWELL_MODULE_KERNEL)
		return KERNEL;
	if (is_language_library(p, id))
		return LIBRARY;
	return dw_is_interpreter(p, id) ? INTERPRETER : SYSTEM;
}

bool dw_is_system_module(const struct dw_profile *p, uint32_t id)
{
	const struct dw_module *m = dw_modules_get(&p->modules, id);
	const char *name = dw_strings_get(&p->strings, m->name);

	if (m->kind == DWELL_MODULE_KERNEL || m->kind == DWELL_MODULE_VDSO ||
	    comes_with_python(m, dw_strings_get(&p->strings, m->path)) ||
	    comes_with_another(m, dw_strings_get(&p->strings, m->path)) || dw_is_interpreter(p, id))
		return true;
	return fits_one(name, system_modules, sizeof system_modules / sizeof *system_modules);
}

/* Whose code modules are, by id: enum path_class, owned by the caller. */
static int classify_modules(const struct dw_profile *p, const struct dw_my_code_rule *rule,
			    uint8_t **ret, struct dw_error *err)
{
	uint8_t *class_of = calloc(dw_modules_count(&p->modules) + 1ul, 1);
	int rc = 0;

	*ret = class_of;
	if (!class_of)
		return dw_error_set(err, -ENOMEM, "out of memory");
	for (uint32_t id = 1; id <= dw_modules_count(&p->modules); id++)
		class_of[id] = dw_is_system_module(p, id);
	for (size_t i = 0; i < rule->systems_n && !rc; i++)
		rc = dw_match_modules(p, rule->systems[i], class_of, true, err);
	for (size_t i = 0; i < rule->mine_n && !rc; i++)
		rc = dw_match_modules(p, rule->mine[i], class_of, false, err);
	for (uint32_t id = 0; id <= dw_modules_count(&p->modules); id++) /* 0: code of no module */
		class_of[id] = class_of[id] ? classify_system(p, id) : MINE;
	return rc;
}

/* The name of the innermost function at @frame, "" where there is none. */
static const char *name_at(const struct dw_profile *p, uint32_t frame)
{
	const struct dw_function *f =
		dw_functions_get(&p->functions, dw_locations_innermost(&p->locations, frame));

	return f ? dw_strings_get(&p->strings, f->name) : "";
}

/* Whether @frame is where the C library takes a program over, from what has no name when the
 * program is stripped. */
static bool is_takeover(const struct dw_profile *p, uint32_t frame)
{
	static const char name[] = "__libc_start_main";

	return !strncmp(name_at(p, frame), name, sizeof name - 1);
}

/* The name of the function whose code @frame is, whatever is inlined there; "" where there is none.
 */
static const char *outer_name_at(const struct dw_profile *p, uint32_t frame)
{
	uint32_t n;
	const struct dw_location *chain = dw_locations_get(&p->locations, frame, &n);
	const struct dw_function *f =
		n ? dw_functions_get(&p->functions, chain[n - 1].function) : NULL;

	return f ? dw_strings_get(&p->strings, f->name) : "";
}

/* Whether @name is what a language's library, linked into the program, has between a thread's start
 * and the user's code: Rust's, and C++'s threads. */
static bool is_start_code(const char *name)
{
	static const char *const prefixes[] = {"std::rt::",
					       "std::panicking::",
					       "std::panic::",
					       "std::sys::",
					       "std::sys_common::",
					       "std::thread::",
					       "core::ops::function::FnOnce::call_once",
					       "core::ops::function::impls::",
					       "alloc::boxed::",
					       "<alloc::boxed::Box<",
					       "core::panic::",
					       "<core::panic::",
					       "__rust_try",
					       "std::__invoke",
					       "std::invoke"};

	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* Whether all at @frame is such, and nothing of the user's is inlined there. */
static bool is_start_frame(const struct dw_profile *p, uint32_t frame)
{
	uint32_t n;
	const struct dw_location *chain = dw_locations_get(&p->locations, frame, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct dw_function *f = dw_functions_get(&p->functions, chain[i].function);

		if (!f || !is_start_code(dw_strings_get(&p->strings, f->name)))
			return false;
	}
	return n;
}

/* What names of frames say of a program's start. */
enum start_hint {
	IS_MAIN = 1,
	TAKES_OVER = 2,	     /* the C library does */
	RUST_TAKES_OVER = 4, /* from main */
	LEADS_TO_MINE = 8,   /* when it is called by a start */
};

static uint8_t hint_of(const struct dw_profile *p, uint32_t frame, enum path_class class)
{
	static const char rust[] = "std::rt::lang_start";

	if (class == SYSTEM)
		return is_takeover(p, frame) ? TAKES_OVER : 0;
	if (class != MINE)
		return 0;
	return (uint8_t)((strcmp(name_at(p, frame), "main") ? 0 : IS_MAIN) |
			 (strncmp(outer_name_at(p, frame), rust, sizeof rust - 1)
				  ? 0
				  : RUST_TAKES_OVER) |
			 (is_start_frame(p, frame) ? LEADS_TO_MINE : 0));
}

/* Decide whether @up, which called @frame, and @frame are a start: they call where the C library or
 * Rust's takes over, or go on from such. */
static void find_start(uint32_t up, uint32_t frame, const uint8_t *hints, uint8_t *class_of)
{
	if (class_of[up] == MINE &&
	    (hints[frame] & TAKES_OVER || (hints[up] & IS_MAIN && hints[frame] & RUST_TAKES_OVER)))
		class_of[up] = SYSTEM;
	if (class_of[up] == SYSTEM && class_of[frame] == MINE && hints[frame] & LEADS_TO_MINE)
		class_of[frame] = SYSTEM;
}

/* Callers have smaller ids than what they call. 0 or -ENOMEM. */
static int find_starts(const struct dw_profile *p, uint8_t *class_of)
{
	uint32_t n = dw_frames_count(&p->frames) + 1;
	uint8_t *hints = calloc(n, 1);

	if (!hints)
		return -ENOMEM;
	for (uint32_t id = 1; id < n; id++)
		hints[id] = hint_of(p, id, class_of[id]);
	for (uint32_t id = 1; id <= dw_stacks_count(&p->stacks); id++) {
		const struct dw_stack *s = dw_stacks_get(&p->stacks, id);
		const struct dw_stack *up = dw_stacks_get(&p->stacks, s->parent);

		if (up)
			find_start(up->frame, s->frame, hints, class_of);
	}
	for (uint32_t id = 1; id <= dw_calls_count(&p->calls); id++) {
		const struct dw_call_node *c = dw_calls_get(&p->calls, id);
		const struct dw_call_node *up = dw_calls_get(&p->calls, c->parent);

		if (up)
			find_start(up->entry, c->entry, hints, class_of);
	}
	free(hints);
	return 0;
}

/* Whether @name is where the kernel begins with an interrupt of a device, a timer or another
 * processor, on x86. */
static bool is_interrupt(const char *name)
{
	return !strncmp(name, "asm_sysvec_", strlen("asm_sysvec_")) ||
	       !strcmp(name, "asm_common_interrupt");
}

/* Whose code frames are, by id: enum path_class, owned by the caller. NULL: no memory. */
static uint8_t *classify_frames(const struct dw_profile *p, const uint8_t *modules, uint32_t opened)
{
	uint32_t n = dw_frames_count(&p->frames) + 1;
	uint8_t *class_of = calloc(n, 1);

	for (uint32_t id = 1; class_of && id < n; id++) {
		const struct dw_frame *f = dw_frames_get(&p->frames, id);

		if (f->kind != DWELL_FRAME_CODE)
			continue;
		class_of[id] = modules[f->module];
		if (class_of[id] == KERNEL && is_interrupt(name_at(p, id)))
			class_of[id] = INTERPRETER;
		if (class_of[id] == MINE && !strcmp(name_at(p, id), "_start"))
			class_of[id] = SYSTEM;
	}
	if (class_of && find_starts(p, class_of)) {
		free(class_of);
		return NULL;
	}
	for (uint32_t id = 1; class_of && opened && id < n; id++)
		if (dw_locations_innermost(&p->locations, id) == opened)
			class_of[id] = MINE;
	return class_of;
}

static int paths_init(struct paths *t, const struct dw_my_code_rule *rule, uint32_t n)
{
	t->rule = rule;
	t->n = n;
	t->class_of = calloc(n, 1);
	t->facts = calloc(n, 1);
	t->parent = calloc(n, sizeof *t->parent);
	t->values = calloc(n, sizeof *t->values);
	t->below = calloc(n, sizeof *t->below);
	t->led_by = calloc(n, sizeof *t->led_by);
	if (!t->class_of || !t->facts || !t->parent || !t->values || !t->below || !t->led_by)
		return -ENOMEM;
	return 0;
}

static void paths_release(struct paths *t)
{
	free(t->class_of);
	free(t->facts);
	free(t->parent);
	free(t->values);
	free(t->below);
	free(t->led_by);
}

static bool is_folded(const struct paths *t, uint32_t id)
{
	return t->values[id] != id;
}

/* @id becomes part of what its parent is part of. */
static void fold_away(struct paths *t, uint32_t id)
{
	uint32_t parent = t->parent[id];

	t->values[id] = t->values[parent];
	t->below[id] = t->below[parent];
	t->led_by[id] = is_folded(t, parent) ? t->led_by[parent] : id;
	t->folded++;
}

/* @id stays, and hangs on what its parent has become part of. */
static void keep(struct paths *t, uint32_t id)
{
	uint32_t parent = t->parent[id];

	if (is_folded(t, parent))
		t->led_by[id] = t->led_by[parent];
	else
		t->led_by[id] = t->below[parent] == parent ? id : 0;
	t->folded += !t->led_by[id];
	t->parent[id] = t->below[parent];
	t->values[id] = t->below[id] = id;
}

/* Whether @id, which nobody's own code called, is what the kernel does for the system's code, or
 * what machine code does for a function of a language's library. */
static bool is_below_a_call(const struct paths *t, uint32_t id)
{
	uint32_t parent = t->parent[id];

	if (t->class_of[id] == KERNEL && t->class_of[parent] == SYSTEM)
		return true;
	return t->class_of[id] != LIBRARY &&
	       (t->class_of[parent] == LIBRARY || is_folded(t, parent));
}

static void decide_system(struct paths *t, uint32_t id)
{
	uint32_t parent = t->parent[id];
	bool called_by_mine = t->facts[parent] & IS_MINE && t->class_of[id] != INTERPRETER;
	bool calls_mine = t->facts[id] & CALLS_MINE;

	if ((t->rule->keeps_callers && calls_mine) || (t->rule->keeps_callees && called_by_mine)) {
		keep(t, id);
	} else if (t->facts[parent] & HAS_MINE || is_below_a_call(t, id)) {
		fold_away(t, id);
	} else { /* it stays for itself, but is not above the user's code */
		t->values[id] = t->led_by[id] = id;
		t->below[id] = t->below[parent];
	}
	t->facts[id] |= t->facts[parent] & HAS_MINE;
}

static void decide(struct paths *t, uint32_t id)
{
	uint32_t parent = t->parent[id];

	if (t->facts[parent] & STAYS || (t->class_of[id] == NEUTRAL && t->facts[id] & STAYS)) {
		t->facts[id] |= t->facts[parent] | STAYS;
		t->values[id] = t->below[id] = t->led_by[id] = id;
	} else if (t->class_of[id] >= SYSTEM && t->class_of[id] <= INTERPRETER) {
		decide_system(t, id);
	} else if (t->class_of[id] == STATEMENT) {
		t->facts[id] |= t->facts[parent];
		t->values[id] = is_folded(t, parent) ? t->values[parent] : id;
		t->below[id] = t->below[parent] == parent ? id : t->below[parent];
		t->led_by[id] = is_folded(t, parent) ? t->led_by[parent] : id;
		t->folded += is_folded(t, id);
	} else {
		t->facts[id] |=
			t->class_of[id] == MINE ? HAS_MINE | IS_MINE : t->facts[parent] & HAS_MINE;
		keep(t, id);
	}
}

/* Decide for all paths, whose parents and classes are known. */
static void fold(struct paths *t)
{
	for (uint32_t id = t->n; t->rule->keeps_callers && --id;) {
		uint32_t parent = t->parent[id];

		if (t->class_of[id] == STATEMENT)
			t->facts[parent] |= t->facts[id] & CALLS_MINE;
		else if (t->class_of[id] == MINE)
			t->facts[parent] |= CALLS_MINE;
	}
	for (uint32_t id = 1; id < t->n; id++)
		decide(t, id);
}

static void redirect(const struct paths *t, uint32_t *path)
{
	*path = *path < t->n ? t->values[*path] : *path;
}

static int fold_stacks(struct dw_profile *p, const struct dw_my_code_rule *rule,
		       const uint8_t *frames, size_t *ret)
{
	struct dw_stack *rows = p->stacks.rows.v;
	struct paths t = {0};
	int rc = paths_init(&t, rule, dw_stacks_count(&p->stacks) + 1);

	for (uint32_t id = 1; !rc && id < t.n; id++) {
		const struct dw_frame *f = dw_frames_get(&p->frames, rows[id].frame);

		t.parent[id] = rows[id].parent;
		t.class_of[id] = frames[rows[id].frame];
		if (f && f->kind == DWELL_FRAME_PART)
			t.facts[id] = STAYS;
	}
	if (!rc)
		fold(&t);
	for (uint32_t id = 1; !rc && id < t.n; id++)
		rows[id].parent = t.parent[id];
	for (size_t i = 0; !rc && i < p->samples.n; i++)
		redirect(&t, &p->samples.stack[i]);
	for (size_t i = 0; !rc && i < p->extras.rows.n; i++)
		redirect(&t, &p->extras.rows.v[i].stack);
	for (size_t i = 0; !rc && i < p->allocations.groups.n; i++)
		redirect(&t, &p->allocations.groups.v[i].stack);
	for (size_t i = 0; !rc && i < p->allocations.gcs.n; i++)
		redirect(&t, &p->allocations.gcs.v[i].stack);
	*ret += t.folded;
	paths_release(&t);
	return rc;
}

static enum path_class classify_node(const struct dw_call_node *n, const uint8_t *frames)
{
	if (n->flags & DWELL_CALL_LINE)
		return STATEMENT;
	return n->flags & (DWELL_CALL_ROOT | DWELL_CALL_TRUNCATED) ? NEUTRAL : frames[n->entry];
}

/* Values of a node go to another one, without its calls. */
static int move_values(struct dw_calls *calls, uint32_t from, uint32_t to)
{
	struct dw_call_values values;

	if (!dw_calls_summed(calls))
		return 0;
	values = dw_call_store_get(&calls->sums, from - 1);
	values.calls = 0;
	calls->sums.plain.v[from - 1] = (struct dw_call_plain){0};
	calls->sums.system_of.v[from - 1] = 0;
	return dw_call_store_add(&calls->sums, to - 1, &values);
}

static int apply_to_calls(struct dw_calls *calls, const struct paths *t)
{
	size_t kept = 0;
	int rc = 0;

	/* A call site comes from a smaller id, whose own one was needed before: from the last one
	 * on. */
	for (uint32_t id = t->n; --id && !rc;) {
		struct dw_call_node *n = &calls->nodes.v[id - 1];

		n->parent = t->parent[id];
		n->site = t->led_by[id] ? calls->nodes.v[t->led_by[id] - 1].site : 0;
		if (is_folded(t, id))
			rc = move_values(calls, id, t->values[id]);
	}
	dw_vec_each(d, &calls->deltas) {
		d->values.calls = is_folded(t, d->node) ? 0 : d->values.calls;
		d->node = t->values[d->node];
	}
	for (size_t i = 0; i < calls->slow.n; i++)
		if (!is_folded(t, calls->slow.v[i].node))
			calls->slow.v[kept++] = calls->slow.v[i];
	calls->slow.n = kept;
	return rc;
}

static int fold_calls(struct dw_profile *p, const struct dw_my_code_rule *rule,
		      const uint8_t *frames, size_t *ret)
{
	struct paths t = {0};
	int rc = paths_init(&t, rule, dw_calls_count(&p->calls) + 1);

	for (uint32_t id = 1; !rc && id < t.n; id++) {
		const struct dw_call_node *n = dw_calls_get(&p->calls, id);

		t.parent[id] = n->parent < id ? n->parent : 0;
		t.class_of[id] = classify_node(n, frames);
		if (n->flags & DWELL_CALL_OVERFLOW) {
			t.class_of[id] = NEUTRAL;
			t.facts[id] = STAYS;
		}
	}
	if (!rc) {
		fold(&t);
		rc = apply_to_calls(&p->calls, &t);
	}
	*ret += t.folded;
	paths_release(&t);
	return rc;
}

/* What is inlined into the system's functions is theirs: who calls a function of the C library
 * knows it by the name that was called. */
static void fold_inlined(struct dw_profile *p, const uint8_t *frames)
{
	struct dw_locations *t = &p->locations;
	uint32_t kept = 0, begin = 0, end;

	for (uint32_t id = 0; id + 1 < t->first.n; id++, begin = end) {
		end = t->first.v[id + 1];
		if (id <= dw_frames_count(&p->frames) && frames[id] == SYSTEM && end > begin)
			begin = end - 1;
		t->first.v[id] = kept;
		while (begin < end)
			t->rows.v[kept++] = t->rows.v[begin++];
	}
	if (t->first.n)
		t->first.v[t->first.n - 1] = kept;
	t->rows.n = kept;
}

int dw_fold_system_code(struct dw_profile *p, const struct dw_my_code_rule *rule, size_t *ret,
			struct dw_error *err)
{
	uint8_t *frames = NULL;
	uint8_t *modules;
	int rc = classify_modules(p, rule, &modules, err);

	*ret = 0;
	if (!rc) {
		frames = classify_frames(p, modules, rule->opened);
		rc = frames ? fold_stacks(p, rule, frames, ret) : -ENOMEM;
		rc = rc ? rc : fold_calls(p, rule, frames, ret);
		if (!rc)
			fold_inlined(p, frames);
		if (rc)
			dw_error_set(err, rc, "out of memory");
	}
	free(frames);
	free(modules);
	return rc;
}

/* Give @vec a copy of its rows, -ENOMEM: it has none then. */
#define OWN_ROWS(vec)                                                            \
	({                                                                       \
		__auto_type before = *(vec);                                     \
		memset((vec), 0, sizeof *(vec));                                 \
		int rc_ = dw_vec_reserve(vec, before.n);                         \
		if (!rc_ && before.n)                                            \
			memcpy((vec)->v, before.v, before.n * sizeof *before.v); \
		(vec)->n = rc_ ? 0 : before.n;                                   \
		rc_;                                                             \
	})

/* All of them, so that none is another's when one failed. */
static int own_rows(struct dw_profile *p)
{
	int rc = OWN_ROWS(&p->stacks.rows);
	uint32_t *stack = malloc((p->samples.n + 1) * sizeof *stack);

	rc |= OWN_ROWS(&p->extras.rows);
	rc |= OWN_ROWS(&p->locations.rows);
	rc |= OWN_ROWS(&p->locations.first);
	rc |= OWN_ROWS(&p->allocations.groups);
	rc |= OWN_ROWS(&p->allocations.gcs);
	if (stack && p->samples.n)
		memcpy(stack, p->samples.stack, p->samples.n * sizeof *stack);
	p->samples.stack = stack;
	return rc || !stack ? -ENOMEM : 0;
}

int dw_folded_make(const struct dw_profile *p, const struct dw_my_code_rule *rule,
		   struct dw_folded *ret, struct dw_error *err)
{
	*ret = (struct dw_folded){.profile = *p};
	if (own_rows(&ret->profile))
		return dw_error_set(err, -ENOMEM, "out of memory");
	return dw_fold_system_code(&ret->profile, rule, &ret->paths, err);
}

void dw_folded_follow(struct dw_folded *f, const struct dw_profile *p)
{
	f->profile.frames = p->frames;
}

void dw_folded_release(struct dw_folded *f)
{
	dw_vec_release(&f->profile.stacks.rows);
	dw_vec_release(&f->profile.extras.rows);
	dw_vec_release(&f->profile.locations.rows);
	dw_vec_release(&f->profile.locations.first);
	dw_vec_release(&f->profile.allocations.groups);
	dw_vec_release(&f->profile.allocations.gcs);
	free(f->profile.samples.stack);
	*f = (struct dw_folded){0};
}

/* Of code without a name nobody knows whether it is a program's start. */
bool dw_is_opened(const struct dw_profile *p, uint32_t function)
{
	const struct dw_function *f = dw_functions_get(&p->functions, function);

	return f && (f->flags & DWELL_FUNCTION_NO_SYMBOL || !f->module ||
		     dw_is_system_module(p, f->module) ||
		     !strcmp(dw_strings_get(&p->strings, f->name), "_start"));
}
