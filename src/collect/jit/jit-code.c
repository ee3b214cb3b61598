/*
 * JIT code; see jit-code.h. An agent knows best: it tells of code before it runs, and of its
 * lines.
 */
#include "collect/jit/jit-code.h"

#include "base/error.h"

int dw_jit_code_begin(struct dw_jit_code *m, const struct dw_jit_code_process *who,
		      uint64_t time_ns, bool *is_other)
{
	bool is_renamed = false;
	int rc = 0;

	*is_other = false;
	m->time_ns = time_ns;
	m->registry = who->registry;
	m->runtime = m->managed ? dw_managed_at(m->managed, who->pid, time_ns, is_other) : NULL;
	if (m->registry)
		rc = dw_jit_update(m->registry, who->anon, time_ns, &is_renamed);
	*is_other |= is_renamed;
	return rc;
}

static bool find_row(void *ctx, uint64_t avma, enum dw_space_place place, struct dw_cfi_row *ret)
{
	const struct dw_jit_code *m = ctx;

	if (m->runtime && dw_managed_row(m->runtime, avma, m->time_ns, place, ret))
		return true;
	return m->registry && dw_jit_row(m->registry, avma, m->time_ns, place, ret);
}

const struct dw_space_rules *dw_jit_code_rules(struct dw_jit_code *m)
{
	m->rules = (struct dw_space_rules){find_row, m};
	return m->runtime || m->registry ? &m->rules : NULL;
}

int dw_jit_code_frame(struct dw_jit_code *m, uint64_t avma, bool has_file, struct dw_frame *ret)
{
	int rc = DWELL_ERR_NOT_FOUND;

	if (m->runtime)
		rc = dw_managed_frame(m->managed, m->runtime, avma, m->time_ns, ret);
	if (rc == DWELL_ERR_NOT_FOUND && m->registry && !has_file)
		rc = dw_jit_frame(m->registry, avma, m->time_ns, ret);
	return rc;
}
