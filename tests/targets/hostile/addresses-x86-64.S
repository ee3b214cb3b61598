/*
 * Functions whose return addresses stand in tables, as compilers with precise garbage collection
 * write them: labels behind calls, absolute and relative to the table's entry.
 */
#include "asm.inc"

	/* Hands its return address to collect(), as a collector that walks the stack finds it. */
	function call_collector
	mov	%rsp, %rdi
	sub	$8, %rsp
	.cfi_def_cfa_offset 16
	call	collect
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	end call_collector

	function frames_of_a
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	mov	%rdi, %rbx
	call	call_collector
.Lafter_1:
	add	%rax, %rbx
	call	call_collector
.Lafter_2:
	add	%rbx, %rax
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	end frames_of_a

	function frames_of_b
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	mov	%rdi, %rbx
	lea	call_collector(%rip), %rax
	call	*%rax
.Lafter_3:
	add	%rbx, %rax
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	end frames_of_b

	function relative_frames
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	mov	%rdi, %rbx
	call	call_collector
.Lafter_4:
	add	%rax, %rbx
	call	call_collector
.Lafter_5:
	add	%rbx, %rax
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	end relative_frames

	.section .data.rel.ro, "aw"
	.p2align 3
	.globl	frame_table
frame_table:
	.quad	.Lafter_1, 11
	.quad	.Lafter_2, 22
	.quad	.Lafter_3, 33
	.quad	0, 0

	.section .rodata
	.p2align 3
	.globl	relative_table
relative_table:
	.long	.Lafter_4 - ., 44
	.long	.Lafter_5 - ., 55
	.long	0, 0
