/*
 * Indirect jumps in many forms, as functions int f(int): each computes something that goes wrong
 * when a clone reads the wrong entry or leaves other registers or flags behind; see test-jumps.c.
 */
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
	.macro	four label			/* a table of distances to \label\()0 to 3 */
	.section .rodata
	.long	0x7fffffff
\label:
	.long	\label\()0 - \label, \label\()1 - \label, \label\()2 - \label, \label\()3 - \label
	.long	0x7fffffff
	.text
	.endm
	.macro	blocks label, first=1
	.if	\first <= 0
\label\()0:
	mov	$100, %eax
	ret
	.endif
\label\()1:
	mov	$101, %eax
	ret
\label\()2:
	mov	$102, %eax
	ret
\label\()3:
	mov	$103, %eax
	ret
	.endm

	.text
function plain
	cmp	$3, %edi
	ja	9f
	lea	.Lplain(%rip), %rdx
	mov	%edi, %eax
	movslq	(%rdx,%rax,4), %rax
	add	%rdx, %rax
	jmp	*%rax
9:	mov	$-1, %eax
	ret
	blocks	.Lplain, 0
end plain
	four	.Lplain

function hoisted				/* the address lives through a loop with calls */
	push	%rbx
	push	%r12
	push	%rbp
	mov	%edi, %ebp
	xor	%r12d, %r12d
	lea	.Lhoisted(%rip), %rbx
1:	mov	%ebp, %eax
	and	$3, %eax
	movslq	(%rbx,%rax,4), %rax
	add	%rbx, %rax
	notrack jmp *%rax
.Lhoisted0:
	mov	%ebp, %edi
	call	plain
.Lhoisted1:
	add	$3, %r12d
	jmp	2f
.Lhoisted2:
	shl	$1, %r12d
.Lhoisted3:
	add	$5, %r12d
2:	dec	%ebp
	jns	1b
	mov	%r12d, %eax
	pop	%rbp
	pop	%r12
	pop	%rbx
	ret
end hoisted
	four	.Lhoisted

function two_tables				/* which one is not known */
	lea	.Lone(%rip), %rdx
	test	$4, %edi
	je	1f
	lea	.Ltwo(%rip), %rdx
1:	mov	%edi, %eax
	and	$3, %eax
	movslq	(%rdx,%rax,4), %rax
	add	%rdx, %rax
	jmp	*%rax
	blocks	.Lone, 0
.Ltwo0:
.Ltwo1:	mov	$201, %eax
	ret
.Ltwo2:
.Ltwo3:	mov	$203, %eax
	ret
end two_tables
	four	.Lone
	four	.Ltwo

function given					/* the address comes from the caller */
	and	$3, %edi
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
	blocks	.Lgiven, 0
end given
	four	.Lgiven

function gives
	lea	.Lgiven(%rip), %rdx
	jmp	given
end gives

function used					/* the address is copied on its way */
	and	$3, %edi
	lea	.Lused(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	mov	%rax, %rcx
	jmp	*%rax
.Lused0:
	lea	.Lused0(%rip), %rdx
	xor	%eax, %eax
	cmp	%rdx, %rcx
	sete	%al
	ret
	blocks	.Lused
end used
	four	.Lused

function live					/* a target reads the jump's register */
	and	$3, %edi
	lea	.Llive(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
.Llive0:
	lea	.Llive0(%rip), %rdx
	sub	%rdx, %rax
	ret
	blocks	.Llive
end live
	four	.Llive

function flags					/* a target reads the addition's flags */
	and	$3, %edi
	lea	.Lflags(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
.Lflags0:
	lahf
	movzbl	%ah, %eax
	ret
	blocks	.Lflags
end flags
	four	.Lflags

function to_base				/* the distance is added to the base */
	and	$3, %edi
	lea	.Lto_base(%rip), %r11
	movslq	(%r11,%rdi,4), %r9
	add	%r9, %r11
	jmp	*%r11
.Lto_base0:
	setc	%al
	movzbl	%al, %eax
	lea	.Lto_base0(%rip), %rdx
	sub	%r11, %rdx
	add	%edx, %eax
	lea	.Lto_base(%rip), %rdx
	add	%r9, %rdx
	sub	%r11, %rdx
	add	%edx, %eax
	ret
	blocks	.Lto_base
end to_base
	four	.Lto_base

function by_lea
	and	$3, %edi
	lea	.Lby_lea(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	lea	(%rdx,%rax), %rax
	jmp	*%rax
	blocks	.Lby_lea, 0
end by_lea
	four	.Lby_lea

function extended				/* mov and cltq */
	and	$3, %edi
	lea	.Lextended(%rip), %rdx
	mov	(%rdx,%rdi,4), %eax
	cltq
	add	%rdx, %rax
	jmp	*%rax
	blocks	.Lextended, 0
end extended
	four	.Lextended

	.macro	words name, section		/* a table of addresses */
	.section \section, "aw"
.Lw\name:
	.quad	.L\name\()0, .L\name\()1, .L\name\()2, .L\name\()3
	.quad	0
	.text
	.endm

function words
	cmp	$3, %dil
	ja	9f
	movzbl	%dil, %eax
	lea	.Lwwords(%rip), %rdx
	mov	(%rdx,%rax,8), %rax
	jmp	*%rax
9:	mov	$-1, %eax
	ret
	blocks	.Lwords, 0
end words
	words	words, .data.rel.ro

function in_memory				/* no register holds the entry */
	cmp	$3, %edi
	jbe	1f
	mov	$-1, %eax
	ret
1:	mov	%edi, %edi
	lea	.Lwin_memory(%rip), %r11
	jmp	2f
2:	jmp	*(%r11,%rdi,8)
	blocks	.Lin_memory, 0
end in_memory
	words	in_memory, .data.rel.ro

function writable				/* the program may change it */
	and	$3, %edi
	lea	.Lwwritable(%rip), %rdx
	mov	(%rdx,%rdi,8), %rax
	jmp	*%rax
	blocks	.Lwritable, 0
end writable
	words	writable, .data

function leaving				/* a tail call */
	mov	pointer(%rip), %rax
	inc	%edi
	jmp	*%rax
end leaving
	.data
	.balign 8
pointer:
	.quad	plain
	.text

function labelled				/* an address inside is known */
	mov	%edi, -8(%rsp)
	movl	$77, -16(%rsp)
	mov	label(%rip), %r8
	cmp	$5, %edi
	jmp	*%r8
	.space	300, 0x90
.Llabel:
	setl	%al
	movzbl	%al, %eax
	add	-8(%rsp), %eax
	add	-16(%rsp), %eax
	ret
end labelled
	.data
	.balign 8
label:
	.quad	.Llabel
	.text

function crowded				/* no room below the stack in use */
	mov	%edi, -120(%rsp)
	mov	crowded_label(%rip), %r8
	jmp	*%r8
.Lcrowded:
	mov	-120(%rsp), %eax
	ret
end crowded
	.data
	.balign 8
crowded_label:
	.quad	.Lcrowded
	.text

function unbounded				/* ends where words are no distances to code */
	mov	%edi, %eax
	shr	$4, %eax
	lea	.Lunbounded(%rip), %rdx
	movslq	(%rdx,%rax,4), %rax
	add	%rdx, %rax
	jmp	*%rax
	blocks	.Lunbounded, 0
end unbounded
	four	.Lunbounded

function compared_memory
	mov	%edi, -4(%rsp)
	cmpl	$2, -4(%rsp)
	ja	9f
	mov	-4(%rsp), %eax
	lea	.Lcompared_memory(%rip), %rdx
	movslq	(%rdx,%rax,4), %rax
	add	%rdx, %rax
	jmp	*%rax
9:	mov	$-1, %eax
	ret
	blocks	.Lcompared_memory, 0
end compared_memory
	four	.Lcompared_memory

function stop
	ud2
end stop

function stops					/* shows that stop does not return */
	call	stop
end stops

function around_endless
	lea	.Laround_endless(%rip), %r8
	and	$3, %edi
	test	%edi, %edi
	jns	1f
	mov	%rax, %r8
	call	stop
1:	movslq	(%r8,%rdi,4), %rax
	add	%r8, %rax
	jmp	*%rax
	blocks	.Laround_endless, 0
end around_endless
	four	.Laround_endless

function wild					/* jumps into the middle of a line */
	xor	%ecx, %ecx
	mov	%edi, %eax
	and	$1, %eax
	lea	5f(%rip), %rdx
	lea	(%rdx,%rax,4), %rdx
	jmp	*%rdx
5:	add	$1, %ecx
	nop
	add	$2, %ecx
	mov	%edi, %eax
	and	$3, %eax
	lea	.Lwild(%rip), %rdx
	movslq	(%rdx,%rax,4), %rax
	add	%rdx, %rax
	jmp	*%rax
.Lwild0:
	mov	%ecx, %eax
	ret
	blocks	.Lwild
end wild
	four	.Lwild

function past_end				/* an entry that cannot be leads behind the end */
	cmp	$4, %edi
	jae	9f
	mov	%edi, %edi
	cmp	$2, %edi
	je	9f
	lea	.Lpast(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	add	%rdx, %rax
	jmp	*%rax
9:	mov	$-1, %eax
	ret
.Lpast0:
	mov	$100, %eax
	ret
.Lpast1:
	mov	$101, %eax
	ret
.Lpast3:
	mov	$103, %eax
	ret
.Lpast2:
end past_end
	nop
	four	.Lpast
	.section .note.GNU-stack, "", @progbits
