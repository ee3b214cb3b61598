/*
 * Code that must run where it is, known by its bytes; see plan.h.
 *
 * Restartable sequences. Source: rseq(2), linux/rseq.h. A descriptor is 32 aligned bytes: version
 * 0, flags, start, length, abort address, with addresses by relocation or by value. Four bytes in
 * front of an abort handler must be the signature that the thread registered; libc registers one
 * for all. A function that holds the signature is left alone too, since descriptors may be built at
 * run time; but not the C library's start of threads, which only registers.
 *
 * Templates. Runtimes write small functions in assembly, copy them to memory of their own and fill
 * in what they lack. A copy of a patched entry would jump astray. Two things tell them, both of
 * which code that runs in place cannot have: in a position-independent module, a jump through a
 * pointer that lies in code, where no loader puts an address (the copy has data at that distance);
 * an immediate operand that is a placeholder for an address, bytes 0xf0 throughout (CoreCLR's write
 * barriers).
 */
#include "clone/plan/plan.h"

#include "base/map.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

/* Leave the function of the code at @svma alone. */
static void leave(struct dw_clone_module *m, uint64_t svma, enum dw_clone_reason reason)
{
	struct dw_clone_function *f = dw_clone_function_at(m, svma);

	if (f && !f->reason)
		f->reason = (uint8_t)reason;
}

/* struct rseq_cs. */
struct descriptor {
	uint32_t version;
	uint32_t flags;
	uint64_t start;
	uint64_t length;
	uint64_t abort;
};

enum { LENGTH_MAX = 1 << 16 };

static const uint8_t signature[] = {0x53, 0x30, 0x05, 0x53};

/* Bytes of registering: the signature goes to %r10d, the number of rseq() to %eax. */
static const uint8_t to_r10d[] = {0x41, 0xba};
static const uint8_t number_to_eax[] = {0xb8, 0x4e, 0x01, 0x00, 0x00};
static const uint8_t system_call[] = {0x0f, 0x05};

enum { NUMBER_WITHIN = 32 };

static bool is_abort(const struct dw_clone_module *m, uint64_t svma)
{
	const uint8_t *bytes = dw_clone_module_bytes(m, svma - sizeof signature, sizeof signature);

	return bytes && !memcmp(bytes, signature, sizeof signature);
}

/* The sequence of the descriptor whose last word holds @abort; @at = where pointers stand. */
static void leave_sequence(struct dw_clone_module *m, const struct dw_clone_pointer *abort,
			   const struct dw_map *at)
{
	uint64_t svma = abort->at - offsetof(struct descriptor, abort);
	const uint8_t *bytes = dw_clone_module_bytes(m, svma, sizeof(struct descriptor));
	uint32_t start = dw_map_get(at, svma + offsetof(struct descriptor, start));
	struct descriptor d;

	leave(m, abort->to, DWELL_LEFT_RESTARTABLE);
	if (!bytes || !start)
		return;
	memcpy(&d, bytes, sizeof d);
	if (d.version || !d.length || d.length > LENGTH_MAX)
		return;
	leave(m, m->pointers.v[start - 1].to, DWELL_LEFT_RESTARTABLE);
	leave(m, m->pointers.v[start - 1].to + d.length - 1, DWELL_LEFT_RESTARTABLE);
}

static int find_descriptors(struct dw_clone_module *m)
{
	struct dw_map at = {0};
	bool any = false;
	int rc = 0;

	dw_vec_each(p, &m->pointers)
		any |= is_abort(m, p->to);
	for (uint32_t i = 0; i < m->pointers.n && any && !rc; i++)
		rc = dw_map_put(&at, m->pointers.v[i].at, i + 1);
	dw_vec_each(p, &m->pointers)
		if (any && !rc && is_abort(m, p->to))
			leave_sequence(m, p, &at);
	dw_map_release(&at);
	return rc;
}

/* Whether the signature at @found, among the bytes [@start, @end), is the argument of an rseq(). */
static bool is_registration(const uint8_t *start, const uint8_t *found, const uint8_t *end)
{
	size_t left = (size_t)(end - found), n = left < NUMBER_WITHIN ? left : NUMBER_WITHIN;
	const uint8_t *number = memmem(found, n, number_to_eax, sizeof number_to_eax);

	return number && found - start >= (ptrdiff_t)sizeof to_r10d &&
	       !memcmp(found - sizeof to_r10d, to_r10d, sizeof to_r10d) &&
	       end - number >= (ptrdiff_t)(sizeof number_to_eax + sizeof system_call) &&
	       !memcmp(number + sizeof number_to_eax, system_call, sizeof system_call);
}

int dw_rseq_find(struct dw_clone_module *m)
{
	dw_vec_each(s, &m->segments) {
		const uint8_t *from = s->bytes, *end = s->bytes + s->n;

		while (s->flags & PF_X &&
		       (from = memmem(from, (size_t)(end - from), signature, sizeof signature))) {
			if (!is_registration(s->bytes, from, end))
				leave(m, s->svma + (uint64_t)(from - s->bytes),
				      DWELL_LEFT_RESTARTABLE);
			from++;
		}
	}
	return find_descriptors(m);
}

enum { REX_W = 0x48, REX_WB = 0x49, MOV_IMMEDIATE = 0xb8, REGISTERS = 8 };

static const uint8_t placeholder[] = {0xf0, 0xf0, 0xf0, 0xf0, 0xf0, 0xf0, 0xf0, 0xf0};

static bool is_code(const struct dw_clone_module *m, uint64_t svma)
{
	dw_vec_each(s, &m->segments)
		if (s->flags & PF_X && !(s->flags & PF_W) && svma - s->svma < s->n)
			return true;
	return false;
}

/* Whether @f jumps through a pointer that lies in code. */
static bool jumps_through_code(const struct dw_clone_module *m, const struct dw_clone_function *f)
{
	uint64_t at = f->start;

	for (uint32_t i = f->first; i < f->first + f->n; i++) {
		const struct dw_insn *insn = &m->insns.v[i];

		if (insn->kind == DWELL_INSN_JUMP_INDIRECT && insn->flags & DWELL_INSN_RELATIVE &&
		    is_code(m, dw_insn_target(insn, at)))
			return true;
		at += insn->length;
	}
	return false;
}

/* Leave the functions of @s alone that load a placeholder. */
static void leave_placeholders(struct dw_clone_module *m, const struct dw_clone_segment *s)
{
	const uint8_t *from = s->bytes, *end = s->bytes + s->n;

	while ((from = memmem(from, (size_t)(end - from), placeholder, sizeof placeholder))) {
		if (from - s->bytes >= 2 && (from[-2] == REX_W || from[-2] == REX_WB) &&
		    from[-1] - MOV_IMMEDIATE >= 0 && from[-1] - MOV_IMMEDIATE < REGISTERS)
			leave(m, s->svma + (uint64_t)(from - s->bytes), DWELL_LEFT_TEMPLATE);
		from++;
	}
}

void dw_templates_find(struct dw_clone_module *m)
{
	if (m->is_fixed)
		return;
	dw_vec_each(f, &m->functions)
		if (!f->reason && jumps_through_code(m, f))
			f->reason = DWELL_LEFT_TEMPLATE;
	dw_vec_each(s, &m->segments)
		if (s->flags & PF_X)
			leave_placeholders(m, s);
}
