/*
 * How the caller of code is found from its registers: a frame rule for each return address,
 * inferred once, from the code (frame-rules-x86-64.c) or the runtime's stacks
 * (infer-rules-x86-64.c), and used for every walk (walk-x86-64.c).
 *
 * Optimised methods with one call have no frame of their own, but always the same number of bytes
 * between the stack pointer behind a call and their return address.
 */
#pragma once

#include "agent/clr/ids.h"

#include <stdbool.h>
#include <stdint.h>

/* Registers of a frame: its next instruction, the stack pointer there, the frame pointer. */
struct dw_regs {
	uint64_t ip, rsp, rbp;
};

/* The low half of a frame rule: words from the stack pointer to the return address, or one of
 * these. The high half: words to where the caller's frame pointer is saved, -1 = it is still in the
 * register; of DWELL_FRAME_RULE_CONTINUED the words of the other frame. */
enum dw_frame_rule_size {
	DWELL_FRAME_RULE_RBP = -1,    /* by the frame pointer */
	DWELL_FRAME_RULE_END = -2,    /* nothing managed further out */
	DWELL_FRAME_RULE_UNSURE = -3, /* differs: the runtime must be asked */
	DWELL_FRAME_RULE_SELF = -4,   /* of a stub: the return address is itself managed code */
	/* by the frame pointer, then over what is left of the frame of the method's other code,
	 * which this one goes on for */
	DWELL_FRAME_RULE_CONTINUED = -5,
};

/* Both halves as one. */
static inline uint32_t dw_frame_rule(int32_t size, int32_t save)
{
	return (uint32_t)(uint16_t)size | (uint32_t)(uint16_t)save << 16;
}

/* The low half of @rule: words, or one of enum dw_frame_rule_size. */
static inline int32_t dw_frame_rule_size(uint32_t rule)
{
	return (int16_t)rule;
}

/* Whether @rule leads to a caller. */
static inline bool dw_frame_rule_leads(uint32_t rule)
{
	return dw_frame_rule_size(rule) >= DWELL_FRAME_RULE_RBP ||
	       dw_frame_rule_size(rule) == DWELL_FRAME_RULE_CONTINUED;
}

/* Where dw_frame_rule_step() reads the caller's frame pointer, 0 = it is that of @s. */
static inline uint64_t dw_frame_rule_rbp_at(const struct dw_regs *s, uint32_t rule)
{
	int32_t save = (int16_t)(rule >> 16);

	if (dw_frame_rule_size(rule) < 0)
		return s->rbp;
	return save < 0 ? 0 : s->rsp + (uint64_t)save * 8;
}

/* Go to the caller of @s by @rule, reading nothing at or above @high. False: there is none. */
static inline bool dw_frame_rule_step(struct dw_regs *s, uint32_t rule, uint64_t high)
{
	int32_t size = (int16_t)rule, save = (int16_t)(rule >> 16);
	uint64_t at;

	if (size >= 0) {
		at = s->rsp + (uint64_t)size * 8;
		if (at + 8 > high)
			return false;
		if (save >= 0)
			s->rbp = ((const uint64_t *)s->rsp)[save];
	} else {
		at = s->rbp + 8;
		if (size == DWELL_FRAME_RULE_CONTINUED)
			at += 8 + (uint64_t)save * 8;
		if (s->rbp < s->rsp || at + 8 > high || s->rbp % 8)
			return false;
		s->rbp = *(const uint64_t *)s->rbp;
	}
	s->ip = *(const uint64_t *)at;
	s->rsp = at + 8;
	return true;
}

enum { DWELL_STUB_BITS = 1024 };

struct dw_frame_rules {
	struct dw_ids ips;   /* return address -> frame (0 = none), rule */
	struct dw_ids stubs; /* the runtime's ways into the callback: return address -> rule */
	uint64_t stub_bits[DWELL_STUB_BITS / 64]; /* by hash: may be in stubs */
	uint64_t runtime_start, runtime_end;
	uint64_t unwind_start, unwind_end; /* its unwind tables, which stay as long as it runs */
	uint64_t epoch;	  /* changes with what is known of return addresses; atomic */
	uint32_t check;	  /* compare one stack in so many with the runtime's, 0 = none */
	bool has_natives; /* native code has names (natives.h) */
};

extern struct dw_frame_rules dw_frame_rules;

/* The bit of @ip in stub_bits. */
static inline uint32_t dw_stub_bit(uint64_t ip)
{
	return (uint32_t)(ip ^ ip >> 10) % DWELL_STUB_BITS;
}

/* Whether @ip lies in the runtime. */
static inline bool dw_is_runtime(uint64_t ip)
{
	return ip >= dw_frame_rules.runtime_start && ip < dw_frame_rules.runtime_end;
}

struct dw_clr_self;

/* Infer how the caller of @s is found from its code alone. False: that does not say it. */
bool dw_infer_from_code(const struct dw_regs *s, uint64_t high);

/* Infer how the innermost managed frame is found from the callback's frame @base, from code alone.
 * False: that does not say it. */
bool dw_infer_start(uint64_t base, uint64_t high);

/* Ask the runtime for the stack of @t, the calling thread, whose callback has frame @base, and
 * infer from it. As dw_walk(). */
bool dw_infer(struct dw_clr_self *t, uint64_t base);

/* Compare the stack that was walked with the runtime's, and count. */
void dw_infer_check(struct dw_clr_self *t);

/* Put @frame (0 = none) behind the @n frames of @t, of native ones only the first. How many it has
 * then. */
uint32_t dw_walk_put(struct dw_clr_self *t, uint32_t n, uint32_t frame);

/* The stack of @t has the @n frames that were put. */
void dw_walk_end(struct dw_clr_self *t, uint32_t n);

/* Walk @t by what is known. False: something is not. */
bool dw_walk_known(struct dw_clr_self *t, uint64_t base);

/*
 * What code itself says of how its caller is found, before anything is inferred from the runtime's
 * stacks: of managed code how its method begins, of native code its unwind tables. May be called
 * where no collection is allowed. [any-thread]
 */

/* Whether @ip is a return address in managed code. */
bool dw_is_managed(uint64_t ip);

/* Whether @ip is a return address in managed code or the runtime's. */
bool dw_is_code(uint64_t ip);

/* Whether @ip may be a return address: it lies in managed code or in a module. */
bool dw_leads_on(uint64_t ip);

/* The frame rule that the code at the return address of @s says. False: it is nothing but likely,
 * as where a method does not begin as others do. Reads nothing at or above @high. */
bool dw_first_frame_rule(const struct dw_regs *s, uint64_t high, uint32_t *ret);

/* As dw_first_frame_rule(), and sure: the frame is as large as its code says, and what leads on
 * from there is code, too. Not so in what handles an exception, on a frame that is not its own. */
bool dw_sure_frame_rule(const struct dw_regs *s, uint64_t high, uint32_t *ret);
