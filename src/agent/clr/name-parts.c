/*
 * Parts of names; see name-parts.h. Generic types are called NAME`N in the metadata: the mark goes.
 * Recursion is bounded.
 */
#include "agent/clr/name-parts.h"

#include "agent/clr/runtime.h"

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

void dw_name_put_wide(struct dw_name *n, const uint16_t *text, uint32_t units)
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
	dw_name_put_wide(n, text, without_mark(text, units));
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

uint32_t dw_name_put_declaration(struct dw_name *n, void *metadata, uint32_t token, int depth)
{
	uint32_t outer = outer_of(metadata, token, depth), units, outers = 0, own;
	uint16_t text[DWELL_NAME_WIDE];

	if (outer) {
		outers = dw_name_put_declaration(n, metadata, outer, depth + 1);
		dw_name_put(n, '+');
	}
	units = own_name(metadata, token, text);
	own = dw_name_own_parameters(text, units);
	dw_name_put_plain(n, text, units);
	if (own)
		dw_name_put_parameters(n, metadata, token, outers);
	return outers + own;
}

static void put_parameter(struct dw_name *n, void *metadata, uint32_t token)
{
	uint16_t text[DWELL_NAME_WIDE];
	uint32_t units = 0;

	if (dw_metadata_parameter(metadata, token, text, DWELL_NAME_WIDE, &units) < 0)
		dw_name_put(n, '?');
	else
		dw_name_put_wide(n, text, units < DWELL_NAME_WIDE ? units : DWELL_NAME_WIDE);
}

void dw_name_put_parameters(struct dw_name *n, void *metadata, uint32_t owner, uint32_t skipped)
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

bool dw_name_put_parameter(struct dw_name *n, void *metadata, uint32_t owner, uint32_t number)
{
	uint32_t tokens[DWELL_NAME_PARAMETERS];

	if (number >= dw_metadata_parameters(metadata, owner, tokens, DWELL_NAME_PARAMETERS))
		return false;
	put_parameter(n, metadata, tokens[number]);
	return true;
}

const char *dw_name_element(int32_t kind)
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
