/*
 * Two restartable sequences (see the kernel's linux/rseq.h): a descriptor names begin, length and
 * the address to go on at after an abort, before which the signature stands.
 *
 * void rseq_increment(struct rseq *registered, long *counters): registered->cpu_id is at 4,
 * registered->rseq_cs at 8; a counter takes 64 bytes.
 */
#include "asm.inc"

	.macro sequence name, slowly
	.section __rseq_cs, "aw"
	.p2align 5
.Ldescriptor_\name:
	.long	0, 0
	.quad	.Lbegin_\name, .Lend_\name - .Lbegin_\name, .Labort_\name
	.text

	function \name
.Lagain_\name:
	lea	.Ldescriptor_\name(%rip), %rax
	mov	%rax, 8(%rdi)
.Lbegin_\name:
	mov	4(%rdi), %ecx
	shl	$6, %rcx
	mov	(%rsi, %rcx), %rdx
	.if \slowly
	mov	$60, %eax
1:	dec	%eax
	jne	1b
	.endif
	inc	%rdx
	mov	%rdx, (%rsi, %rcx)
.Lend_\name:
	ret
	.byte	0x0f, 0xb9, 0x3d	/* ud1: makes the signature an instruction */
	.long	0x53053053
.Labort_\name:
	jmp	.Lagain_\name
	end \name
	.endm

	sequence rseq_increment, 0
	sequence rseq_increment_slowly, 1
