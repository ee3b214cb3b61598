/*
 * What the trampolines that measure time are made of: included by time-x86-64.S, which tells of
 * registers.
 */
/* struct dw_tree_thread, struct dw_tree_node, struct dw_tree_cell, struct dw_shadow */
	.set	THREAD_TOP, 0
	.set	THREAD_LAST, 8
	.set	THREAD_CURRENT, 16
	.set	THREAD_OS_WORD, 24
	.set	THREAD_OS_SEEN, 32
	.set	THREAD_HAS_CELLS, 36
	.set	THREAD_QUICK, 40
	.set	THREAD_LIMIT, 48
	.set	THREAD_ARENA, 56
	.set	THREAD_QUICK_MASK, 64
	.set	THREAD_WINDOW, 68
	.set	THREAD_COST, 72
	.set	THREAD_BOUNDS, 80
	.set	THREAD_BOUNDS_MASK, 88
	.set	THREAD_PAIR_TICKS, 96
	.set	THREAD_CALLEE_TICKS, 112
	.set	THREAD_STATE, 172
	.set	THREAD_LINE_TICKS, 188
	.set	THREAD_POINTERS, 200
	.set	THREAD_DISABLED, 212
	.set	THREAD_READ, 240
	.set	THREAD_DONE, 248
	.set	THREAD_OTHER_COST, 288
	.set	THREAD_DRAW_AT, 296
	.set	THREAD_COUNTED_END, 308
	.set	THREAD_COUNTED, 312
	.set	THREAD_IN_CALL, 2
	.set	THREAD_OFF, 4
	.set	NODE_ELAPSED, 0
	.set	NODE_CALLS, 8
	.set	NODE_KEY, 16
	.set	NODE_SITE, 24
	.set	NODE_IS_INNER, 31	/* byte, bit 7 */
	.set	NODE_TAGS, 32
	.set	NODE_CHILDREN, 40
	.set	NODE_OS, 60
	.set	CELL_INCLUSIVE, 32
	.set	CELL_PROBES, 40
	.set	CELL_CALLEE, 48
	.set	CELL_INNER, 52
	.set	SHADOW_BYTES, 64
	.set	SHADOW_RECORD, 8
	.set	SHADOW_FUNCTION, 16
	.set	SHADOW_START, 24
	.set	SHADOW_SPENT, 32
	.set	SHADOW_BEGAN, 40
	.set	SHADOW_INCLUSIVE, 48
	.set	SHADOW_PROBES, 56
	.set	INNER_BIT, 63		/* DWELL_SHADOW_INNER */
	.set	REPEATED_BIT, 62	/* DWELL_SHADOW_REPEATED */
/* struct dw_tree_callee, struct dw_tree_inner */
	.set	CALLEE_BOUNDS, 64
	.set	CALLEE_OUTERMOST, 96
	.set	INNER_INCLUSIVE, 0
	.set	INNER_PROBES, 8
	.set	INNER_OPEN, 16
	.set	INNER_UNUSED, 32
/* struct dw_bounds */
	.set	BOUNDS_SHIFT, 5
	.set	BOUNDS_INCLUSIVE, 0
	.set	BOUNDS_INCLUSIVE_SPAN, 8
	.set	BOUNDS_EXCLUSIVE, 16
	.set	BOUNDS_EXCLUSIVE_SPAN, 24

	.set	CALL, 0xe8
	.set	SYS_RT_SIGPROCMASK, 14
	.set	SIG_UNBLOCK, 1

	.set	WINDOW, 16384		/* DWELL_STACK_WINDOW */
	.set	FRAME_BYTES_MAX, 1 << 28
	.set	KEY_LINE_BIT, 62
	.set	TAG_FACTOR, 0x9e3b	/* DWELL_TAG_FACTOR */
	.set	NODE_FACTOR, 0x85ebca6b	/* DWELL_NODE_FACTOR */
	.set	KEY_FACTOR, 0x9e3779b1	/* DWELL_KEY_FACTOR */
	.set	PROMOTE_BITS, 0xf0	/* one in 16 */
	.set	LOOK_BITS, 0xffc0	/* one in 1024 */
	.set	POINTER_SHIFT, 25	/* DWELL_POINTER_SETS are left */
	.set	POINTER_BYTES, 16
	.set	SKID_BITS, 0x1ff8	/* likewise, of all alike: less than lies between two events */

/* Fields to be filled in: 32-bit distances and the thread word's offset. */
	.macro	field page, offset, behind=0
	.pushsection .rodata.dw_trampolines_time_fixups, "a", @progbits
	.long	.Lfield\@ - 4 - \behind - dw_trampolines_time, \page, \offset - \behind
	.popsection
	.set	.Lfield\@, .
	.endm
	.set	PAGE_CONSTANTS, 0
	.set	PAGE_WIPED, 1
	.set	PAGE_AREA, 2
	.set	PAGE_THREAD, 3
	.set	CONSTANT_SLOW, 8
	.set	CONSTANT_FIRST_ID, 16
	.set	CONSTANT_PROBED, 24
	.set	CONSTANT_PROBED_BYTES, 32
	.set	CONSTANT_DISABLED, 40
	.set	CONSTANT_AREA_BYTES, 48
	.set	WIPED_ALIVE, 8
	.set	WIPED_PLACES, 16

/* struct dw_clone_trampoline: where one that is interrupted can start again, where it commits,
 * where it has, where it ends. */
	.macro	interrupted again, commit, end, over
	.pushsection .rodata.dw_trampolines_time_interrupted, "a", @progbits
	.long	\again - dw_trampolines_time, \commit - dw_trampolines_time, \end - dw_trampolines_time
	.long	\over - dw_trampolines_time
	.popsection
	.endm

	.macro	save_flags
	lahf
	seto	%al
	mov	%eax, -80(%rsp)
	.endm

	.macro	save_rdx_to_r10
	mov	%rdx, -24(%rsp)
	mov	%rsi, -32(%rsp)
	mov	%rdi, -40(%rsp)
	mov	%r8, -48(%rsp)
	mov	%r9, -56(%rsp)
	mov	%r10, -64(%rsp)
	.endm

	.macro	save_all
	mov	%rcx, -16(%rsp)
	save_rdx_to_r10
	mov	%rax, -72(%rsp)
	save_flags
	.endm

	.macro	save_some
	mov	%rax, -8(%rsp)
	mov	%rcx, -16(%rsp)
	mov	%rdx, -24(%rsp)
	mov	%rsi, -32(%rsp)
	mov	%rdi, -40(%rsp)
	mov	%r8, -48(%rsp)
	save_flags
	.endm

/* For trampolines that use r9 and r10 as well. */
	.macro	save_most
	mov	%r9, -56(%rsp)
	mov	%r10, -64(%rsp)
	save_some
	.endm

	.macro	restore_some
	mov	-80(%rsp), %eax
	add	$0x7f, %al		/* sets OF when al was 1 */
	sahf
	mov	-48(%rsp), %r8
	mov	-40(%rsp), %rdi
	mov	-32(%rsp), %rsi
	mov	-24(%rsp), %rdx
	mov	-16(%rsp), %rcx
	mov	-8(%rsp), %rax
	ret
	.endm

	.macro	restore_all
	mov	-64(%rsp), %r10
	mov	-56(%rsp), %r9
	restore_some
	.endm

	.macro	read_time
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	.endm

/*
 * Now and then go slow to measure the skid of what stands before the reading: the processor goes on
 * while it waits for memory, and what it has waited for is charged to whatever comes next.
 */
	.macro	measure_skid trampoline
	test	$SKID_BITS, %eax
	je	.Lskid_\trampoline
	.endm

	.macro	skid trampoline
.Lskid_\trampoline:
	mov	%rax, THREAD_READ(%rcx)
	lfence
	read_time
	mov	%rax, THREAD_DONE(%rcx)
	jmp	.Lslow_\trampoline
	.endm

/* rcx = the thread's line. Not in a fork's child that has no region yet, nor where the TSC may not
 * be read: no trampoline reads it before. */
	.macro	find_thread slow
	.byte	0x64, 0x48, 0x8b, 0x0c, 0x25	/* mov %fs:0, %rcx */
	.long	0
	field	PAGE_THREAD, 0
	.byte	0x83, 0x3d			/* cmpl $0, 0(%rip) */
	.long	0
	.byte	0
	field	PAGE_WIPED, WIPED_ALIVE, 1
	je	\slow
	.endm

/* Nothing has happened to the thread since its last event. Behind the reading of the time: what
 * comes between the two would lie before the next event's interval. Uses r8, rdi. */
	.macro	check_os slow
	mov	THREAD_OS_WORD(%rcx), %r8
	mov	THREAD_OS_SEEN(%rcx), %edi
	cmp	(%r8), %edi
	jne	\slow
	.endm

	.macro	check_os_by_r10 slow
	mov	THREAD_OS_WORD(%rcx), %r10
	mov	(%r10), %r10d
	cmp	THREAD_OS_SEEN(%rcx), %r10d
	jne	\slow
	.endm

/* rdi = what the elapsed of node r8 becomes. */
	.macro	add_interval
	mov	%rax, %rdi
	sub	THREAD_LAST(%rcx), %rdi
	add	NODE_ELAPSED(%r8), %rdi
	.endm

	.macro	commit
	{disp8} mov %rdi, NODE_ELAPSED(%r8)
	mov	%rax, THREAD_LAST(%rcx)
	mov	%rdx, THREAD_CURRENT(%rcx)
	{disp8} mov %rsi, THREAD_TOP(%rcx)
	.endm

/* Now and then look whether functions are to be switched off: the next probe's slow path does it. */
	.macro	look restore
	test	$LOOK_BITS, %eax
	je	.Llook\@
.Lrestore\@:
	\restore
.Llook\@:
	mov	0(%rip), %rdx
	field	PAGE_CONSTANTS, CONSTANT_DISABLED
	mov	(%rdx), %edx
	cmp	%edx, THREAD_DISABLED(%rcx)
	je	.Lrestore\@
	mov	THREAD_OS_WORD(%rcx), %rdx
	mov	(%rdx), %edx
	not	%edx
	mov	%edx, THREAD_OS_SEEN(%rcx)
	jmp	.Lrestore\@
	.endm

/*
 * rdx = the child of node r8 for key rdi and site r9 if the trampolines know it; goes on at .Lfound of
 * the trampoline. All four tags are compared at once: x = tags ^ tag repeated has a zero where one is
 * equal, and (x - 1) & ~x has the highest bit of the lowest of these set.
 */
	.macro	find_child trampoline
	imul	$TAG_FACTOR, %edi, %edx
	add	%r9d, %edx
	movzwl	%dx, %edx
	imul	.Lones(%rip), %rdx
	xor	NODE_TAGS(%r8), %rdx
	mov	%rdx, %r10
	sub	.Lones(%rip), %r10
	not	%rdx
	and	%rdx, %r10
	and	.Lhighs(%rip), %r10
	je	.Lquick_\trampoline
	bsf	%r10, %r10
	shr	$4, %r10d
	mov	NODE_CHILDREN(%r8, %r10, 4), %edx
	shl	$6, %rdx
	add	THREAD_ARENA(%rcx), %rdx
	cmp	%rdi, NODE_KEY(%rdx)
	jne	.Lquick_\trampoline
	cmp	%r9d, NODE_SITE(%rdx)
	jne	.Lquick_\trampoline
	.endm

/* \to = where line \to of the arena stands. */
	.macro	line_of to
	shl	$6, \to
	add	THREAD_ARENA(%rcx), \to
	.endm

/* Write the record rsp - \below of the activation that comes; of a call out, which waits with reading the
 * time until it is known that it has an event, that first. */
	.macro	put_record trampoline, below, no_event
	.if	\below
	cmpl	$-1, NODE_OS(%rdx)
	je	\no_event
	read_time_keeping_rdx
	measure_skid \trampoline
	check_os_by_r10 .Lslow_\trampoline
	lea	-\below(%rsp), %rdi
	mov	%rdi, SHADOW_BYTES + SHADOW_RECORD(%rsi)
	.else
	mov	%rsp, SHADOW_BYTES + SHADOW_RECORD(%rsi)
	.endif
	.endm

/* Push the child of the current node for key rdi and site r9 as the activation of record
 * rsp - \below. */
	.macro	open_node kind, trampoline, below, restore, no_event=.Lno_event
	mov	(%rsi), %r8
	cmpl	$0, THREAD_HAS_CELLS(%rcx)
	jne	.Lcells_\trampoline
	find_child \trampoline
.Lfound_\trampoline:
	put_record \trampoline, \below, \no_event
	mov	%rax, %r9
	sub	THREAD_COST(%rcx), %r9
	add	THREAD_CALLEE_TICKS + 4 * \kind(%rcx), %r9
	mov	%rdx, SHADOW_BYTES(%rsi)
	mov	%rdx, SHADOW_BYTES + SHADOW_FUNCTION(%rsi)
	mov	%r9, SHADOW_BYTES + SHADOW_START(%rsi)
	mov	%r9, SHADOW_BYTES + SHADOW_SPENT(%rsi)
	mov	%rax, SHADOW_BYTES + SHADOW_BEGAN(%rsi)
	mov	NODE_CALLS(%rdx), %r10
	add	$1, %r10
	add_interval
	add	$SHADOW_BYTES, %rsi
.Lcommit_\trampoline:
	mov	%r10, NODE_CALLS(%rdx)
	commit
.Lend_\trampoline:
	look	\restore
.Lover_\trampoline:
	interrupted .Lagain_\trampoline, .Lcommit_\trampoline, .Lend_\trampoline, .Lover_\trampoline
.Lrestart_\trampoline:		/* where a handler may have grown the table: */
	jmp	.Lagain_\trampoline
.Lquick_\trampoline:
	find_quick .Lslow_\trampoline, \trampoline
	jmp	.Lfound_\trampoline
	interrupted .Lrestart_\trampoline, .Lpromote_\trampoline, .Lpromote_\trampoline, .Lpromote_\trampoline
	open_cell \kind, \trampoline, \below, \restore, \no_event
	.endm

/*
 * Look for the child in the thread's table: two entries of a check and a line each. Equal checks of
 * nodes with equal key and site are those of the same parent. Now and then let the parent remember
 * what was found.
 */
	.macro	find_quick slow, trampoline
	mov	%r8, %rdx
	shr	$6, %rdx
	imul	$NODE_FACTOR, %edx, %edx
	imul	$KEY_FACTOR, %edi, %r10d
	add	%r10d, %edx
	add	%r9d, %edx
	mov	%edx, %r10d
	shr	$15, %r10d
	xor	%edx, %r10d
	and	THREAD_QUICK_MASK(%rcx), %r10d
	add	THREAD_QUICK(%rcx), %r10
	cmp	%edx, (%r10)
	jne	1f
	mov	4(%r10), %edx
	jmp	2f
1:	cmp	%edx, 8(%r10)
	jne	\slow
	mov	12(%r10), %edx
2:	mov	%edx, %r10d
	shl	$6, %rdx
	add	THREAD_ARENA(%rcx), %rdx
	cmp	%rdi, NODE_KEY(%rdx)
	jne	\slow
	cmp	%r9d, NODE_SITE(%rdx)
	jne	\slow
	testb	$PROMOTE_BITS, THREAD_LAST(%rcx)
	jne	3f
.Lpromote_\trampoline:
	mov	%r11, -88(%rsp)
	movzbl	THREAD_LAST + 1(%rcx), %r11d
	and	$3, %r11d
	mov	%r10d, NODE_CHILDREN(%r8, %r11, 4)
	imul	$TAG_FACTOR, %edi, %r10d
	add	%r9d, %r10d
	mov	%r10w, NODE_TAGS(%r8, %r11, 2)
	mov	-88(%rsp), %r11
3:
	.endm

	.macro	read_time_keeping_rdx
	mov	%rdx, %r10
	read_time
	mov	%r10, %rdx
	.endm

/* The top activation lies a little above the new one, and its array has room. */
	.macro	check_stack slow, below
	mov	THREAD_TOP(%rcx), %rsi
	mov	SHADOW_RECORD(%rsi), %r8
	sub	%rsp, %r8
	add	$\below - 1, %r8
	mov	THREAD_WINDOW(%rcx), %r9d
	cmp	%r9, %r8
	jae	\slow
	cmp	THREAD_LIMIT(%rcx), %rsi
	jae	\slow
	.endm

/*
 * rdi = the bounds of the callee of node r8: of all that are called through pointers, the first ones,
 * which hold everything. Uses rdx.
 */
	.macro	find_bounds kind
	mov	NODE_KEY(%r8), %rdi
	.if	\kind == 3
	xor	%edx, %edx
	test	%rdi, %rdi
	cmovs	%rdx, %rdi
	.endif
	and	THREAD_BOUNDS_MASK(%rcx), %rdi
	shl	$BOUNDS_SHIFT, %rdi
	add	THREAD_BOUNDS(%rcx), %rdi
	.endm

/*
 * Take the top activation away. Marks of the slow path are so large that they lie outside of all
 * bounds.
 */
	.macro	close_node kind, trampoline
	mov	SHADOW_FUNCTION(%rsi), %r8
	cmpl	$0, THREAD_HAS_CELLS(%rcx)
	jne	.Lcells_\trampoline
	find_bounds \kind
	mov	THREAD_COST(%rcx), %r9
	mov	%rax, %rdx
	sub	%r9, %rdx
	mov	%rdx, %r10
	sub	SHADOW_SPENT(%rsi), %r10
	sub	BOUNDS_EXCLUSIVE(%rdi), %r10
	cmp	BOUNDS_EXCLUSIVE_SPAN(%rdi), %r10
	ja	.Lmiss_\trampoline
	sub	SHADOW_START(%rsi), %rdx
	testb	$0x80, NODE_IS_INNER(%r8)
	jne	.Linner_\trampoline
	mov	%rdx, %r10
	sub	BOUNDS_INCLUSIVE(%rdi), %r10
	cmp	BOUNDS_INCLUSIVE_SPAN(%rdi), %r10
	ja	.Lmiss_\trampoline
.Linner_\trampoline:
	mov	%rdx, %r10
	add	SHADOW_SPENT - SHADOW_BYTES(%rsi), %r10
	.if	\kind == 3
	mov	SHADOW_RECORD(%rsi), %r8d
	and	$4, %r8d
	add	THREAD_PAIR_TICKS(%rcx, %r8, 2), %r9
	.else
	add	THREAD_PAIR_TICKS(%rcx), %r9
	.endif
	mov	(%rsi), %r8
	mov	-SHADOW_BYTES(%rsi), %rdx
	add_interval
	sub	$SHADOW_BYTES, %rsi
.Lcommit_\trampoline:
	mov	%r9, THREAD_COST(%rcx)
	mov	%r10, SHADOW_SPENT(%rsi)
	commit
.Lend_\trampoline:
	.if	\kind == 3
	mov	SHADOW_RECORD(%rsi), %rdx
	sub	%rsp, %rdx
	cmp	$-12, %rdx
	jae	.Lagain_\trampoline
	.endif
	look	restore_all
.Lover_\trampoline:
	interrupted .Lagain_\trampoline, .Lcommit_\trampoline, .Lend_\trampoline, .Lover_\trampoline
	close_cell \trampoline
	.endm

/* No event, where the top lies rdx above rsp. What is to be switched off is seen to here too: where
 * all functions are that still run, these trampolines are all that is left. */
	.macro	let_pass slow
	mov	THREAD_WINDOW(%rcx), %r9d
	cmp	%r9, %rdx
	jae	\slow
	mov	0(%rip), %rdx
	field	PAGE_CONSTANTS, CONSTANT_DISABLED
	mov	(%rdx), %edx
	cmp	%edx, THREAD_DISABLED(%rcx)
	jne	\slow
	mov	-56(%rsp), %r9
	restore_some
	.endm

/* Go to \no unless RETURN was switched off at \at (agent/clones/disable-x86-64.c has the bytes). */
	.macro	jump_unless_return_off at, no
	cmpl	$0x00441f0f, (\at)
	jne	\no
	cmpb	$1, 4(\at)
	jne	\no
	.endm
