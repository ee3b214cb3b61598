/*
 * The table; see layout.h.
 */
#include "interpreter/php/layout.h"

#include <stddef.h>

static const struct dw_php_layout layouts[] = {
	{20190902, 0x704, 488, 64, 60, 136, 144}, {20200930, 0x800, 488, 72, 68, 144, 152},
	{20210902, 0x801, 488, 72, 68, 144, 152}, {20220829, 0x802, 488, 88, 80, 152, 160},
	{20230831, 0x803, 488, 80, 76, 144, 152}, {20240924, 0x804, 488, 104, 96, 168, 176},
};

const struct dw_php_layout *dw_php_layout(uint32_t api)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (layouts[i].api == api)
			return &layouts[i];
	return NULL;
}

const struct dw_php_layout *dw_php_layout_of(uint32_t version)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (layouts[i].version == version)
			return &layouts[i];
	return NULL;
}
