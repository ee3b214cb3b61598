/* Shorter names; see shorten.h. Each step makes the whole name anew, from its parts. */
#include "format/shorten.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "format/text.h"
#include "model/function-name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define ELLIPSIS "…"

enum { LINK_BYTES = 3 }; /* " > ", or " < " of objects */

/* What is left out, each step with all before it. */
enum step {
	RETURN_TYPES,
	PARAMETERS,
	TEMPLATES, /* their arguments */
	BRACKETS,  /* that stood for these, behind the own name */
	SCOPES,
	STEPS_N,
};

/* The end of the bracket that opens at @at, behind it; @end if none does. */
static size_t bracket_end(const char *s, size_t at, size_t end)
{
	size_t depth = 0;

	for (; at < end; at++) {
		if (strchr("<([{", s[at]))
			depth++;
		else if (strchr(">)]}", s[at]) && !(s[at] == '>' && s[at - 1] == '-') && !--depth)
			return at + 1;
	}
	return end;
}

/* The last part of the type's name of @n bytes at @s. */
static void put_last_part(struct dw_buf *b, const char *s, size_t n)
{
	struct dw_function_name parts;

	dw_function_name_parse(s, n, &parts);
	dw_buf_put(b, s + parts.own, parts.own_end - parts.own);
}

static const char as[] = " as ";

/* Where " as " stands in Rust's "<a::Type as b::Trait>", with which the @n bytes at @s begin: not
 * in brackets within. NULL: they are no such name. */
static const char *find_as(const char *s, size_t n)
{
	size_t end = n && *s == '<' ? bracket_end(s, 0, n) : 0;

	for (size_t at = 1; at + sizeof as - 1 < end;
	     at = strchr("<([{", s[at]) ? bracket_end(s, at, end) : at + 1)
		if (!memcmp(s + at, as, sizeof as - 1))
			return s + at;
	return NULL;
}

/* Rust's "<a::Type<T> as b::Trait>", @n bytes, as "<Type as Trait>". */
static void put_trait(struct dw_buf *b, const char *s, size_t n)
{
	const char *between = find_as(s, n);

	if (!between) {
		dw_buf_put(b, s, n);
		return;
	}
	dw_buf_puts(b, "<");
	put_last_part(b, s + 1, (size_t)(between - s - 1));
	dw_buf_puts(b, as);
	between += sizeof as - 1;
	put_last_part(b, between, (size_t)(s + n - 1 - between));
	dw_buf_puts(b, ">");
}

/* The scopes at @s from @at to @end, with ellipses in their brackets. */
static void put_scopes(struct dw_buf *b, const char *s, size_t at, size_t end)
{
	for (size_t first = at, next; at < end; at = next) {
		next = at + 1;
		if (!strchr("<([", s[at])) {
			dw_buf_put(b, s + at, 1);
			continue;
		}
		next = bracket_end(s, at, end);
		if (at == first) {
			put_trait(b, s + at, next - at);
			continue;
		}
		dw_buf_put(b, s + at, 1);
		dw_buf_puts(b, end - at > 7 && !memcmp(s + at, "<lambda", 7) ? "lambda" : ELLIPSIS);
		dw_buf_put(b, s + next - 1, 1);
	}
}

/* The scopes that tell most, and the own name without what is behind it. */
static void put_own(struct dw_buf *b, const char *s, const struct dw_function_name *parts,
		    enum step step)
{
	size_t end = parts->own_end;

	if (step < TEMPLATES)
		dw_buf_put(b, s + parts->telling, parts->own - parts->telling);
	else
		put_scopes(b, s, parts->telling, parts->own);
	end -= step >= BRACKETS && end > parts->own && s[end - 1] == ' '; /* "operator< <int>" */
	dw_buf_put(b, s + parts->own, end - parts->own);
}

/* One name, of @n bytes. */
static void put_step(struct dw_buf *b, const char *s, size_t n, enum step step)
{
	struct dw_function_name parts;

	dw_function_name_parse(s, n, &parts);
	if (step < TEMPLATES)
		dw_buf_put(b, s + parts.scope, parts.telling - parts.scope);
	else if (step < SCOPES)
		put_scopes(b, s, parts.scope, parts.telling);
	put_own(b, s, &parts, step);
	if (step < TEMPLATES)
		dw_buf_put(b, s + parts.own_end, parts.args - parts.own_end);
	else if (step == TEMPLATES && parts.args > parts.own_end + 1) {
		size_t open = parts.own_end + strspn(s + parts.own_end, ":"); /* "::<T>" */

		dw_buf_put(b, s + parts.own_end, open + 1 - parts.own_end);
		dw_buf_puts(b, ELLIPSIS);
		dw_buf_put(b, s + parts.args - 1, 1);
	}
	if (step == RETURN_TYPES)
		dw_buf_put(b, s + parts.args, parts.end - parts.args);
	else if (step < BRACKETS && parts.args < parts.end)
		dw_buf_puts(b, parts.args_end > parts.args + 2 ? "(" ELLIPSIS ")" : "()");
}

/* The bytes of "operator<" and the like at @at, whose signs are no brackets; 0 = it is none. */
static size_t operator_bytes(const char *s, const char *at)
{
	static const char word[] = "operator";
	size_t n = sizeof word - 1;

	if (strncmp(at, word, n) || (at > s && (isalnum((unsigned char)at[-1]) || at[-1] == '_')))
		return 0;
	return n + strspn(at + n, "<>=-");
}

/* The bytes of the first name of the chain at @s. */
static size_t link_length(const char *s)
{
	size_t depth = 0;

	for (const char *at = s; *at; at++) {
		size_t sign = operator_bytes(s, at);

		if (sign) {
			at += sign - 1;
			continue;
		}
		if (!depth && at > s &&
		    (!strncmp(at, " > ", LINK_BYTES) || !strncmp(at, " < ", LINK_BYTES)))
			return (size_t)(at - s);
		if (strchr("<([{", *at))
			depth++;
		else if (strchr(">)]}", *at) && at[-(at > s)] != '-')
			depth -= depth > 0;
	}
	return strlen(s);
}

/* The whole chain. */
static void put_chain(struct dw_buf *b, const char *s, enum step step)
{
	dw_buf_clear(b);
	while (*s) {
		size_t n = link_length(s);

		put_step(b, s, n, step);
		s += n;
		if (*s)
			dw_buf_put(b, s, LINK_BYTES);
		s += *s ? LINK_BYTES : 0;
	}
}

/* The first and the last name of the chain at @s, without scopes; the first alone if these do not
 * fit. False: nor does that. */
static bool put_ends(struct dw_buf *b, const char *s, size_t columns)
{
	size_t first = link_length(s), last = 0, next = first;

	while (s[next]) {
		last = next + LINK_BYTES;
		next = last + link_length(s + last);
	}
	for (int has_last = 1; has_last >= 0; has_last--) {
		dw_buf_clear(b);
		put_step(b, s, first, SCOPES);
		dw_buf_put(b, s + first, LINK_BYTES);
		dw_buf_puts(b, ELLIPSIS);
		if (has_last) {
			dw_buf_put(b, s + first, LINK_BYTES);
			put_step(b, s + last, next - last, SCOPES);
		}
		if (dw_text_columns(dw_buf_str(b)) <= columns)
			return true;
	}
	return false;
}

/* Of Rust's "<a::Type as b::Trait>::own", @n bytes at @s, "Type::own". False: it is no such name,
 * or does not fit. */
static bool put_type(struct dw_buf *b, const char *s, size_t n, size_t columns)
{
	const char *between = find_as(s, n);
	struct dw_function_name parts;

	if (!between)
		return false;
	dw_function_name_parse(s, n, &parts);
	dw_buf_clear(b);
	put_last_part(b, s + 1, (size_t)(between - s - 1));
	dw_buf_puts(b, "::");
	dw_buf_put(b, s + parts.own, parts.own_end - parts.own);
	return dw_text_columns(dw_buf_str(b)) <= columns;
}

/* As many scopes of the name of @n bytes at @s, from the last one on, as fit. False: none. */
static bool put_last_scopes(struct dw_buf *b, const char *s, size_t n, size_t columns)
{
	struct dw_function_name parts;
	size_t depth = 0;

	dw_function_name_parse(s, n, &parts);
	for (size_t at = parts.scope + 1; at < parts.telling; at++) {
		depth += strchr("<([{", s[at - 1]) != NULL;
		depth -= depth && strchr(">)]}", s[at - 1]);
		if (depth || !strchr(":.", s[at - 1]) || strchr(":.", s[at]))
			continue;
		dw_buf_clear(b);
		dw_buf_puts(b, ELLIPSIS);
		put_scopes(b, s, at, parts.telling);
		put_own(b, s, &parts, SCOPES);
		if (dw_text_columns(dw_buf_str(b)) <= columns)
			return true;
	}
	return false;
}

/* Write @name to @b with the names that its writer used for what the C++ library calls otherwise.
 */
static void put_usual(struct dw_buf *b, const char *name)
{
	static const struct {
		const char *theirs, *usual;
	} names[] = {
		{"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
		 "std::string"},
		{"std::basic_string_view<char, std::char_traits<char> >", "std::string_view"},
		{"std::basic_ostream<char, std::char_traits<char> >", "std::ostream"},
		{"std::basic_istream<char, std::char_traits<char> >", "std::istream"},
		{"std::__cxx11::", "std::"},
		{"std::__1::", "std::"},
	};

	while (*name) {
		size_t next = strcspn(name + 1, "s") + 1, i = 0;

		while (i < sizeof names / sizeof *names &&
		       strncmp(name, names[i].theirs, strlen(names[i].theirs)))
			i++;
		if (i < sizeof names / sizeof *names) {
			dw_buf_puts(b, names[i].usual);
			next = strlen(names[i].theirs);
		} else {
			dw_buf_put(b, name, next);
		}
		name += next;
	}
}

size_t dw_function_name_put_fitted(struct dw_out *out, const char *name, size_t columns)
{
	dw_auto(dw_buf) b = DW_BUF_INIT, usual = DW_BUF_INIT, ends = DW_BUF_INIT;
	size_t used = dw_text_columns(name), n;
	bool is_one, fits = used <= columns;

	if (fits) {
		dw_text_put(out, name);
		return used;
	}
	put_usual(&usual, name);
	name = dw_buf_str(&usual);
	n = usual.len;
	is_one = !name[link_length(name)];
	for (enum step step = RETURN_TYPES; step < STEPS_N && !fits; step++) {
		if (step == SCOPES && is_one &&
		    (put_last_scopes(&b, name, n, columns) || put_type(&b, name, n, columns)))
			break;
		put_chain(&b, name, step);
		fits = dw_text_columns(dw_buf_str(&b)) <= columns;
	}
	if (!fits && !is_one && put_ends(&ends, name, columns))
		return dw_text_put_fitted(out, dw_buf_str(&ends), columns);
	return dw_text_put_fitted(out, dw_buf_str(&b), columns);
}

size_t dw_path_put_fitted(struct dw_out *out, const char *path, size_t columns)
{
	dw_auto(dw_buf) b = DW_BUF_INIT;

	if (dw_text_columns(path) > columns)
		for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/'))
			if (dw_text_columns(at) < columns) {
				dw_buf_puts(&b, ELLIPSIS);
				dw_buf_puts(&b, at);
				path = dw_buf_str(&b);
				break;
			}
	return dw_text_put_fitted(out, path, columns);
}
