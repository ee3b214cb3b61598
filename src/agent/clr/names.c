/*
 * Names; see names.h. Generic types are called NAME`N in the metadata: the mark goes, the
 * arguments come behind. Recursion is bounded, names of names are cut.
 */
#include "agent/clr/names.h"

#include "agent/clr/loader.h"
#include "agent/clr/name-parts.h"
#include "agent/clr/runtime.h"
#include "agent/clr/signature.h"
#include "agent/core/syscall-x86-64.h"

enum {
	ARGUMENTS = 16,
	RANKS = 32,
	FLAG_DYNAMIC = 0x4, /* COR_PRF_MODULE_DYNAMIC */
	MARK_BYTES = 32,
	PLACE_BYTES = 8,
};

/* The path of a program that has assemblies in itself, else empty. */
static struct dw_name program;

/* What hosts of .NET have in their data behind the place of the list of their files, 0 = none
 * (code/clr/bundle.h); complemented, for we are none. */
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
		dw_name_put_text(n, dw_name_element(kind));
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
			dw_name_put_declaration(n, metadata, m.type, 0);
		dw_name_put_text(n, "::");
		dw_name_put_wide(n, text, m.units < DWELL_NAME_WIDE ? m.units : DWELL_NAME_WIDE);
		if (dw_signature_is_generic(m.signature, m.signature_bytes))
			dw_name_put_parameters(n, metadata, token, 0);
		if (m.units <= DWELL_NAME_WIDE && dw_metadata_is_overloaded(metadata, m.type, text))
			dw_signature_put(n, &(struct dw_signature_place){metadata, m.type, token},
					 m.signature, m.signature_bytes);
	}
	dw_metadata_close(metadata);
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
		dw_name_put_wide(ret, text, units < DWELL_NAME_WIDE ? units : DWELL_NAME_WIDE);
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
	is_inside = program.bytes && !(flags & FLAG_DYNAMIC) && is_bare(text, units);
	if (is_inside) {
		*ret = program;
		dw_name_put(ret, '/');
	}
	*ret_is_dynamic = !is_inside && (!units || text[0] != '/');
	dw_name_put_wide(ret, text, units);
	if (!ret->bytes)
		dw_name_put(ret, '?');
}
