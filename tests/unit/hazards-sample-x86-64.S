/* Code that looks at return addresses, and code that only seems to; see test-hazards.c. */
	.macro	function name
	.globl	\name
	.type	\name, @function
	.balign	16
\name:
	.cfi_startproc
	.endm
	.macro	end name
	.cfi_endproc
	.size	\name, . - \name
	.endm
	.macro	calls callee			/* a caller called calls_\callee */
function calls_\callee
	push	%rbx
	.cfi_adjust_cfa_offset 8
	call	\callee
	add	$1, %eax
	add	$2, %eax
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end calls_\callee
	.endm

	.text
function harmless
	mov	8(%rsp), %rax			/* an argument */
	lock orq $0, (%rsp)			/* a barrier */
	lea	(%rsp), %rcx			/* the end of what lies below */
	mov	-8(%rcx), %rax
	ret
end harmless
	calls	harmless

function reads
	mov	(%rsp), %rax
	ret
end reads
	calls	reads

function reads_by_frame
	push	%rbp
	.cfi_def_cfa_offset 16
	mov	%rsp, %rbp
	.cfi_def_cfa_register rbp
	mov	8(%rbp), %rdi
	call	harmless
	pop	%rbp
	.cfi_def_cfa rsp, 8
	ret
end reads_by_frame
	calls	reads_by_frame

function hides				/* as setjmp() does */
	mov	(%rsp), %rax
	xor	%fs:0x30, %rax
	rol	$17, %rax
	mov	%rax, 56(%rdi)
	ret
end hides
	calls	hides

function takes_off			/* as vfork() does */
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	push	%rdi
	.cfi_adjust_cfa_offset 8
	ret
end takes_off
	calls	takes_off

function changes
	addq	$2, (%rsp)
	ret
end changes
	calls	changes

function computes
	mov	(%rsp), %rax
	mov	%rax, %rcx
	add	$4, %rcx
	mov	%rcx, (%rsp)
	ret
end computes
	calls	computes

function reads_code
	mov	(%rsp), %rax
	movzbl	(%rax), %eax
	ret
end reads_code
	calls	reads_code

function by_address
	lea	(%rsp), %rcx
	incq	(%rcx)
	ret
end by_address
	calls	by_address

function hands_on
	jmp	changes
end hands_on
	calls	hands_on


function named				/* data names the address behind its first call */
	push	%rbx
	.cfi_adjust_cfa_offset 8
	call	harmless
behind:	add	$1, %eax
	add	$2, %eax
	call	harmless
	add	$1, %eax
	add	$2, %eax
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
end named

function named_by_code
	lea	1f(%rip), %rax
	call	harmless
1:	add	$1, %eax
	add	$2, %eax
	ret
end named_by_code

function ends				/* the function behind is named, not the return */
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	nopl	0x12345678(%rax)
	call	harmless
end ends
	.globl	follows
follows:
	.cfi_startproc
	ret
	.cfi_endproc

function own_call
	call	1f
1:	pop	%rax
	ret
end own_call

function restarts
1:	mov	%fs:0, %rax
	inc	%rax
2:	ret
	.byte	0x0f, 0xb9, 0x3d		/* ud1, so that it decodes */
	.long	0x53053053
3:	ret
	.pushsection .data.rel.ro, "aw"
	.balign	32
	.long	0, 0
	.quad	1b, 2b - 1b, 3b
	.popsection
end restarts

function signed				/* an abort handler elsewhere, built at run time */
	ret
	.byte	0x0f, 0xb9, 0x3d
	.long	0x53053053
	ret
end signed

function copied_stub			/* its copies have a pointer there */
	jmp	*1f(%rip)
	.balign	8
1:	.quad	0
end copied_stub

function copied_barrier
	movabs	$0xf0f0f0f0f0f0f0f0, %rax
	movb	$0xff, (%rdi, %rax)
	ret
end copied_barrier

	.globl	from_kernel
	.balign	16
from_kernel:
	.cfi_startproc
	.cfi_signal_frame
	mov	$15, %eax
	syscall
	.cfi_endproc

	.globl	begins_a_thread
	.balign	16
begins_a_thread:
	.cfi_startproc
	.cfi_undefined rip
	xor	%ebp, %ebp
	mov	%r8, %rdi
	call	*%rdx
	mov	$60, %eax
	syscall
	.cfi_endproc

	.data
	.balign	8
	.quad	behind, follows
	.section .note.GNU-stack, "", @progbits
