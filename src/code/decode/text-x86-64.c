/*
 * Text of instructions; see text.h. Zydis's formatter, in small letters and with short numbers, as
 * objdump prints them.
 */
#include "code/decode/text.h"

#include <Zydis/Zydis.h>

enum { TEXT_MAX_BYTES = 256 };

static bool format(ZydisFormatterStyle style, const uint8_t *bytes, size_t n, uint64_t svma,
		   char ret[TEXT_MAX_BYTES])
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	ZydisDecoder decoder;
	ZydisFormatter formatter;

	return ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
					     ZYDIS_STACK_WIDTH_64)) &&
	       ZYAN_SUCCESS(ZydisFormatterInit(&formatter, style)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(&formatter,
						      ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
						      ZYDIS_PADDING_DISABLED)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING,
						      ZYDIS_PADDING_DISABLED)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING,
						      ZYDIS_PADDING_DISABLED)) &&
	       ZYAN_SUCCESS(ZydisFormatterSetProperty(&formatter,
						      ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, 0)) &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, n, &in, operands)) &&
	       ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &in, operands,
							    in.operand_count_visible, ret,
							    TEXT_MAX_BYTES, svma, NULL));
}

bool dw_insn_put(struct dw_buf *to, const uint8_t *bytes, size_t n, uint64_t svma, bool intel)
{
	char text[TEXT_MAX_BYTES];

	if (!format(intel ? ZYDIS_FORMATTER_STYLE_INTEL : ZYDIS_FORMATTER_STYLE_ATT, bytes, n, svma,
		    text))
		return false;
	dw_buf_puts(to, text);
	return true;
}
