/* All formats by name, for their registry. */
#pragma once

#include "format/format.h"

extern const struct dw_format_ops dw_format_table;
extern const struct dw_format_ops dw_format_csv;
extern const struct dw_format_ops dw_format_json;
extern const struct dw_format_ops dw_format_xml;
