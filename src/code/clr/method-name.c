/*
 * Names of methods; see method-name.h.
 *
 * The C# compiler's own names have the form <NAME>LETTER__MORE (Roslyn: GeneratedNameKind): b a
 * lambda, g a local function with its name up to a bar, d a state machine, F a type of one file.
 * NAME may be such a name itself: lambdas have state machines. Types <>c... hold what lambdas
 * share. Other names stay as they are.
 */
#include "code/clr/method-name.h"

#include "base/cleanup.h"

#include <string.h>

enum {
	DEPTH_MAX = 8, /* of names in names */
	PARAMETERS_MAX = 32,
};

struct word {
	const char *at;
	size_t n;
};

/* A name that the compiler made. */
struct generated {
	struct word of; /* the method that it was made for */
	char kind;
	struct word more;
};

/* Where the bracket that @w begins with is closed, NULL = nowhere. */
static const char *find_end(struct word w)
{
	int open = 0;

	for (size_t i = 0; i < w.n; i++) {
		open += (w.at[i] == '<') - (w.at[i] == '>');
		if (!open)
			return w.at + i;
	}
	return NULL;
}

/* Whether @w has the form; main is called <Main>$ where there is only its body. */
static bool parse(struct word w, struct generated *ret)
{
	const char *end = w.n >= 3 && w.at[0] == '<' ? find_end(w) : NULL;

	if (!end || end == w.at + 1 || end + 1 == w.at + w.n)
		return false;
	ret->of = (struct word){w.at + 1, (size_t)(end - w.at - 1)};
	ret->kind = end[1];
	ret->more = (struct word){end + 2, (size_t)(w.at + w.n - end - 2)};
	while (ret->more.n && *ret->more.at == '_') {
		ret->more.at++;
		ret->more.n--;
	}
	return true;
}

static void put(struct dw_buf *b, struct word w)
{
	dw_buf_put(b, w.at, w.n);
}

/* Append a part behind what is there, with a dot between. */
static void put_part(struct dw_buf *b, struct word w)
{
	if (b->len)
		dw_buf_puts(b, ".");
	put(b, w);
}

/* The part of @w before @c, or all. */
static struct word before(struct word w, char c)
{
	const char *end = memchr(w.at, c, w.n);

	return end ? (struct word){w.at, (size_t)(end - w.at)} : w;
}

static void put_method(struct dw_buf *b, struct word name, int depth)
{
	struct generated g;

	if (depth >= DEPTH_MAX || !parse(name, &g)) {
		put_part(b, name);
		return;
	}
	put_method(b, g.of, depth + 1);
	if (g.kind == 'b') {
		dw_buf_puts(b, ".lambda_");
		put(b, g.more);
	} else if (g.kind == 'g') {
		put_part(b, before(g.more, '|'));
	}
}

/* The part of @w behind the last two underscores, or all. */
static struct word behind_hash(struct word w)
{
	for (size_t i = w.n; i > 2; i--)
		if (w.at[i - 1] == '_' && w.at[i - 2] == '_')
			return (struct word){w.at + i, w.n - i};
	return w;
}

/* One of nested types. */
static void put_type(struct dw_buf *b, struct word name)
{
	struct generated g;

	if (name.n >= 3 && !memcmp(name.at, "<>c", 3))
		return;
	if (!parse(name, &g))
		put_part(b, name);
	else if (g.kind == 'd')
		put_method(b, g.of, 0);
	else
		put_part(b, g.kind == 'F' ? behind_hash(g.more) : name);
}

void dw_method_name_put(struct dw_buf *b, const char *name, size_t n)
{
	const char *colons = memmem(name, n, "::", 2);
	struct word types = {name, colons ? (size_t)(colons - name) : 0}, part;
	dw_auto(dw_buf) made = DW_BUF_INIT;

	while (types.n) {
		part = before(types, '+');
		put_type(&made, part);
		types.at += part.n;
		types.n -= part.n;
		if (types.n) {
			types.at++;
			types.n--;
		}
	}
	if (colons)
		put_method(&made, (struct word){colons + 2, n - (size_t)(colons + 2 - name)}, 0);
	else
		put_part(&made, (struct word){name, n});
	if (made.failed)
		b->failed = true;
	else
		dw_buf_put(b, made.data, made.len);
}

/* Append type parameters without a name. */
static void put_parameters(struct dw_buf *b, size_t n)
{
	for (size_t i = 1; i <= n; i++) {
		dw_buf_puts(b, i > 1 ? "," : "<");
		if (n == 1)
			dw_buf_puts(b, "T");
		else
			dw_buf_printf(b, "T%zu", i);
	}
	if (n)
		dw_buf_puts(b, ">");
}

/* The number behind the mark of a generic type, at the beginning of @w, whose digits are taken. */
static size_t take_number(struct word *w)
{
	size_t number = 0;

	for (; w->n && w->at[0] >= '0' && w->at[0] <= '9'; w->at++, w->n--)
		if (number < PARAMETERS_MAX)
			number = 10 * number + (size_t)(w->at[0] - '0');
	return number < PARAMETERS_MAX ? number : PARAMETERS_MAX;
}

/* How many things stand in the brackets that @w begins with, which are taken. */
static size_t take_list(struct word *w)
{
	size_t n = 1, depth = 0;

	do {
		char c = w->at[0];

		depth += c == '[';
		depth -= c == ']';
		n += c == ',' && depth == 1 && n < PARAMETERS_MAX;
		w->at++;
		w->n--;
	} while (w->n && depth);
	return n;
}

void dw_method_name_put_mapped(struct dw_buf *b, const char *name, size_t n)
{
	dw_auto(dw_buf) copy = DW_BUF_INIT;
	struct word w = {name, n};
	bool is_method = false;

	while (w.n && !copy.failed) {
		char c = w.at[0];

		if (c == '[') {
			size_t listed = take_list(&w);

			put_parameters(&copy, is_method ? listed : 0);
			continue;
		}
		is_method |= c == ':';
		w.at++;
		w.n--;
		if (c == '`')
			put_parameters(&copy, take_number(&w));
		else
			dw_buf_putc(&copy, c == '/' ? '+' : c);
	}
	if (copy.failed)
		b->failed = true;
	else
		dw_method_name_put(b, copy.data, copy.len);
}
