/*
 * Loops around probes, as clones have them; see calibrate.h. Frameless but for what they save.
 */
	.text

	.macro	begin name
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.balign	16
\name:
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	push	%r12
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r12, 0
	push	%r13
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r13, 0
	mov	%rdi, %rbx
	mov	%rsi, %r12
	mov	%edx, %r13d
	.endm

	.macro	end name
	.cfi_remember_state
	pop	%r13
	.cfi_adjust_cfa_offset -8
	pop	%r12
	.cfi_adjust_cfa_offset -8
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_restore_state
	.endm

/* Call a function with probes at its entry and its return. */
	begin	dw_calibrate_function
1:	call	2f
	.globl	dw_calibrate_function_site
	.hidden	dw_calibrate_function_site
dw_calibrate_function_site:
	sub	$1, %r13d
	jne	1b
	end
	.cfi_endproc
	.cfi_startproc
2:	mov	%rax, -16(%rsp)
	mov	$0, %eax
	call	*%rbx
	call	*%r12
	ret
	.cfi_endproc
	.size	dw_calibrate_function, . - dw_calibrate_function

/* Call a function without probes, with probes around the call. */
	begin	dw_calibrate_outside
1:	mov	%rax, -16(%rsp)
	mov	$0, %eax
	call	*%rbx
	.globl	dw_calibrate_outside_site
	.hidden	dw_calibrate_outside_site
dw_calibrate_outside_site:
	call	2f
	call	*%r12
	sub	$1, %r13d
	jne	1b
	end
	.cfi_endproc
	.cfi_startproc
2:	ret
	.cfi_endproc
	.size	dw_calibrate_outside, . - dw_calibrate_outside

/* Call a function, without any probes. */
	begin	dw_calibrate_nothing
1:	call	2f
	sub	$1, %r13d
	jne	1b
	end
	.cfi_endproc
	.cfi_startproc
2:	ret
	.cfi_endproc
	.size	dw_calibrate_nothing, . - dw_calibrate_nothing

	.section .note.GNU-stack, "", @progbits
