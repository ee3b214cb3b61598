/*
 * Names; see names.h. Generic types are called NAME`N in the metadata: the mark goes, the
 * arguments come behind. Recursion is bounded, names of names are cut.
 */
#include "agent/clr/names.h"

#include "agent/clr/loader.h"
#include "agent/clr/runtime.h"
#include "agent/core/system-calls.h"

void dw_name_put(struct dw_name *n, char c)
{
	if (n->bytes < DWELL_NAME_BYTES)
		n->text[n->bytes++] = c;
}

void dw_name_put_text(struct dw_name *n, const char *text)
{
	while (*text)
		dw_name_put(n, *text++);
}

static void put_utf8(struct dw_name *n, uint32_t c)
{
	if (c < 0x80) {
		dw_name_put(n, (char)c);
		return;
	}
	if (n->bytes + 4 > DWELL_NAME_BYTES)
		return;
	if (c < 0x800) {
		dw_name_put(n, (char)(0xc0 | c >> 6));
	} else {
		if (c < 0x10000) {
			dw_name_put(n, (char)(0xe0 | c >> 12));
		} else {
			dw_name_put(n, (char)(0xf0 | c >> 18));
			dw_name_put(n, (char)(0x80 | (c >> 12 & 0x3f)));
		}
		dw_name_put(n, (char)(0x80 | (c >> 6 & 0x3f)));
	}
	dw_name_put(n, (char)(0x80 | (c & 0x3f)));
}

/* Append UTF-16 as far as its NUL, at most @units. */
static void name_put_wide(struct dw_name *n, const uint16_t *text, uint32_t units)
{
	for (uint32_t i = 0; i < units && text[i]; i++) {
		uint32_t c = text[i];

		if (c >= 0xd800 && c < 0xe000)
			c = c < 0xdc00 && i + 1 < units && (text[i + 1] & 0xfc00) == 0xdc00
				    ? 0x10000 + ((c & 0x3ff) << 10) + (text[++i] & 0x3ffu)
				    : 0xfffd;
		put_utf8(n, c);
	}
}

/* What follows the mark of a generic type is the number of its parameters. */
static uint32_t without_mark(const uint16_t *text, uint32_t units)
{
	for (uint32_t i = 0; i < units && text[i]; i++)
		if (text[i] == '`')
			return i;
	return units;
}

void dw_name_put_plain(struct dw_name *n, const uint16_t *text, uint32_t units)
{
	name_put_wide(n, text, without_mark(text, units));
}

uint32_t dw_name_own_parameters(const uint16_t *text, uint32_t units)
{
	uint32_t number = 0;

	for (uint32_t i = without_mark(text, units) + 1;
	     i < units && text[i] >= '0' && text[i] <= '9' && number < DWELL_NAME_PARAMETERS; i++)
		number = 10 * number + text[i] - '0';
	return number;
}

/* The type around the definition @token, 0 = none. */
static uint32_t outer_of(void *metadata, uint32_t token, int depth)
{
	uint32_t outer = 0;

	if (depth >= DWELL_NAME_DEPTH || dw_metadata_outer(metadata, token, &outer) < 0)
		return 0;
	return outer == token ? 0 : outer;
}

/* The name of the definition @token itself: its units. */
static uint32_t own_name(void *metadata, uint32_t token, uint16_t ret[DWELL_NAME_WIDE])
{
	uint32_t units = 0;

	if (dw_metadata_type(metadata, token, ret, DWELL_NAME_WIDE, &units) < 0) {
		ret[0] = '?';
		return 1;
	}
	return units < DWELL_NAME_WIDE ? units : DWELL_NAME_WIDE;
}

void dw_name_put_definition(struct dw_name *n, void *metadata, uint32_t token, int depth,
			    const struct dw_name_arguments *arguments)
{
	uint32_t outer = outer_of(metadata, token, depth), units, own;
	uint16_t text[DWELL_NAME_WIDE];

	if (outer) {
		dw_name_put_definition(n, metadata, outer, depth + 1, arguments);
		dw_name_put(n, '.');
	}
	units = own_name(metadata, token, text);
	dw_name_put_plain(n, text, units);
	own = arguments ? dw_name_own_parameters(text, units) : 0;
	if (own)
		arguments->put(arguments->ctx, own);
}

static void put_parameter(struct dw_name *n, void *metadata, uint32_t token)
{
	uint16_t text[DWELL_NAME_WIDE];
	uint32_t units = 0;

	if (dw_metadata_parameter(metadata, token, text, DWELL_NAME_WIDE, &units) < 0)
		dw_name_put(n, '?');
	else
		name_put_wide(n, text, units < DWELL_NAME_WIDE ? units : DWELL_NAME_WIDE);
}

/* Append the type parameters of @owner, a type or method, but for the first @skipped: "<A,B>". */
static void name_put_parameters(struct dw_name *n, void *metadata, uint32_t owner, uint32_t skipped)
{
	uint32_t tokens[DWELL_NAME_PARAMETERS];
	uint32_t count = dw_metadata_parameters(metadata, owner, tokens, DWELL_NAME_PARAMETERS);

	if (count <= skipped)
		return;
	dw_name_put(n, '<');
	for (uint32_t i = skipped; i < count; i++) {
		if (i > skipped)
			dw_name_put(n, ',');
		put_parameter(n, metadata, tokens[i]);
	}
	dw_name_put(n, '>');
}

/* The same with a "+" behind those around it, and each with its own type parameters: how many all
 * of them have. */
static uint32_t name_put_declaration(struct dw_name *n, void *metadata, uint32_t token, int depth)
{
	uint32_t outer = outer_of(metadata, token, depth), units, outers = 0, own;
	uint16_t text[DWELL_NAME_WIDE];

	if (outer) {
		outers = name_put_declaration(n, metadata, outer, depth + 1);
		dw_name_put(n, '+');
	}
	units = own_name(metadata, token, text);
	own = dw_name_own_parameters(text, units);
	dw_name_put_plain(n, text, units);
	if (own)
		name_put_parameters(n, metadata, token, outers);
	return outers + own;
}

bool dw_name_put_parameter(struct dw_name *n, void *metadata, uint32_t owner, uint32_t number)
{
	uint32_t tokens[DWELL_NAME_PARAMETERS];

	if (number >= dw_metadata_parameters(metadata, owner, tokens, DWELL_NAME_PARAMETERS))
		return false;
	put_parameter(n, metadata, tokens[number]);
	return true;
}

/* The name of an element that is no class, by its CorElementType. */
static const char *name_element(int32_t kind)
{
	static const char *const names[] = {
		[0x02] = "System.Boolean", [0x03] = "System.Char",   [0x04] = "System.SByte",
		[0x05] = "System.Byte",	   [0x06] = "System.Int16",  [0x07] = "System.UInt16",
		[0x08] = "System.Int32",   [0x09] = "System.UInt32", [0x0a] = "System.Int64",
		[0x0b] = "System.UInt64",  [0x0c] = "System.Single", [0x0d] = "System.Double",
		[0x0e] = "System.String",  [0x18] = "System.IntPtr", [0x19] = "System.UIntPtr",
		[0x1c] = "System.Object",
	};

	return kind >= 0 && kind < (int32_t)(sizeof(names) / sizeof(*names)) && names[kind]
		       ? names[kind]
		       : "?";
}

enum {
	ARGUMENTS = 16,
	RANKS = 32,
	MARK_BYTES = 32,
	PLACE_BYTES = 8,
};

/* The path of a program that has assemblies in itself, else empty. */
static struct dw_name program;

/* What hosts of .NET have in their data behind the place of the list of their files, 0 = none
 * (code/clr/assembly.h); complemented, for we are none. */
static const volatile uint8_t complement[MARK_BYTES] = {
	0x74, 0xed, 0xfd, 0x46, 0x95, 0x9e, 0xdf, 0xc7, 0x8d, 0x84, 0x6c,
	0xfd, 0xeb, 0x28, 0x5f, 0xcd, 0xec, 0x0a, 0x46, 0x19, 0x10, 0x51,
	0xcc, 0xe7, 0x11, 0xc4, 0xd2, 0x31, 0xdb, 0x4c, 0x95, 0x51};

static uint64_t put_type(struct dw_name *n, uint64_t class, int depth);

/* Append the array @class. False: it is none. */
static bool put_array(struct dw_name *n, uint64_t class, int depth, uint64_t *ret_module)
{
	int32_t kind = 0;
	uint64_t element = 0;
	uint32_t rank = 0;

	if (dw_runtime_array(class, &kind, &element, &rank) != DWELL_HR_OK)
		return false;
	if (element)
		*ret_module = put_type(n, element, depth + 1);
	else
		dw_name_put_text(n, name_element(kind));
	dw_name_put(n, '[');
	for (uint32_t i = 1; i < rank && i < RANKS; i++)
		dw_name_put(n, ',');
	dw_name_put(n, ']');
	return true;
}

/* What a generic type is made for, as far as it is not put yet. */
struct arguments {
	struct dw_name *n;
	const uint64_t *next;
	uint32_t left;
	int depth;
};

static void put_arguments(void *ctx, uint32_t count)
{
	struct arguments *a = ctx;

	dw_name_put(a->n, '<');
	for (uint32_t i = 0; i < count && a->left; i++, a->left--) {
		if (i)
			dw_name_put(a->n, ',');
		put_type(a->n, *a->next++, a->depth + 1);
	}
	dw_name_put(a->n, '>');
}

/* Append the name of @class. Its module. */
static uint64_t put_type(struct dw_name *n, uint64_t class, int depth)
{
	uint64_t module = 0, arguments[ARGUMENTS];
	struct arguments all = {n, arguments, 0, depth};
	const struct dw_name_arguments put = {put_arguments, &all};
	uint32_t token = 0, count = ARGUMENTS;
	void *metadata;

	if (!class || depth > DWELL_NAME_DEPTH) {
		dw_name_put(n, '?');
		return 0;
	}
	if (put_array(n, class, depth, &module))
		return module;
	if (dw_runtime_class(class, &module, &token, arguments, &count) != DWELL_HR_OK || !module) {
		dw_name_put(n, '?');
		return 0;
	}
	all.left = count < ARGUMENTS ? count : ARGUMENTS;
	metadata = dw_metadata_open(module);
	if (!metadata) {
		dw_name_put(n, '?');
		return module;
	}
	dw_name_put_definition(n, metadata, token, 0, count ? &put : NULL);
	dw_metadata_close(metadata);
	return module;
}

void dw_name_type(uint64_t class, struct dw_name *ret, uint64_t *ret_module)
{
	ret->bytes = 0;
	*ret_module = put_type(ret, class, 0);
}

/* Append the method @token, with its parameters where its type has others of the name. */
static void put_method(struct dw_name *n, uint64_t module, uint32_t token)
{
	void *metadata = dw_metadata_open(module);
	uint16_t text[DWELL_NAME_WIDE];
	struct dw_com_method m = {0};

	if (!metadata) {
		dw_name_put(n, '?');
		return;
	}
	if (dw_metadata_method(metadata, token, text, DWELL_NAME_WIDE, &m) < 0) {
		dw_name_put(n, '?');
	} else {
		if (m.type)
			name_put_declaration(n, metadata, m.type, 0);
		dw_name_put_text(n, "::");
		name_put_wide(n, text, m.units < DWELL_NAME_WIDE ? m.units : DWELL_NAME_WIDE);
		if (dw_signature_is_generic(m.signature, m.signature_bytes))
			name_put_parameters(n, metadata, token, 0);
		if (m.units <= DWELL_NAME_WIDE && dw_metadata_is_overloaded(metadata, m.type, text))
			dw_signature_put(n, &(struct dw_signature_place){metadata, m.type, token},
					 m.signature, m.signature_bytes);
	}
	dw_metadata_close(metadata);
}

void dw_name_method(uint64_t module, uint32_t token, struct dw_name *ret)
{
	ret->bytes = 0;
	put_method(ret, module, token);
}

void dw_name_function(uint64_t function, struct dw_name *ret, uint64_t *ret_module,
		      uint32_t *ret_token)
{
	uint16_t text[DWELL_NAME_WIDE];
	uint32_t units = 0;

	ret->bytes = 0;
	*ret_module = 0;
	*ret_token = 0;
	if (dw_runtime_dynamic_name(function, text, DWELL_NAME_WIDE, &units))
		name_put_wide(ret, text, units < DWELL_NAME_WIDE ? units : DWELL_NAME_WIDE);
	else if (dw_runtime_function_token(function, ret_module, ret_token) >= 0 && *ret_module)
		put_method(ret, *ret_module, *ret_token);
	if (!ret->bytes)
		dw_name_put(ret, '?');
}

/* Whether the program is a host with files in itself. */
static bool is_bundle(void)
{
	uint8_t mark[MARK_BYTES];
	const uint8_t *at;

	for (int i = 0; i < MARK_BYTES; i++)
		mark[i] = (uint8_t)~complement[i];
	at = dw_loader_find_in_program(mark, MARK_BYTES, PLACE_BYTES);
	for (int i = 1; at && i <= PLACE_BYTES; i++)
		if (at[-i])
			return true;
	return false;
}

void dw_names_start(void)
{
	int64_t n = -1;

	if (is_bundle())
		n = dw_syscall(SYS_readlink, "/proc/self/exe", program.text, DWELL_NAME_BYTES);
	program.bytes = n > 0 && n < DWELL_NAME_BYTES ? (uint32_t)n : 0;
}

/* Whether @text, whose @units may include a NUL, is a name without a folder. */
static bool is_bare(const uint16_t *text, uint32_t units)
{
	uint32_t i = 0;

	while (i < units && text[i] && text[i] != '/')
		i++;
	return i && (i == units || !text[i]);
}

void dw_name_module(uint64_t module, struct dw_name *ret, uint32_t *ret_is_dynamic)
{
	uint16_t text[DWELL_NAME_WIDE];
	uint32_t units = 0, flags = 0;
	bool is_inside;

	ret->bytes = 0;
	if (dw_runtime_module(module, text, DWELL_NAME_WIDE, &units, &flags) < 0)
		units = 0;
	units = units < DWELL_NAME_WIDE ? units : DWELL_NAME_WIDE;
	is_inside = program.bytes && !(flags & DWELL_COM_MODULE_DYNAMIC) && is_bare(text, units);
	if (is_inside) {
		*ret = program;
		dw_name_put(ret, '/');
	}
	*ret_is_dynamic = !is_inside && (!units || text[0] != '/');
	name_put_wide(ret, text, units);
	if (!ret->bytes)
		dw_name_put(ret, '?');
}
