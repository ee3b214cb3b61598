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

void dw_name_put_definition(struct dw_name *n, void *metadata, uint32_t token, const char *nested,
			    int depth)
{
	uint16_t text[DWELL_NAME_WIDE];
	uint32_t units = 0, outer = 0;

	if (depth < DWELL_NAME_DEPTH && dw_metadata_outer(metadata, token, &outer) >= 0 && outer &&
	    outer != token) {
		dw_name_put_definition(n, metadata, outer, nested, depth + 1);
		dw_name_put_text(n, nested);
	}
	if (dw_metadata_type(metadata, token, text, DWELL_NAME_WIDE, &units) < 0)
		dw_name_put(n, '?');
	else
		dw_name_put_plain(n, text, units < DWELL_NAME_WIDE ? units : DWELL_NAME_WIDE);
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
