/* What all exports share; see export.h. */
#include "export/export.h"

#include <string.h>

const struct dw_export_ops *const dw_exports[] = {
	&dw_export_pprof,  &dw_export_speedscope, &dw_export_firefox,
	&dw_export_folded, &dw_export_callgrind,  NULL,
};

const struct dw_export_ops *dw_export_find(const char *name)
{
	const struct dw_export_ops *const *e = dw_exports;

	while (*e && strcmp((*e)->name, name))
		e++;
	return *e;
}

int dw_export_find_kind(const struct dw_profile *p, const struct dw_filter *filter,
			const char *name, struct dw_error *err)
{
	struct dw_buf list = DW_BUF_INIT;
	unsigned n;
	const struct dw_value_kind *kinds = dw_sample_values_kinds(p, filter, &n);

	for (unsigned k = 0; k < n; k++) {
		if (!strcmp(name, kinds[k].name)) {
			dw_buf_release(&list);
			return (int)k;
		}
		dw_buf_printf(&list, " %s", kinds[k].name);
	}
	dw_error_set(err, DWELL_ERR_USAGE, "this session has no values '%s'; it has%s", name,
		     dw_buf_str(&list));
	dw_buf_release(&list);
	return DWELL_ERR_USAGE;
}

int dw_export_write(const struct dw_export_ops *ops, const struct dw_profile *p,
		    const struct dw_filter *filter, unsigned kind, struct dw_out *out)
{
	struct dw_export e = {.profile = p, .kind = kind};
	int rc;

	dw_paths_init(&e.paths, p);
	rc = dw_sample_values_init(&e.values, &e.paths, filter, ops->in_order);
	if (!rc)
		rc = ops->write(&e, out);
	dw_sample_values_release(&e.values);
	dw_paths_release(&e.paths);
	return rc;
}
