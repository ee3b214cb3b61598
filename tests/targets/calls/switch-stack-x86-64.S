/* void switch_stack(void **from, void *to): keep this stack in *from, go on on the other. */
	.text
	.globl	switch_stack
	.type	switch_stack, @function
switch_stack:
	.cfi_startproc
	push	%rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	.cfi_adjust_cfa_offset 48
	mov	%rsp, (%rdi)
	mov	%rsi, %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbx
	pop	%rbp
	.cfi_adjust_cfa_offset -48
	ret
	.cfi_endproc
	.size	switch_stack, . - switch_stack

	.section .note.GNU-stack, "", @progbits
