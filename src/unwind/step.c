/*
 * Full call frame rules; see step.h. Source: DWARF 5, 6.4.1.
 *
 * A register without a rule keeps its value, as all debuggers for x86-64 assume. Registers other
 * than rip, rsp and rbp that cannot be found are marked as not known; only a later rule that wants
 * them fails.
 */
#include "unwind/step.h"

#include "base/error.h"
#include "code/cfi/expr.h"
#include "code/cfi/table-format.h"

#include <errno.h>

/* What read_word() returns when the stack is cut. */
enum { CUT = -ENODATA };

bool dw_unwind_extend(struct dw_unwind_memory *m, uint64_t addr)
{
	return m->extend && !m->extend(m->ctx, m, addr) && m->n >= 8 && addr - m->base <= m->n - 8;
}

static int read_word(void *ctx, uint64_t addr, uint64_t *ret)
{
	return dw_unwind_read(ctx, addr, ret) ? 0 : CUT;
}

/* The end that a failed evaluation means. */
static int end_of(int rc)
{
	if (rc == CUT)
		return DWELL_UNWIND_CUT;
	return rc == DWELL_ERR_NOT_FOUND ? DWELL_STEP_NEEDS_REGISTERS : DWELL_UNWIND_BROKEN;
}

static int find_cfa(const struct dw_cfi_rule *rule, const struct dw_cfi_context *context,
		    uint64_t *ret)
{
	if (rule->how == DWELL_CFI_VAL_EXPRESSION)
		return dw_cfi_eval(rule->ops, rule->ops_n, context, NULL, ret);
	if (rule->how != DWELL_CFI_OFFSET || rule->reg >= DWELL_CFI_REGS)
		return DWELL_ERR_FORMAT;
	if (!(context->known >> rule->reg & 1))
		return DWELL_ERR_NOT_FOUND;
	*ret = context->r[rule->reg] + (uint64_t)rule->offset;
	return 0;
}

/* The caller's value of register @reg, whose rule is @rule. */
static int find_register(const struct dw_cfi_rule *rule, unsigned reg,
			 const struct dw_cfi_context *context, uint64_t cfa, uint64_t *ret)
{
	uint64_t addr = cfa + (uint64_t)rule->offset;
	int rc;

	switch (rule->how) {
	case DWELL_CFI_OFFSET:
		/* A slot below sp has been popped, as in an epilogue: the register holds. */
		if (addr < context->r[DWELL_REG_RSP] && cfa > context->r[DWELL_REG_RSP])
			break;
		return context->read(context->ctx, addr, ret);
	case DWELL_CFI_VAL_OFFSET:
		*ret = addr;
		return 0;
	case DWELL_CFI_EXPRESSION:
		rc = dw_cfi_eval(rule->ops, rule->ops_n, context, &cfa, &addr);
		return rc ? rc : context->read(context->ctx, addr, ret);
	case DWELL_CFI_VAL_EXPRESSION:
		return dw_cfi_eval(rule->ops, rule->ops_n, context, &cfa, ret);
	case DWELL_CFI_UNDEFINED:
		return DWELL_ERR_NOT_FOUND;
	case DWELL_CFI_REGISTER:
		reg = rule->reg;
		break;
	}
	if (reg == DWELL_REG_RSP && rule->how == DWELL_CFI_UNSPECIFIED) {
		*ret = cfa;
		return 0;
	}
	*ret = context->r[reg];
	return context->known >> reg & 1 ? 0 : DWELL_ERR_NOT_FOUND;
}

int dw_unwind_step(const struct dw_cfi_table *table, uint64_t svma, struct dw_unwind_memory *memory,
		   struct dw_unwind_state *state, uint64_t *cfa)
{
	struct dw_cfi_context context = {state->r, state->known, read_word, memory};
	struct dw_unwind_state caller = {.known = 0};
	struct dw_cfi_rules rules;
	bool signal;
	int rc;

	if (dw_cfi_table_rules(table, svma, &rules, &signal))
		return DWELL_UNWIND_NO_RULE;
	if (rules.r[DWELL_REG_RIP].how == DWELL_CFI_UNDEFINED)
		return DWELL_UNWIND_COMPLETE;
	if (rules.r[DWELL_REG_RIP].how <= DWELL_CFI_SAME)
		return DWELL_UNWIND_NO_RULE;
	rc = find_cfa(&rules.cfa, &context, cfa);
	if (rc)
		return end_of(rc);
	for (unsigned reg = 0; reg < DWELL_REG_COUNT; reg++) {
		rc = find_register(&rules.r[reg], reg, &context, *cfa, &caller.r[reg]);
		if (!rc)
			caller.known |= 1u << reg;
		else if (reg == DWELL_REG_RIP || reg == DWELL_REG_RSP ||
			 (reg == DWELL_REG_RBP && rc == CUT))
			return end_of(rc);
		else
			caller.r[reg] = 0;
	}
	caller.exact = signal;
	*state = caller;
	return DWELL_STEP_OK;
}
