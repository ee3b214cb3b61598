/*
 * Stack switches by hand, and calls with a stack pointer that is not aligned.
 */
#include "asm.inc"

	/* void switch_stack(void **save, void *to) */
	bare_function switch_stack
	push	%rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%rsp, (%rdi)
	mov	%rsi, %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbx
	pop	%rbp
	ret
	bare_end switch_stack

	/* Where a new coroutine begins: r15 is its argument, there is no caller. */
	function coroutine_start
	.cfi_undefined rip
	mov	%r15, %rdi
	call	coroutine_body
	hlt
	end coroutine_start

	/* long call_on(void *stack_top, long (*function)(long), long argument) */
	function call_on
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register rbp
	mov	%rdi, %rsp
	mov	%rdx, %rdi
	call	*%rsi
	mov	%rbp, %rsp
	pop	%rbp
	.cfi_def_cfa rsp, 8
	ret
	end call_on

	/* void exit_misaligned(int status): exit with a stack pointer 8 bytes off */
	function exit_misaligned
	.cfi_undefined rip
	and	$-16, %rsp
	sub	$8, %rsp
	call	exit@PLT
	hlt
	end exit_misaligned

	/* long call_misaligned(long (*function)(long), long argument): no extra 8 bytes */
	function call_misaligned
	mov	%rdi, %rax
	mov	%rsi, %rdi
	call	*%rax
	ret
	end call_misaligned
