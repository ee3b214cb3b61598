/* The formats; see export.h. */
#pragma once

#include "export/export.h"

extern const struct dw_export_ops dw_export_pprof;
extern const struct dw_export_ops dw_export_speedscope;
extern const struct dw_export_ops dw_export_firefox;
extern const struct dw_export_ops dw_export_folded;
extern const struct dw_export_ops dw_export_callgrind;
