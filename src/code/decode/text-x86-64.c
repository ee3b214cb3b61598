/*
 * Text of instructions; see insn.h. Zydis's formatter, in small letters and with short numbers, as
 * objdump prints them, with the names that GNU's assembler and objdump write: Zydis has Intel's,
 * and letters behind them that no assembler knows (movsdq, movzxb, vmovdqu64z). Rules of the
 * letters: "Using as", 9.16.3 and 9.16.4, and the tables of binutils' opcodes/i386-dis.c as objdump
 * shows them.
 */
#include "code/decode/insn.h"

#include <Zydis/Zydis.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MAX_BYTES = 256, MNEMONIC_MAX_BYTES = 32 };

struct renamed {
	const char *from;
	const char *to;
};

static const char *look_up(const struct renamed *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i].from, name))
			return names[i].to;
	return NULL;
}

/* The condition @name ends in, as most people call it; NULL = as it is. */
static const char *plain_condition(const char *condition)
{
	static const struct renamed names[] = {{"z", "e"},   {"nz", "ne"}, {"nbe", "a"},
					       {"nb", "ae"}, {"nle", "g"}, {"nl", "ge"}};

	return look_up(names, sizeof names / sizeof *names, condition);
}

/* Length of what stands before the condition in names of the category of @in, 0 = has none. */
static size_t before_condition(const ZydisDecodedInstruction *in)
{
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return strlen("j");
	case ZYDIS_CATEGORY_SETCC:
		return strlen("set");
	case ZYDIS_CATEGORY_CMOV:
		return strlen("cmov");
	default:
		return 0;
	}
}

static const char *size_letter(uint16_t bits)
{
	return bits == 8 ? "b" : bits == 16 ? "w" : bits == 32 ? "l" : bits == 64 ? "q" : "";
}

/* The letters of a floating-point instruction's operand in memory. */
static const char *float_letter(const ZydisDecodedOperand *memory)
{
	switch (memory->element_type) {
	case ZYDIS_ELEMENT_TYPE_FLOAT32:
		return "s";
	case ZYDIS_ELEMENT_TYPE_FLOAT64:
		return "l";
	case ZYDIS_ELEMENT_TYPE_FLOAT80:
		return "t";
	case ZYDIS_ELEMENT_TYPE_INT:
		return memory->size == 16 ? "s" : memory->size == 32 ? "l" : "ll";
	default:
		return "";
	}
}

/* Whether instructions of the category of @in come in several sizes. */
static bool is_sized(const ZydisDecodedInstruction *in)
{
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_BINARY:
	case ZYDIS_CATEGORY_LOGICAL:
	case ZYDIS_CATEGORY_SHIFT:
	case ZYDIS_CATEGORY_ROTATE:
	case ZYDIS_CATEGORY_DATAXFER:
	case ZYDIS_CATEGORY_BITBYTE:
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
		return true;
	default:
		return false;
	}
}

/* The letter that @in, called @name, needs for its operand in memory, "" = none. */
static const char *suffix(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands,
			  const char *name)
{
	const ZydisDecodedOperand *memory = NULL;
	bool has_register = false;

	for (uint8_t i = 0; i < in->operand_count_visible; i++) {
		if (operands[i].visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT)
			continue;
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			memory = &operands[i];
		else if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER)
			has_register = true;
	}
	if (!memory)
		return "";
	if (in->meta.category == ZYDIS_CATEGORY_X87_ALU)
		return float_letter(memory);
	if (strstr(name, "cvtsi2s") || strstr(name, "cvtusi2s"))
		return size_letter(memory->size);
	return !has_register && is_sized(in) ? size_letter(memory->size) : "";
}

/* Moves that widen: movzbl, movslq. Whether @in is one. */
static bool put_widening(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands,
			 char *ret)
{
	bool with_sign =
		in->mnemonic == ZYDIS_MNEMONIC_MOVSX || in->mnemonic == ZYDIS_MNEMONIC_MOVSXD;

	if (!with_sign && in->mnemonic != ZYDIS_MNEMONIC_MOVZX)
		return false;
	snprintf(ret, MNEMONIC_MAX_BYTES, "mov%c%s%s", with_sign ? 's' : 'z',
		 size_letter(operands[1].size), size_letter(operands[0].size));
	return true;
}

/* Whether the result of @in goes to another register than st: AT&T names these differences and
 * quotients the other way round ("Using as", AT&T Syntax bugs). */
static bool is_turned(const ZydisDecodedInstruction *in)
{
	return (in->opcode == 0xdc || in->opcode == 0xde) && in->raw.modrm.mod == 3;
}

/* AT&T's name for what Intel calls @name; NULL = likewise. */
static const char *other_name(const ZydisDecodedInstruction *in, const char *name)
{
	static const struct renamed names[] = {{"cbw", "cbtw"}, {"cwde", "cwtl"}, {"cdqe", "cltq"},
					       {"cwd", "cwtd"}, {"cdq", "cltd"},  {"cqo", "cqto"}};
	static const struct renamed strings[] = {{"movsd", "movsl"},
						 {"stosd", "stosl"},
						 {"lodsd", "lodsl"},
						 {"scasd", "scasl"},
						 {"cmpsd", "cmpsl"}};
	static const struct renamed turned[] = {
		{"fsub", "fsubr"}, {"fsubr", "fsub"}, {"fsubp", "fsubrp"}, {"fsubrp", "fsubp"},
		{"fdiv", "fdivr"}, {"fdivr", "fdiv"}, {"fdivp", "fdivrp"}, {"fdivrp", "fdivp"}};

	if (in->meta.category == ZYDIS_CATEGORY_X87_ALU && is_turned(in))
		return look_up(turned, sizeof turned / sizeof *turned, name);
	if (in->meta.category == ZYDIS_CATEGORY_STRINGOP)
		return look_up(strings, sizeof strings / sizeof *strings, name);
	if (in->mnemonic == ZYDIS_MNEMONIC_MOV &&
	    (in->raw.imm[0].size == 64 || in->raw.disp.size == 64))
		return "movabs";
	return look_up(names, sizeof names / sizeof *names, name);
}

/*
 * Write the name of @in, without its prefixes, to @ret: in Intel's style with @intel, else with
 * AT&T's letters for the size of operands where no register tells it. @operands are those of @in.
 */
static void put_mnemonic(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *operands,
			 bool intel, char ret[MNEMONIC_MAX_BYTES])
{
	const char *name = ZydisMnemonicGetString(in->mnemonic), *other;
	size_t before = before_condition(in);
	const char *condition =
		before && strlen(name) > before ? plain_condition(name + before) : NULL;

	if (condition) {
		snprintf(ret, MNEMONIC_MAX_BYTES, "%.*s%s", (int)before, name, condition);
		return;
	}
	if (!intel && put_widening(in, operands, ret))
		return;
	other = intel ? NULL : other_name(in, name);
	snprintf(ret, MNEMONIC_MAX_BYTES, "%s%s", other ? other : name,
		 intel || other ? "" : suffix(in, operands, name));
}

/* The name of @in in @text, behind its prefixes: @theirs is Zydis's, which letters may follow. NULL
 * = it is not there. */
static const char *find_name(const char *text, const char *theirs)
{
	const char *name = text;

	while (name && strncmp(name, theirs, strlen(theirs)) != 0) {
		name = strchr(name, ' ');
		name += name != NULL;
	}
	return name;
}

/* Put @text of Zydis's formatter with the name that assemblers know. */
static void put_renamed(struct dw_buf *to, const char *text, const ZydisDecodedInstruction *in,
			const ZydisDecodedOperand *operands, bool intel)
{
	const char *name = find_name(text, ZydisMnemonicGetString(in->mnemonic));
	char ours[MNEMONIC_MAX_BYTES];

	if (!name) {
		dw_buf_puts(to, text);
		return;
	}
	put_mnemonic(in, operands, intel, ours);
	dw_buf_put(to, text, (size_t)(name - text));
	dw_buf_puts(to, ours);
	dw_buf_puts(to, name + strcspn(name, " "));
}

static bool decode(const uint8_t *bytes, size_t n, ZydisDecodedInstruction *in,
		   ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT])
{
	ZydisDecoder decoder;

	if (!ZYAN_SUCCESS(
		    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, n, in, operands)))
		return false;
	/* Long nops have a register that no assembler takes. */
	if (in->mnemonic == ZYDIS_MNEMONIC_NOP && in->operand_count_visible > 1)
		in->operand_count_visible = 1;
	return true;
}

static bool format(ZydisFormatterStyle style, const ZydisDecodedInstruction *in,
		   const ZydisDecodedOperand *operands, uint64_t svma, char ret[TEXT_MAX_BYTES])
{
	ZydisFormatter formatter;

	return ZYAN_SUCCESS(ZydisFormatterInit(&formatter, style)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(&formatter,
						      ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
						      ZYDIS_PADDING_DISABLED)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING,
						      ZYDIS_PADDING_DISABLED)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING,
						      ZYDIS_PADDING_DISABLED)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(&formatter,
						      ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, 0)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_FORCE_SIZE,
						      style == ZYDIS_FORMATTER_STYLE_INTEL)) &&
	       ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, in, operands,
							    in->operand_count_visible, ret,
							    TEXT_MAX_BYTES, svma, NULL));
}

bool dw_insn_put(struct dw_buf *to, const uint8_t *bytes, size_t n, uint64_t svma, bool intel)
{
	ZydisFormatterStyle style = intel ? ZYDIS_FORMATTER_STYLE_INTEL : ZYDIS_FORMATTER_STYLE_ATT;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	char text[TEXT_MAX_BYTES];

	if (!decode(bytes, n, &in, operands) || !format(style, &in, operands, svma, text))
		return false;
	put_renamed(to, text, &in, operands, intel);
	return true;
}
