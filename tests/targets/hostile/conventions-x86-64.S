/*
 * Calls by private conventions: what the ABI lets a callee destroy, and these callees keep.
 */
#include "asm.inc"

	/* Fill or compare the general registers but rsp, rdi and rsi. */
	.macro each_register do
	\do	rax, 1
	\do	rbx, 2
	\do	rcx, 3
	\do	rdx, 4
	\do	rbp, 5
	\do	r8, 6
	\do	r9, 7
	\do	r10, 8
	\do	r11, 9
	\do	r12, 10
	\do	r13, 11
	\do	r14, 12
	\do	r15, 13
	.endm

	.macro fill register, number
	mov	$(0x1234567800000000 + \number), %\register
	.endm

	.macro compare register, number
	mov	$(0x1234567800000000 + \number), %rsi
	cmp	%rsi, %\register
	je	1f
	or	$(1 << \number), %edi
1:
	.endm

	.macro save
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	sub	$8, %rsp
	.cfi_def_cfa_offset 64
	.endm

	.macro restore
	add	$8, %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	.cfi_def_cfa_offset 8
	.endm

	/* A callee that changes nothing at all, and one that jumps through a table. */
	function keeps_all
	nop
	nop
	nop
	nop
	nop
	ret
	end keeps_all

	function keeps_all_too
	jmp	*keeps_all_address(%rip)
	end keeps_all_too
	.data
	.p2align 3
keeps_all_address:
	.quad	keeps_all
keeps_all_too_address:
	.quad	keeps_all_too
	.text

	/* long registers_kept(void): a bit for each register that a call lost */
	function registers_kept
	save
	xor	%edi, %edi
	each_register fill
	call	keeps_all
	call	keeps_all_too
	call	*keeps_all_address(%rip)
	call	*keeps_all_too_address(%rip)
	each_register compare
	mov	%edi, %eax
	restore
	ret
	end registers_kept

	/* The carry flag is an argument. */
	function takes_carry
	mov	$0, %eax
	adc	$0, %eax
	ret
	end takes_carry

	/* long carry_argument(long carry) */
	function carry_argument
	bt	$0, %rdi
	call	takes_carry
	ret
	end carry_argument

	/* The carry and zero flags are results, as some kernels return from system calls. */
	function returns_flags
	cmp	%rsi, %rdi
	ret
	end returns_flags

	/* long flag_results(long, long): 1 below, 2 equal, 3 above */
	function flag_results
	call	returns_flags
	mov	$2, %eax
	je	1f
	mov	$1, %eax
	jb	1f
	mov	$3, %eax
1:	ret
	end flag_results

	/* The same flags, through a tail jump and an indirect call. */
	function returns_flags_too
	jmp	returns_flags
	end returns_flags_too
	.data
returns_flags_address:
	.quad	returns_flags_too
	.text

	function flag_results_indirect
	call	*returns_flags_address(%rip)
	mov	$2, %eax
	je	1f
	mov	$1, %eax
	jb	1f
	mov	$3, %eax
1:	ret
	end flag_results_indirect

	/* long flags_over_jump(long which, long number): compared before the indirect jump */
	function flags_over_jump
	lea	.Ltable(%rip), %rdx
	movslq	(%rdx, %rdi, 4), %rax
	add	%rdx, %rax
	cmp	$100, %rsi
	jmp	*%rax
.Lbelow:
	setl	%al
	movzbl	%al, %eax
	ret
.Lequal:
	sete	%al
	movzbl	%al, %eax
	ret
	.section .rodata
	.p2align 2
.Ltable:
	.long	.Lbelow - .Ltable, .Lequal - .Ltable
	.text
	end flags_over_jump

	/* The direction flag stays set across a call. */
	function direction_kept
	std
	call	keeps_all
	pushf
	pop	%rax
	cld
	shr	$10, %rax
	and	$1, %eax
	ret
	end direction_kept

	/* long vectors_kept(const void *want, void *got): 16 registers of 32 bytes */
	function vectors_kept
	.set	i, 0
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovdqu	(32 * \n)(%rdi), %ymm\n
	.endr
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	call	keeps_all
	call	*keeps_all_too_address(%rip)
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovdqu	%ymm\n, (32 * \n)(%rsi)
	.endr
	vzeroupper
	xor	%eax, %eax
	ret
	end vectors_kept

	/* long wide_vectors_kept(const void *want, void *got): 32 of 64 bytes, 7 masks */
	function wide_vectors_kept
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	vmovdqu64 (64 * \n)(%rdi), %zmm\n
	.endr
	.irp	n, 1, 2, 3, 4, 5, 6, 7
	kmovw	(64 * \n)(%rdi), %k\n
	.endr
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	call	keeps_all
	call	*keeps_all_too_address(%rip)
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	vmovdqu64 %zmm\n, (64 * \n)(%rsi)
	.endr
	.irp	n, 1, 2, 3, 4, 5, 6, 7
	kmovw	%k\n, (64 * 32 + 2 * \n)(%rsi)
	.endr
	vzeroupper
	xor	%eax, %eax
	ret
	end wide_vectors_kept

	/* long x87_kept(double *got): the whole register stack is in use during calls */
	function x87_kept
	fninit
	fld1
	fldpi
	fldl2e
	fldlg2
	fldln2
	fldl2t
	fldz
	fld1
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	call	keeps_all
	call	keeps_all_too
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	fstpl	(8 * \n)(%rdi)
	.endr
	fnstsw	%ax
	movzwl	%ax, %eax
	and	$0x41, %eax	/* invalid, stack */
	ret
	end x87_kept

	/* A value handed over below the stack pointer, where no signal may write. */
	function takes_below
	mov	-16(%rsp), %rax
	ret
	end takes_below

	/* long below_stack(long) */
	function below_stack
	mov	%rdi, -24(%rsp)
	call	takes_below
	ret
	end below_stack

	function leaves_below
	lea	1(%rdi), %rax
	mov	%rax, -64(%rsp)
	ret
	end leaves_below

	/* long result_below_stack(long) */
	function result_below_stack
	call	leaves_below
	mov	-72(%rsp), %rax
	ret
	end result_below_stack
