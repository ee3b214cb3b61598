/*
 * Signatures; see names.h. Everything is read within the blob's bounds, types in types to a
 * fixed depth, and long lists are cut.
 */
#include "agent/clr/names.h"

#include "agent/clr/runtime.h"

#include <stdbool.h>

/* Kinds of types, CorElementType. */
enum {
	TYPE_POINTER = 0x0f,
	TYPE_REFERENCE,
	TYPE_VALUE,
	TYPE_CLASS,
	TYPE_VARIABLE,
	TYPE_ARRAY,
	TYPE_GENERIC,
	TYPE_FUNCTION = 0x1b,
	TYPE_VECTOR = 0x1d,
	TYPE_METHOD_VARIABLE,
	TYPE_REQUIRED,
	TYPE_OPTIONAL,
	TYPE_SENTINEL = 0x41,
	TYPE_PINNED = 0x45,
};

enum { IS_GENERIC = 0x10, LIST_MAX = 64, TOKEN_DEFINITION = 0x02, TOKEN_REFERENCE = 0x01 };

struct signature {
	struct dw_name *n;
	const struct dw_signature_place *place;
	void *metadata;
	const uint8_t *at, *end;
	bool is_bad;
};

static uint32_t take_byte(struct signature *s)
{
	if (s->at == s->end) {
		s->is_bad = true;
		return 0;
	}
	return *s->at++;
}

/* A number of 1, 2 or 4 bytes. */
static uint32_t take_number(struct signature *s)
{
	uint32_t first = take_byte(s), number;

	if (!(first & 0x80))
		return first;
	number = (first & 0x3f) << 8 | take_byte(s);
	if (!(first & 0x40))
		return number;
	number = (first & 0x1f) << 8 | (number & 0xff);
	number = number << 8 | take_byte(s);
	return number << 8 | take_byte(s);
}

/* A type that is defined elsewhere: what is around it first. */
static void put_reference(struct signature *s, uint32_t token, int depth,
			  const struct dw_name_arguments *arguments)
{
	uint16_t text[DWELL_NAME_WIDE];
	uint32_t scope = 0, units = 0, own;

	if (depth > DWELL_NAME_DEPTH ||
	    dw_metadata_reference(s->metadata, token, &scope, text, DWELL_NAME_WIDE, &units) < 0) {
		dw_name_put(s->n, '?');
		return;
	}
	if (scope >> 24 == TOKEN_REFERENCE) {
		put_reference(s, scope, depth + 1, arguments);
		dw_name_put(s->n, '.');
	}
	units = units < DWELL_NAME_WIDE ? units : DWELL_NAME_WIDE;
	dw_name_put_plain(s->n, text, units);
	own = arguments ? dw_name_own_parameters(text, units) : 0;
	if (own)
		arguments->put(arguments->ctx, own);
}

/* The class or structure @coded. */
static void put_named(struct signature *s, uint32_t coded,
		      const struct dw_name_arguments *arguments)
{
	static const uint8_t tables[] = {TOKEN_DEFINITION, TOKEN_REFERENCE, 0, 0};
	uint32_t table = tables[coded & 3], token = table << 24 | coded >> 2;

	if (table == TOKEN_DEFINITION)
		dw_name_put_definition(s->n, s->metadata, token, 0, arguments);
	else if (table == TOKEN_REFERENCE)
		put_reference(s, token, 0, arguments);
	else
		dw_name_put(s->n, '?');
}

static void put_type(struct signature *s, int depth);

static void put_list(struct signature *s, uint32_t n, int depth)
{
	for (uint32_t i = 0; i < n && !s->is_bad; i++) {
		if (i)
			dw_name_put(s->n, ',');
		if (i == LIST_MAX) {
			dw_name_put_text(s->n, "...");
			s->is_bad = true;
			return;
		}
		put_type(s, depth);
	}
}

/* What follows the elements of an array of several dimensions. */
static void put_shape(struct signature *s)
{
	uint32_t rank = take_number(s);

	dw_name_put(s->n, '[');
	for (uint32_t i = 1; i < rank && i < LIST_MAX; i++)
		dw_name_put(s->n, ',');
	dw_name_put(s->n, ']');
	for (int list = 0; list < 2; list++) { /* sizes, then lower bounds */
		uint32_t n = take_number(s);

		for (uint32_t i = 0; i < n && !s->is_bad; i++)
			take_number(s);
	}
}

/* What a generic type is made for, as far as it is not put yet. */
struct arguments {
	struct signature *s;
	uint32_t left;
	int depth;
};

static void put_arguments(void *ctx, uint32_t count)
{
	struct arguments *a = ctx;

	count = count < a->left ? count : a->left;
	a->left -= count;
	dw_name_put(a->s->n, '<');
	put_list(a->s, count, a->depth);
	dw_name_put(a->s->n, '>');
}

static void put_generic(struct signature *s, int depth)
{
	struct arguments all = {s, 0, depth};
	uint32_t coded;

	take_byte(s);
	coded = take_number(s);
	all.left = take_number(s);
	put_named(s, coded, &(struct dw_name_arguments){put_arguments, &all});
	if (all.left)
		put_arguments(&all, all.left);
}

/* The type parameter of @owner that comes next, @mark and its number where it has no name. */
static void put_variable(struct signature *s, uint32_t owner, const char *mark)
{
	uint32_t number = take_number(s);

	if (dw_name_put_parameter(s->n, s->metadata, owner, number))
		return;
	dw_name_put_text(s->n, mark);
	if (number >= 10)
		dw_name_put(s->n, (char)('0' + number / 10 % 10));
	dw_name_put(s->n, (char)('0' + number % 10));
}

/* The name in C# of what is no class, NULL = it is one or none. */
static const char *plain_name(uint32_t kind)
{
	static const char *const names[] = {
		[0x01] = "void",   [0x02] = "bool",   [0x03] = "char",
		[0x04] = "sbyte",  [0x05] = "byte",   [0x06] = "short",
		[0x07] = "ushort", [0x08] = "int",    [0x09] = "uint",
		[0x0a] = "long",   [0x0b] = "ulong",  [0x0c] = "float",
		[0x0d] = "double", [0x0e] = "string", [0x16] = "System.TypedReference",
		[0x18] = "nint",   [0x19] = "nuint",  [0x1b] = "delegate*",
		[0x1c] = "object",
	};

	return kind < sizeof(names) / sizeof(*names) ? names[kind] : NULL;
}

/* A type that others are part of. */
static void put_composite(struct signature *s, uint32_t kind, int depth)
{
	switch (kind) {
	case TYPE_POINTER:
		put_type(s, depth);
		return dw_name_put(s->n, '*');
	case TYPE_REFERENCE:
		dw_name_put_text(s->n, "ref ");
		return put_type(s, depth);
	case TYPE_VECTOR:
		put_type(s, depth);
		return dw_name_put_text(s->n, "[]");
	case TYPE_ARRAY:
		put_type(s, depth);
		return put_shape(s);
	case TYPE_GENERIC:
		return put_generic(s, depth);
	default:
		dw_name_put(s->n, '?');
		s->is_bad = true;
	}
}

static void put_type(struct signature *s, int depth)
{
	uint32_t kind = take_byte(s);
	const char *name;

	for (int i = 0; i < LIST_MAX && (kind == TYPE_REQUIRED || kind == TYPE_OPTIONAL); i++) {
		take_number(s);
		kind = take_byte(s);
	}
	if (kind == TYPE_SENTINEL || kind == TYPE_PINNED)
		kind = take_byte(s);
	name = plain_name(kind);
	if (name)
		dw_name_put_text(s->n, name);
	else if (kind == TYPE_CLASS || kind == TYPE_VALUE)
		put_named(s, take_number(s), NULL);
	else if (kind == TYPE_VARIABLE)
		put_variable(s, s->place->type, "!");
	else if (kind == TYPE_METHOD_VARIABLE)
		put_variable(s, s->place->method, "!!");
	else
		put_composite(s, depth < DWELL_NAME_DEPTH ? kind : 0, depth + 1);
	/* What the pointed-to function is like is not told, so neither is where it ends. */
	s->is_bad |= kind == TYPE_FUNCTION;
}

/* Go over a type without telling. */
static void skip_type(struct signature *s)
{
	struct dw_name *n = s->n;
	uint32_t bytes = n->bytes;

	put_type(s, 0);
	n->bytes = bytes;
}

bool dw_signature_is_generic(const uint8_t *blob, uint32_t bytes)
{
	return bytes && blob[0] & IS_GENERIC;
}

void dw_signature_put(struct dw_name *n, const struct dw_signature_place *place,
		      const uint8_t *blob, uint32_t bytes)
{
	struct signature s = {n, place, place->metadata, blob, blob + bytes, false};
	uint32_t flags = take_byte(&s), count;

	if (flags & IS_GENERIC)
		take_number(&s);
	count = take_number(&s);
	skip_type(&s);
	dw_name_put(n, '(');
	put_list(&s, count, 0);
	dw_name_put(n, ')');
}
