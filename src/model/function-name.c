/*
 * Parts of a function's name; see function-name.h. One walk over the bytes, which counts brackets:
 * what stands in some is a part of what is before them.
 */
#include "model/function-name.h"

#include <ctype.h>
#include <string.h>

#define LAMBDA "<lambda" /* as gcc has it in debug information */

/* The walk. @name is the result so far. */
struct walk {
	const char *s;
	size_t n, at;
	size_t depth;	     /* of brackets that are open */
	size_t before[2];    /* where the scopes before the own name begin, the last one first */
	bool dots;	     /* "." may stand between scopes */
	bool has_parameters; /* of a scope, too */
	struct dw_function_name name;
};

static bool has(const struct walk *w, size_t at, const char *text)
{
	size_t n = strlen(text);

	return at + n <= w->n && !memcmp(w->s + at, text, n);
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* The last scope ends before @at. */
static void begin_component(struct walk *w, size_t at)
{
	w->before[1] = w->before[0];
	w->before[0] = w->name.own;
	w->name.own = at;
	w->name.own_end = w->name.args = w->name.args_end = w->n;
}

/* What was read so far is a return type. */
static void begin_name(struct walk *w, size_t at)
{
	begin_component(w, at);
	w->name.scope = w->before[0] = w->before[1] = at;
}

/* The bytes of the operator's sign at @at, behind the word. */
static size_t sign_length(const struct walk *w, size_t at)
{
	static const char *const longer[] = {"<=>", "<<=", ">>=", "->*", "\"\" ", "()", "[]",
					     "<<",  ">>",  "->",  "<=",	 ">=",	  "&&", "||",
					     "++",  "--",  "==",  "!=",	 "+=",	  "-=", "*=",
					     "/=",  "%=",  "^=",  "&=",	 "|="};
	size_t n = 1;

	for (size_t i = 0; i < sizeof longer / sizeof *longer && n == 1; i++)
		if (has(w, at, longer[i]))
			n = strlen(longer[i]);
	/* "operator<<int>" is operator< of int. */
	if (n == 2 && has(w, at, "<<") && !has(w, at + 2, "(") && !has(w, at + 2, "<"))
		n = 1;
	return at + n <= w->n ? n : 0;
}

/* Step over "operator" and what it is of. */
static bool pass_operator(struct walk *w)
{
	size_t at = w->at + strlen("operator");

	if (!has(w, w->at, "operator") || (w->at && is_word(w->s[w->at - 1])) ||
	    (at < w->n && is_word(w->s[at])))
		return false;
	if (at < w->n && w->s[at] == ' ') /* of a type, or new and delete */
		while (at < w->n && w->s[at] != '(')
			at++;
	else
		at += sign_length(w, at);
	/* "operator< <int>" */
	w->at = at + (has(w, at, " <") ? 1 : 0);
	return true;
}

static void open_bracket(struct walk *w)
{
	char c = w->s[w->at];

	if (!w->depth && w->at > w->name.own) {
		if (w->name.own_end == w->n)
			w->name.own_end = w->at;
		if (c == '(' && w->name.args == w->n)
			w->name.args = w->at;
		w->has_parameters |= c == '(';
	}
	w->depth++;
}

static void close_bracket(struct walk *w)
{
	if (w->s[w->at] == '>' && w->at && w->s[w->at - 1] == '-')
		return;
	if (!w->depth)
		return;
	w->depth--;
	if (!w->depth && w->name.args < w->n && w->name.args_end == w->n)
		w->name.args_end = w->at + 1;
}

/* Whether what compilers append to a name, or a file's name has, begins at @at behind a dot. */
static bool is_suffix(const struct walk *w, size_t at)
{
	static const char *const words[] = {"part", "isra",	  "constprop", "cold", "lto_priv",
					    "llvm", "localalias", "so",	       "plt"};
	size_t n = at;

	while (n < w->n && is_word(w->s[n]))
		n++;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (n - at == strlen(words[i]) && !memcmp(w->s + at, words[i], n - at))
			return true;
	return at == w->n || isdigit((unsigned char)w->s[at]);
}

/* A byte outside brackets. */
static void pass_plain(struct walk *w)
{
	char c = w->s[w->at];

	if (c == ' ' && w->name.args == w->n && !has(w, w->at, " [clone"))
		begin_name(w, w->at + 1);
	else if (has(w, w->at, "::<") && !has(w, w->at, "::" LAMBDA)) {
		/* Rust's template arguments. */
		w->name.own_end = w->name.own_end < w->n ? w->name.own_end : w->at;
		w->at++;
	} else if (has(w, w->at, "::")) {
		begin_component(w, w->at + 2);
		w->at++;
	} else if (c == '.' && w->dots && w->at > w->name.own && !is_suffix(w, w->at + 1))
		begin_component(w, w->at + 1);
}

/* Own names that say nothing alone. */
static bool is_nameless(const struct walk *w)
{
	static const char *const alike[] = {"operator()", ".ctor", ".cctor",
					    "ctor",	  "cctor", "MoveNext"};
	const char *own = w->s + w->name.own;
	size_t n = w->name.own_end - w->name.own;

	for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
		if (n == strlen(alike[i]) && !memcmp(own, alike[i], n))
			return true;
	return n && (*own == '{' || has(w, w->name.own, LAMBDA));
}

void dw_function_name_parse(const char *name, size_t n, struct dw_function_name *ret)
{
	struct walk w = {.s = name, .n = n, .dots = !memmem(name, n, "::", 2)};

	w.name.own_end = w.name.args = w.name.args_end = w.name.end = n;
	while (w.at < n) {
		if (!w.depth && pass_operator(&w))
			continue;
		if (strchr("<([{", name[w.at]) && name[w.at])
			open_bracket(&w);
		else if (strchr(">)]}", name[w.at]) && name[w.at])
			close_bracket(&w);
		else if (!w.depth)
			pass_plain(&w);
		w.at++;
	}
	/* Only what has parameters has a return type: other blanks are of a name ("JS:fib a.js").
	 */
	if (!w.has_parameters && w.name.scope)
		w = (struct walk){
			.s = name,
			.n = n,
			.name = {.own_end = n, .args = n, .args_end = n, .end = n},
		};
	w.name.telling = w.name.own;
	if (is_nameless(&w))
		w.name.telling = w.before[name[w.before[0]] == '{'];
	*ret = w.name;
}

bool dw_function_name_is(const char *name, const char *text, size_t n)
{
	struct dw_function_name parts;
	size_t end;

	dw_function_name_parse(name, strlen(name), &parts);
	end = parts.args;
	for (int pass = 0; pass < 2; pass++, end = parts.own_end) {
		size_t start;

		if (end < n || memcmp(name + end - n, text, n))
			continue;
		start = end - n;
		if (start <= parts.telling && (start == parts.scope || !is_word(name[start - 1])))
			return n > 0;
	}
	return false;
}
