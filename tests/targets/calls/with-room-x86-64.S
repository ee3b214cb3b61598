/*
 * void *call_with_room(void *room): room->call() on a stack that ends @bytes below its return
 * address, at room->low. Not in the unwind table, so nobody instruments it.
 */
	.text
	.globl	call_with_room
	.type	call_with_room, @function
call_with_room:
	push	%rbp
	mov	%rsp, %rbp
	mov	8(%rdi), %rax
	add	16(%rdi), %rax
	lea	8(%rax), %rsp
	call	*(%rdi)
	mov	%rbp, %rsp
	pop	%rbp
	xor	%eax, %eax
	ret
	.size	call_with_room, . - call_with_room

	.section .note.GNU-stack, "", @progbits
