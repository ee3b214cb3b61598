/* void dw_own_stack_switch(uint64_t top, void (*work)(void *arg), void *arg); see slow.c. */
	.text
	.globl	dw_own_stack_switch
	.hidden	dw_own_stack_switch
	.type	dw_own_stack_switch, @function
	.balign	16
dw_own_stack_switch:
	.cfi_startproc
	endbr64
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
	.cfi_endproc
	.size	dw_own_stack_switch, . - dw_own_stack_switch

	.section .note.GNU-stack, "", @progbits
