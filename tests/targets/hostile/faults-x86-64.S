/*
 * Functions with one instruction that fails, at a label that the handler knows.
 */
#include "asm.inc"

	/* long load_from(const int *address): what is there + 1 */
	function load_from
	nopl	8(%rax, %rax)	/* what an entry overwrites is no place to read */
label load_from_insn
	mov	(%rdi), %eax
	add	$1, %rax
	ret
	end load_from

	/* long load_again(const int *address): twice what is there, -14 when it cannot be read */
	function load_again
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	xor	%ebx, %ebx
.Lfirst:
	movslq	(%rdi), %rax
	add	%rax, %rbx
.Lsecond:
	movslq	(%rdi), %rax
	add	%rax, %rbx
.Lgo_on:
	mov	%rbx, %rax
	pop	%rbx
	.cfi_remember_state
	.cfi_def_cfa_offset 8
	ret
	.cfi_restore_state
.Lfixup:
	mov	$-14, %rbx
	jmp	.Lgo_on
	end load_again

	/* long undefined_instruction(void): rax of the handler + 2 */
	function undefined_instruction
	nopl	8(%rax, %rax)
label undefined_insn
	ud2
	add	$2, %rax
	ret
	end undefined_instruction

	/* long divide(long number, long by) */
	function divide
	mov	%rdi, %rax
	cqo
label divide_insn
	idiv	%rsi
	ret
	end divide

	/* long breakpoint(void): 10 + what the handler adds */
	function breakpoint
	mov	$10, %eax
	int3
label breakpoint_after
	ret
	end breakpoint

	.section .data.rel.ro, "aw"
	.p2align 3
	.globl	fixups
fixups:
	.quad	.Lfirst, .Lfixup
	.quad	.Lsecond, .Lfixup
	.quad	0, 0
