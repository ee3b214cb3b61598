/*
 * Forms that code takes when no compiler keeps it in order. Each function is called by shapes.c as
 * long f(long, long), which also knows what it must return.
 */
#include "asm.inc"

/* Tables inside the text, behind the jump that uses them. */

	function table_in_text
	lea	.Ltable1(%rip), %rdx
	movslq	(%rdx, %rdi, 4), %rax
	add	%rdx, %rax
	jmp	*%rax
	.p2align 2
.Ltable1:
	.long	.Lone1 - .Ltable1, .Ltwo1 - .Ltable1, .Lthree1 - .Ltable1, .Lfour1 - .Ltable1
.Lone1:	mov	$10, %eax
	ret
.Ltwo1:	mov	$20, %eax
	ret
.Lthree1:
	lea	(%rsi, %rsi), %rax
	ret
.Lfour1:
	mov	$40, %eax
	ret
	end table_in_text

	/* Offsets of one byte each, from a base of their own. */
	function byte_table
	lea	.Ltable2(%rip), %rdx
	movzbl	(%rdx, %rdi), %eax
	lea	.Lbase2(%rip), %rdx
	add	%rdx, %rax
	jmp	*%rax
.Ltable2:
	.byte	.Lc2 - .Lbase2, .Lb2 - .Lbase2, .La2 - .Lbase2, .Lbase2 - .Lbase2
.Lbase2:
	mov	$1, %eax
	ret
.La2:	mov	$2, %eax
	ret
.Lb2:	mov	$3, %eax
	ret
.Lc2:	mov	$4, %eax
	ret
	end byte_table

	/* Blocks of one byte: no block has room for a jump. */
	function one_byte_blocks
	mov	%rsi, %rax
	lea	.Ltable3(%rip), %rdx
	movslq	(%rdx, %rdi, 4), %rcx
	add	%rdx, %rcx
	mov	$100, %edx
	jmp	*%rcx
.Lstack3_4:
	push	%rdx
.Lstack3_3:
	push	%rdx
.Lstack3_2:
	push	%rdx
.Lstack3_1:
	push	%rdx
.Lstack3_0:
	push	%rdx
	mov	%rsp, %rcx
	lea	(%rsp, %rdi, 8), %rsp
	lea	8(%rsp), %rsp
	sub	%rsp, %rcx
	sub	%rcx, %rax
.Lreturn3:
	ret
	.section .rodata
	.p2align 2
.Ltable3:
	.long	.Lstack3_0 - .Ltable3, .Lstack3_1 - .Ltable3, .Lstack3_2 - .Ltable3
	.long	.Lstack3_3 - .Ltable3, .Lstack3_4 - .Ltable3, .Lreturn3 - .Ltable3
	.text
	end one_byte_blocks

	/* No table at all: the target is computed, two bytes a step. */
	function computed_target
	mov	%rsi, %rax
	lea	.Lrun4(%rip), %rdx
	lea	(%rdx, %rdi, 2), %rdx
	jmp	*%rdx
.Lrun4:	.rept	32
	inc	%eax
	.endr
	ret
	end computed_target

	/* Absolute addresses in writable data. */
	function absolute_table
	lea	.Ltable5(%rip), %rdx
	jmp	*(%rdx, %rdi, 8)
.La5:	lea	7(%rsi), %rax
	ret
.Lb5:	lea	9(%rsi), %rax
	ret
	.data
	.p2align 3
.Ltable5:
	.quad	.La5, .Lb5
	.text
	end absolute_table

/* Functions that share code. */

	function shared_first
	mov	$100, %eax
.Lshared:
	add	%rdi, %rax
	add	%rsi, %rax
	ret
	end shared_first

	function shared_second
	mov	$200, %eax
	jmp	.Lshared
	end shared_second

	function shared_if
	xor	%eax, %eax
	test	%rdi, %rdi
	jne	.Lshared
	mov	$-1, %rax
	ret
	end shared_if

	/* Ends without a return: the next function goes on. */
	function falls_through
	lea	1(%rdi), %rdi
	.cfi_endproc
	.size	falls_through, . - falls_through
	.globl	fallen_into
	.type	fallen_into, @function
fallen_into:
	.cfi_startproc
	lea	(%rdi, %rdi), %rax
	ret
	end fallen_into

	/* Entered 4 bytes behind its beginning too. */
	function two_entries
	add	$16, %rdi
label second_entry
	lea	(%rdi, %rsi), %rax
	ret
	end two_entries

	function enters_second
	jmp	second_entry
	end enters_second

	function calls_second
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	call	second_entry
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	end calls_second

	/* The first instruction is the head of a loop, and of a loop of two bytes. */
	function loop_at_entry
	add	%rsi, %rax
	dec	%rdi
	jne	loop_at_entry
	ret
	end loop_at_entry

	function calls_loop_at_entry
	xor	%eax, %eax
	jmp	loop_at_entry
	end calls_loop_at_entry

	function short_loop_at_entry
	loop	short_loop_at_entry
	mov	$6, %eax
	ret
	end short_loop_at_entry

	function calls_short_loop
	mov	%rdi, %rcx
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	call	short_loop_at_entry
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	end calls_short_loop

/* Functions of a few bytes without room between them. */

	.p2align 4
	.globl	tiny_1, tiny_2, tiny_3, tiny_4, tiny_5
	.type	tiny_1, @function
	.type	tiny_2, @function
	.type	tiny_3, @function
	.type	tiny_4, @function
	.type	tiny_5, @function
tiny_1:	.cfi_startproc
	ret
	.cfi_endproc
	.size	tiny_1, . - tiny_1
tiny_2:	.cfi_startproc
	cltd
	ret
	.cfi_endproc
	.size	tiny_2, . - tiny_2
tiny_3:	.cfi_startproc
	xor	%eax, %eax
	ret
	.cfi_endproc
	.size	tiny_3, . - tiny_3
tiny_4:	.cfi_startproc
	mov	%rdi, %rax
	ret
	.cfi_endproc
	.size	tiny_4, . - tiny_4
tiny_5:	.cfi_startproc
	jmp	tiny_4
	.cfi_endproc
	.size	tiny_5, . - tiny_5

	function calls_tiny
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	mov	%rdi, %rax
	call	tiny_1
	call	tiny_2
	mov	%rax, %rsi
	call	tiny_3
	add	%rax, %rsi
	call	tiny_4
	add	%rax, %rsi
	call	tiny_5
	add	%rsi, %rax
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	end calls_tiny

/* Return addresses that are read, changed, dropped. */

	/* The bytes behind the call are a string; the callee steps over it. */
	function data_after_call
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	call	length_of_inline
	.asciz	"hello, hostile world"
	add	%rdi, %rax
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	end data_after_call

	function length_of_inline
	mov	(%rsp), %rdx
	xor	%eax, %eax
1:	inc	%rdx
	inc	%rax
	cmpb	$0, -1(%rdx)
	jne	1b
	dec	%rax
	mov	%rdx, (%rsp)
	ret
	end length_of_inline

	/* Skips an instruction of its caller: on return, if its argument is odd. */
	function returns_elsewhere
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	mov	$1, %eax
	call	skips_if_odd
	add	$100, %rax
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	end returns_elsewhere

	function skips_if_odd
	test	$1, %dil
	je	1f
	addq	$4, (%rsp)
1:	ret
	end skips_if_odd

	function pops_return
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	call	popper
	lea	(%rax, %rsi), %rax
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	end pops_return

	function popper
	pop	%rdx
	.cfi_def_cfa_offset 0
	.cfi_register rip, rdx
	lea	5(%rdi), %rax
	jmp	*%rdx
	end popper

	/* Returns to its caller's caller. */
	function skips_a_frame
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	call	drops_its_caller
	mov	$-1, %rax
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	end skips_a_frame

	function drops_its_caller
	lea	33(%rdi), %rax
	add	$16, %rsp
	.cfi_def_cfa_offset -8
	ret
	end drops_its_caller

	/* The distance of a place in code from itself, found by call and pop: 0. */
	function call_next
	call	1f
1:	pop	%rax
	lea	1b(%rip), %rdx
	sub	%rdx, %rax
	add	%rdi, %rax
	ret
	end call_next

	function uses_thunk
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	call	thunk_rbx
label after_thunk
	mov	after_thunk_address(%rip), %rax
	sub	%rbx, %rax
	add	%rdi, %rax
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	.data
	.p2align 3
after_thunk_address:
	.quad	after_thunk
	.text
	end uses_thunk

	function thunk_rbx
	mov	(%rsp), %rbx
	ret
	end thunk_rbx

	/* A subroutine in the middle of its own function. */
	function calls_own_middle
	mov	%rdi, %rax
	call	.Lmiddle
	call	.Lmiddle
	ret
.Lmiddle:
	add	%rsi, %rax
	ret
	end calls_own_middle

	/* Returns as jumps: to a pushed label, and through what hides a jump from prediction. */
	function push_and_return
	lea	.Lpushed(%rip), %rax
	push	%rax
	.cfi_def_cfa_offset 16
	ret
	.cfi_def_cfa_offset 8
	int3
.Lpushed:
	lea	(%rdi, %rsi), %rax
	ret
	end push_and_return

	function through_retpoline
	lea	tiny_4(%rip), %rax
	call	1f
2:	pause
	lfence
	jmp	2b
1:	mov	%rax, (%rsp)
	ret
	end through_retpoline

	/* The callee removes the arguments. */
	function callee_removes
	push	%rdi
	.cfi_def_cfa_offset 16
	push	%rsi
	.cfi_def_cfa_offset 24
	call	adds_from_stack
	.cfi_def_cfa_offset 8
	ret
	end callee_removes

	function adds_from_stack
	mov	8(%rsp), %rax
	add	16(%rsp), %rax
	ret	$16
	end adds_from_stack

	/* Far from ordinary, and a jump all the same. */
	function interrupt_return
	mov	%rsp, %rcx
	mov	%ss, %eax
	push	%rax
	push	%rcx
	pushf
	mov	%cs, %eax
	push	%rax
	lea	.Lresumed(%rip), %rax
	push	%rax
	iretq
.Lresumed:
	lea	(%rdi, %rsi), %rax
	ret
	end interrupt_return

/* Instructions within instructions. */

	function overlapping
	jmp	1f + 1
1:	.byte	0xb8		/* mov $..., %eax: its operand is what runs */
	xor	%eax, %eax
	inc	%eax
	add	%rdi, %rax
	ret
	end overlapping

	function jumped_over_prefix
	mov	%rdi, count_of_prefix(%rip)
	test	%rsi, %rsi
	je	1f
	lock
1:	incq	count_of_prefix(%rip)
	mov	count_of_prefix(%rip), %rax
	ret
	.local	count_of_prefix
	.comm	count_of_prefix, 8, 8
	end jumped_over_prefix

	function jumps_on_count
	xor	%eax, %eax
	mov	%rdi, %rcx
	jrcxz	2f
1:	add	%rsi, %rax
	loop	1b
	mov	$5, %ecx
	cmp	%ecx, %ecx
3:	inc	%rax
	cmp	%ecx, %ecx
	loope	3b
	mov	$3, %ecx
4:	inc	%rax
	cmp	$1, %ecx
	loopne	4b
	jecxz	2f
	dec	%rax
2:	ret
	end jumps_on_count

	/* Decoded and moved, never run: not every processor has it. */
	function transaction
	test	%rdi, %rdi
	jns	1f
	xbegin	2f
	xend
1:	lea	3(%rdi), %rax
	ret
2:	mov	$-1, %rax
	ret
	end transaction

	function repeated_return
	lea	(%rdi, %rsi), %rax
	rep ret
	end repeated_return

	function bounded_jump
	.byte	0xf2
	jmp	1f
	int3
1:	lea	(%rdi, %rsi), %rax
	.byte	0xf2
	ret
	end bounded_jump

	/* Fifteen bytes, prefixes that mean nothing, long no-operations. */
	function long_instructions
	mov	%rdi, %rax
	.byte	0x66, 0x66, 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0
	.byte	0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x48, 0x81, 0xc0, 9, 0, 0, 0
	.byte	0x64, 0x48, 0x89, 0xc0
	ret
	end long_instructions

/* Operands that name the code, the stack pointer or the stack. */

	function calls_through_stack
	lea	tiny_4(%rip), %rax
	push	%rax
	.cfi_def_cfa_offset 16
	call	*(%rsp)
	add	%rsi, %rax
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	end calls_through_stack

	function jumps_through_stack
	lea	tiny_4(%rip), %rax
	mov	%rax, -8(%rsp)
	jmp	*-8(%rsp)
	end jumps_through_stack

	function calls_through_memory
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	call	*address_of_tiny(%rip)
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.data
	.p2align 3
address_of_tiny:
	.quad	tiny_4
	.text
	end calls_through_memory

	function jumps_through_memory
	jmp	*address_of_tiny(%rip)
	end jumps_through_memory

	function pops_through_stack_pointer
	push	$0
	push	%rdi
	pop	(%rsp)
	pushq	(%rsp)
	pop	%rax
	pop	%rdx
	add	%rdx, %rax
	ret
	end pops_through_stack_pointer

	function constants_in_text
	movsd	.Lhalf(%rip), %xmm0
	cvtsi2sd %rdi, %xmm1
	mulsd	%xmm1, %xmm0
	cvttsd2si %xmm0, %rax
	push	.Lseven(%rip)
	pop	%rdx
	add	%rdx, %rax
	xor	%ecx, %ecx
	ret
	.p2align 3
.Lhalf:	.double	0.5
.Lseven:
	.quad	7
	end constants_in_text

	function exchanges
	mov	%rdi, exchanged(%rip)
	mov	%rdi, %rax
	lock cmpxchg %rsi, exchanged(%rip)
	xchg	%rax, exchanged(%rip)
	lock xadd %rax, exchanged(%rip)
	mov	exchanged(%rip), %rax
	ret
	.local	exchanged
	.comm	exchanged, 8, 8
	end exchanges

	function conditional_tail
	mov	%rdi, %rax
	test	$1, %dil
	je	tiny_4
	cmp	$10, %rdi
	jg	shared_first
	neg	%rax
	ret
	end conditional_tail

	/* A system call leaves the next instruction's address in rcx. */
	function system_call
	mov	$39, %eax	/* getpid */
	syscall
label after_system_call
	xor	%eax, %eax
	lea	after_system_call(%rip), %rdx
	sub	%rcx, %rdx
	lea	(%rdi, %rdx), %rax
	ret
	end system_call

/* Without unwind rules: the engine knows nothing of these. */

	bare_function bare
	push	%rbx
	mov	%rdi, %rbx
	sub	$16, %rsp
	call	tiny_4
	add	%rbx, %rax
	add	$16, %rsp
	pop	%rbx
	ret
	bare_end bare

	bare_function bare_calls_back
	push	%rbp
	mov	%rsp, %rbp
	mov	%rdi, %rax
	mov	%rsi, %rdi
	call	*%rax
	leave
	ret
	bare_end bare_calls_back

	/* Code in a section of its own. */
	.section odd_code, "ax", @progbits
	function elsewhere
	mov	%rdi, %rax
	sub	%rsi, %rax
	jmp	tiny_1
	end elsewhere
	.text

	/* More than 64 KB without a branch, and a branch over all of it. */
	function very_large
	mov	%rdi, %rax
	test	%rsi, %rsi
	jne	1f
	.rept	20000
	add	$1, %rax
	.endr
1:	ret
	end very_large
