/*
 * Methods by name; see selection.h. How compilers name what they make stands in
 * code/clr/method-name.c: a test holds both to each other.
 */
#include "agent/managed/selection.h"

#include "agent/core/bytes.h"
#include "agent/managed/scope.h"

enum { DEPTH_MAX = 8 /* of names in names */ };

/* Lists (dw_managed_fits_one()). */
static const char *included, *excluded, *slowest;

struct word {
	const char *at;
	uint32_t n;
};

static void put(struct dw_name *to, struct word w)
{
	for (uint32_t i = 0; i < w.n && to->bytes < DWELL_NAME_BYTES; i++)
		to->text[to->bytes++] = w.at[i];
}

/* Append a part behind what is there, with a dot between. */
static void put_part(struct dw_name *to, struct word w)
{
	if (to->bytes)
		put(to, (struct word){".", 1});
	put(to, w);
}

/* How far @w goes before @c, or all. */
static uint32_t bytes_before(struct word w, char c)
{
	uint32_t n = 0;

	while (n < w.n && w.at[n] != c)
		n++;
	return n;
}

/* Bytes of the brackets that @w begins with, 0 = they do not end. */
static uint32_t bracket_bytes(struct word w)
{
	int open = 0;

	for (uint32_t i = 0; i < w.n; i++) {
		open += (w.at[i] == '<') - (w.at[i] == '>');
		if (!open)
			return i + 1;
	}
	return 0;
}

/* A name that the compiler made, "<NAME>LETTER__MORE". */
struct generated {
	struct word of;
	char kind;
	struct word more;
};

static bool parse(struct word w, struct generated *ret)
{
	uint32_t n = w.n >= 3 && w.at[0] == '<' ? bracket_bytes(w) : 0;

	if (n <= 2 || n == w.n)
		return false;
	ret->of = (struct word){w.at + 1, n - 2};
	ret->kind = w.at[n];
	ret->more = (struct word){w.at + n + 1, w.n - n - 1};
	while (ret->more.n && *ret->more.at == '_') {
		ret->more.at++;
		ret->more.n--;
	}
	return true;
}

/* A method's name as reports have it. */
struct shown {
	struct dw_name name;
	uint32_t written; /* bytes as far as people have written it, 0 = all */
};

/* What follows is the compiler's, or stands in the method. */
static void end_written(struct shown *s)
{
	s->written = s->written ? s->written : s->name.bytes;
}

static void put_method(struct shown *s, struct word name)
{
	struct generated of[DEPTH_MAX];
	uint32_t n = 0;

	while (n < DEPTH_MAX && parse(name, &of[n]))
		name = of[n++].of;
	put_part(&s->name, name);
	while (n--) {
		end_written(s);
		if (of[n].kind == 'b') {
			put_part(&s->name, (struct word){"lambda_", 7});
			put(&s->name, of[n].more);
		} else if (of[n].kind == 'g') {
			of[n].more.n = bytes_before(of[n].more, '|');
			put_part(&s->name, of[n].more);
		}
	}
}

/* What stands behind the last two underscores of @w, or all. */
static struct word behind_hash(struct word w)
{
	for (uint32_t i = w.n; i > 2; i--)
		if (w.at[i - 1] == '_' && w.at[i - 2] == '_')
			return (struct word){w.at + i, w.n - i};
	return w;
}

static void put_type(struct shown *s, struct word name)
{
	struct generated g;

	if (name.n >= 3 && !memcmp(name.at, "<>c", 3))
		return;
	if (!parse(name, &g))
		put_part(&s->name, name);
	else if (g.kind != 'd')
		put_part(&s->name, g.kind == 'F' ? behind_hash(g.more) : name);
	else {
		put_method(s, g.of);
		end_written(s);
	}
}

/* Let @s be how reports call @name, Namespace.Type+Nested::Method. */
static void show(const struct dw_name *name, struct shown *s)
{
	struct word rest = {name->text, name->bytes}, types = rest;
	uint32_t n;

	s->name.bytes = s->written = 0;
	while (types.n && (types.at[0] != ':' || types.n < 2 || types.at[1] != ':')) {
		types.at++;
		types.n--;
	}
	rest.n -= types.n;
	while (rest.n) {
		n = bytes_before(rest, '+');
		put_type(s, (struct word){rest.at, n});
		n += n < rest.n;
		rest.at += n;
		rest.n -= n;
	}
	if (types.n)
		put_method(s, (struct word){types.at + 2, types.n - 2});
}

/* Take type parameters and parameters out of @name. Names of compilers begin with a bracket, type
 * parameters stand behind something. */
static void strip(struct dw_name *name)
{
	uint32_t to = 0, depth = 0;

	for (uint32_t i = 0; i < name->bytes && (depth || name->text[i] != '('); i++) {
		char c = name->text[i];

		if (c == '<' && (depth || (i && name->text[i - 1] != '.')))
			depth++;
		else if (c == '>' && depth)
			depth--;
		else if (!depth)
			name->text[to++] = c;
	}
	name->bytes = to;
}

static bool fits(const char *list, const struct dw_name *name)
{
	return dw_managed_fits_one(list, name->text, name->bytes);
}

/* Whether one of @list fits the method that reports call @s. */
static bool fits_method(const char *list, const struct shown *s)
{
	struct shown part = *s;

	if (!list)
		return false;
	if (fits(list, &part.name))
		return true;
	part.name.bytes = bytes_before((struct word){part.name.text, part.name.bytes}, '(');
	if (fits(list, &part.name))
		return true;
	strip(&part.name);
	if (fits(list, &part.name))
		return true;
	if (!s->written)
		return false;
	part = *s;
	part.name.bytes = s->written;
	if (fits(list, &part.name))
		return true;
	strip(&part.name);
	return fits(list, &part.name);
}

void dw_method_selection_start(const char *mode)
{
	included = dw_text_option(mode, "include");
	excluded = dw_text_option(mode, "exclude");
	slowest = dw_text_option(mode, "slow");
}

bool dw_method_selection_needs_names(void)
{
	return included || excluded;
}

bool dw_method_selection_has(const struct dw_name *name, bool is_always)
{
	struct shown s;

	show(name, &s);
	return (is_always || !included || fits_method(included, &s)) && !fits_method(excluded, &s);
}

bool dw_method_selection_has_slowest(void)
{
	return slowest;
}

bool dw_method_selection_is_slowest(const struct dw_name *name)
{
	struct shown s;

	show(name, &s);
	return fits_method(slowest, &s);
}
