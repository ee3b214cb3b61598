/*
 * Functions that text.c changes or reads.
 */
#include "asm.inc"

	/* long constant(void): 1 in the file */
	.p2align 12
	function constant
	.byte	0xb8
label constant_operand
	.long	1
	ret
	end constant

	/* long calls_constant(void) */
	function calls_constant
	call	constant
	add	$100, %rax
	ret
	end calls_constant

	/* long switched(long number): number + 1, unless the place becomes a jump over the addition */
	function switched
	mov	%rdi, %rax
label switch_place
	.byte	0x0f, 0x1f, 0x44, 0, 0
	add	$1, %rax
	ret
	end switched

	/* long counted(long number): 2 * (number + 7) */
	function counted
	xor	%eax, %eax
	nopl	(%rax)
label counted_place
	add	$7, %rdi
	lea	(%rdi, %rdi), %rax
	ret
	end counted

	/* long plain_add(long left, long right) */
	.p2align 12
	function plain_add
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	mov	%rdi, %rbx
	nop
	nop
	nop
	lea	(%rbx, %rsi), %rax
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	end plain_add
