/* A 32-bit program without any library: says so and exits with 3. */
	.text
	.globl	_start
_start:
	movl	$4, %eax		/* write */
	movl	$1, %ebx
	movl	$text, %ecx
	movl	$7, %edx
	int	$0x80
	movl	$1, %eax		/* exit */
	movl	$3, %ebx
	int	$0x80
	.section .rodata
text:	.ascii	"narrow\n"
	.section .note.GNU-stack, "", @progbits
