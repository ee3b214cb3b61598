/* Jumps by tables as code at fixed addresses has them; see test-jumps.c. */
	.text
	.globl	_start
_start:
	.cfi_startproc
	ud2
	.cfi_endproc

	.balign	16
in_memory:
	.cfi_startproc
	cmp	$3, %edi
	ja	9f
	mov	%edi, %edi
	jmp	*table(,%rdi,8)
1:	mov	$1, %eax
	ret
2:	mov	$2, %eax
9:	ret
	.cfi_endproc

	.balign	16
loaded:
	.cfi_startproc
	cmp	$3, %edi
	ja	9b
	mov	%edi, %eax
	mov	table(,%rax,8), %rax
	jmp	*%rax
3:	mov	$3, %eax
	ret
	.cfi_endproc

	.section .rodata
	.balign	8
table:	.quad	1b, 2b, 3b, 1b
	.section .note.GNU-stack, "", @progbits
