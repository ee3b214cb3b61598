/*
 * How the trampolines that measure time begin and end activations of cells
 * (agent/calls/activation.h): included by time-x86-64.S, which tells of registers.
 */
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

/* As open_node goes on for threads that have cells (agent/calls/activation.h): r8 = the current one. In the
 * commit r9 = where it says that an activation adds up. */
	.macro	open_cell kind, trampoline, below, restore, no_event
	.subsection 1
.Lrestart_cells_\trampoline:		/* interrupted from here on, it begins again */
	jmp	.Lagain_\trampoline
.Lcells_\trampoline:
	mov	CELL_CALLEE(%r8), %r8d
	line_of %r8
	find_child cells_\trampoline
.Lfound_cells_\trampoline:
	put_record \trampoline, \below, \no_event
	mov	CELL_CALLEE(%rdx), %r8d
	line_of %r8
	add	$CALLEE_OUTERMOST, %r8
	mov	THREAD_COST(%rcx), %r10
	mov	%rax, %r9
	sub	%r10, %r9
	cmp	THREAD_DRAW_AT(%rcx), %r9
	jns	.Lslow_\trampoline
	add	THREAD_CALLEE_TICKS + 4 * \kind(%rcx), %r9
	sub	THREAD_OTHER_COST(%rcx), %r10
	mov	%rdx, SHADOW_BYTES(%rsi)
	mov	%rdx, SHADOW_BYTES + SHADOW_FUNCTION(%rsi)
	mov	%r9, SHADOW_BYTES + SHADOW_START(%rsi)
	mov	%r9, SHADOW_BYTES + SHADOW_SPENT(%rsi)
	mov	%rax, %rdi
	cmpq	$0, (%r8)
	jne	.Linside_\trampoline
	begin_sums CELL_INCLUSIVE(%rdx), CELL_PROBES(%rdx)
	mov	%rdi, SHADOW_BYTES + SHADOW_BEGAN(%rsi)
	mov	%r8, %r9
	mov	(%rsi), %r8
	mov	NODE_CALLS(%rdx), %r10
	add	$1, %r10
	add_interval
	add	$SHADOW_BYTES, %rsi
.Lcommit_cells_\trampoline:
	mov	%rdx, (%r9)
	mov	%r10, NODE_CALLS(%rdx)
	commit
.Lend_cells_\trampoline:
	look	\restore
.Lover_cells_\trampoline:
	interrupted .Lrestart_cells_\trampoline, .Lcommit_cells_\trampoline, .Lend_cells_\trampoline, .Lover_cells_\trampoline
.Lretry_cells_\trampoline:
	jmp	.Lagain_\trampoline
.Lquick_cells_\trampoline:
	find_quick .Lslow_\trampoline, cells_\trampoline
	jmp	.Lfound_cells_\trampoline
	interrupted .Lretry_cells_\trampoline, .Lpromote_cells_\trampoline, .Lpromote_cells_\trampoline, .Lpromote_cells_\trampoline
.Lrestart_inner_\trampoline:
	jmp	.Lagain_\trampoline
.Linside_\trampoline:
	cmpl	$0, CELL_INNER(%rdx)
	je	.Lslow_\trampoline
	bts	$INNER_BIT, %rdi
	cmp	%rdx, (%r8)
	mov	CELL_INNER(%rdx), %r8d
	je	.Lsilent_\trampoline
	line_of %r8
	cmpq	$0, INNER_OPEN(%r8)
	jne	.Lsilent_line_\trampoline
	bts	$REPEATED_BIT, %rdi
	begin_sums INNER_INCLUSIVE(%r8), INNER_PROBES(%r8)
	add	$INNER_OPEN, %r8
	jmp	.Linner_begun_\trampoline
.Lsilent_\trampoline:
	line_of %r8
.Lsilent_line_\trampoline:
	add	$INNER_UNUSED, %r8
.Linner_begun_\trampoline:		/* r8 = a word, and behind it the calls that are like this one */
	mov	%rdi, SHADOW_BYTES + SHADOW_BEGAN(%rsi)
	mov	%r8, %r9
	mov	(%rsi), %r8
	mov	8(%r9), %r10
	add	$1, %r10
	add_interval
	add	$SHADOW_BYTES, %rsi
.Lcommit_inner_\trampoline:
	mov	%rdx, (%r9)
	mov	%r10, 8(%r9)
	commit
.Lend_inner_\trampoline:
	look	\restore
.Lover_inner_\trampoline:
	interrupted .Lrestart_inner_\trampoline, .Lcommit_inner_\trampoline, .Lend_inner_\trampoline, .Lover_inner_\trampoline
	.subsection 0
	.endm

/* As close_node goes on for them. r8 = the cell. */
	.macro	close_cell trampoline
	.subsection 1
.Lrestart_cells_\trampoline:
	jmp	.Lagain_\trampoline
.Lcells_\trampoline:
	mov	CELL_CALLEE(%r8), %edi
	line_of %rdi
	mov	THREAD_COST(%rcx), %r9
	mov	%rax, %rdx
	sub	%r9, %rdx
	cmp	THREAD_DRAW_AT(%rcx), %rdx
	jns	.Lmiss_\trampoline
	mov	%rdx, %r10
	sub	SHADOW_SPENT(%rsi), %r10
	sub	CALLEE_BOUNDS + BOUNDS_EXCLUSIVE(%rdi), %r10
	cmp	CALLEE_BOUNDS + BOUNDS_EXCLUSIVE_SPAN(%rdi), %r10
	ja	.Lmiss_\trampoline
	mov	SHADOW_BEGAN(%rsi), %r10
	shr	$REPEATED_BIT, %r10
	jne	.Linside_\trampoline
	mov	%rdx, %r10
	sub	SHADOW_START(%rsi), %r10
	sub	CALLEE_BOUNDS + BOUNDS_INCLUSIVE(%rdi), %r10
	cmp	CALLEE_BOUNDS + BOUNDS_INCLUSIVE_SPAN(%rdi), %r10
	ja	.Lmiss_\trampoline
	end_sums CELL_INCLUSIVE(%r8), CELL_PROBES(%r8)
	movq	$0, CALLEE_OUTERMOST(%rdi)
.Lended_\trampoline:
	sub	SHADOW_START(%rsi), %rdx
	jmp	.Linner_\trampoline
.Linside_\trampoline:
	test	$1, %r10b
	je	.Lended_\trampoline
	mov	CELL_INNER(%r8), %r8d
	line_of %r8
	end_sums INNER_INCLUSIVE(%r8), INNER_PROBES(%r8)
	movq	$0, INNER_OPEN(%r8)
	jmp	.Lended_\trampoline
.Lcells_end_\trampoline:
	interrupted .Lrestart_cells_\trampoline, .Lcells_end_\trampoline, .Lcells_end_\trampoline, .Lcells_end_\trampoline
	.subsection 0
	.endm
