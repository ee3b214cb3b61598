/*
 * Frame rules by code; see frame-rules-x86-64.h. A method's code stands still while it is on a
 * stack.
 */
#include "agent/clr/frame-rules-x86-64.h"

#include "agent/clr/metadata.h"
#include "agent/clr/natives.h"
#include "agent/clr/runtime.h"
#include "wire/prolog-x86-64.h"

enum {
	PROLOG_BYTES = 96, /* that are looked at */
	WORDS_MAX = INT16_MAX,
};

bool dw_is_managed(uint64_t ip)
{
	uint64_t function;

	return dw_runtime_function_at(ip - 1, &function) >= 0 && function;
}

bool dw_is_code(uint64_t ip)
{
	return dw_is_runtime(ip) || dw_is_managed(ip);
}

bool dw_leads_on(uint64_t ip)
{
	return dw_is_code(ip) || dw_natives_has(ip);
}

/* Whether @code sets the frame pointer anywhere, as where a large frame is touched before. */
static bool may_set_frame_pointer(const uint8_t *code, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct dw_code_reader r = {code + i, n - i};

		if (dw_code_take_frame_pointer(&r))
			return true;
	}
	return false;
}

/* The code that @ip lies in: the first that its method was compiled to, or a later one. */
static bool find_code(uint64_t ip, struct dw_com_code *ret)
{
	uint64_t function;

	if (dw_runtime_function_at(ip - 1, &function) < 0 || !function)
		return false;
	if (dw_runtime_first_code(function, ret) >= 0 && ip - 1 - ret->start < ret->bytes)
		return true;
	return dw_interned_code(function, ip, ret);
}

/* What the method of @ip does to the stack before it gets there. False: it does not begin as most
 * do, or is no managed code. */
static bool find_prolog(uint64_t ip, struct dw_prolog *ret)
{
	struct dw_com_code code;
	const uint8_t *begin;
	size_t n;

	if (!find_code(ip, &code))
		return false;
	begin = (const uint8_t *)code.start;
	n = code.bytes < PROLOG_BYTES ? code.bytes : PROLOG_BYTES;
	*ret = dw_prolog_read(begin, n, UINT64_MAX);
	if (ret->is_continued)
		return true;
	return ret->words > ret->rbp && ret->words <= WORDS_MAX &&
	       (ret->is_framed || !ret->rbp || !may_set_frame_pointer(begin, n));
}

/* The frame rule of code that goes on for other code of its method: it has a frame pointer, and
 * returns to that code as far as the stack tells. False: that began otherwise than most. */
static bool continued_rule(struct dw_regs s, uint64_t high, uint32_t *ret)
{
	struct dw_prolog p;

	if (!dw_frame_rule_step(&s, dw_frame_rule(DWELL_FRAME_RULE_RBP, -1), high) ||
	    !find_prolog(s.ip, &p) || p.is_continued)
		return false;
	*ret = dw_frame_rule(DWELL_FRAME_RULE_CONTINUED, (int32_t)p.words - 1);
	return true;
}

/* Also what its method does to the stack, *@p. */
static bool managed_rule(const struct dw_regs *s, uint64_t high, struct dw_prolog *p, uint32_t *ret)
{
	if (!find_prolog(s->ip, p))
		return false;
	if (p->is_continued)
		return continued_rule(*s, high, ret);
	if (!p->is_framed)
		*ret = dw_frame_rule((int32_t)p->words - 1,
				     p->rbp ? (int32_t)(p->words - 1 - p->rbp) : -1);
	return true;
}

bool dw_first_frame_rule(const struct dw_regs *s, uint64_t high, uint32_t *ret)
{
	struct dw_prolog p;

	*ret = dw_frame_rule(DWELL_FRAME_RULE_RBP, -1);
	return dw_is_managed(s->ip) ? managed_rule(s, high, &p, ret)
				    : dw_natives_frame_rule(s->ip, ret);
}

bool dw_sure_frame_rule(const struct dw_regs *s, uint64_t high, uint32_t *ret)
{
	bool is_managed = dw_is_managed(s->ip);
	struct dw_regs next = *s;
	struct dw_prolog p;

	*ret = dw_frame_rule(DWELL_FRAME_RULE_RBP, -1);
	if (is_managed ? !managed_rule(s, high, &p, ret) : !dw_natives_frame_rule(s->ip, ret))
		return false;
	if (is_managed && p.is_framed && s->rsp + (uint64_t)p.words * 8 != s->rbp + 16)
		return false;
	return dw_frame_rule_step(&next, *ret, high) && dw_leads_on(next.ip);
}
