/*
 * Instructions of Ruby; see ruby.h.
 */
#include "agent/sample/ruby.h"

#include "agent/core/bytes.h"

#include <string.h>

enum {
	CODE_MAX = 256, /* bytes that are looked at */
	JUMP = 0xe9,
	JUMP_BYTES = 5,
	ENTRY_MAX = 32, /* of rb_id2str(), before it jumps */
	NAMES = 16,	/* behind the number of the last one */
};

/* What the displacement at @code[@i] leads to, which ends its instruction. */
static uint64_t target(const uint8_t *code, uint32_t i)
{
	int32_t distance;

	memcpy(&distance, code + i, sizeof(distance));
	return (uint64_t)code + i + sizeof(distance) + (uint64_t)(int64_t)distance;
}

uint64_t dw_ruby_names(uint64_t id2str)
{
	static const uint8_t compares[] = {0x39, 0x3d}, loads[] = {0x48, 0x8b, 0x3d};
	const uint8_t *code = (const uint8_t *)id2str;
	uint64_t last = 0;

	if (!code || !dw_is_readable(code, ENTRY_MAX + JUMP_BYTES))
		return 0;
	for (uint32_t i = 0; i < ENTRY_MAX; i++)
		if (code[i] == JUMP) {
			code = (const uint8_t *)target(code, i + 1);
			break;
		}
	if (!dw_is_readable(code, CODE_MAX))
		return 0;
	for (uint32_t i = 0; i < CODE_MAX - 8; i++) {
		if (!memcmp(code + i, compares, sizeof(compares)))
			last = target(code, i + sizeof(compares));
		if (last && !memcmp(code + i, loads, sizeof(loads)) &&
		    target(code, i + sizeof(loads)) == last + NAMES)
			return last + NAMES;
	}
	return 0;
}
