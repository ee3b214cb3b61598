/*
 * Inferring frame rules; see frame-rules-x86-64.h.
 *
 * What code says is believed where it is sure (frame-rules-x86-64.c), and nearly all is inferred
 * so, when a walk meets it first. Else the runtime is asked for the whole stack. Such a snapshot
 * gives the registers of each managed frame. From one to the next leads what code says, or a chain
 * of frames with frame pointers, or a fixed size, or both when native frames or stubs lie between.
 * What leads two ways at different times stays unsure: then the runtime is asked each time. What
 * was inferred is tried at once; where it gives another stack than the snapshot, its innermost
 * frame is unsure.
 *
 * Between two frames of a snapshot may lie managed code that it leaves out: methods made at run
 * time, which we show, the runtime's own, and what is left of a method's frame when better code
 * goes on above it, which is no call.
 */
#include "agent/clr/frame-rules-x86-64.h"
#include "agent/clr/metadata.h"
#include "agent/clr/natives.h"
#include "agent/clr/runtime.h"
#include "agent/clr/tables.h"
#include "agent/clr/thread.h"
#include "agent/core/agent.h"
#include "agent/core/memory.h"

enum {
	CONTEXT_BYTES = 0x100,
	CONTEXT_RSP = 0x98,
	CONTEXT_RBP = 0xa0,
	STEPS = 256, /* of native frames between two managed ones */
	SIZE_MAX_WORDS = 4096,
	SIZE_MAX_GUESSED = 64, /* words of a frame that native code has called, as the next */
};

struct dw_snapshot {
	uint32_t n;
	struct {
		struct dw_regs regs;
		uint64_t function;
		bool is_called_by_native;
	} frames[DWELL_STACK_FRAMES];
};

static uint64_t word_at(uint64_t address)
{
	return *(const uint64_t *)address;
}

static int32_t take_frame(uint64_t function, uint64_t ip, uint64_t frame, uint32_t bytes,
			  const uint8_t *context, void *ctx)
{
	struct dw_snapshot *s = ctx;

	(void)frame;
	if (!function && s->n)
		s->frames[s->n - 1].is_called_by_native = true;
	if (!function)
		return DWELL_HR_OK;
	if (!context || bytes < CONTEXT_BYTES || s->n == DWELL_STACK_FRAMES)
		return DWELL_HR_STOP;
	s->frames[s->n].regs = (struct dw_regs){ip, word_at((uint64_t)context + CONTEXT_RSP),
						word_at((uint64_t)context + CONTEXT_RBP)};
	s->frames[s->n].is_called_by_native = false;
	s->frames[s->n++].function = function;
	return DWELL_HR_OK;
}

/* The frame of @ip in the tables, 0 = none is to be shown. False: no room. */
static bool find_frame(uint64_t ip, bool is_between, uint32_t *ret)
{
	const struct dw_clr_frame *frame;
	uint64_t function;

	*ret = DWELL_CLR_FRAME_NATIVE;
	if (dw_runtime_function_at(ip - 1, &function) < 0 || !function) {
		if (dw_frame_rules.has_natives)
			*ret = dw_natives_frame(ip);
		/* In no module: managed code that the runtime does not know by its address now. */
		return dw_frame_rules.has_natives || dw_is_runtime(ip) || !dw_natives_has(ip) ||
		       dw_natives_note(ip);
	}
	*ret = dw_intern_frame(function, ip);
	frame = dw_table_row(DWELL_CLR_FRAMES, *ret);
	if (!*ret)
		return false;
	if (dw_interned_is_hidden(frame) || (is_between && !dw_interned_is_dynamic(frame)))
		*ret = 0;
	return true;
}

/*
 * What becomes of a frame rule that was @known when @rule is found. Methods made at run time are
 * not in snapshots, so a frame of fixed size may seem to reach over one: the smaller is right then.
 */
static uint32_t settle(uint32_t known, uint32_t rule)
{
	int32_t old = dw_frame_rule_size(known), now = dw_frame_rule_size(rule);

	if (known == rule || now == DWELL_FRAME_RULE_END || (old >= 0 && now > old))
		return known;
	if (old == DWELL_FRAME_RULE_END || (now >= 0 && old > now))
		return rule;
	return dw_frame_rule(DWELL_FRAME_RULE_UNSURE, -1);
}

enum source {
	SEEN, /* from where stacks stood */
	SAID, /* by the code */
};

/* Note that @rule leads from @ip; @is_between: in no frame of a snapshot. */
static void infer(uint64_t ip, uint32_t rule, enum source source, bool is_between)
{
	struct dw_id *id = dw_ids_find(&dw_frame_rules.ips, ip);
	uint32_t frame = 0;

	if (id && id->extra == rule)
		return;
	if ((!id && !find_frame(ip, is_between, &frame)) || !dw_agent_enter())
		return;
	id = dw_ids_find(&dw_frame_rules.ips, ip);
	if (!id)
		dw_ids_put(&dw_frame_rules.ips, ip, frame, rule);
	else
		id->extra = source == SAID ? rule : settle(id->extra, rule);
	__atomic_fetch_add(&dw_frame_rules.epoch, 1, __ATOMIC_RELEASE);
	dw_agent_leave();
}

/* The frame rule that leads from @s to @to over a frame of fixed size. */
static bool fixed_rule(const struct dw_regs *s, const struct dw_regs *to, uint32_t *ret)
{
	uint64_t words = (to->rsp - 8 - s->rsp) / 8;
	int32_t save = -1;

	if (to->rsp < s->rsp + 8 || words > SIZE_MAX_WORDS || word_at(to->rsp - 8) != to->ip)
		return false;
	for (uint64_t i = 0; i < words && s->rbp != to->rbp; i++)
		if (word_at(s->rsp + i * 8) == to->rbp)
			save = (int32_t)i;
	*ret = dw_frame_rule((int32_t)words, save);
	return s->rbp == to->rbp || save >= 0;
}

/* The frame rule of @s that its code says, else the likely one. */
static uint32_t first_rule(const struct dw_regs *s, uint64_t high)
{
	uint32_t rule;

	dw_first_frame_rule(s, high, &rule);
	return rule;
}

/* The frame rule of @s as long as nothing else leads on: managed code may have begun otherwise. */
static uint32_t likely_rule(const struct dw_regs *s, uint64_t high)
{
	return dw_is_managed(s->ip) ? dw_frame_rule(DWELL_FRAME_RULE_RBP, -1) : first_rule(s, high);
}

/*
 * Whether @s is the managed frame @to. One that has called native code directly is told with
 * another address of its code than that to which it returns, which then is put right.
 */
static bool is_frame(const struct dw_regs *s, struct dw_regs *to)
{
	if (s->rsp != to->rsp || s->rbp != to->rbp)
		return false;
	to->ip = s->ip;
	return true;
}

/* Go on from @s by what is known of it. False: that does not lead to @to or to code on the way. */
static bool follow(struct dw_regs *s, struct dw_regs *to, uint64_t high)
{
	const struct dw_id *id = dw_ids_find(&dw_frame_rules.ips, s->ip);
	struct dw_regs next = *s;

	if (!id || !dw_frame_rule_leads(id->extra) || !dw_frame_rule_step(&next, id->extra, high))
		return false;
	if (!is_frame(&next, to) && (next.rsp >= to->rsp || !dw_leads_on(next.ip)))
		return false;
	*s = next;
	return true;
}

/* Whether @s leads to @to by what code says. */
static bool reaches(struct dw_regs s, const struct dw_regs *to, uint64_t high)
{
	for (int i = 0; i < STEPS && s.rsp < to->rsp; i++)
		if (!dw_leads_on(s.ip) || !dw_frame_rule_step(&s, first_rule(&s, high), high))
			return false;
	return s.rsp == to->rsp && s.rbp == to->rbp;
}

/* The frame rule of the managed frame @s of fixed size, called by native code that was called by
 * @to: the return address from which @to is reached. */
static bool fixed_rule_to_native(const struct dw_regs *s, const struct dw_regs *to, uint64_t high,
				 uint32_t *ret)
{
	struct dw_regs next = *s;

	for (int32_t size = 0; size < SIZE_MAX_GUESSED; size++) {
		next.rsp = s->rsp + 8 * (uint64_t)(size + 1);
		if (next.rsp >= to->rsp)
			return false;
		next.ip = word_at(next.rsp - 8);
		for (int32_t save = -1; save < size && dw_natives_has(next.ip); save++) {
			next.rbp = save < 0 ? s->rbp : word_at(s->rsp + 8 * (uint64_t)save);
			*ret = dw_frame_rule(size, save);
			if (reaches(next, to, high))
				return true;
		}
	}
	return false;
}

/* Infer what leads from @s to @to, by what code says. */
static void infer_from_code(struct dw_regs s, const struct dw_regs *to, uint64_t high,
			    bool is_between)
{
	while (s.rsp != to->rsp) {
		uint32_t rule = first_rule(&s, high);

		infer(s.ip, rule, SAID, is_between);
		is_between = true;
		if (!dw_frame_rule_step(&s, rule, high))
			return;
	}
}

/* Infer what leads from @s, with @is_between in no frame of a snapshot, to its caller @to. Not by a
 * fixed size with native code in between (@has_native). */
static void join(struct dw_regs s, struct dw_regs *to, uint64_t high, bool is_between,
		 bool has_native)
{
	struct dw_regs next;
	uint32_t rule;

	if (reaches(s, to, high)) {
		infer_from_code(s, to, high, is_between);
		return;
	}
	for (int i = 0; i < STEPS && s.rsp != to->rsp; i++) {
		if (follow(&s, to, high)) {
			is_between = true;
			continue;
		}
		next = s;
		rule = likely_rule(&s, high);
		if (!dw_frame_rule_step(&next, rule, high))
			break;
		if (is_frame(&next, to)) {
			infer(s.ip, rule, SEEN, is_between);
			return;
		}
		if (next.rsp >= to->rsp || !dw_leads_on(next.ip))
			break;
		infer(s.ip, rule, SEEN, is_between);
		is_between = true;
		s = next;
	}
	if (s.rsp == to->rsp)
		return;
	if (has_native && fixed_rule_to_native(&s, to, high, &rule)) {
		infer(s.ip, rule, SEEN, is_between);
		dw_frame_rule_step(&s, rule, high);
		join(s, to, high, true, true);
		return;
	}
	if (has_native || !fixed_rule(&s, to, &rule))
		rule = dw_frame_rule(DWELL_FRAME_RULE_UNSURE, -1);
	infer(s.ip, rule, SEEN, is_between);
}

bool dw_infer_from_code(const struct dw_regs *s, uint64_t high)
{
	uint32_t rule;

	if (!dw_sure_frame_rule(s, high, &rule))
		return false;
	infer(s->ip, rule, SAID, false);
	return true;
}

/* Go on from @s, outside of the outermost managed frame, by what is known or sure. */
static bool follow_out(struct dw_regs *s, uint64_t high)
{
	const struct dw_id *id = dw_ids_find(&dw_frame_rules.ips, s->ip);

	if (!id && dw_infer_from_code(s, high))
		id = dw_ids_find(&dw_frame_rules.ips, s->ip);
	return id && dw_frame_rule_leads(id->extra) && dw_frame_rule_step(s, id->extra, high) &&
	       dw_leads_on(s->ip);
}

/* Infer what follows the outermost managed frame @s. */
static void infer_end(struct dw_regs s, uint64_t high)
{
	const uint32_t by_fp = dw_frame_rule(DWELL_FRAME_RULE_RBP, -1);
	bool is_between = false;
	struct dw_regs next = s;

	for (int i = 0; i < STEPS; i++) {
		if (follow_out(&next, high)) {
			s = next;
			is_between = true;
			continue;
		}
		next = s;
		if (!dw_frame_rule_step(&next, by_fp, high) || !dw_is_code(next.ip))
			break;
		infer(s.ip, by_fp, SEEN, is_between);
		is_between = true;
		s = next;
	}
	infer(s.ip, dw_frame_rule(DWELL_FRAME_RULE_END, -1), SEEN, is_between);
}

static void infer_stub(uint64_t ip, uint32_t rule, enum source source)
{
	uint32_t bit = dw_stub_bit(ip);
	struct dw_id *id;

	if (!dw_agent_enter())
		return;
	id = dw_ids_find(&dw_frame_rules.stubs, ip);
	if (id)
		id->extra = source == SAID ? rule : settle(id->extra, rule);
	else if (dw_ids_put(&dw_frame_rules.stubs, ip, 0, rule))
		__atomic_fetch_or(&dw_frame_rules.stub_bits[bit / 64], 1ull << bit % 64,
				  __ATOMIC_RELEASE);
	dw_agent_leave();
}

/* The stub @s leads to @to by @rule, or first to a method made at run time. */
static void join_stub(struct dw_regs s, uint32_t rule, enum source source, struct dw_regs *to,
		      uint64_t high)
{
	const struct dw_id *id;

	infer_stub(s.ip, rule, source);
	id = dw_ids_find(&dw_frame_rules.stubs, s.ip);
	if (id && dw_frame_rule_size(id->extra) >= 0 && dw_frame_rule_step(&s, id->extra, high) &&
	    s.rsp < to->rsp && dw_leads_on(s.ip))
		join(s, to, high, true, false);
}

/* Whether @s is a stub that its unwind table leads from to managed code: by *@ret. */
static bool is_stub(struct dw_regs s, uint64_t high, uint32_t *ret)
{
	return dw_first_frame_rule(&s, high, ret) && dw_frame_rule_size(*ret) >= 0 &&
	       dw_frame_rule_step(&s, *ret, high) && dw_is_managed(s.ip);
}

/* Infer how the innermost managed frame is found from the callback's frame @base: it is @to, or one
 * of a method made at run time, which leads to @to. */
static void join_callback(uint64_t base, struct dw_regs *to, uint64_t high)
{
	struct dw_regs s = {0, base, base};
	uint32_t rule;

	for (int i = 0; i < STEPS; i++) {
		if (!dw_frame_rule_step(&s, dw_frame_rule(DWELL_FRAME_RULE_RBP, -1), high) ||
		    s.rsp > to->rsp)
			return;
		if (is_frame(&s, to) || dw_is_managed(s.ip)) {
			infer_stub(s.ip, dw_frame_rule(DWELL_FRAME_RULE_SELF, -1), SAID);
			if (s.rsp < to->rsp)
				join(s, to, high, true, false);
			return;
		}
		if (is_stub(s, high, &rule)) {
			join_stub(s, rule, SAID, to, high);
			return;
		}
		if (s.rbp + 16 <= to->rsp && s.rbp >= s.rsp)
			continue;
		if (fixed_rule(&s, to, &rule))
			join_stub(s, rule, SEEN, to, high);
		return;
	}
}

bool dw_infer_start(uint64_t base, uint64_t high)
{
	struct dw_regs s = {0, base, base};
	uint32_t rule;

	for (int i = 0;
	     i < STEPS && dw_frame_rule_step(&s, dw_frame_rule(DWELL_FRAME_RULE_RBP, -1), high);
	     i++) {
		if (dw_is_managed(s.ip)) {
			infer_stub(s.ip, dw_frame_rule(DWELL_FRAME_RULE_SELF, -1), SAID);
			return true;
		}
		if (is_stub(s, high, &rule)) {
			infer_stub(s.ip, rule, SAID);
			return true;
		}
		if (!dw_leads_on(s.ip))
			return false;
	}
	return false;
}

/* Put the frames of the snapshot to @t. */
static void take_snapshot(struct dw_clr_self *t, const struct dw_snapshot *s)
{
	const struct dw_id *id;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		id = dw_ids_find(&dw_frame_rules.ips, s->frames[i].regs.ip);
		n = dw_walk_put(t, n, id ? id->value : 0);
		if (s->frames[i].is_called_by_native)
			n = dw_walk_put(t, n, DWELL_CLR_FRAME_NATIVE);
	}
	dw_walk_end(t, n);
}

/* Whether frame @at of @t is one that snapshots leave out. */
static bool is_left_out(const struct dw_clr_self *t, uint32_t at)
{
	uint32_t row = t->frames[at];

	return row == DWELL_CLR_FRAME_NATIVE || dw_natives_is(row) ||
	       (row < DWELL_CLR_FRAME_ROOT &&
		dw_interned_is_dynamic(dw_table_row(DWELL_CLR_FRAMES, row)));
}

/* Whether what was walked has all that the snapshot has, in its order, and nothing else but what
 * snapshots leave out. */
static bool agrees(const struct dw_clr_self *t, const struct dw_snapshot *s)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct dw_id *id = dw_ids_find(&dw_frame_rules.ips, s->frames[i].regs.ip);

		while (id && at < t->frames_n && t->frames[at] != id->value && is_left_out(t, at))
			at++;
		if (id && at < t->frames_n && t->frames[at] != id->value)
			return false;
		if (!id || at == t->frames_n)
			return false;
		at++;
	}
	return true;
}

/* Name what the runtime did not know by its address, as happens while code is made: the snapshot
 * tells the method. */
static void name_frames(const struct dw_snapshot *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct dw_id *id = dw_ids_find(&dw_frame_rules.ips, s->frames[i].regs.ip);
		uint32_t frame;

		if (!id || (id->value && id->value != DWELL_CLR_FRAME_NATIVE))
			continue;
		frame = dw_intern_frame(s->frames[i].function, s->frames[i].regs.ip);
		if (!frame || !dw_agent_enter())
			continue;
		id = dw_ids_find(&dw_frame_rules.ips, s->frames[i].regs.ip);
		if (id)
			__atomic_store_n(&id->value, frame, __ATOMIC_RELEASE);
		dw_agent_leave();
	}
}

static bool infer_all(struct dw_clr_self *t, struct dw_snapshot *s, uint64_t base)
{
	bool is_walked;

	s->n = 0;
	dw_tables_count(DWELL_CLR_SNAPSHOTS, 1);
	if (dw_runtime_snapshot(take_frame, s) < 0 || !s->n)
		return false;
	join_callback(base, &s->frames[0].regs, t->stack_high);
	for (uint32_t i = 0; i + 1 < s->n; i++)
		join(s->frames[i].regs, &s->frames[i + 1].regs, t->stack_high, false,
		     s->frames[i].is_called_by_native);
	infer_end(s->frames[s->n - 1].regs, t->stack_high);
	name_frames(s);
	is_walked = dw_walk_known(t, base);
	if (is_walked && agrees(t, s))
		return true;
	if (is_walked)
		infer(s->frames[0].regs.ip, dw_frame_rule(DWELL_FRAME_RULE_UNSURE, -1), SEEN,
		      false);
	take_snapshot(t, s);
	return true;
}

bool dw_infer(struct dw_clr_self *t, uint64_t base)
{
	if (!t->snapshot)
		t->snapshot = dw_agent_memory(sizeof(*t->snapshot));
	return t->snapshot && infer_all(t, t->snapshot, base);
}

/* Whether frame @at of @t is of @function, 0 = of one that is not known. */
static bool is_of(const struct dw_clr_self *t, uint32_t at, uint32_t function)
{
	const struct dw_clr_frame *frame = dw_table_row(DWELL_CLR_FRAMES, t->frames[at]);

	return t->frames[at] < DWELL_CLR_FRAME_ROOT && !dw_natives_is(t->frames[at]) &&
	       (!function || frame->function == function);
}

/* Whether the frames of @t are of the methods of @s, in its order. */
static bool is_same(const struct dw_clr_self *t, const struct dw_snapshot *s)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < s->n; i++, at++) {
		uint32_t function = dw_interned_find(s->frames[i].function);

		while (at < t->frames_n && !is_of(t, at, function) && is_left_out(t, at))
			at++;
		if (at >= t->frames_n || !is_of(t, at, function))
			return false;
	}
	return true;
}

void dw_infer_check(struct dw_clr_self *t)
{
	t->walks = 0;
	if (!t->snapshot)
		t->snapshot = dw_agent_memory(sizeof(*t->snapshot));
	if (!t->snapshot)
		return;
	t->snapshot->n = 0;
	if (dw_runtime_snapshot(take_frame, t->snapshot) < 0)
		return;
	dw_tables_count(DWELL_CLR_CHECKED, 1);
	if (!is_same(t, t->snapshot))
		dw_tables_count(DWELL_CLR_DIFFERENT, 1);
}
