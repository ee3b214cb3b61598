/*
 * Corners of moving code, as functions int f(int): each computes something that goes wrong when its
 * clone is not what it is. A small library; see test-clone-image.c.
 */
	.macro	function name, scope=globl
	.\scope	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.endm
	.macro	end name
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.text
	.balign	16
function rip_operands			/* immediates behind a rip operand */
	movl	$5, word(%rip)
	addl	%edi, word(%rip)
	cmpb	$7, word(%rip)
	sete	%al
	movzbl	%al, %eax
	addl	$100000, word(%rip)
	addl	word(%rip), %eax
	ret
end rip_operands

	.balign	16
function loops				/* loop and jrcxz */
	mov	%edi, %ecx
	and	$15, %ecx
	xor	%eax, %eax
	jrcxz	2f
1:	add	%ecx, %eax
	loop	1b
2:	ret
end loops

	.balign	16
function with_endbr
	endbr64
	lea	3(%rdi), %eax
	ret
end with_endbr

	.balign	16
function keeps_its_stack		/* room of variable size, given back by a copy of a copy */
	push	%rbp
	mov	%rsp, %rbp
	push	%rbx
	mov	%rsp, %rax
	mov	%rax, %rbx
	and	$15, %edi
	lea	16(, %rdi, 8), %rax
	and	$-16, %rax
	sub	%rax, %rsp
	mov	%rdi, (%rsp)
	mov	(%rsp), %rax
	mov	%rbx, %rsp
	pop	%rbx
	pop	%rbp
	ret
end keeps_its_stack

	.balign	16
function may_switch			/* a copy that a call has left nothing of, copied on */
	push	%rbx
	push	%rbp
	mov	%rsp, %rax
	mov	%rsp, word(%rip)
	call	stack_word
	mov	%rax, %rbx
	mov	%rbx, %rsp
	pop	%rbp
	pop	%rbx
	mov	%edi, %eax
	ret
end may_switch

function stack_word, local
	mov	word(%rip), %rax
	ret
end stack_word

	.balign	16
function back_to_start			/* a loop whose head is the entry */
	dec	%edi
	test	$7, %edi
	jne	back_to_start
	mov	%edi, %eax
	ret
end back_to_start

	.balign	16
function recursion			/* calls of oneself */
	and	$15, %edi
	mov	%edi, %eax
	cmp	$2, %edi
	jb	1f
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	push	%rdi
	.cfi_adjust_cfa_offset 8
	dec	%edi
	call	recursion
	mov	%eax, %ebx
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	sub	$2, %edi
	call	recursion
	add	%ebx, %eax
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbx
1:	ret
end recursion

	.balign	16
function tails				/* conditional and plain tail jumps */
	test	$1, %edi
	jne	with_endbr
	test	$2, %edi
	je	loops
	jmp	rip_operands
end tails

	.balign	16
function into_middle			/* a jump behind another function's start */
	lea	9(%rdi), %eax
	jmp	middle
end into_middle

	.balign	16
function has_middle
	mov	%edi, %eax
	.byte	0x0f, 0x1f, 0x40, 0x00	/* room for the patch in front of the label */
middle:	xor	$0x55, %eax
	ret
end has_middle

	.balign	16
function falls_through			/* into the one behind it, with rules as of a return */
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	mov	%edi, %ebx
	lea	77(%rbx), %edi
	pop	%rbx
	.cfi_adjust_cfa_offset -8	/* rbx is found below rsp still */
	nop
end falls_through
function behind
	lea	(%rdi,%rdi,2), %eax
	ret
end behind

	.balign	16
function red_zone			/* a leaf that keeps things below rsp */
	mov	%edi, -4(%rsp)
	mov	%edi, -128(%rsp)
	call	leaf_keeps_nothing
	mov	%edi, -4(%rsp)
	mov	%edi, -128(%rsp)
	jmp	1f
1:	mov	-4(%rsp), %eax
	add	-128(%rsp), %eax
	ret
end red_zone

function leaf_keeps_nothing
	ret
end leaf_keeps_nothing

	.balign	16
function three_bytes
	xor	%eax, %eax
	ret
end three_bytes

	.balign	16
function two_bytes
	jmp	three_bytes
end two_bytes

	.balign	16
function one_byte			/* what it returns is its caller's rax */
	ret
end one_byte

	.balign	16
function by_table			/* a jump table in a section of its own */
	and	$3, %edi
	lea	table(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
1:	mov	$11, %eax
	ret
2:	mov	$22, %eax
	ret
3:	mov	$33, %eax
	jmp	rip_operands
end by_table
	.section .rodata
	.balign	4
table:	.long	1b - table, 2b - table, 3b - table, 1b - table
	.text

	.balign	16
function by_goto			/* the address of a label */
	mov	%edi, %eax
	lea	1f(%rip), %rcx
	test	$1, %edi
	je	2f
	lea	3f(%rip), %rcx
2:	jmp	*%rcx
1:	add	$1000, %eax
	ret
3:	add	$2000, %eax
	ret
end by_goto

	.balign	16
function by_pointer			/* a tail jump by a pointer */
	lea	behind(%rip), %rax
	jmp	*%rax
end by_pointer

	.balign	16
function returns_flags			/* carry and overflow are its result, rax too */
	cmp	$3, %edi
	mov	$17, %eax
	ret
end returns_flags

	.balign	16
function over_lock			/* a jump over a lock prefix */
	mov	%edi, other(%rip)
	test	$1, %edi
	je	1f + 1
1:	lock incl other(%rip)
	mov	other(%rip), %eax
	ret
end over_lock

	.balign	16
function uses_flags
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	xor	%ebx, %ebx
	call	returns_flags
	adc	%ebx, %ebx
	add	%ebx, %eax
	mov	$0x7fffffff, %ecx
	add	%edi, %ecx		/* overflow for edi > 0 */
	mov	%eax, %ecx
	call	keeps_flags
	seto	%al
	movzbl	%al, %eax
	lea	(%rax,%rcx,4), %eax
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbx
	ret
end uses_flags

	.balign	16
function keeps_flags			/* flags, rax and r10 go in and come out */
	lea	1(%rcx), %ecx
	mov	%r10, %r10
	jmp	1f
1:	ret
end keeps_flags

	.balign	16
function cold_part, local		/* entered by jumps only, with a frame in place */
	.cfi_def_cfa_offset 16
	add	$4242, %eax
	jmp	after_cold
end cold_part

	.balign	16
function has_cold
	push	%rdi
	.cfi_adjust_cfa_offset 8
	mov	%edi, %eax
	test	$4, %edi
	jne	cold_part
after_cold:
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	ret
end has_cold

	.balign	16
function has_named.cold, local		/* a part by its name alone */
	lea	777(%rdi), %eax
	ret
end has_named.cold

	.balign	16
function has_named
	mov	%edi, %eax
	test	$2, %edi
	jne	has_named.cold
	ret
end has_named

	.bss
	.balign	8
word:	.zero	8
other:	.zero	8

	.section .note.GNU-stack, "", @progbits
