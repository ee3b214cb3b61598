/*
 * Stand-ins for functions that look at their return address: they search for symbols, or for
 * libraries, as seen from the module that calls.
 *
 * Called from anywhere but a clone, dlsym() and dlvsym() jump on with everything as it was. Else
 * the real function gets the address of a `ret` of the calling module as return address, and below
 * it the true one; that `ret` then leads back here. The three arguments are in registers. With a
 * shadow stack a return must match its call, so the real function sees this library there.
 */
	.text

	/* DW_FRONT name, its number in loader-calls-x86-64.c, what goes on for clones */
	.macro	DW_FRONT name, id, clones
	.globl	\name
	.type	\name, @function
	.balign	16
\name:
	.cfi_startproc
	endbr64
	push	%rdi
	.cfi_adjust_cfa_offset 8
	push	%rsi
	.cfi_adjust_cfa_offset 8
	push	%rdx
	.cfi_adjust_cfa_offset 8
	mov	24(%rsp), %rdi
	mov	$\id, %esi
	call	dw_loader_route
	mov	%rdx, %rcx
	mov	%rax, %r8
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	pop	%rsi
	.cfi_adjust_cfa_offset -8
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	test	%rcx, %rcx
	jne	\clones
	jmp	*%r8
	.cfi_endproc
	.size	\name, . - \name
	.endm

	DW_FRONT dlsym, 0, dw_call_from
	DW_FRONT dlvsym, 1, dw_call_from
	DW_FRONT dlopen, 2, dw_open_from
	DW_FRONT dlmopen, 3, dw_open_from

	.globl	dw_call_from
	.hidden	dw_call_from
	.type	dw_call_from, @function
	.balign	16
dw_call_from:
	.cfi_startproc
	endbr64
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	and	$-16, %rsp
	xor	%eax, %eax
	rdsspq	%rax			/* stays 0 without a shadow stack */
	test	%rax, %rax
	jne	1f
	sub	$8, %rsp
	lea	2f(%rip), %rax
	push	%rax
	push	%rcx
	jmp	*%r8
1:	call	*%r8
2:	mov	%rbp, %rsp
	pop	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	dw_call_from, . - dw_call_from

	.section .note.GNU-stack, "", @progbits
