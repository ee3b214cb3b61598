/*
 * Mangled names of NativeAOT; see native-name.h.
 *
 * A method is TYPE__METHOD, a type ASSEMBLY_NAMESPACE_TYPE_NESTED, generic ones have the number of
 * their parameters and behind all what they are made for: List_1<Int32>, Pair_2<A__B>. All
 * characters but letters and digits are underscores, so names that the C# compiler made, <X>d__1 or
 * <>c, are recognised by their form. (ILCompiler: NativeAotNameMangler.)
 */
#include "code/clr/native-name.h"

#include "base/cleanup.h"
#include "code/clr/method-name.h"

#include <ctype.h>
#include <string.h>

enum { PARTS_MAX = 32, DEPTH_MAX = 6 };

#define SHARED	  "System___Canon"
#define CLOSURE	  "__DisplayClass"
#define CORE	  "S_P_"
#define BOXED	  "<Boxed>"
#define UNBOX	  "<unbox>"
#define SEPARATOR "__"

struct word {
	const char *at;
	size_t n;
};

/* What types are made for. */
struct list {
	struct word v[PARTS_MAX];
	size_t n, taken;
};

struct place {
	struct dw_buf *b;
	struct word program;
	int depth;
};

static bool begins(struct word w, const char *with)
{
	size_t n = strlen(with);

	return w.n >= n && !memcmp(w.at, with, n);
}

/* @w without its first @n bytes, nothing where it is shorter. */
static struct word from(struct word w, size_t n)
{
	n = n < w.n ? n : w.n;
	return (struct word){w.at + n, w.n - n};
}

/* The first @n bytes of @w, all where it is shorter. */
static struct word first(struct word w, size_t n)
{
	return (struct word){w.at, n < w.n ? n : w.n};
}

static bool is_equal(struct word w, const char *text)
{
	return w.n == strlen(text) && begins(w, text);
}

/* Where @what stands first in @w outside of brackets, from @start on; w.n = nowhere. */
static size_t find(struct word w, const char *what, size_t start)
{
	int open = 0;

	for (size_t i = 0; i < w.n; i++) {
		if (!open && i >= start && begins(from(w, i), what))
			return i;
		open += (w.at[i] == '<') - (w.at[i] == '>');
	}
	return w.n;
}

/* Where the part of framework's assemblies @w ends at one of its root namespaces, 0 = nowhere. */
static size_t framework_end(struct word w)
{
	static const char *const roots[] = {"_System_", "_Internal_", "_Microsoft_", "_Interop"};
	size_t found = w.n;

	for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
		size_t at = find(w, roots[i], 1);

		found = at < found ? at : found;
	}
	return found < w.n ? found + 1 : 0;
}

/* The bytes of @w's assembly and the underscore behind it, 0 = not known. */
static size_t assembly_bytes(const struct place *p, struct word w)
{
	size_t best = 0;

	if (begins(w, CORE) || begins(w, "System_") || begins(w, "Microsoft_"))
		return framework_end(w);
	for (size_t i = 1; i + 1 < w.n && w.at[i] != '<'; i++)
		if (w.at[i] == '_' && w.n - i - 1 > i && !memcmp(w.at, w.at + i + 1, i) &&
		    w.at[2 * i + 1] == '_')
			best = i + 1;
	if (!best && p->program.n && w.n > p->program.n + 1 && w.at[p->program.n] == '_') {
		size_t i = 0;

		while (i < p->program.n &&
		       (w.at[i] == p->program.at[i] ||
			(w.at[i] == '_' && !isalnum((unsigned char)p->program.at[i]))))
			i++;
		best = i == p->program.n ? i + 1 : 0;
	}
	return best;
}

/* The name in C# of a type of the runtime's own. */
static const char *plain_name(struct word w)
{
	static const char *const names[][2] = {
		{"Boolean", "bool"},  {"Char", "char"},	    {"SByte", "sbyte"},
		{"Byte", "byte"},     {"Int16", "short"},   {"UInt16", "ushort"},
		{"Int32", "int"},     {"UInt32", "uint"},   {"Int64", "long"},
		{"UInt64", "ulong"},  {"Single", "float"},  {"Double", "double"},
		{"String", "string"}, {"Object", "object"}, {"IntPtr", "nint"},
		{"UIntPtr", "nuint"}, {"Void", "void"},
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (is_equal(w, names[i][0]))
			return names[i][1];
	return NULL;
}

/* Whether @w, which stands behind two underscores, is but a part of a name that a compiler made. */
static bool is_inside_name(struct word w, struct word before)
{
	return w.n && (isdigit((unsigned char)w.at[0]) || w.at[0] == '_' ||
		       (w.n > 2 && !memcmp(w.at + w.n - 2, "_d", 2)) ||
		       (before.n > 2 && (!memcmp(before.at + before.n - 2, "_g", 2))));
}

/* What stands in the brackets of @w, @wanted things; 0 = as many as there are. */
static void split(struct word w, size_t wanted, struct list *ret)
{
	*ret = (struct list){.n = 0};
	while (w.n && ret->n < PARTS_MAX) {
		size_t at = wanted && ret->n + 1 == wanted ? w.n : find(w, SEPARATOR, 1);
		struct word part = first(w, at);

		while (at < w.n && is_equal(part, "System")) /* __Canon */
			part = first(w, at = find(w, SEPARATOR, at + 2));
		while (at < w.n && !wanted &&
		       is_inside_name(first(from(w, at + 2), find(from(w, at + 2), SEPARATOR, 1)),
				      part))
			part = first(w, at = find(w, SEPARATOR, at + 2));
		ret->v[ret->n++] = part;
		w = from(w, at < w.n ? at + 2 : at);
	}
}

static void put_type(struct place *p, struct word w);

/* Append the next @n of @l, of @all that there are. */
static void put_list(struct place *p, struct list *l, size_t n)
{
	dw_buf_puts(p->b, "<");
	for (size_t i = 0; i < n; i++) {
		struct word w = l->taken < l->n ? l->v[l->taken] : (struct word){"?", 1};

		l->taken += l->taken < l->n;
		dw_buf_puts(p->b, i ? "," : "");
		if (is_equal(w, SHARED) && l->n > 1)
			dw_buf_printf(p->b, "T%zu", l->taken);
		else
			put_type(p, w);
	}
	dw_buf_puts(p->b, ">");
}

/* The number of parameters behind the underscore that @w begins with: its digits, if nothing but
 * the next part follows. */
static size_t take_number(struct word w, size_t *ret)
{
	size_t i = 1, number = 0;

	for (; i < w.n && i < 3 && isdigit((unsigned char)w.at[i]); i++)
		number = 10 * number + (size_t)(w.at[i] - '0');
	*ret = number;
	return i > 1 && number && (i == w.n || w.at[i] == '_' || w.at[i] == '<') ? i : 0;
}

/* How many parameters the types in @w have. */
static size_t count_parameters(struct word w)
{
	size_t n = 0, number;

	for (size_t i = 0; i < w.n; i++)
		if (w.at[i] == '_' && take_number(from(w, i), &number))
			n += number;
	return n;
}

/* Append a method's name within a type's or method's, "Main_b__0_1", as the metadata has it. False:
 * it has no such form, and nothing was appended. */
static bool put_generated(struct dw_buf *b, struct word w)
{
	static const char *const kinds[] = {"_b__", "_g__"};

	for (int i = 0; i < 2; i++) {
		size_t at = find(w, kinds[i], 1), end = at, bar;

		if (at == w.n)
			continue;
		while (end > 1 && w.at[end - 1] == '_') /* <Main>$ */
			end--;
		dw_buf_printf(b, "<%.*s>%c__", (int)end, w.at, kinds[i][1]);
		w = from(w, at + 4);
		bar = w.n;
		for (int k = 0; i && k < 2; k++) /* Local_0_1 */
			while (bar && w.at[--bar] != '_')
				;
		if (i && bar)
			dw_buf_printf(b, "%.*s|%.*s", (int)bar, w.at, (int)(w.n - bar - 1),
				      w.at + bar + 1);
		else
			dw_buf_put(b, w.at, w.n);
		return true;
	}
	return false;
}

/* Append the nested types in @w that the C# compiler made, which begins with an underscore for each
 * of its brackets. */
static void put_made_types(struct dw_buf *b, struct word w)
{
	size_t end;

	if (begins(w, "__c")) {
		w = from(w, 3);
		if (begins(w, CLOSURE))
			w = from(w, strlen(CLOSURE));
		while (w.n && w.at[0] != '<' && !begins(w, SEPARATOR))
			w = from(w, 1);
		dw_buf_puts(b, "+<>c");
		if (!begins(w, SEPARATOR))
			return;
		w = from(w, 1);
	}
	end = find(w, "_d__", 1);
	if (end == w.n && w.n > 2 && !memcmp(w.at + w.n - 2, "_d", 2))
		end = w.n - 2;
	dw_buf_puts(b, "+");
	if (end < w.n && end > 2 && begins(w, SEPARATOR)) {
		dw_buf_puts(b, "<");
		if (!put_generated(b, first(from(w, 2), end - 2)))
			dw_buf_put(b, w.at + 2, end - 2);
		dw_buf_puts(b, ">d");
	} else if (end < w.n) {
		dw_buf_printf(b, "<%.*s>d", (int)(end - 1), w.at + 1);
	} else {
		dw_buf_put(b, w.at, w.n);
	}
}

/* The same within what a type is made for, as people write it. */
static void put_made_argument(struct dw_buf *b, struct word w)
{
	dw_auto(dw_buf) types = DW_BUF_INIT, name = DW_BUF_INIT;
	const char *last;

	put_made_types(&types, w);
	last = types.failed ? NULL : strrchr(dw_buf_str(&types), '+');
	dw_buf_printf(&name, "::%s", last ? last + 1 : "?");
	dw_buf_puts(b, ".");
	if (!name.failed)
		dw_method_name_put(b, name.data, name.len);
}

/* Append the names in @w with dots between, each with what it is made for. */
static void put_names(struct place *p, struct word w, struct list *made_for)
{
	while (w.n) {
		size_t number = 0, digits = w.at[0] == '_' ? take_number(w, &number) : 0;

		if (digits && made_for->n)
			put_list(p, made_for, number);
		else if (!digits)
			dw_buf_putc(p->b, w.at[0] == '_' ? '.' : w.at[0]);
		w = from(w, digits ? digits : 1);
	}
}

/* Append the type @w. */
static void put_type(struct place *p, struct word w)
{
	const char *plain = plain_name(w);
	size_t open, made;
	struct list made_for = {.n = 0};

	if (plain || is_equal(w, SHARED) || p->depth >= DEPTH_MAX) {
		dw_buf_puts(p->b, plain ? plain : is_equal(w, SHARED) ? "T" : "?");
		return;
	}
	p->depth++;
	w = from(w, assembly_bytes(p, w));
	open = 0;
	while (open < w.n && w.at[open] != '<')
		open++;
	if (open < w.n)
		split(first(from(w, open + 1), w.n - open - 2), count_parameters(first(w, open)),
		      &made_for);
	w = first(w, open);
	made = find(w, SEPARATOR, 1);
	put_names(p, first(w, made), &made_for);
	if (made < w.n && p->depth == 1)
		put_made_types(p->b, from(w, made + 1));
	else if (made < w.n)
		put_made_argument(p->b, from(w, made + 1));
	p->depth--;
}

/* Where the method stands in @w: behind the two underscores before what @name has become, or,
 * without one, before what looks like none of the type's. w.n = nowhere. */
static size_t find_method(struct word w, const char *name)
{
	size_t found = w.n, n = name ? strlen(name) : 0, at, next;

	for (at = find(w, SEPARATOR, 1); name && at < w.n; at = find(w, SEPARATOR, at + 1)) {
		size_t i = 0;

		while (i < n && at + 2 + i < w.n &&
		       (w.at[at + 2 + i] == name[i] ||
			(w.at[at + 2 + i] == '_' && !isalnum((unsigned char)name[i]))))
			i++;
		if (i == n)
			found = at;
	}
	if (name)
		return found;
	at = find(w, SEPARATOR, 1);
	if (begins(from(w, at), "___c_")) {
		at += 4;
		if (begins(from(w, at), CLOSURE))
			at = find(w, SEPARATOR, at + strlen(CLOSURE));
	}
	next = find(w, "_d__", at + 2 < w.n ? at + 2 : w.n);
	if (next + 4 < w.n && isdigit((unsigned char)w.at[next + 4]))
		next = find(w, SEPARATOR, next + 4);
	else if (next < w.n)
		next += 2;
	at = next < w.n ? next : at;
	return at;
}

/* Append the method @w, called @name in the metadata (NULL = not told). */
static void put_method(struct place *p, struct word w, const char *name)
{
	size_t open = 0;
	struct list made_for = {.n = 0};

	while (open < w.n && w.at[open] != '<')
		open++;
	if (name)
		dw_buf_puts(p->b, name);
	else if (begins(w, "_ctor") || begins(w, "_cctor"))
		dw_buf_printf(p->b, ".%.*s", (int)(open - 1), w.at + 1);
	else if (w.at[0] != '_' || !put_generated(p->b, first(from(w, 1), open - 1)))
		dw_buf_put(p->b, w.at, open);
	if (open < w.n) {
		split(first(from(w, open + 1), w.n - open - 2), 0, &made_for);
		put_list(p, &made_for, made_for.n);
	}
}

bool dw_native_name_put(struct dw_buf *b, const struct dw_native_method *m)
{
	struct word w = {m->symbol, strlen(m->symbol)};
	struct word program = {m->program ? m->program : "", m->program ? strlen(m->program) : 0};
	dw_auto(dw_buf) made = DW_BUF_INIT;
	struct place p = {&made, program, 0};
	const char *unbox = begins(w, BOXED) ? strstr(w.at, UNBOX) : NULL;
	size_t at;

	if (unbox)
		w = from(w, (size_t)(unbox - w.at) + strlen(UNBOX));
	at = find_method(w, m->name);
	if (!w.n || !isalpha((unsigned char)w.at[0]) || at + 2 >= w.n)
		return false;
	put_type(&p, first(w, at));
	dw_buf_puts(&made, "::");
	put_method(&p, from(w, at + 2), m->name);
	if (made.failed)
		b->failed = true;
	else
		dw_method_name_put(b, made.data, made.len);
	return true;
}
