/* Methods with probes; see call-methods.h. */
#include "record/call-methods.h"

#include <errno.h>

void dw_call_methods_init(struct dw_call_methods *m, struct dw_profile *p)
{
	*m = (struct dw_call_methods){.metadata = {.p = p, .tables = &m->tables},
				      .tables.budget = DWELL_CLR_PROBED_BUDGET};
}

int dw_call_methods_read(struct dw_call_methods *m, int fd, const struct dw_region_head *head)
{
	struct dw_clr_probed row;
	int rc = dw_clr_tables_more(&m->tables, fd, head);

	if (rc)
		return rc == DWELL_ERR_NOT_FOUND ? 0 : rc;
	m->is_there = true;
	for (m->taken += !m->taken; dw_clr_tables_get(&m->tables, DWELL_CLR_PROBED, m->taken, &row);
	     m->taken++)
		if (row.function && dw_map_put(&m->rows, row.key, row.function))
			return -ENOMEM;
	return 0;
}

int dw_call_methods_frame(struct dw_call_methods *m, uint64_t key, uint32_t *ret)
{
	struct dw_frame frame = {.kind = DWELL_FRAME_CODE};
	struct dw_alloc_method method;
	uint32_t row = dw_map_get(&m->rows, key);
	int rc;

	*ret = 0;
	if (!row)
		return 0;
	rc = dw_clr_method(&m->metadata, row, &method);
	if (rc)
		return rc == -ENOMEM ? rc : 0;
	frame.module = method.module;
	frame.svma = (uint64_t)method.token << 32;
	return dw_frames_add(&m->metadata.p->frames, frame, ret);
}

bool dw_call_methods_is_probe(const struct dw_call_methods *m, uint64_t ip)
{
	return ip - dw_call_methods_fact(m, DWELL_CLR_PROBES_AT) <
	       dw_call_methods_fact(m, DWELL_CLR_PROBES_BYTES);
}

void dw_call_methods_release(struct dw_call_methods *m)
{
	dw_clr_metadata_release(&m->metadata);
	dw_clr_tables_release(&m->tables);
	dw_map_release(&m->rows);
}
