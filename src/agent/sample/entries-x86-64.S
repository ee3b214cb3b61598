/*
 * Where the kernel and the C library enter the agent.
 *
 * dw_tick_return: how handlers return; debuggers and unwinders know it by these very bytes, and have
 * rules of their own for it. dw_thread_entry: the first function of a thread, which leaves no frame
 * behind: after dw_thread_begin() it jumps to the program's own.
 */
	.text
	.globl	dw_tick_return
	.hidden	dw_tick_return
	.type	dw_tick_return, @function
	.balign	16
	nop
dw_tick_return:
	mov	$15, %rax		/* rt_sigreturn */
	syscall
	.size	dw_tick_return, . - dw_tick_return

	.globl	dw_thread_entry
	.hidden	dw_thread_entry
	.type	dw_thread_entry, @function
	.balign	16
dw_thread_entry:
	.cfi_startproc
	endbr64
	lea	8(%rsp), %rsi
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	dw_thread_begin
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	mov	%rdx, %rdi
	jmp	*%rax
	.cfi_endproc
	.size	dw_thread_entry, . - dw_thread_entry

	.section .note.GNU-stack, "", @progbits
