/*
 * The short decoder; see insn-x86-64.h. It takes the making of a large image from Zydis's 80 ns an
 * instruction to a fifth of that; a test compares the two on whole libraries and on noise. Source:
 * Intel SDM, volume 2, appendix A. What has several meanings by prefix or register field and is not
 * worth a line is left out.
 */
#include "code/decode/insn-x86-64.h"

#include <string.h>

/* What an opcode is followed by; 0 = not in the table. */
enum {
	ALONE = 1,
	MODRM = 2,
	BYTE = 4,     /* an immediate */
	WORD = 8,     /* an immediate of four bytes */
	NEAR = 16,    /* a distance of one byte */
	FAR = 32,     /* of four */
	GROUP = 64,   /* the register field decides */
	MEMORY = 128, /* ModRM without a register as second operand */
};

/* The arithmetic operations: eight columns of six forms. */
#define ARITHMETIC(at)                                                              \
	[(at)] = MODRM, [(at) + 1] = MODRM, [(at) + 2] = MODRM, [(at) + 3] = MODRM, \
	[(at) + 4] = BYTE, [(at) + 5] = WORD

static const uint8_t one_byte[256] = {
	ARITHMETIC(0x00),
	ARITHMETIC(0x08),
	ARITHMETIC(0x10),
	ARITHMETIC(0x18),
	ARITHMETIC(0x20),
	ARITHMETIC(0x28),
	ARITHMETIC(0x30),
	ARITHMETIC(0x38),
	[0x50 ... 0x5f] = ALONE, /* push, pop */
	[0x63] = MODRM,
	[0x68] = WORD,
	[0x69] = MODRM | WORD,
	[0x6a] = BYTE,
	[0x6b] = MODRM | BYTE,
	[0x70 ... 0x7f] = NEAR,
	[0x80] = MODRM | BYTE,
	[0x81] = MODRM | WORD,
	[0x83] = MODRM | BYTE,
	[0x84 ... 0x8b] = MODRM,
	[0x8d] = MODRM | MEMORY,
	[0x90] = ALONE,
	[0x98 ... 0x99] = ALONE,
	[0xa8] = BYTE,
	[0xa9] = WORD,
	[0xb0 ... 0xb7] = BYTE,
	[0xb8 ... 0xbf] = WORD,
	[0xc0 ... 0xc1] = MODRM | BYTE | GROUP,
	[0xc3] = ALONE,
	[0xc6] = MODRM | BYTE | GROUP,
	[0xc7] = MODRM | WORD | GROUP,
	[0xc9] = ALONE,
	[0xcc] = ALONE,
	[0xd0 ... 0xd3] = MODRM | GROUP,
	[0xe8 ... 0xe9] = FAR,
	[0xeb] = NEAR,
	[0xf6 ... 0xf7] = MODRM | GROUP,
	[0xfe ... 0xff] = MODRM | GROUP,
};

static const uint8_t two_bytes[256] = {
	[0x0b] = ALONE,		 [0x10 ... 0x11] = MODRM, [0x1f] = MODRM | GROUP,
	[0x28 ... 0x29] = MODRM, [0x40 ... 0x4f] = MODRM, /* cmov */
	[0x57] = MODRM,		 [0x6e ... 0x6f] = MODRM, [0x7e ... 0x7f] = MODRM,
	[0x80 ... 0x8f] = FAR,	 [0x90 ... 0x9f] = MODRM, /* set */
	[0xa3] = MODRM,		 [0xaf] = MODRM,	  [0xb6 ... 0xb7] = MODRM,
	[0xbe ... 0xbf] = MODRM, [0xef] = MODRM,
};

enum { REX_B = 1, REX_X = 2, REX_W = 8, TWO_BYTES = 0x0f };

/* Prefixes of padding, and of 16-bit and vector operations. */
enum { NARROW = 0x66, SEGMENT_CS = 0x2e, PREFIXES_MAX = 4 };

/* Bytes of operands behind a ModRM byte, register fields aside. */
static uint8_t operand_bytes(const uint8_t *modrm, size_t n)
{
	uint8_t mod = *modrm >> 6, rm = *modrm & 7, sum = 0;

	if (mod == 3)
		return 0;
	if (rm == 4) {
		sum = 1;
		if (n > 1 && mod == 0 && (modrm[1] & 7) == 5)
			return 5;
	}
	if (mod == 1)
		return sum + 1;
	return mod == 2 || (mod == 0 && rm == 5) ? sum + 4 : sum;
}

/* Whether register field @reg of the group @opcode is known here; adds what follows. */
static bool in_group(uint8_t opcode, uint8_t reg, uint8_t *form, uint8_t *kind)
{
	switch (opcode) {
	case 0xc6:
	case 0xc7:
	case 0x1f:
		return reg == 0;
	case 0xf6:
	case 0xf7:
		*form |= reg ? 0 : opcode == 0xf6 ? BYTE : WORD;
		return reg != 1;
	case 0xfe:
		return reg < 2;
	case 0xff:
		if (reg == 2)
			*kind = DWELL_INSN_CALL_INDIRECT;
		if (reg == 4)
			*kind = DWELL_INSN_JUMP_INDIRECT;
		return reg != 3 && reg != 5 && reg != 7;
	default:
		return reg != 6; /* shifts */
	}
}

static uint8_t kind_of(uint8_t opcode, bool is_two)
{
	if (is_two)
		return opcode == 0x0b	  ? DWELL_INSN_STOP
		       : opcode >> 4 == 8 ? DWELL_INSN_BRANCH
					  : DWELL_INSN_PLAIN;
	switch (opcode) {
	case 0xc3:
		return DWELL_INSN_RETURN;
	case 0xe8:
		return DWELL_INSN_CALL;
	case 0xe9:
	case 0xeb:
		return DWELL_INSN_JUMP;
	default:
		return opcode >> 4 == 7 ? DWELL_INSN_BRANCH : DWELL_INSN_PLAIN;
	}
}

/* DWELL_INSN_RELATIVE, _RSP, _RBP, _INDEX for a ModRM byte; the extended registers have other
 * names. */
static uint8_t base_flag(const uint8_t *modrm, size_t n, uint8_t rex)
{
	uint8_t mod = *modrm >> 6, base = *modrm & 7, ret = 0;

	if (mod == 3)
		return 0;
	if (base == 5 && !mod)
		return DWELL_INSN_RELATIVE;
	if (rex & REX_B)
		return 0;
	if (base == 4 && n > 1) { /* a SIB byte */
		base = modrm[1] & 7;
		ret = (modrm[1] >> 3 & 7) != 4 || rex & REX_X ? DWELL_INSN_INDEX : 0;
	}
	if (base == 4)
		return ret | DWELL_INSN_SP;
	return base == 5 && mod ? ret | DWELL_INSN_FP : 0;
}

static int32_t distance(const uint8_t *bytes, uint8_t n)
{
	int32_t ret = 0;

	if (n == 1)
		return (int8_t)*bytes;
	if (n == 4)
		memcpy(&ret, bytes, sizeof ret);
	return ret;
}

/* Take the ModRM byte at bytes[@at] and its operand. The bytes of both; 0: not common. */
static uint8_t take_modrm(const uint8_t *bytes, size_t n, uint8_t at, uint8_t *form, uint8_t rex,
			  struct dw_insn *ret)
{
	uint8_t modrm, operand, sib;

	if (at >= n)
		return 0;
	modrm = bytes[at];
	if ((*form & MEMORY && modrm >> 6 == 3) ||
	    (*form & GROUP && !in_group(bytes[at - 1], modrm >> 3 & 7, form, &ret->kind)))
		return 0;
	operand = operand_bytes(bytes + at, n - at);
	if (at + operand >= n)
		return 0;
	ret->flags = base_flag(bytes + at, n - at, rex);
	if (ret->flags & DWELL_INSN_RELATIVE)
		ret->field_at = at + 1;
	sib = (modrm & 7) == 4;
	if (ret->flags)
		ret->value = distance(bytes + at + 1 + sib, operand - sib);
	return operand + 1;
}

bool dw_insn_decode_quick(const uint8_t *bytes, size_t n, struct dw_insn *ret)
{
	uint8_t at = 0, rex = 0, prefixes, opcode, form;
	bool is_two = false;

	while (at < n && at < PREFIXES_MAX && (bytes[at] == NARROW || bytes[at] == SEGMENT_CS))
		at++;
	prefixes = at;
	if (n > at && (bytes[at] & 0xf0) == 0x40)
		rex = bytes[at++];
	if (n > at && bytes[at] == TWO_BYTES) {
		is_two = true;
		at++;
	}
	if (n <= at)
		return false;
	opcode = bytes[at++];
	form = is_two ? two_bytes[opcode] : one_byte[opcode];
	if (!form)
		return false;
	*ret = (struct dw_insn){.kind = kind_of(opcode, is_two)};
	if (form & MODRM) {
		uint8_t more = take_modrm(bytes, n, at, &form, rex, ret);

		if (!more)
			return false;
		at += more;
	}
	if (form & (NEAR | FAR))
		ret->field_at = at;
	at += form & (BYTE | NEAR) ? 1 : 0;
	at += form & (WORD | FAR) ? 4 : 0;
	if (!is_two && opcode >> 3 == 0xb8 >> 3 && rex & REX_W)
		at += 4; /* the only immediate of eight bytes */
	if (at > n)
		return false;
	/* Prefixes change how long these are, or what they mean. */
	if (prefixes && (form & (WORD | NEAR | FAR) || ret->kind != DWELL_INSN_PLAIN))
		return false;
	ret->length = at;
	if (form & (NEAR | FAR))
		ret->value = distance(bytes + ret->field_at, form & NEAR ? 1 : 4);
	return true;
}
