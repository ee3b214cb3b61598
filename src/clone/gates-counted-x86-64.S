/*
 * Gates of calls that are measured no more but counted: included by gates-time-x86-64.S. They read no
 * clock and know no path, so there is nothing to be done for them but one increment, which a signal
 * finds done or not.
 */
	.macro	save_few
	mov	%rcx, -16(%rsp)
	mov	%rax, -72(%rsp)
	save_flags
	.endm

/* Where threads have counters: in the region, which a fork's child first has to make. */
	.macro	find_counters slow, to
	.byte	0x83, 0x3d			/* cmpl $0, 0(%rip) */
	.long	0
	.byte	0
	field	PAGE_WIPED, WIPED_ALIVE, 1
	je	\slow
	.byte	0x64, 0x48, 0x8b, 0x04 | (\to << 3), 0x25	/* mov %fs:0, \to */
	.long	0
	field	PAGE_THREAD, 0
	.endm
	.set	TO_RAX, 0
	.set	TO_RCX, 1

	.balign	64
dw_gate_counted:
	save_few
.Lcount:
	find_counters .Lslow_GATE_COUNTED, TO_RCX
	mov	-72(%rsp), %eax
	cmp	THREAD_COUNTED_END(%rcx), %eax
	jge	.Lslow_GATE_COUNTED
	add	THREAD_COUNTED(%rcx), %rax
.Lat_GATE_COUNTED:
	incq	(%rax)
.Lend_GATE_COUNTED:
	mov	-80(%rsp), %eax
	add	$0x7f, %al		/* sets OF when al was 1 */
	sahf
	mov	-16(%rsp), %rcx
	mov	-8(%rsp), %rax
	ret
.Lover_GATE_COUNTED:
	half_way .Lcount, .Lat_GATE_COUNTED, .Lend_GATE_COUNTED, .Lover_GATE_COUNTED

/* Where TAIL would have been an event: BACK stands where the function returns to, or stood. */
	.balign	64
dw_gate_counted_tail:
	save_few
	mov	8(%rsp), %rcx
	lea	0(%rip), %rax
	field	PAGE_AREA, 0
	neg	%rax
	add	%rcx, %rax
	cmp	0(%rip), %rax
	field	PAGE_CONSTANTS, CONSTANT_AREA_BYTES
	jae	.Lend_GATE_COUNTED
	cmpb	$CALL, (%rcx)
	jne	.Loff_GATE_COUNTED_TAIL
	movslq	1(%rcx), %rax
	lea	5(%rcx, %rax), %rcx
	lea	.Lback(%rip), %rax
	cmp	%rcx, %rax
	je	.Lcount
	jmp	.Lend_GATE_COUNTED
.Loff_GATE_COUNTED_TAIL:
	jump_unless_back_off %rcx, .Lend_GATE_COUNTED
	jmp	.Lcount

/* The same where TAIL itself is not off, as it is others' too. */
.Loff_GATE_TAIL:
	jump_unless_back_off %rdx, .Lagain_GATE_EXIT
	mov	0(%rip), %rdi
	field	PAGE_WIPED, WIPED_PLACES
	test	%rdi, %rdi
	je	.Lslow_GATE_TAIL
	mov	-72(%rsp), %edx
	mov	(%rdi, %rdx, 4), %edx
	cmp	$1, %edx
	je	.Lagain_GATE_EXIT
	ja	1f		/* places are below 0 */
	jmp	.Lslow_GATE_TAIL
1:	find_counters .Lslow_GATE_TAIL, TO_RCX
	cmp	THREAD_COUNTED_END(%rcx), %edx
	jge	.Lslow_GATE_TAIL
	add	THREAD_COUNTED(%rcx), %rdx
	incq	(%rdx)		/* last: a handler that comes before or behind it finds all as it is */
	jmp	.Lagain_GATE_EXIT

/* A line of the thread's for each set of addresses, each with its counter behind it. */
	.balign	64
dw_gate_counted_pointer:
	save_few
.Lcount_pointer:
	mov	-72(%rsp), %rax
	sub	0(%rip), %rax
	field	PAGE_CONSTANTS, CONSTANT_PROBED
	cmp	0(%rip), %rax
	field	PAGE_CONSTANTS, CONSTANT_PROBED_BYTES
	jb	.Lend_GATE_COUNTED_POINTER
	imul	$KEY_FACTOR, -72(%rsp), %ecx
	shr	$POINTER_SHIFT, %ecx
	shl	$6, %ecx
	find_counters .Lslow_GATE_COUNTED_POINTER, TO_RAX
	mov	THREAD_POINTERS(%rax), %rax
	test	%rax, %rax
	je	.Lslow_GATE_COUNTED_POINTER
	add	%rax, %rcx
	mov	-72(%rsp), %rax
	cmp	%rax, (%rcx)
	je	1f
	add	$POINTER_BYTES, %rcx
	cmp	%rax, (%rcx)
	je	1f
	add	$POINTER_BYTES, %rcx
	cmp	%rax, (%rcx)
	jne	.Lslow_GATE_COUNTED_POINTER
1:
.Lat_GATE_COUNTED_POINTER:
	incq	8(%rcx)
.Lend_GATE_COUNTED_POINTER:
	mov	-80(%rsp), %eax
	add	$0x7f, %al
	sahf
	mov	-16(%rsp), %rcx
	mov	-8(%rsp), %rax
	ret
.Lover_GATE_COUNTED_POINTER:
	half_way .Lcount_pointer, .Lat_GATE_COUNTED_POINTER, .Lend_GATE_COUNTED_POINTER, .Lover_GATE_COUNTED_POINTER

/* The way out saves what the slow path does not keep; last it changes rdi, by which a signal knows
 * that all is saved (agent/clones/signal-context-x86-64.c). */
	.macro	slow_counted gate
.Lslow_\gate:
	save_rdx_to_r10
	mov	$\gate, %edi
	.endm
