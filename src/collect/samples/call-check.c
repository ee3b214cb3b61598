/*
 * Calls and where they lead; see call-check.h. Instructions cannot be read backward for certain, so
 * each length that a call can have is tried. What a pointer that a stub or a call reads holds is
 * looked at now: the loader writes it before it enters the function.
 */
#include "collect/samples/call-check.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "code/cfi/table.h"
#include "code/decode/insn.h"
#include "target/memory.h"

#include <string.h>

enum {
	CALL_BYTES_MAX = 8, /* without prefixes that change nothing */
	DIRECT_CALL_BYTES = 5,
	JUMPS_MAX = 4,		   /* from function to function, on the way */
	FUNCTION_BYTES = 64 << 10, /* that are searched for jumps */
	STUB_BYTES = 64,
	STUB_INSNS = 4,
	SEARCHED_MAX = 16, /* functions, for one answer */
	PROVEN_FRAMES = 8, /* behind a gap */
};

/* mov $15, %rax; syscall: what a handler returns to. */
static const uint8_t sigreturn[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

/* What is asked, and what was searched already. */
struct asked {
	pid_t pid;
	struct dw_space *space;
	struct dw_cfi_range to; /* avmas of the function */
	uint64_t searched[SEARCHED_MAX];
	size_t searched_n;
};

/* The function around @avma, in avmas. False: no table tells. */
static bool find_function(struct dw_space *space, uint64_t avma, struct dw_cfi_range *ret)
{
	const struct dw_space_range *range = dw_space_find(space, (struct dw_avma){avma});

	if (!range || !range->cfi || dw_cfi_table_range(range->cfi, avma - range->bias, ret))
		return false;
	ret->start += range->bias;
	ret->end += range->bias;
	return true;
}

static enum dw_call_check leads(struct asked *a, uint64_t target, unsigned jumps);

/* Where the pointer at @at leads. */
static enum dw_call_check pointer_leads(struct asked *a, uint64_t at, unsigned jumps)
{
	uint64_t target;

	if (dw_memory_read(a->pid, at, &target, sizeof target) != sizeof target)
		return DWELL_CALL_OTHER;
	return leads(a, target, jumps);
}

/* Where the jump @insn at @at, out of the function @f, leads. */
static enum dw_call_check jump_leads(struct asked *a, const struct dw_insn *insn, uint64_t at,
				     const struct dw_cfi_range *f, unsigned jumps)
{
	uint64_t target = dw_insn_target(insn, at);

	switch (insn->kind) {
	case DWELL_INSN_JUMP:
	case DWELL_INSN_BRANCH:
		if (target - f->start < f->end - f->start)
			return DWELL_CALL_OTHER;
		return leads(a, target, jumps);
	case DWELL_INSN_JUMP_INDIRECT:
		return insn->flags & DWELL_INSN_RELATIVE ? pointer_leads(a, target, jumps)
							 : DWELL_CALL_ANY;
	default:
		return DWELL_CALL_OTHER;
	}
}

/* Whether the @n bytes of code @code, at @at, begin with what ends in a jump after a few
 * instructions, as stubs do; then *@ret says where that leads. */
static bool is_stub(struct asked *a, const uint8_t *code, size_t n, uint64_t at, unsigned jumps,
		    enum dw_call_check *ret)
{
	const struct dw_cfi_range none = {0};
	struct dw_insn insn;

	for (unsigned i = 0; i < STUB_INSNS && dw_insn_decode(code, n, &insn); i++) {
		if (insn.kind == DWELL_INSN_JUMP || insn.kind == DWELL_INSN_JUMP_INDIRECT) {
			*ret = jump_leads(a, &insn, at, &none, jumps);
			return true;
		}
		if (insn.kind != DWELL_INSN_PLAIN)
			return false;
		code += insn.length;
		n -= insn.length;
		at += insn.length;
	}
	return false;
}

/* The best of what jumps out of the function @f lead to. */
static enum dw_call_check jumps_lead(struct asked *a, const struct dw_cfi_range *f, unsigned jumps)
{
	size_t n = f->end - f->start < FUNCTION_BYTES ? f->end - f->start : FUNCTION_BYTES;
	dw_auto_free uint8_t *code = malloc(n);
	ssize_t got = code ? dw_memory_read(a->pid, f->start, code, n) : -1;
	enum dw_call_check best = DWELL_CALL_OTHER;
	struct dw_insn insn;

	for (ssize_t at = 0; at < got && best != DWELL_CALL_LEADS; at += insn.length) {
		enum dw_call_check found;

		if (!dw_insn_decode(code + at, (size_t)(got - at), &insn))
			break;
		found = jump_leads(a, &insn, f->start + (uint64_t)at, f, jumps);
		best = found > best ? found : best;
	}
	return best;
}

/* Whether @f is to be searched for jumps: once. */
static bool begin_search(struct asked *a, const struct dw_cfi_range *f)
{
	for (size_t i = 0; i < a->searched_n; i++)
		if (a->searched[i] == f->start)
			return false;
	if (a->searched_n == SEARCHED_MAX)
		return false;
	a->searched[a->searched_n++] = f->start;
	return true;
}

/* Where a call of @target leads, by no more than @jumps jumps. */
static enum dw_call_check leads(struct asked *a, uint64_t target, unsigned jumps)
{
	struct dw_cfi_range f;
	uint8_t code[STUB_BYTES];
	enum dw_call_check found;
	ssize_t n;

	if (target - a->to.start < a->to.end - a->to.start)
		return DWELL_CALL_LEADS;
	if (!jumps || !dw_space_find(a->space, (struct dw_avma){target}))
		return DWELL_CALL_OTHER;
	n = dw_memory_read(a->pid, target, code, sizeof code);
	if (n <= 0)
		return DWELL_CALL_OTHER;
	if (is_stub(a, code, (size_t)n, target, jumps - 1, &found))
		return found;
	if (!find_function(a->space, target, &f))
		return DWELL_CALL_ANY;
	return begin_search(a, &f) ? jumps_lead(a, &f, jumps - 1) : DWELL_CALL_OTHER;
}

/* Whether the @length bytes at @code are a call. */
static bool is_call(const uint8_t *code, size_t length, struct dw_insn *ret)
{
	return dw_insn_decode(code, length, ret) && ret->length == length &&
	       (ret->kind == DWELL_INSN_CALL || ret->kind == DWELL_INSN_CALL_INDIRECT);
}

/* Where the call before @from leads. */
static enum dw_call_check check(struct asked *a, uint64_t from, bool is_known)
{
	enum dw_call_check best = DWELL_CALL_OTHER;
	uint8_t code[CALL_BYTES_MAX];
	struct dw_insn insn;

	if (dw_memory_read(a->pid, from - sizeof code, code, sizeof code) != sizeof code)
		return DWELL_CALL_OTHER;
	for (size_t n = 2; n <= sizeof code && best != DWELL_CALL_LEADS; n++) {
		enum dw_call_check found = DWELL_CALL_ANY;

		if (!is_call(code + sizeof code - n, n, &insn))
			continue;
		if (is_known && insn.kind == DWELL_INSN_CALL)
			found = leads(a, dw_insn_target(&insn, from - n), JUMPS_MAX);
		else if (is_known && insn.flags & DWELL_INSN_RELATIVE &&
			 pointer_leads(a, dw_insn_target(&insn, from - n), JUMPS_MAX) ==
				 DWELL_CALL_LEADS)
			found = DWELL_CALL_LEADS;
		best = found > best ? found : best;
	}
	return best;
}

enum dw_call_check dw_call_check(struct dw_call_checks *c, pid_t pid, struct dw_space *space,
				 uint64_t from, uint64_t to)
{
	const struct dw_space_range *range = dw_space_find(space, (struct dw_avma){to});
	const struct dw_cfi_table *of = range ? range->cfi : NULL;
	struct asked a = {.pid = pid, .space = space};
	bool is_known = find_function(space, to, &a.to);
	struct dw_call_checked *known;

	if (is_known)
		to = a.to.start;
	known = &c->known[dw_hash_u64(from ^ to << 20) % (sizeof c->known / sizeof *c->known)];
	if (!known->found || known->pid != pid || known->from != from || known->to != to ||
	    known->of != of)
		*known = (struct dw_call_checked){pid, to, from, of, check(&a, from, is_known)};
	return known->found;
}

/* Whether the code at @from is what a handler returns to, which nobody has called. */
static bool is_sigreturn(pid_t pid, uint64_t from)
{
	uint8_t code[sizeof sigreturn];

	return dw_memory_read(pid, from, code, sizeof code) == sizeof code &&
	       !memcmp(code, sigreturn, sizeof code);
}

/* Whether the stack begins at @f because it returned to 0, as the address beyond @gap says. */
static bool returns_to_nothing(const struct dw_unwind_frame *f, uint64_t gap)
{
	return f->sp <= gap && f->cfa > gap;
}

bool dw_calls_lead(struct dw_call_checks *c, pid_t pid, struct dw_space *space,
		   const struct dw_unwind_frame *frames, size_t *n, bool is_whole, uint64_t gap)
{
	size_t first = 0;

	while (first + 1 < *n && frames[first + 1].sp <= gap)
		first++;
	for (size_t i = first; i + 1 < *n && i - first < PROVEN_FRAMES; i++) {
		uint64_t from = frames[i + 1].pc.v + 1;
		bool is_last = i + 2 == *n;
		enum dw_call_check found = dw_call_check(c, pid, space, from, frames[i].pc.v);

		if (found == DWELL_CALL_LEADS)
			continue;
		if (is_last && is_whole && i > first)
			break; /* where it began: nobody calls that */
		if (found == DWELL_CALL_OTHER && i > first && is_sigreturn(pid, from))
			break;
		if (found == DWELL_CALL_OTHER || (is_last && !is_whole)) {
			*n = i + 1;
			return false;
		}
	}
	return first + 1 < *n || !is_whole || !returns_to_nothing(&frames[first], gap);
}
