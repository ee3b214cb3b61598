/*
 * Loops that only a signal handler ends, with labels that the handler knows.
 */
#include "asm.inc"

	/* int spin_flag(volatile int *flag): 5 once the flag is set */
	function spin_flag
1:	cmpl	$0, (%rdi)
	je	1b
	mov	$5, %eax
	ret
	end spin_flag

	/* int spin_register(void): what a handler puts into rax */
	function spin_register
	xor	%eax, %eax
1:	test	%rax, %rax
	je	1b
	ret
	end spin_register

	/* int spin_forever(void): 42 when a handler moves it out of the loop */
	function spin_forever
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	mov	$40, %ebx
label spin_forever_loop
	nop
	jmp	spin_forever_loop
label spin_forever_out
	lea	2(%rbx), %eax
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	end spin_forever

	/* long wait_here(long call, long first, void *second): a system call */
	function wait_here
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	mov	%rdi, %rax
	mov	%rsi, %rdi
	mov	%rdx, %rsi
	mov	$1, %edx
label wait_here_call
	syscall
label wait_here_behind
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	end wait_here

	/* int step_here(int number): 3 * number + 1, with the trap flag on */
	function step_here
	pushf
	.cfi_def_cfa_offset 16
	orl	$0x100, (%rsp)
	popf
	.cfi_def_cfa_offset 8
	mov	%edi, %eax
	add	%edi, %eax
	add	%edi, %eax
	inc	%eax
	pushf
	.cfi_def_cfa_offset 16
	andl	$~0x100, (%rsp)
	popf
	.cfi_def_cfa_offset 8
	ret
	end step_here
