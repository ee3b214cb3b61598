/*
 * The table; see layout.h.
 */
#include "interpreter/ruby/layout.h"

#include <stddef.h>

static const struct dw_ruby_layout layouts[] = {
	{.version = 0x300,
	 .frame_bytes = 56,
	 .code_lines = 120,
	 .line_bytes = 8,
	 .code_last = 108,
	 .text_data = 16},
	{.version = 0x301,
	 .frame_bytes = 64,
	 .code_lines = 120,
	 .line_bytes = 12,
	 .code_last = 108,
	 .text_data = 16},
	{.version = 0x302,
	 .frame_bytes = 64,
	 .code_lines = 112,
	 .line_bytes = 12,
	 .has_number = true,
	 .code_last = 104,
	 .text_data = 24,
	 .has_length = true},
	{.version = 0x303,
	 .frame_bytes = 56,
	 .code_lines = 112,
	 .line_bytes = 12,
	 .has_number = true,
	 .code_last = 104,
	 .text_data = 24,
	 .has_length = true},
	{.version = 0x304,
	 .frame_bytes = 56,
	 .code_lines = 112,
	 .line_bytes = 12,
	 .has_number = true,
	 .code_last = 104,
	 .text_data = 24,
	 .has_length = true},
};

const struct dw_ruby_layout *dw_ruby_layout(uint32_t version)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (layouts[i].version == version)
			return &layouts[i];
	return NULL;
}
