/*
 * Names; see names.h. Generic types are called NAME`N in the metadata: the mark goes, the
 * arguments come behind. Recursion is bounded, names of names are cut.
 */
#include "agent/clr/names.h"

#include "agent/clr/loader.h"
#include "agent/clr/runtime.h"
#include "agent/core/syscall-x86-64.h"

enum {
	WIDE = 512, /* UTF-16 units of one part of a name */
	ARGUMENTS = 16,
	DEPTH = 8, /* of arguments in arguments, and of types in types */
	RANKS = 32,
	FLAG_DYNAMIC = 0x2, /* COR_PRF_MODULE_DYNAMIC */
};

/* The path of a program that has the runtime and all assemblies in itself, else empty. */
static struct dw_name program;

static void put(struct dw_name *n, char c)
{
	if (n->bytes < DWELL_NAME_BYTES)
		n->text[n->bytes++] = c;
}

static void put_text(struct dw_name *n, const char *text)
{
	while (*text)
		put(n, *text++);
}

static void put_utf8(struct dw_name *n, uint32_t c)
{
	if (c < 0x80) {
		put(n, (char)c);
		return;
	}
	if (n->bytes + 4 > DWELL_NAME_BYTES)
		return;
	if (c < 0x800) {
		put(n, (char)(0xc0 | c >> 6));
	} else {
		if (c < 0x10000) {
			put(n, (char)(0xe0 | c >> 12));
		} else {
			put(n, (char)(0xf0 | c >> 18));
			put(n, (char)(0x80 | (c >> 12 & 0x3f)));
		}
		put(n, (char)(0x80 | (c >> 6 & 0x3f)));
	}
	put(n, (char)(0x80 | (c & 0x3f)));
}

/* Append @units of UTF-16, as far as their NUL or @units. */
static void put_wide(struct dw_name *n, const uint16_t *text, uint32_t units)
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

/* Append the type definition @token: types around it first. */
static void put_definition(struct dw_name *n, void *metadata, uint32_t token, const char *nested,
			   int depth)
{
	uint16_t text[WIDE];
	uint32_t units = 0, outer = 0;

	if (depth < DEPTH && dw_metadata_outer(metadata, token, &outer) >= 0 && outer &&
	    outer != token) {
		put_definition(n, metadata, outer, nested, depth + 1);
		put_text(n, nested);
	}
	if (dw_metadata_type(metadata, token, text, WIDE, &units) < 0)
		put(n, '?');
	else
		put_wide(n, text, without_mark(text, units < WIDE ? units : WIDE));
}

/* The names of elements that are no classes, by CorElementType. */
static const char *element_name(int32_t kind)
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
		put_text(n, element_name(kind));
	put(n, '[');
	for (uint32_t i = 1; i < rank && i < RANKS; i++)
		put(n, ',');
	put(n, ']');
	return true;
}

static void put_arguments(struct dw_name *n, const uint64_t *arguments, uint32_t count, int depth)
{
	put(n, '<');
	for (uint32_t i = 0; i < count && i < ARGUMENTS; i++) {
		if (i)
			put(n, ',');
		put_type(n, arguments[i], depth + 1);
	}
	put(n, '>');
}

/* Append the name of @class. Its module. */
static uint64_t put_type(struct dw_name *n, uint64_t class, int depth)
{
	uint64_t module = 0, arguments[ARGUMENTS];
	uint32_t token = 0, count = ARGUMENTS;
	void *metadata;

	if (!class || depth > DEPTH) {
		put(n, '?');
		return 0;
	}
	if (put_array(n, class, depth, &module))
		return module;
	if (dw_runtime_class(class, &module, &token, arguments, &count) != DWELL_HR_OK || !module) {
		put(n, '?');
		return 0;
	}
	metadata = dw_metadata_open(module);
	if (!metadata) {
		put(n, '?');
		return module;
	}
	put_definition(n, metadata, token, ".", 0);
	dw_metadata_close(metadata);
	if (count)
		put_arguments(n, arguments, count, depth);
	return module;
}

void dw_name_type(uint64_t class, struct dw_name *ret, uint64_t *ret_module)
{
	ret->bytes = 0;
	*ret_module = put_type(ret, class, 0);
}

static void put_method(struct dw_name *n, uint64_t module, uint32_t token)
{
	void *metadata = dw_metadata_open(module);
	uint16_t text[WIDE];
	uint32_t type = 0, units = 0;

	if (!metadata) {
		put(n, '?');
		return;
	}
	if (dw_metadata_method(metadata, token, &type, text, WIDE, &units) < 0) {
		put(n, '?');
	} else {
		if (type)
			put_definition(n, metadata, type, "+", 0);
		put_text(n, "::");
		put_wide(n, text, units < WIDE ? units : WIDE);
	}
	dw_metadata_close(metadata);
}

void dw_name_function(uint64_t function, struct dw_name *ret, uint64_t *ret_module,
		      uint32_t *ret_token)
{
	uint16_t text[WIDE];
	uint32_t units = 0;

	ret->bytes = 0;
	*ret_module = 0;
	*ret_token = 0;
	if (dw_runtime_dynamic_name(function, text, WIDE, &units))
		put_wide(ret, text, units < WIDE ? units : WIDE);
	else if (dw_runtime_function_token(function, ret_module, ret_token) >= 0 && *ret_module)
		put_method(ret, *ret_module, *ret_token);
	if (!ret->bytes)
		put(ret, '?');
}

void dw_names_start(void)
{
	struct dw_loader_module m;
	int64_t n = -1;

	if (dw_loader_module_at(dw_runtime_address(), &m) && m.is_main)
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
	uint16_t text[WIDE];
	uint32_t units = 0, flags = 0;

	ret->bytes = 0;
	if (dw_runtime_module(module, text, WIDE, &units, &flags) < 0)
		units = 0;
	units = units < WIDE ? units : WIDE;
	*ret_is_dynamic = flags & FLAG_DYNAMIC;
	if (program.bytes && !*ret_is_dynamic && is_bare(text, units)) {
		*ret = program;
		put(ret, '/');
	}
	put_wide(ret, text, units);
	if (!ret->bytes)
		put(ret, '?');
}
