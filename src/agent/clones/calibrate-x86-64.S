/*
 * Loops around probes, as clones have them; see calibrate.h. Frameless but for what they save.
 * void loop(const struct dw_calibrate_trampolines *trampolines, uint32_t n): offsets are those of
 * the struct.
 */
	.set	ENTER, 0
	.set	LEAVE, 8
	.set	OUT, 16
	.set	RETURN, 24
	.set	PROBED, 32
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
	mov	%esi, %r12d
	lea	3f(%rip), %r13
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

	.macro	site name
	.globl	\name
	.hidden	\name
\name:
	.endm

	.macro	repeat
	sub	$1, %r12d
	jne	1b
	.endm

	.macro	callee
	.cfi_endproc
	.cfi_startproc
3:	jmp	2f
2:
	.endm

/* Call a function with probes at its entry and its return. */
	begin	dw_calibrate_function
1:	call	2f
	site	dw_calibrate_function_site
	repeat
	end
	callee
	mov	%rax, -16(%rsp)
	mov	$0, %eax
	call	*ENTER(%rbx)
	call	*LEAVE(%rbx)
	ret
	.cfi_endproc
	.size	dw_calibrate_function, . - dw_calibrate_function

/* Call a function without probes through a pointer, by way of the place that leads to its clone, with
 * trampolines around the call that let it pass. */
	begin	dw_calibrate_pass
1:	mov	%rax, -16(%rsp)
	mov	PROBED(%rbx), %rax
	call	*OUT(%rbx)
	call	*%r13
	call	*RETURN(%rbx)
	repeat
	end
	callee
	ret
	.cfi_endproc
	.size	dw_calibrate_pass, . - dw_calibrate_pass

/* Call a function without probes, with probes around the call. */
	begin	dw_calibrate_external
1:	mov	%rax, -16(%rsp)
	mov	$0, %eax
	call	*ENTER(%rbx)
	site	dw_calibrate_external_site
	call	2f
	call	*LEAVE(%rbx)
	repeat
	end
	callee
	ret
	.cfi_endproc
	.size	dw_calibrate_external, . - dw_calibrate_external

/* Come to a statement. */
	begin	dw_calibrate_line
1:	mov	%rax, -16(%rsp)
	mov	$0, %eax
	call	*ENTER(%rbx)
	repeat
	end
	callee
	.cfi_endproc
	.size	dw_calibrate_line, . - dw_calibrate_line

/* Call a function, without any probes. */
	begin	dw_calibrate_nothing
1:	call	2f
	repeat
	end
	callee
	ret
	.cfi_endproc
	.size	dw_calibrate_nothing, . - dw_calibrate_nothing

	.section .note.GNU-stack, "", @progbits
