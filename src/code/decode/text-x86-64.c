/*
 * Text of instructions; see text.h. Zydis's formatter, in small letters and with short numbers, as
 * objdump prints them.
 */
#include "code/decode/text.h"

#include "code/decode/mnemonic-x86-64.h"

#include <string.h>

enum { TEXT_MAX_BYTES = 256 };

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
	char ours[DWELL_MNEMONIC_MAX_BYTES];

	if (!name) {
		dw_buf_puts(to, text);
		return;
	}
	dw_mnemonic(in, operands, intel, ours);
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
