/*
 * Names of methods; see method-name.h.
 *
 * The C# compiler's own names have the form <NAME>LETTER__MORE (Roslyn: GeneratedNameKind): b a
 * lambda, g a local function with its name up to a bar, d a state machine. Types <>c... hold what
 * lambdas share. Other names stay as they are.
 */
#include "collect/clr/method-name.h"

#include "base/cleanup.h"

#include <string.h>

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

/* Whether @w has the form; main is called <Main>$ where there is only its body. */
static bool parse(struct word w, struct generated *ret)
{
	const char *end;

	if (w.n < 3 || w.at[0] != '<')
		return false;
	end = memrchr(w.at, '>', w.n);
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

static void put_method(struct dw_buf *b, struct word name)
{
	struct generated g;

	if (!parse(name, &g)) {
		put_part(b, name);
		return;
	}
	put_part(b, g.of);
	if (g.kind == 'b') {
		dw_buf_puts(b, ".lambda_");
		put(b, g.more);
	} else if (g.kind == 'g') {
		put_part(b, before(g.more, '|'));
	}
}

/* One of nested types. */
static void put_type(struct dw_buf *b, struct word name)
{
	struct generated g;

	if (name.n >= 3 && !memcmp(name.at, "<>c", 3))
		return;
	put_part(b, parse(name, &g) && g.kind == 'd' ? g.of : name);
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
		put_method(&made, (struct word){colons + 2, n - (size_t)(colons + 2 - name)});
	else
		put_part(&made, (struct word){name, n});
	if (made.failed)
		b->failed = true;
	else
		dw_buf_put(b, made.data, made.len);
}
