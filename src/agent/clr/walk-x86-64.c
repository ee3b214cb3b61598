/*
 * Walks; see walk.h and frame-rules-x86-64.h.
 *
 * From the callback outwards the runtime's own frames have frame pointers, up to a stub that
 * managed code called; from there frame rules lead on, one look-up a frame. Native frames between
 * managed ones become one, unless their names are wanted. Nothing outside the thread's stack is
 * read.
 */
#include "agent/clr/walk.h"

#include "agent/clr/frame-rules-x86-64.h"
#include "agent/clr/loader.h"
#include "agent/clr/memo-x86-64.h"
#include "agent/clr/metadata.h"
#include "agent/clr/natives.h"
#include "agent/clr/runtime.h"
#include "agent/clr/tables.h"
#include "agent/core/agent.h"

enum { STEPS_TO_STUB = 128 }; /* the runtime's compiler may lie between */

struct dw_frame_rules dw_frame_rules;

void dw_walk_start(uint32_t check, bool has_natives)
{
	struct dw_loader_module m;

	dw_frame_rules.has_natives = dw_natives_start() && has_natives;
	dw_frame_rules.check = check;
	if (!dw_loader_module_at(dw_runtime_address(), &m))
		return;
	dw_frame_rules.runtime_start = m.start;
	dw_frame_rules.runtime_end = m.end;
	dw_frame_rules.unwind_start = m.unwind_start;
	dw_frame_rules.unwind_end = m.unwind_end;
}

/* The way into the callback at @ip, NULL = it is none that is known. */
static const struct dw_id *find_stub(uint64_t ip)
{
	uint32_t bit = dw_stub_bit(ip);

	return dw_frame_rules.stub_bits[bit / 64] >> bit % 64 & 1
		       ? dw_ids_find(&dw_frame_rules.stubs, ip)
		       : NULL;
}

/* The registers of the innermost managed frame. */
static bool find_start(uint64_t base, uint64_t high, struct dw_regs *ret)
{
	struct dw_regs s = {0, base, base};
	const struct dw_id *id;

	for (int i = 0; i < STEPS_TO_STUB; i++) {
		if (!dw_frame_rule_step(&s, dw_frame_rule(DWELL_FRAME_RULE_RBP, 0), high))
			return false;
		id = find_stub(s.ip);
		/* Managed code from where nothing was inferred yet is not to be stepped over. */
		if (!id && !dw_is_runtime(s.ip) && !dw_natives_has(s.ip))
			return false;
		if (!id)
			continue;
		*ret = s;
		return dw_frame_rule_size(id->extra) == DWELL_FRAME_RULE_SELF ||
		       (dw_frame_rule_size(id->extra) >= 0 &&
			dw_frame_rule_step(ret, id->extra, high));
	}
	return false;
}

static bool is_native(uint32_t frame)
{
	return frame == DWELL_CLR_FRAME_NATIVE ||
	       (dw_frame_rules.has_natives && dw_natives_is(frame));
}

uint32_t dw_walk_put(struct dw_clr_self *t, uint32_t n, uint32_t frame)
{
	/* Code of the runtime's that managed code has called last is no frame. */
	if (!frame || (!n && is_native(frame)) ||
	    (frame == DWELL_CLR_FRAME_NATIVE && t->frames[n - 1] == frame))
		return n;
	t->frames[n] = frame;
	return n + 1;
}

void dw_walk_end(struct dw_clr_self *t, uint32_t n)
{
	while (n && is_native(t->frames[n - 1]))
		n--;
	if (n == DWELL_STACK_FRAMES)
		t->frames[n - 1] = DWELL_CLR_FRAME_TRUNCATED;
	t->frames_n = n;
	t->shared = 0;
}

/* What of the frame @id the memo shall know: how many of the stack are before it. */
static uint32_t before(const struct dw_id *id, uint32_t n)
{
	return id->value && !is_native(id->value) ? n : UINT32_MAX;
}

static bool goes_with_module(const struct dw_id *id, uint32_t word)
{
	(void)word;
	return id->value == DWELL_CLR_FRAME_NATIVE || dw_natives_is(id->value);
}

/* Whether what is known of @ip still holds: native libraries can go, and all that is known of them
 * with them. */
static bool holds(const struct dw_id *id, uint64_t ip)
{
	if (!is_native(id->value) || dw_is_runtime(ip) || dw_natives_is_current(ip))
		return true;
	if (dw_agent_enter()) {
		dw_ids_remove(&dw_frame_rules.ips, goes_with_module, 0);
		__atomic_fetch_add(&dw_frame_rules.epoch, 1, __ATOMIC_RELEASE);
		dw_natives_forget();
		dw_agent_leave();
	}
	return false;
}

/* What is known of @s, at once or by its code. NULL = nothing that holds. */
static const struct dw_id *find_rule(const struct dw_regs *s, uint64_t high)
{
	const struct dw_id *id = dw_ids_find(&dw_frame_rules.ips, s->ip);

	if (!id && dw_infer_from_code(s, high))
		id = dw_ids_find(&dw_frame_rules.ips, s->ip);
	return id && dw_frame_rule_size(id->extra) != DWELL_FRAME_RULE_UNSURE && holds(id, s->ip)
		       ? id
		       : NULL;
}

/* The walk has met the last one at @kept, with @n frames of its own. */
static void share(struct dw_clr_self *t, const struct dw_step *kept, uint32_t n)
{
	t->frames_n = n;
	t->shared = kept->frames;
}

/* Walk @t, with the memo @m of its last walk unless NULL. False: something is not known. */
static DWELL_HOT bool walk(struct dw_clr_self *t, uint64_t base, struct dw_memo *m)
{
	const struct dw_step *kept = NULL;
	const struct dw_id *id;
	struct dw_regs s;
	uint64_t rbp_at = 0;
	uint32_t n = 0;
	bool is_inferred = false;

	while (!find_start(base, t->stack_high, &s)) {
		if (is_inferred || !dw_infer_start(base, t->stack_high))
			return false;
		is_inferred = true;
	}
	do {
		kept = m ? dw_memo_find(m, &s, rbp_at) : NULL;
		if (kept)
			break;
		id = find_rule(&s, t->stack_high);
		if (!id)
			return false;
		if (m)
			dw_memo_step(m, &s, rbp_at, before(id, n),
				     is_native(id->value) && !dw_is_runtime(s.ip));
		n = dw_walk_put(t, n, id->value);
		rbp_at = dw_frame_rule_rbp_at(&s, id->extra);
	} while (n < DWELL_STACK_FRAMES && dw_frame_rule_size(id->extra) != DWELL_FRAME_RULE_END &&
		 dw_frame_rule_step(&s, id->extra, t->stack_high));
	if (kept)
		share(t, kept, n);
	else
		dw_walk_end(t, n);
	if (m)
		dw_memo_end(m, kept, t->frames_n + t->shared);
	return true;
}

bool dw_walk_known(struct dw_clr_self *t, uint64_t base)
{
	return walk(t, base, NULL);
}

/* Let t->frames have all frames. */
static void unshare(struct dw_clr_self *t)
{
	for (; t->shared; t->shared--)
		t->frames[t->frames_n++] = t->path.frames[t->shared - 1];
}

DWELL_HOT bool dw_walk(struct dw_clr_self *t, uint64_t base)
{
	struct dw_memo *m = dw_memo_begin(t);
	bool is_whole = walk(t, base, m) && t->shared <= t->path.n &&
			t->frames_n + t->shared < DWELL_STACK_FRAMES;

	if (!is_whole) {
		if (m)
			dw_memo_drop(m);
		return dw_walk_known(t, base) || dw_infer(t, base);
	}
	if (dw_frame_rules.check && ++t->walks >= dw_frame_rules.check) {
		unshare(t);
		dw_infer_check(t);
	}
	return true;
}

void dw_walk_forget(void)
{
	if (!dw_agent_enter())
		return;
	dw_ids_remove(&dw_frame_rules.ips, NULL, 0);
	__atomic_fetch_add(&dw_frame_rules.epoch, 1, __ATOMIC_RELEASE);
	dw_interned_forget();
	dw_agent_leave();
}

/* Whether @id is of code of the method @row, or of code that is not shown, whose method is not
 * known. */
static bool is_of_function(const struct dw_id *id, uint32_t row)
{
	const struct dw_clr_frame *frame = dw_table_row(DWELL_CLR_FRAMES, id->value);

	return !id->value || (id->value < DWELL_CLR_FRAME_ROOT && frame->function == row &&
			      frame->il_offset != DWELL_CLR_IL_NATIVE);
}

void dw_walk_forget_function(uint64_t function)
{
	uint32_t row = dw_interned_find(function);

	if (!row || !dw_agent_enter())
		return;
	dw_ids_remove(&dw_frame_rules.ips, is_of_function, row);
	__atomic_fetch_add(&dw_frame_rules.epoch, 1, __ATOMIC_RELEASE);
	dw_interned_forget_function(row);
	dw_agent_leave();
}
