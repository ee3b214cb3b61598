/*
 * Where probes belong, as the verifier sees it: by the module's bytes and the list of functions
 * that the image claims, apart from what the maker thought.
 *
 * What holds wherever the area is, is found once. Both inputs may be hostile.
 */
#pragma once

#include "clone/verify/state.h"
#include "code/decode/insn.h"

enum dw_verify_call { DWELL_VERIFY_PLAIN, DWELL_VERIFY_OUT, DWELL_VERIFY_OUT_POINTER };

/* Find out what the questions below need, and put the places of landing pads behind their
 * trampolines. After the functions were read. 0 or -ENOMEM. */
int dw_verify_probes(struct dw_verify *v);

/* Whether the clone of @f calls trampolines where it leaves. */
bool dw_verify_is_measured(const struct dw_verify *v, const struct dw_verify_function *f);

/* What stands around the call @insn of @f at @svma. */
enum dw_verify_call dw_verify_call_kind(const struct dw_verify *v,
					const struct dw_verify_function *f,
					const struct dw_insn *insn, uint64_t svma);

/* Whether the jump @insn of @f at @svma surely leads out of the instrumented code. */
bool dw_verify_tails_out(const struct dw_verify *v, const struct dw_verify_function *f,
			 const struct dw_insn *insn, uint64_t svma);

/* Whether the call @insn of @f at @svma, which has no trampoline in front, has one behind it. */
bool dw_verify_has_return(const struct dw_verify *v, const struct dw_verify_function *f,
			  const struct dw_insn *insn, uint64_t svma);

/* Whether @id in a trampoline's site is that of the callee of @insn at @svma. */
bool dw_verify_is_import(const struct dw_verify *v, uint32_t id, const struct dw_insn *insn,
			 uint64_t svma);

/* Whether nothing of @f can be in use below the stack pointer at @svma. */
bool dw_verify_is_free_below(struct dw_verify *v, const struct dw_verify_function *f,
			     uint64_t svma);

/* Whether trampolines belong around the system call of @f at @svma. */
bool dw_verify_has_system_trampolines(struct dw_verify *v, const struct dw_verify_function *f,
				      uint64_t svma);

/* The imports, the flags of functions and the numbers of the header that are about probes. */
void dw_verify_probe_lists(struct dw_verify *v);

/* Where the stack pointer is lower than the function has it, area offsets. */
struct dw_verify_moved {
	uint32_t from, to;
};

/* Where the probe in front of instruction @i (in v->insns) moves the stack pointer by
 * DWELL_VERIFY_MOVE. Nowhere: both are equal. */
struct dw_verify_moved dw_verify_statement_moves(const struct dw_verify *v, uint32_t i);

enum { DWELL_VERIFY_MOVE = 128 };

/* Bytes of the probe in front of the instruction at @svma, 0 = none: branches of the same function
 * may go behind it. */
uint32_t dw_verify_statement_bytes(const struct dw_verify *v, uint64_t svma);

/* The list itself. */
void dw_verify_statements(struct dw_verify *v);
