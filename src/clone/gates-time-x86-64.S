/*
 * The gates that measure time: what probes call in images with DWELL_PROBES_TIME and
 * DWELL_PROBES_SYSTEM_CALLS. Data of the collector, copied into each image, as gates-x86-64.S.
 *
 * What their callers have done is told by enum dw_gate (gates.h). Every register and flag is kept;
 * they are saved below rsp without moving it, so that CFA = rsp + 8 until the slow path moves it.
 * A gate reads the TSC, finds the new node and computes all new values in registers, then stores
 * them in a row, the commit. A signal handler that finds a gate interrupted can so let it start
 * again (between `again` and `commit`) or do the stores for it (between `commit` and `end`):
 * struct dw_clone_gate has the places. In the commit: rcx = struct dw_tree_thread, rax = now,
 * rdx = the new current node, rsi = the new top, r8 = the node to which the interval belongs,
 * rdi = its new elapsed. In gates that count, r10 = the new calls of rdx; in those that pop, r9 = the
 * new cost of the thread, r10 = what rsi's activation has spent below it by then.
 *
 * What an activation took is told by the thread's clock, now - cost, as it ends (agent/core/each.h);
 * what lies within the bounds of its callee is as others were, and needs no slow path.
 *
 * Whatever is not the usual goes to the agent's slow path:
 * uint64_t slow(uint64_t gate, uint64_t rsp, uint64_t what, uint64_t area), enum dw_gate, rsp in the
 * gate, rax as the probe has set it (of EXIT and BACK the time that they have read, or 0), the
 * area's start; on an aligned stack, and it does all that the gate would have done. It tells which signals it has put off. Their handlers run here, where
 * all registers of the program are known: struct dw_clone_header, signals_at.
 */
	.section .rodata.dw_gates_time, "a", @progbits

	.globl	dw_gates_time, dw_gates_time_end
	.globl	dw_gate_enter, dw_gate_exit, dw_gate_out, dw_gate_out_pointer, dw_gate_back
	.globl	dw_gate_landing, dw_gate_call_begin, dw_gate_call_end, dw_gate_line, dw_gate_tail
	.globl	dw_gates_time_fixups, dw_gates_time_fixups_end
	.globl	dw_gates_time_program, dw_gates_time_program_end
	.globl	dw_gates_time_half_way, dw_gates_time_half_way_end, dw_gates_time_signals
	.globl	dw_gates_time_moves, dw_gates_time_moved
	.hidden	dw_gates_time, dw_gates_time_end
	.hidden	dw_gate_enter, dw_gate_exit, dw_gate_out, dw_gate_out_pointer, dw_gate_back
	.hidden	dw_gate_landing, dw_gate_call_begin, dw_gate_call_end, dw_gate_line, dw_gate_tail
	.hidden	dw_gates_time_fixups, dw_gates_time_fixups_end
	.hidden	dw_gates_time_program, dw_gates_time_program_end
	.hidden	dw_gates_time_half_way, dw_gates_time_half_way_end, dw_gates_time_signals
	.hidden	dw_gates_time_moves, dw_gates_time_moved

	.pushsection .rodata.dw_gates_time_fixups, "a", @progbits
	.balign	4
dw_gates_time_fixups:
	.popsection
	.pushsection .rodata.dw_gates_time_half_way, "a", @progbits
	.balign	4
dw_gates_time_half_way:
	.popsection

/* enum dw_gate */
	.set	GATE_ENTER, 2
	.set	GATE_EXIT, 3
	.set	GATE_OUT, 4
	.set	GATE_OUT_POINTER, 5
	.set	GATE_BACK, 6
	.set	GATE_LANDING, 7
	.set	GATE_CALL_BEGIN, 8
	.set	GATE_CALL_END, 9
	.set	GATE_LINE, 10
	.set	GATE_TAIL, 11

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
	.set	THREAD_MUTES, 212
	.set	THREAD_READ, 240
	.set	THREAD_DONE, 248
	.set	THREAD_OTHER_COST, 288
	.set	THREAD_DRAW_AT, 296
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
	.set	LATE_BITS, 0x1ff8	/* likewise, of all alike: less than lies between two events */

/* Fields to be filled in: 32-bit distances and the thread word's offset. */
	.macro	field page, offset, behind=0
	.pushsection .rodata.dw_gates_time_fixups, "a", @progbits
	.long	.Lfield\@ - 4 - \behind - dw_gates_time, \page, \offset - \behind
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
	.set	CONSTANT_MUTES, 40
	.set	CONSTANT_AREA_BYTES, 48
	.set	WIPED_ALIVE, 8

/* struct dw_clone_gate: where a gate can start again, where it commits, where it has, where it
 * ends. */
	.macro	half_way again, commit, end, over
	.pushsection .rodata.dw_gates_time_half_way, "a", @progbits
	.long	\again - dw_gates_time, \commit - dw_gates_time, \end - dw_gates_time
	.long	\over - dw_gates_time
	.popsection
	.endm

	.macro	save_flags
	lahf
	seto	%al
	mov	%eax, -80(%rsp)
	.endm

	.macro	save_all
	mov	%rcx, -16(%rsp)
	mov	%rdx, -24(%rsp)
	mov	%rsi, -32(%rsp)
	mov	%rdi, -40(%rsp)
	mov	%r8, -48(%rsp)
	mov	%r9, -56(%rsp)
	mov	%r10, -64(%rsp)
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

/* For gates that use r9 and r10 as well. */
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
 * Now and then go slow to tell how late what stands before the reading is done: the processor goes on
 * while it waits for memory, and what it has waited for is charged to whatever comes next.
 */
	.macro	look_late gate
	test	$LATE_BITS, %eax
	je	.Llate_\gate
	.endm

	.macro	late gate
.Llate_\gate:
	mov	%rax, THREAD_READ(%rcx)
	lfence
	read_time
	mov	%rax, THREAD_DONE(%rcx)
	jmp	.Lslow_\gate
	.endm

/* rcx = the thread's line. Not in a fork's child that has no region yet, nor where the TSC may not
 * be read: no gate reads it before. */
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
	field	PAGE_CONSTANTS, CONSTANT_MUTES
	mov	(%rdx), %edx
	cmp	%edx, THREAD_MUTES(%rcx)
	je	.Lrestore\@
	mov	THREAD_OS_WORD(%rcx), %rdx
	mov	(%rdx), %edx
	not	%edx
	mov	%edx, THREAD_OS_SEEN(%rcx)
	jmp	.Lrestore\@
	.endm

/*
 * rdx = the child of node r8 for key rdi and site r9 if the gates know it; goes on at .Lfound of
 * the gate. All four tags are compared at once: x = tags ^ tag repeated has a zero where one is
 * equal, and (x - 1) & ~x has the highest bit of the lowest of these set.
 */
	.macro	find_child gate
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
	je	.Lquick_\gate
	bsf	%r10, %r10
	shr	$4, %r10d
	mov	NODE_CHILDREN(%r8, %r10, 4), %edx
	shl	$6, %rdx
	add	THREAD_ARENA(%rcx), %rdx
	cmp	%rdi, NODE_KEY(%rdx)
	jne	.Lquick_\gate
	cmp	%r9d, NODE_SITE(%rdx)
	jne	.Lquick_\gate
	.endm

/* \to = where line \to of the arena stands. */
	.macro	line_of to
	shl	$6, \to
	add	THREAD_ARENA(%rcx), \to
	.endm

/* What an activation of a cell keeps as it begins: what its sums are at, less r9 and r10, the clocks
 * that they add up. */
	.macro	begin_sums inclusive, probes
	neg	%r9
	add	\inclusive, %r9
	mov	%r9, SHADOW_BYTES + SHADOW_INCLUSIVE(%rsi)
	neg	%r10
	add	\probes, %r10
	mov	%r10, SHADOW_BYTES + SHADOW_PROBES(%rsi)
	.endm

/* Its sums as it ends. Before the commit, since they may be so twice. rdx, r9 = the clocks. */
	.macro	end_sums inclusive, probes
	mov	SHADOW_INCLUSIVE(%rsi), %r10
	add	%rdx, %r10
	mov	%r10, \inclusive
	mov	%r9, %r10
	sub	THREAD_OTHER_COST(%rcx), %r10
	add	SHADOW_PROBES(%rsi), %r10
	mov	%r10, \probes
	.endm

/* As open_node goes on for threads that have cells (agent/core/cells.h): r8 = the current one. In the
 * commit r9 = where it says that an activation adds up. */
	.macro	open_cell kind, gate, below, restore, no_event
	.subsection 1
.Lrestart_cells_\gate:		/* interrupted from here on, it begins again */
	jmp	.Lagain_\gate
.Linside_\gate:
	bts	$INNER_BIT, %rdi
	cmp	%rdx, (%r8)
	je	.Lsilent_\gate
	mov	CELL_INNER(%rdx), %r8d
	test	%r8d, %r8d
	je	.Lslow_\gate
	line_of %r8
	cmpq	$0, INNER_OPEN(%r8)
	jne	.Lsilent_\gate
	bts	$REPEATED_BIT, %rdi
	begin_sums INNER_INCLUSIVE(%r8), INNER_PROBES(%r8)
	add	$INNER_OPEN, %r8
	jmp	.Lbegun_\gate
.Lsilent_\gate:
	lea	SHADOW_BYTES + SHADOW_INCLUSIVE(%rsi), %r8	/* nobody reads it */
	jmp	.Lbegun_\gate
.Lcells_\gate:
	mov	CELL_CALLEE(%r8), %r8d
	line_of %r8
	find_child cells_\gate
.Lfound_cells_\gate:
	.if	\below
	cmpl	$-1, NODE_OS(%rdx)
	je	\no_event
	read_time_keeping_rdx
	look_late \gate
	check_os_by_r10 .Lslow_\gate
	lea	-\below(%rsp), %rdi
	mov	%rdi, SHADOW_BYTES + SHADOW_RECORD(%rsi)
	.else
	mov	%rsp, SHADOW_BYTES + SHADOW_RECORD(%rsi)
	.endif
	mov	CELL_CALLEE(%rdx), %r8d
	line_of %r8
	add	$CALLEE_OUTERMOST, %r8
	mov	THREAD_COST(%rcx), %r10
	mov	%rax, %r9
	sub	%r10, %r9
	cmp	THREAD_DRAW_AT(%rcx), %r9
	jns	.Lslow_\gate
	add	THREAD_CALLEE_TICKS + 4 * \kind(%rcx), %r9
	sub	THREAD_OTHER_COST(%rcx), %r10
	mov	%rdx, SHADOW_BYTES(%rsi)
	mov	%rdx, SHADOW_BYTES + SHADOW_FUNCTION(%rsi)
	mov	%r9, SHADOW_BYTES + SHADOW_START(%rsi)
	mov	%r9, SHADOW_BYTES + SHADOW_SPENT(%rsi)
	mov	%rax, %rdi
	cmpq	$0, (%r8)
	jne	.Linside_\gate
	begin_sums CELL_INCLUSIVE(%rdx), CELL_PROBES(%rdx)
.Lbegun_\gate:
	mov	%rdi, SHADOW_BYTES + SHADOW_BEGAN(%rsi)
	mov	%r8, %r9
	mov	(%rsi), %r8
	mov	NODE_CALLS(%rdx), %r10
	add	$1, %r10
	add_interval
	add	$SHADOW_BYTES, %rsi
.Lcommit_cells_\gate:
	mov	%rdx, (%r9)
	mov	%r10, NODE_CALLS(%rdx)
	commit
.Lend_cells_\gate:
	look	\restore
.Lover_cells_\gate:
	half_way .Lrestart_cells_\gate, .Lcommit_cells_\gate, .Lend_cells_\gate, .Lover_cells_\gate
.Lretry_cells_\gate:
	jmp	.Lagain_\gate
.Lquick_cells_\gate:
	find_quick .Lslow_\gate, cells_\gate
	jmp	.Lfound_cells_\gate
	half_way .Lretry_cells_\gate, .Lpromote_cells_\gate, .Lpromote_cells_\gate, .Lpromote_cells_\gate
	.subsection 0
	.endm

/* As close_node goes on for them. r8 = the cell. */
	.macro	close_cell gate
	.subsection 1
.Lrestart_cells_\gate:
	jmp	.Lagain_\gate
.Lcells_\gate:
	mov	CELL_CALLEE(%r8), %edi
	line_of %rdi
	mov	THREAD_COST(%rcx), %r9
	mov	%rax, %rdx
	sub	%r9, %rdx
	cmp	THREAD_DRAW_AT(%rcx), %rdx
	jns	.Lmiss_\gate
	mov	%rdx, %r10
	sub	SHADOW_SPENT(%rsi), %r10
	sub	CALLEE_BOUNDS + BOUNDS_EXCLUSIVE(%rdi), %r10
	cmp	CALLEE_BOUNDS + BOUNDS_EXCLUSIVE_SPAN(%rdi), %r10
	ja	.Lmiss_\gate
	mov	SHADOW_BEGAN(%rsi), %r10
	shr	$REPEATED_BIT, %r10
	jne	.Linside_\gate
	mov	%rdx, %r10
	sub	SHADOW_START(%rsi), %r10
	sub	CALLEE_BOUNDS + BOUNDS_INCLUSIVE(%rdi), %r10
	cmp	CALLEE_BOUNDS + BOUNDS_INCLUSIVE_SPAN(%rdi), %r10
	ja	.Lmiss_\gate
	end_sums CELL_INCLUSIVE(%r8), CELL_PROBES(%r8)
	movq	$0, CALLEE_OUTERMOST(%rdi)
.Lended_\gate:
	sub	SHADOW_START(%rsi), %rdx
	jmp	.Linner_\gate
.Linside_\gate:
	test	$1, %r10b
	je	.Lended_\gate
	mov	CELL_INNER(%r8), %r8d
	line_of %r8
	end_sums INNER_INCLUSIVE(%r8), INNER_PROBES(%r8)
	movq	$0, INNER_OPEN(%r8)
	jmp	.Lended_\gate
.Lcells_end_\gate:
	half_way .Lrestart_cells_\gate, .Lcells_end_\gate, .Lcells_end_\gate, .Lcells_end_\gate
	.subsection 0
	.endm

/* Push the child of the current node for key rdi and site r9 as the activation of record
 * rsp - \below. */
	.macro	open_node kind, gate, below, restore, no_event=.Lno_event
	mov	(%rsi), %r8
	cmpl	$0, THREAD_HAS_CELLS(%rcx)
	jne	.Lcells_\gate
	find_child \gate
.Lfound_\gate:
	.if	\below
	cmpl	$-1, NODE_OS(%rdx)
	je	\no_event
	read_time_keeping_rdx
	look_late \gate
	check_os_by_r10 .Lslow_\gate
	lea	-\below(%rsp), %rdi
	mov	%rdi, SHADOW_BYTES + SHADOW_RECORD(%rsi)
	.else
	mov	%rsp, SHADOW_BYTES + SHADOW_RECORD(%rsi)
	.endif
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
.Lcommit_\gate:
	mov	%r10, NODE_CALLS(%rdx)
	commit
.Lend_\gate:
	look	\restore
.Lover_\gate:
	half_way .Lagain_\gate, .Lcommit_\gate, .Lend_\gate, .Lover_\gate
.Lrestart_\gate:		/* where a handler may have grown the table: */
	jmp	.Lagain_\gate
.Lquick_\gate:
	find_quick .Lslow_\gate, \gate
	jmp	.Lfound_\gate
	half_way .Lrestart_\gate, .Lpromote_\gate, .Lpromote_\gate, .Lpromote_\gate
	open_cell \kind, \gate, \below, \restore, \no_event
	.endm

/*
 * Look for the child in the thread's table: two entries of a check and a line each. Equal checks of
 * nodes with equal key and site are those of the same parent. Now and then let the parent remember
 * what was found.
 */
	.macro	find_quick slow, gate
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
.Lpromote_\gate:
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
	.macro	close_node kind, gate
	mov	SHADOW_FUNCTION(%rsi), %r8
	cmpl	$0, THREAD_HAS_CELLS(%rcx)
	jne	.Lcells_\gate
	find_bounds \kind
	mov	THREAD_COST(%rcx), %r9
	mov	%rax, %rdx
	sub	%r9, %rdx
	mov	%rdx, %r10
	sub	SHADOW_SPENT(%rsi), %r10
	sub	BOUNDS_EXCLUSIVE(%rdi), %r10
	cmp	BOUNDS_EXCLUSIVE_SPAN(%rdi), %r10
	ja	.Lmiss_\gate
	sub	SHADOW_START(%rsi), %rdx
	testb	$0x80, NODE_IS_INNER(%r8)
	jne	.Linner_\gate
	mov	%rdx, %r10
	sub	BOUNDS_INCLUSIVE(%rdi), %r10
	cmp	BOUNDS_INCLUSIVE_SPAN(%rdi), %r10
	ja	.Lmiss_\gate
.Linner_\gate:
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
.Lcommit_\gate:
	mov	%r9, THREAD_COST(%rcx)
	mov	%r10, SHADOW_SPENT(%rsi)
	commit
.Lend_\gate:
	.if	\kind == 3
	mov	SHADOW_RECORD(%rsi), %rdx
	sub	%rsp, %rdx
	cmp	$-12, %rdx
	jae	.Lagain_\gate
	.endif
	look	restore_all
.Lover_\gate:
	half_way .Lagain_\gate, .Lcommit_\gate, .Lend_\gate, .Lover_\gate
	close_cell \gate
	.endm

/* No event, where the top lies rdx above rsp. What is to be switched off is seen to here too: where
 * all functions are that still run, these gates are all that is left. */
	.macro	let_pass slow
	mov	THREAD_WINDOW(%rcx), %r9d
	cmp	%r9, %rdx
	jae	\slow
	mov	0(%rip), %rdx
	field	PAGE_CONSTANTS, CONSTANT_MUTES
	mov	(%rdx), %edx
	cmp	%edx, THREAD_MUTES(%rcx)
	jne	\slow
	mov	-56(%rsp), %r9
	restore_some
	.endm

	.balign	16
dw_gates_time:
.Lones:
	.quad	0x0001000100010001
.Lhighs:
	.quad	0x8000800080008000

	.balign	64
dw_gate_enter:
	save_all
.Lagain_GATE_ENTER:
	find_thread .Lslow_GATE_ENTER
	read_time
	look_late GATE_ENTER
	check_os .Lslow_GATE_ENTER
	check_stack .Lslow_GATE_ENTER, 0
	mov	-72(%rsp), %edi
	add	0(%rip), %edi
	field	PAGE_CONSTANTS, CONSTANT_FIRST_ID
	mov	8(%rsp), %r9d
	open_node 0, GATE_ENTER, 0, restore_all
	late	GATE_ENTER

/* Nothing was pushed by a function that was switched off meanwhile: the top lies above. */
	.balign	64
dw_gate_exit:
	save_most
.Lagain_GATE_EXIT:
	find_thread .Lslow_GATE_EXIT
	mov	THREAD_TOP(%rcx), %rsi
	cmp	%rsp, SHADOW_RECORD(%rsi)
	jne	1f
	read_time
	look_late GATE_EXIT
	check_os .Lslow_GATE_EXIT
	close_node 1, GATE_EXIT
1:	mov	SHADOW_RECORD(%rsi), %rdx
	sub	%rsp, %rdx
	let_pass .Lslow_GATE_EXIT
	late	GATE_EXIT

	.balign	64
dw_gate_out:
	save_all
.Lagain_GATE_OUT:
	find_thread .Lslow_GATE_OUT
	check_stack .Lslow_GATE_OUT, 4
	mov	-72(%rsp), %edi
	add	0(%rip), %edi
	field	PAGE_CONSTANTS, CONSTANT_FIRST_ID
	mov	(%rsp), %r9d
	open_node 2, GATE_OUT, 4, restore_all
	late	GATE_OUT

/*
 * As OUT, below the function that ends in the jump: BACK in its caller ends both. Where no such gate
 * stands behind the call that it returns to, or what it jumps to has probes, it ends here.
 */
	.balign	64
dw_gate_tail:
	save_all
.Lagain_GATE_TAIL:
	mov	8(%rsp), %rdx
	lea	0(%rip), %rdi
	field	PAGE_AREA, 0
	mov	%rdx, %r8
	sub	%rdi, %r8
	cmp	0(%rip), %r8
	field	PAGE_CONSTANTS, CONSTANT_AREA_BYTES
	jae	.Lagain_GATE_EXIT
	cmpb	$CALL, (%rdx)
	jne	.Lagain_GATE_EXIT
	movslq	1(%rdx), %r8
	lea	5(%rdx, %r8), %r8
	lea	.Lback(%rip), %rdi
	cmp	%rdi, %r8
	jne	.Lagain_GATE_EXIT
	find_thread .Lslow_GATE_TAIL
	check_stack .Lslow_GATE_TAIL, 4
	mov	-72(%rsp), %edi
	add	0(%rip), %edi
	field	PAGE_CONSTANTS, CONSTANT_FIRST_ID
	mov	(%rsp), %r9d
	open_node 2, GATE_TAIL, 4, restore_all, .Lagain_GATE_EXIT
	late	GATE_TAIL

	.balign	64
dw_gate_out_pointer:
	save_all
.Lagain_GATE_OUT_POINTER:
	mov	-72(%rsp), %rdi
	mov	%rdi, %rdx
	sub	0(%rip), %rdx
	field	PAGE_CONSTANTS, CONSTANT_PROBED
	cmp	0(%rip), %rdx
	field	PAGE_CONSTANTS, CONSTANT_PROBED_BYTES
	jb	.Lno_event
	find_thread .Lslow_GATE_OUT_POINTER
	check_stack .Lslow_GATE_OUT_POINTER, 4
	bts	$63, %rdi
	mov	(%rsp), %r9d
	open_node 2, GATE_OUT_POINTER, 4, restore_all
	late	GATE_OUT_POINTER
.Lno_event:
	restore_all

/*
 * The call has pushed nothing where the top lies above it: no event. Where the callee has ended in a
 * jump, what lies below ends first: what it has jumped to, then itself. An odd record does not count.
 */
	.balign	64
dw_gate_back:
.Lback:
	save_most
.Lagain_GATE_BACK:
	find_thread .Lslow_GATE_BACK
	mov	THREAD_TOP(%rcx), %rsi
	mov	SHADOW_RECORD(%rsi), %rdx
	sub	%rsp, %rdx
	lea	12(%rdx), %r8
	ror	$2, %r8
	cmp	$2, %r8
	ja	1f
	read_time
	look_late GATE_BACK
	check_os .Lslow_GATE_BACK
	close_node 3, GATE_BACK
1:	let_pass .Lslow_GATE_BACK
	late	GATE_BACK

	.balign	16
dw_gate_landing:
	save_some
	find_thread .Lslow_GATE_LANDING
	mov	THREAD_TOP(%rcx), %rsi
	mov	SHADOW_RECORD(%rsi), %rdx
	sub	%rsp, %rdx
	cmp	$WINDOW, %rdx
	jae	.Lslow_GATE_LANDING
	restore_some

/*
 * The activation on top, in whose frame rsp lies, comes to a statement: its node becomes that child
 * of its function. Nothing is pushed. What is not the function's own statement it has no child for.
 * Signals find the program before or behind the probe, never in it (agent/probe/line-half-way.h).
 */
	.balign	64
dw_gate_line:
	mov	%r11, -88(%rsp)		/* so all that it changes is in memory from .Lagain on */
	save_all
.Lagain_GATE_LINE:
	find_thread .Lslow_GATE_LINE
	mov	THREAD_TOP(%rcx), %rsi
	mov	SHADOW_RECORD(%rsi), %r8
	sub	%rsp, %r8
	cmp	$FRAME_BYTES_MAX, %r8
	jae	.Lslow_GATE_LINE
	testb	$1, SHADOW_RECORD(%rsi)
	jne	.Lslow_GATE_LINE
	mov	SHADOW_FUNCTION(%rsi), %r8
	cmpl	$0, THREAD_HAS_CELLS(%rcx)
	je	1f
	mov	CELL_CALLEE(%r8), %r8d
	line_of %r8
1:	mov	-72(%rsp), %edi
	add	0(%rip), %edi
	field	PAGE_CONSTANTS, CONSTANT_FIRST_ID
	bts	$KEY_LINE_BIT, %rdi
	xor	%r9d, %r9d
	find_child GATE_LINE
	jmp	.Lfound_GATE_LINE
.Lquick_GATE_LINE:
	find_quick .Lslow_GATE_LINE, GATE_LINE
.Lfound_GATE_LINE:
	read_time_keeping_rdx
	check_os_by_r10 .Lslow_GATE_LINE
	mov	(%rsi), %r8
	mov	THREAD_LINE_TICKS(%rcx), %r9d
	add	THREAD_COST(%rcx), %r9
	mov	NODE_CALLS(%rdx), %r10
	add	$1, %r10
	add_interval
.Lcommit_GATE_LINE:
	mov	%r9, THREAD_COST(%rcx)
	mov	%r10, NODE_CALLS(%rdx)
	mov	%rdx, (%rsi)
	commit
.Lend_GATE_LINE:
	look	restore_all
.Lover_GATE_LINE:
	half_way .Lagain_GATE_LINE, .Lcommit_GATE_LINE, .Lend_GATE_LINE, .Lover_GATE_LINE

	.balign	16
dw_gate_call_begin:
	mov	%rax, -72(%rsp)
	save_some
	mov	$GATE_CALL_BEGIN, %edi
	mov	%r9, -56(%rsp)
	mov	%r10, -64(%rsp)
	jmp	dw_gates_time_moves	/* the process may end, whoever is measured */

	.balign	16
dw_gate_call_end:
	save_some
	.byte	0x64, 0x48, 0x8b, 0x0c, 0x25	/* mov %fs:0, %rcx */
	.long	0
	field	PAGE_THREAD, 0
	cmpl	$THREAD_IN_CALL, THREAD_STATE(%rcx)
	je	.Lslow_GATE_CALL_END
	restore_some

/* Behind what is used most, and what cells need. */
	.subsection 2
.Lslow_GATE_ENTER:
	mov	$GATE_ENTER, %edi
	jmp	.Lslow
.Lslow_GATE_OUT:
	mov	$GATE_OUT, %edi
	jmp	.Lslow
.Lslow_GATE_TAIL:
	mov	$GATE_TAIL, %edi
	jmp	.Lslow
.Lslow_GATE_OUT_POINTER:
	mov	$GATE_OUT_POINTER, %edi
	jmp	.Lslow
.Lslow_GATE_LINE:
	mov	$GATE_LINE, %edi
	jmp	.Lslow
.Lslow_GATE_EXIT:
	xor	%eax, %eax
.Lmiss_GATE_EXIT:
	mov	%rax, -72(%rsp)
	mov	$GATE_EXIT, %edi
	jmp	.Lslow
.Lslow_GATE_BACK:
	xor	%eax, %eax
.Lmiss_GATE_BACK:
	mov	%rax, -72(%rsp)
	mov	$GATE_BACK, %edi
	jmp	.Lslow
.Lslow_GATE_LANDING:
	mov	$GATE_LANDING, %edi
	jmp	.Lslow_some
.Lslow_GATE_CALL_END:
	mov	$GATE_CALL_END, %edi
.Lslow_some:
	mov	%r9, -56(%rsp)
	mov	%r10, -64(%rsp)

/* Threads that are not measured end here, but for a fork's child, which may be. */
.Lslow:
	.byte	0x83, 0x3d			/* cmpl $0, 0(%rip) */
	.long	0
	.byte	0
	field	PAGE_WIPED, WIPED_ALIVE, 1
	je	dw_gates_time_moves
	.byte	0x64, 0x48, 0x8b, 0x0c, 0x25	/* mov %fs:0, %rcx */
	.long	0
	field	PAGE_THREAD, 0
	cmpl	$THREAD_OFF, THREAD_STATE(%rcx)
	je	dw_gates_time_moved

/* A popfq would bring back the trap flag that a debugger's step put into the word, so only the
 * direction is taken from it. */
dw_gates_time_moves:
	lea	-80(%rsp), %rsp
.Lat88:
	pushfq
.Lat96:
	push	%rbp
.Lat104:
	push	%r11
.Lat112:
	mov	%rsp, %rbp
.Lby_rbp:
	and	$-16, %rsp
	cld
	lea	104(%rbp), %rsi
	mov	104-72(%rbp), %rdx
	lea	0(%rip), %rcx
	field	PAGE_AREA, 0
	mov	0(%rip), %rax
	field	PAGE_CONSTANTS, CONSTANT_SLOW
	test	%rax, %rax
	je	1f
	call	*%rax
1:	mov	%rbp, %rsp
.Lback112:
	test	%rax, %rax
	je	2f
	push	%rax			/* signals that were put off may come now */
.Lback120:
	mov	%rsp, %rsi
	mov	$SIG_UNBLOCK, %edi
	xor	%edx, %edx
	mov	$8, %r10d
	mov	$SYS_RT_SIGPROCMASK, %eax
	syscall
dw_gates_time_signals:
	lea	8(%rsp), %rsp
.Lgo_on112:
2:	pop	%r11
.Lback104:
	pop	%rbp
.Lback96:
	testl	$0x400, (%rsp)
	je	3f
	std
3:	lea	88(%rsp), %rsp
.Lback8:
dw_gates_time_moved:
	restore_all
dw_gates_time_end:

	.section .rodata.dw_gates_time_fixups, "a", @progbits
dw_gates_time_fixups_end:
	.section .rodata.dw_gates_time_half_way, "a", @progbits
dw_gates_time_half_way_end:

	.section .rodata.dw_gates_time, "a", @progbits
/* Call frame instructions: DW_CFA_advance_loc2, then what holds from there on. */
	.macro	from label, before
	.byte	0x03
	.short	\label - \before
	.endm
	.macro	offset label, before, n
	from	\label, \before
	.byte	0x0e, \n		/* DW_CFA_def_cfa_offset */
	.endm
dw_gates_time_program:
	offset	.Lat88, dw_gates_time, 88
	offset	.Lat96, .Lat88, 96
	offset	.Lat104, .Lat96, 104
	.byte	0x86, 13		/* DW_CFA_offset: rbp at CFA - 104 */
	offset	.Lat112, .Lat104, 112
	from	.Lby_rbp, .Lat112
	.byte	0x0d, 6			/* DW_CFA_def_cfa_register: rbp */
	from	.Lback112, .Lby_rbp
	.byte	0x0d, 7			/* rsp */
	offset	.Lback120, .Lback112, 120
	offset	.Lgo_on112, .Lback120, 112
	offset	.Lback104, .Lgo_on112, 104
	offset	.Lback96, .Lback104, 96
	.byte	0xc6			/* DW_CFA_restore: rbp */
	offset	.Lback8, .Lback96, 8
dw_gates_time_program_end:

	.section .note.GNU-stack, "", @progbits
