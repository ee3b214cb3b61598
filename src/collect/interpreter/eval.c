/*
 * The parts of a function by the ranges of unwind tables; see eval.h. A part that was moved away is
 * where a branch with a condition leads out of the function, or a jump into the middle of another
 * range: jumps to the beginning of one may be calls.
 */
#include "collect/interpreter/eval.h"

#include "base/cleanup.h"
#include "code/cfi/fdes.h"
#include "code/decode/insn.h"

#include <errno.h>
#include <stdlib.h>

enum { BYTES_MAX = 1 << 20 };

struct search {
	const struct dw_cfi_range *ranges;
	size_t ranges_n;
	struct dw_interpreter_eval *to;
};

static void add_part(struct search *s, uint64_t start, uint64_t end)
{
	struct dw_interpreter_eval *e = s->to;

	if (e->n == DWELL_INTERPRETER_EVAL_PARTS)
		return;
	e->parts[e->n].start = start;
	e->parts[e->n++].end = end;
}

/* Take in where the branch @insn at @svma leads. */
static void take_branch(struct search *s, const struct dw_insn *insn, uint64_t svma)
{
	uint64_t target = dw_insn_target(insn, svma);
	const struct dw_cfi_range *range;

	if (dw_interpreter_eval_has(s->to, target))
		return;
	range = dw_cfi_range_find(s->ranges, s->ranges_n, target);
	if (range && (insn->kind == DWELL_INSN_BRANCH || target != range->start))
		add_part(s, range->start, range->end);
}

/* Look at all branches of the function, its first part, whose bytes are @code. */
static void take_branches(struct search *s, const uint8_t *code)
{
	const uint64_t start = s->to->parts[0].start, n = s->to->parts[0].end - start;
	struct dw_insn insn;

	for (uint64_t at = 0; at < n; at += insn.length) {
		if (!dw_insn_decode(code + at, n - at, &insn)) {
			insn.length = 1;
			continue;
		}
		if (insn.kind == DWELL_INSN_JUMP || insn.kind == DWELL_INSN_BRANCH)
			take_branch(s, &insn, start + at);
	}
}

int dw_interpreter_eval_find(const struct dw_elf *elf, uint64_t svma,
			     struct dw_interpreter_eval *ret)
{
	dw_auto_free struct dw_cfi_range *ranges = NULL;
	dw_auto_free uint8_t *code = NULL;
	struct search s = {.to = ret};
	const struct dw_cfi_range *own;
	int rc;

	*ret = (struct dw_interpreter_eval){0};
	rc = dw_cfi_ranges(elf, &ranges, &s.ranges_n, NULL);
	s.ranges = ranges;
	own = rc ? NULL : dw_cfi_range_find(ranges, s.ranges_n, svma);
	if (!own || own->start != svma || own->end - own->start > BYTES_MAX)
		return rc == -ENOMEM ? rc : 0;
	code = malloc(own->end - own->start);
	if (!code)
		return -ENOMEM;
	add_part(&s, own->start, own->end);
	if (!dw_elf_read_svma(elf, (struct dw_svma){own->start}, code, own->end - own->start))
		take_branches(&s, code);
	return 0;
}
