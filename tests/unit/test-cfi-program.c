/* Call frame instructions and DWARF expressions, each opcode by itself, and hostile ones. */
#include "check.h"

#include "base/error.h"
#include "code/cfi/program.h"

#include <dwarf.h>
#include <errno.h>

#define BYTES(...) ((const uint8_t[]){__VA_ARGS__}), sizeof((const uint8_t[]){__VA_ARGS__})

/* A CIE as compilers write it: CFA = rsp + 8, return address at CFA - 8. */
static struct dw_cfi_cie usual_cie(void)
{
	struct dw_cfi_cie cie = {.code_align = 1, .data_align = -8, .return_register = 16};

	dw_cfi_run_initial(&cie, BYTES(DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1));
	return cie;
}

/* The rules after all of @program, and the number of rows or the failure. */
static int run(struct dw_cfi_rules *rules, const uint8_t *program, size_t n)
{
	static struct dw_cfi_cie cie;
	static struct dw_cfi_machine m;
	static uint8_t kept[1024]; /* rules borrow from the program, which may be a temporary */
	uint64_t from, to;
	int rows = 1, more;

	if (n)
		memcpy(kept, program, n);
	cie = usual_cie();
	dw_cfi_machine_init(&m, &cie, 0x1000, kept, n);
	while ((more = dw_cfi_machine_next(&m, &from, &to)) == 1)
		rows++;
	*rules = m.rules;
	return more < 0 ? more : rows;
}

TEST(initial_rules)
{
	struct dw_cfi_rules r;

	CHECK_INT(run(&r, NULL, 0), 1);
	CHECK_INT(r.cfa.how, DWELL_CFI_OFFSET);
	CHECK_INT(r.cfa.reg, 7);
	CHECK_INT(r.cfa.offset, 8);
	CHECK_INT(r.r[16].how, DWELL_CFI_OFFSET);
	CHECK_INT(r.r[16].offset, -8);
	CHECK_INT(r.r[3].how, DWELL_CFI_UNSPECIFIED);
}

TEST(cfa_instructions)
{
	struct dw_cfi_rules r;

	CHECK_INT(run(&r, BYTES(DW_CFA_def_cfa, 6, 16)), 1);
	CHECK_INT(r.cfa.reg * 1000 + r.cfa.offset, 6016);
	CHECK_INT(run(&r, BYTES(DW_CFA_def_cfa_register, 6)), 1);
	CHECK_INT(r.cfa.reg * 1000 + r.cfa.offset, 6008);
	CHECK_INT(run(&r, BYTES(DW_CFA_def_cfa_offset, 0x80, 2)), 1);
	CHECK_INT(r.cfa.reg * 1000 + r.cfa.offset, 7256);
	CHECK_INT(run(&r, BYTES(DW_CFA_def_cfa_sf, 3, 0x7e)), 1);
	CHECK_INT(r.cfa.reg * 1000 + r.cfa.offset, 3016);
	CHECK_INT(run(&r, BYTES(DW_CFA_def_cfa_offset_sf, 0x7d)), 1);
	CHECK_INT(r.cfa.reg * 1000 + r.cfa.offset, 7024);
	CHECK_INT(run(&r, BYTES(DW_CFA_def_cfa_expression, 2, DW_OP_breg6, 0x10)), 1);
	CHECK_INT(r.cfa.how, DWELL_CFI_VAL_EXPRESSION);
	CHECK_INT(r.cfa.ops_n, 2);
	CHECK_INT(r.cfa.ops[1], 0x10);
	/* half a CFA cannot be changed where there is none of that kind */
	CHECK_INT(
		run(&r, BYTES(DW_CFA_def_cfa_expression, 1, DW_OP_lit0, DW_CFA_def_cfa_offset, 8)),
		DWELL_ERR_FORMAT);
}

TEST(register_instructions)
{
	struct dw_cfi_rules r;

	CHECK_INT(run(&r, BYTES(DW_CFA_offset | 6, 2)), 1);
	CHECK(r.r[6].how == DWELL_CFI_OFFSET && r.r[6].offset == -16);
	CHECK_INT(run(&r, BYTES(DW_CFA_offset_extended, 12, 3)), 1);
	CHECK(r.r[12].how == DWELL_CFI_OFFSET && r.r[12].offset == -24);
	CHECK_INT(run(&r, BYTES(DW_CFA_offset_extended_sf, 12, 0x7f)), 1);
	CHECK(r.r[12].how == DWELL_CFI_OFFSET && r.r[12].offset == 8);
	CHECK_INT(run(&r, BYTES(DW_CFA_GNU_negative_offset_extended, 12, 2)), 1);
	CHECK(r.r[12].how == DWELL_CFI_OFFSET && r.r[12].offset == 16);
	CHECK_INT(run(&r, BYTES(DW_CFA_val_offset, 7, 1)), 1);
	CHECK(r.r[7].how == DWELL_CFI_VAL_OFFSET && r.r[7].offset == -8);
	CHECK_INT(run(&r, BYTES(DW_CFA_val_offset_sf, 7, 0x7e)), 1);
	CHECK(r.r[7].how == DWELL_CFI_VAL_OFFSET && r.r[7].offset == 16);
	CHECK_INT(run(&r, BYTES(DW_CFA_undefined, 16)), 1);
	CHECK_INT(r.r[16].how, DWELL_CFI_UNDEFINED);
	CHECK_INT(run(&r, BYTES(DW_CFA_same_value, 3)), 1);
	CHECK_INT(r.r[3].how, DWELL_CFI_SAME);
	CHECK_INT(run(&r, BYTES(DW_CFA_register, 16, 1)), 1);
	CHECK(r.r[16].how == DWELL_CFI_REGISTER && r.r[16].reg == 1);
	CHECK_INT(run(&r, BYTES(DW_CFA_register, 16, 40)), 1); /* one we do not follow */
	CHECK_INT(r.r[16].how, DWELL_CFI_UNDEFINED);
	CHECK_INT(run(&r, BYTES(DW_CFA_expression, 6, 2, DW_OP_breg6, 0)), 1);
	CHECK(r.r[6].how == DWELL_CFI_EXPRESSION && r.r[6].ops_n == 2);
	CHECK_INT(run(&r, BYTES(DW_CFA_val_expression, 6, 1, DW_OP_lit3)), 1);
	CHECK(r.r[6].how == DWELL_CFI_VAL_EXPRESSION && r.r[6].ops_n == 1);
	/* vector registers: operands are read, nothing is kept */
	CHECK_INT(run(&r, BYTES(DW_CFA_offset_extended, 17, 9, DW_CFA_offset | 3, 2)), 1);
	CHECK_INT(r.r[3].offset, -16);
}

TEST(restoring)
{
	struct dw_cfi_rules r;

	CHECK_INT(run(&r, BYTES(DW_CFA_undefined, 16, DW_CFA_restore | 16)), 1);
	CHECK_INT(r.r[16].offset, -8);
	CHECK_INT(run(&r, BYTES(DW_CFA_undefined, 16, DW_CFA_restore_extended, 16)), 1);
	CHECK_INT(r.r[16].offset, -8);
	CHECK_INT(run(&r, BYTES(DW_CFA_offset | 6, 2, DW_CFA_remember_state, DW_CFA_def_cfa, 6, 99,
				DW_CFA_restore | 6, DW_CFA_restore_state)),
		  1);
	CHECK_INT(r.r[6].offset, -16);
	CHECK_INT(r.cfa.offset, 8);
	CHECK_INT(run(&r, BYTES(DW_CFA_restore_state)), DWELL_ERR_FORMAT);
	uint8_t many[1000];

	memset(many, DW_CFA_remember_state, sizeof many);
	CHECK_INT(run(&r, many, sizeof many), DWELL_ERR_FORMAT);
}

TEST(advances)
{
	struct dw_cfi_rules r;

	CHECK_INT(run(&r, BYTES(DW_CFA_advance_loc | 1, DW_CFA_advance_loc1, 200,
				DW_CFA_advance_loc2, 1, 1, DW_CFA_advance_loc4, 0, 0, 1, 0,
				DW_CFA_advance_loc | 0, DW_CFA_nop, DW_CFA_GNU_args_size, 8)),
		  5);
	CHECK_INT(run(&r, BYTES(DW_CFA_set_loc, 0, 0x20, 0, 0, 0, 0, 0, 0)), 2);
	CHECK_INT(run(&r, BYTES(DW_CFA_set_loc, 0, 0x01, 0, 0, 0, 0, 0, 0)), DWELL_ERR_FORMAT);
}

TEST(cut_and_unknown_programs)
{
	struct dw_cfi_rules r;

	CHECK_INT(run(&r, BYTES(DW_CFA_def_cfa, 6)), DWELL_ERR_FORMAT);
	CHECK_INT(run(&r, BYTES(DW_CFA_advance_loc4, 1, 1)), DWELL_ERR_FORMAT);
	CHECK_INT(run(&r, BYTES(DW_CFA_expression, 6, 9, DW_OP_lit0)), DWELL_ERR_FORMAT);
	CHECK_INT(run(&r, BYTES(0x3f, 0, 0)), DWELL_ERR_FORMAT);
	CHECK_INT(run(&r, BYTES(0x17, 0, 0)), DWELL_ERR_FORMAT);
}

/* Memory of the expressions below: the word at address A is A * 2, past 1000 the stack is cut. */
static int read_double(void *ctx, uint64_t addr, uint64_t *ret)
{
	(void)ctx;
	*ret = addr * 2;
	return addr > 1000 ? -ENODATA : 0;
}

/* The value of the expression @ops, or its failure. */
static int64_t eval(const uint8_t *ops, size_t n)
{
	uint64_t r[DWELL_REG_COUNT] = {[6] = 60, [7] = 70, [16] = 0x1fb}, ret = 0, initial = 5;
	struct dw_cfi_context context = {r, 1u << 6 | 1u << 7 | 1u << 16, read_double, NULL};
	int rc = dw_cfi_eval(ops, n, &context, &initial, &ret);

	return rc ? rc : (int64_t)ret;
}

#define EVAL(want, ...) CHECK_INT(eval(BYTES(__VA_ARGS__)), want)

TEST(expression_constants_and_registers)
{
	EVAL(5, DW_OP_nop);
	EVAL(31, DW_OP_lit31);
	EVAL(1, DW_OP_addr, 1, 0, 0, 0, 0, 0, 0, 0);
	EVAL(200, DW_OP_const1u, 200);
	EVAL(-56, DW_OP_const1s, 200);
	EVAL(0xff00, DW_OP_const2u, 0, 0xff);
	EVAL(-256, DW_OP_const2s, 0, 0xff);
	EVAL(0xff000000, DW_OP_const4u, 0, 0, 0, 0xff);
	EVAL(-0x1000000, DW_OP_const4s, 0, 0, 0, 0xff);
	EVAL(-1, DW_OP_const8s, 255, 255, 255, 255, 255, 255, 255, 255);
	EVAL(1, DW_OP_const8u, 1, 0, 0, 0, 0, 0, 0, 0);
	EVAL(256, DW_OP_constu, 0x80, 2);
	EVAL(-2, DW_OP_consts, 0x7e);
	EVAL(52, DW_OP_breg6, 0x78);
	EVAL(78, DW_OP_bregx, 7, 8);
	EVAL(DWELL_ERR_NOT_FOUND, DW_OP_breg3, 0);
	EVAL(DWELL_ERR_FORMAT, DW_OP_breg31, 0);
	EVAL(DWELL_ERR_FORMAT, DW_OP_reg6);
}

TEST(expression_stack_operations)
{
	EVAL(10, DW_OP_dup, DW_OP_plus);
	EVAL(5, DW_OP_lit1, DW_OP_drop);
	EVAL(5, DW_OP_lit1, DW_OP_over);
	EVAL(5, DW_OP_lit1, DW_OP_lit2, DW_OP_pick, 2);
	EVAL(5, DW_OP_lit1, DW_OP_swap);
	EVAL(1, DW_OP_lit1, DW_OP_lit2, DW_OP_rot, DW_OP_drop, DW_OP_drop, DW_OP_plus_uconst, 0,
	     DW_OP_lit1, DW_OP_swap, DW_OP_drop);
	EVAL(2, DW_OP_lit1, DW_OP_lit2, DW_OP_rot, DW_OP_swap, DW_OP_drop, DW_OP_drop);
	EVAL(10, DW_OP_deref);
	EVAL(244, DW_OP_const1u, 250, DW_OP_deref_size, 1);
	EVAL(DWELL_ERR_FORMAT, DW_OP_deref_size, 9);
	EVAL(-ENODATA, DW_OP_const2u, 0, 0x10, DW_OP_deref);
	EVAL(DWELL_ERR_FORMAT, DW_OP_drop, DW_OP_drop);
	EVAL(DWELL_ERR_FORMAT, DW_OP_pick, 7);
	EVAL(DWELL_ERR_FORMAT, DW_OP_rot);
}

TEST(expression_arithmetic)
{
	EVAL(3, DW_OP_lit3, DW_OP_neg, DW_OP_abs);
	EVAL(-3, DW_OP_lit3, DW_OP_neg);
	EVAL(-4, DW_OP_lit3, DW_OP_not);
	EVAL(2, DW_OP_lit6, DW_OP_lit3, DW_OP_and);
	EVAL(7, DW_OP_lit6, DW_OP_lit3, DW_OP_or);
	EVAL(5, DW_OP_lit6, DW_OP_lit3, DW_OP_xor);
	EVAL(9, DW_OP_lit6, DW_OP_lit3, DW_OP_plus);
	EVAL(3, DW_OP_lit6, DW_OP_lit3, DW_OP_minus);
	EVAL(18, DW_OP_lit6, DW_OP_lit3, DW_OP_mul);
	EVAL(-2, DW_OP_lit6, DW_OP_neg, DW_OP_lit3, DW_OP_div);
	EVAL(2, DW_OP_lit8, DW_OP_lit3, DW_OP_mod);
	EVAL(133, DW_OP_plus_uconst, 0x80, 1);
	EVAL(24, DW_OP_lit6, DW_OP_lit2, DW_OP_shl);
	EVAL(1, DW_OP_lit6, DW_OP_lit2, DW_OP_shr);
	EVAL(-2, DW_OP_lit6, DW_OP_neg, DW_OP_lit2, DW_OP_shra);
	EVAL(0, DW_OP_lit6, DW_OP_const1u, 64, DW_OP_shl);
	EVAL(-1, DW_OP_lit6, DW_OP_neg, DW_OP_const1u, 99, DW_OP_shra);
	EVAL(DWELL_ERR_FORMAT, DW_OP_lit6, DW_OP_lit0, DW_OP_div);
	EVAL(DWELL_ERR_FORMAT, DW_OP_lit6, DW_OP_lit0, DW_OP_mod);
	EVAL(DWELL_ERR_FORMAT, DW_OP_const8u, 0, 0, 0, 0, 0, 0, 0, 0x80, DW_OP_lit1, DW_OP_neg,
	     DW_OP_div);
}

TEST(expression_comparisons_and_branches)
{
	EVAL(1, DW_OP_lit3, DW_OP_lit3, DW_OP_eq);
	EVAL(0, DW_OP_lit3, DW_OP_lit3, DW_OP_ne);
	EVAL(1, DW_OP_lit3, DW_OP_neg, DW_OP_lit3, DW_OP_lt);
	EVAL(1, DW_OP_lit3, DW_OP_lit3, DW_OP_le);
	EVAL(0, DW_OP_lit3, DW_OP_neg, DW_OP_lit3, DW_OP_gt);
	EVAL(1, DW_OP_lit3, DW_OP_lit3, DW_OP_ge);
	EVAL(5, DW_OP_skip, 1, 0, DW_OP_lit9);
	EVAL(5, DW_OP_lit1, DW_OP_bra, 1, 0, DW_OP_lit9);
	EVAL(9, DW_OP_lit0, DW_OP_bra, 1, 0, DW_OP_lit9);
	EVAL(DWELL_ERR_FORMAT, DW_OP_skip, 0xfd, 0xff); /* for ever */
	EVAL(DWELL_ERR_FORMAT, DW_OP_skip, 0xf0, 0xff);
	EVAL(DWELL_ERR_FORMAT, DW_OP_skip, 9, 0);
	EVAL(DWELL_ERR_FORMAT, DW_OP_lit1, DW_OP_skip, 0xfc, 0xff); /* fills the stack */
	EVAL(DWELL_ERR_FORMAT, 0xff);
	EVAL(DWELL_ERR_FORMAT, DW_OP_const4u, 1);
}

TEST_MAIN()
