/*
 * Memos; see memo-x86-64.h. What was kept is a stack of steps: a walk takes away those that it has
 * passed and puts its own in their place.
 */
#include "agent/clr/memo-x86-64.h"

#include "agent/core/agent.h"
#include "agent/core/memory.h"

DWELL_HOT struct dw_memo *dw_memo_begin(struct dw_clr_self *t)
{
	uint64_t epoch = __atomic_load_n(&dw_frame_rules.epoch, __ATOMIC_ACQUIRE);

	if (!t->memo)
		t->memo = dw_agent_memory(sizeof(*t->memo));
	if (!t->memo)
		return NULL;
	if (t->memo->epoch != epoch)
		t->memo->n = 0;
	t->memo->epoch = epoch;
	t->memo->at = t->memo->n;
	t->memo->fresh_n = 0;
	return t->memo;
}

static uint64_t word_at(uint64_t address)
{
	return *(const uint64_t *)address;
}

/* How many of the @n outermost steps are no more as they were, with all that are within them. */
static uint32_t changed(const struct dw_step *steps, uint32_t n)
{
	while (n && word_at(steps[n - 1].regs.rsp - 8) == steps[n - 1].regs.ip &&
	       word_at(steps[n - 1].rbp_at) == steps[n - 1].regs.rbp)
		n--;
	return n;
}

DWELL_HOT const struct dw_step *dw_memo_check(struct dw_memo *m, const struct dw_regs *s,
					      uint64_t rbp_at)
{
	struct dw_step *step = &m->kept[m->at - 1];
	uint32_t n;

	if (step->regs.ip != s->ip || step->regs.rbp != s->rbp || !step->frames)
		return NULL;
	n = changed(m->kept, m->at - 1);
	if (n) {
		m->at = n - 1;
		return NULL;
	}
	step->rbp_at = rbp_at ? rbp_at : (uint64_t)&step->regs.rbp;
	return step;
}

void dw_memo_drop(struct dw_memo *m)
{
	m->n = 0;
}

/* How many steps of a walk to the end of the stack are to be kept: of what has called the runtime's
 * outermost code one. */
static uint32_t to_keep(const struct dw_memo *m)
{
	uint32_t n = m->fresh_n;

	while (n && m->fresh[n - 1].is_foreign)
		n--;
	return n && n < m->fresh_n && dw_is_runtime(m->fresh[n - 1].regs.ip) ? n + 1 : m->fresh_n;
}

DWELL_HOT void dw_memo_end(struct dw_memo *m, const struct dw_step *end, uint32_t frames)
{
	uint32_t kept = end ? m->at : 0;

	m->n = 0;
	if (m->fresh_n > DWELL_STACK_FRAMES - kept)
		return;
	for (uint32_t i = end ? m->fresh_n : to_keep(m); i-- > 0; kept++) {
		struct dw_step *step = &m->kept[kept];

		*step = m->fresh[i];
		step->frames = step->frames == UINT32_MAX ? 0 : frames - step->frames;
		if (!step->rbp_at)
			step->rbp_at = (uint64_t)&step->regs.rbp;
	}
	m->n = kept;
}
