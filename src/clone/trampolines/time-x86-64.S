/*
 * The trampolines that measure time: what probes call in images with DWELL_PROBES_TIME and
 * DWELL_PROBES_SYSTEM_CALLS. Data of the collector, copied into each image, as count-x86-64.S.
 *
 * What their callers have done is told by enum dw_trampoline (wire/clone-image.h). Every register
 * and flag is kept; they are saved below rsp without moving it, so that CFA = rsp + 8 until the
 * slow path moves it. A trampoline reads the TSC, finds the new node and computes all new values in
 * registers, then stores them in a row, the commit. A signal handler that finds a trampoline
 * interrupted can so let it start again (between `again` and `commit`) or do the stores for it
 * (between `commit` and `end`): struct dw_clone_trampoline has the places. In the commit:
 * rcx = struct dw_tree_thread, rax = now, rdx = the new current node, rsi = the new top, r8 = the
 * node to which the interval belongs, rdi = its new elapsed. In trampolines that count, r10 = the
 * new calls of rdx; in those that pop, r9 = the new cost of the thread, r10 = what rsi's activation
 * has spent below it by then.
 *
 * What an activation took is told by the thread's clock, now - cost, as it ends
 * (agent/calls/call-extremes.h); what lies within the bounds of its callee is as others were, and
 * needs no slow path.
 *
 * Whatever is not the usual goes to the agent's slow path:
 * uint64_t slow(uint64_t trampoline, uint64_t rsp, uint64_t what, uint64_t area): enum
 * dw_trampoline, rsp in the trampoline, rax as the probe has set it (of EXIT and RETURN the time
 * that they have read, or 0), the area's start; on an aligned stack. It does all that the
 * trampoline would have done, and tells which signals it has put off. Their handlers run here,
 * where all registers of the program are known: struct dw_clone_header, signals_at.
 */
	.section .rodata.dw_trampolines_time, "a", @progbits

	.globl	dw_trampolines_time, dw_trampolines_time_end
	.globl	dw_trampoline_enter, dw_trampoline_exit, dw_trampoline_out, dw_trampoline_out_pointer, dw_trampoline_return
	.globl	dw_trampoline_landing, dw_trampoline_call_begin, dw_trampoline_call_end, dw_trampoline_line, dw_trampoline_tail
	.globl	dw_trampoline_counted, dw_trampoline_counted_tail, dw_trampoline_counted_pointer
	.globl	dw_trampolines_time_fixups, dw_trampolines_time_fixups_end
	.globl	dw_trampolines_time_program, dw_trampolines_time_program_end
	.globl	dw_trampolines_time_interrupted, dw_trampolines_time_interrupted_end, dw_trampolines_time_signals
	.globl	dw_trampolines_time_moves, dw_trampolines_time_moved
	.hidden	dw_trampolines_time, dw_trampolines_time_end
	.hidden	dw_trampoline_enter, dw_trampoline_exit, dw_trampoline_out, dw_trampoline_out_pointer, dw_trampoline_return
	.hidden	dw_trampoline_landing, dw_trampoline_call_begin, dw_trampoline_call_end, dw_trampoline_line, dw_trampoline_tail
	.hidden	dw_trampoline_counted, dw_trampoline_counted_tail, dw_trampoline_counted_pointer
	.hidden	dw_trampolines_time_fixups, dw_trampolines_time_fixups_end
	.hidden	dw_trampolines_time_program, dw_trampolines_time_program_end
	.hidden	dw_trampolines_time_interrupted, dw_trampolines_time_interrupted_end, dw_trampolines_time_signals
	.hidden	dw_trampolines_time_moves, dw_trampolines_time_moved

	.pushsection .rodata.dw_trampolines_time_fixups, "a", @progbits
	.balign	4
dw_trampolines_time_fixups:
	.popsection
	.pushsection .rodata.dw_trampolines_time_interrupted, "a", @progbits
	.balign	4
dw_trampolines_time_interrupted:
	.popsection

/* enum dw_trampoline */
	.set	TRAMPOLINE_ENTER, 2
	.set	TRAMPOLINE_EXIT, 3
	.set	TRAMPOLINE_OUT, 4
	.set	TRAMPOLINE_OUT_POINTER, 5
	.set	TRAMPOLINE_RETURN, 6
	.set	TRAMPOLINE_LANDING, 7
	.set	TRAMPOLINE_CALL_BEGIN, 8
	.set	TRAMPOLINE_CALL_END, 9
	.set	TRAMPOLINE_LINE, 10
	.set	TRAMPOLINE_TAIL, 11
	.set	TRAMPOLINE_COUNTED, 12
	.set	TRAMPOLINE_COUNTED_POINTER, 14

#include "clone/trampolines/time-parts-x86-64.S"
#include "clone/trampolines/time-cells-x86-64.S"

	.balign	16
dw_trampolines_time:
.Lones:
	.quad	0x0001000100010001
.Lhighs:
	.quad	0x8000800080008000

	.balign	64
dw_trampoline_enter:
	save_all
.Lagain_TRAMPOLINE_ENTER:
	find_thread .Lslow_TRAMPOLINE_ENTER
	read_time
	measure_skid TRAMPOLINE_ENTER
	check_os .Lslow_TRAMPOLINE_ENTER
	check_stack .Lslow_TRAMPOLINE_ENTER, 0
	mov	-72(%rsp), %edi
	add	0(%rip), %edi
	field	PAGE_CONSTANTS, CONSTANT_FIRST_ID
	mov	8(%rsp), %r9d
	open_node 0, TRAMPOLINE_ENTER, 0, restore_all
	skid	TRAMPOLINE_ENTER

/* Nothing was pushed by a function that was switched off meanwhile: the top lies above. */
	.balign	64
dw_trampoline_exit:
	save_most
.Lagain_TRAMPOLINE_EXIT:
	find_thread .Lslow_TRAMPOLINE_EXIT
	mov	THREAD_TOP(%rcx), %rsi
	cmp	%rsp, SHADOW_RECORD(%rsi)
	jne	1f
	read_time
	measure_skid TRAMPOLINE_EXIT
	check_os .Lslow_TRAMPOLINE_EXIT
	close_node 1, TRAMPOLINE_EXIT
1:	mov	SHADOW_RECORD(%rsi), %rdx
	sub	%rsp, %rdx
	let_pass .Lslow_TRAMPOLINE_EXIT
	skid	TRAMPOLINE_EXIT

	.balign	64
dw_trampoline_out:
	save_all
.Lagain_TRAMPOLINE_OUT:
	find_thread .Lslow_TRAMPOLINE_OUT
	check_stack .Lslow_TRAMPOLINE_OUT, 4
	mov	-72(%rsp), %edi
	add	0(%rip), %edi
	field	PAGE_CONSTANTS, CONSTANT_FIRST_ID
	mov	(%rsp), %r9d
	open_node 2, TRAMPOLINE_OUT, 4, restore_all
	skid	TRAMPOLINE_OUT

/*
 * As OUT, below the function that ends in the jump: RETURN in its caller ends both. Where no such
 * trampoline stands behind the call that it returns to, or what it jumps to has probes, it ends
 * here.
 */
	.balign	64
dw_trampoline_tail:
	save_all
.Lagain_TRAMPOLINE_TAIL:
	mov	8(%rsp), %rdx
	lea	0(%rip), %rdi
	field	PAGE_AREA, 0
	mov	%rdx, %r8
	sub	%rdi, %r8
	cmp	0(%rip), %r8
	field	PAGE_CONSTANTS, CONSTANT_AREA_BYTES
	jae	.Lagain_TRAMPOLINE_EXIT
	cmpb	$CALL, (%rdx)
	jne	.Loff_TRAMPOLINE_TAIL
	movslq	1(%rdx), %r8
	lea	5(%rdx, %r8), %r8
	lea	.Lreturn(%rip), %rdi
	cmp	%rdi, %r8
	jne	.Lagain_TRAMPOLINE_EXIT
	find_thread .Lslow_TRAMPOLINE_TAIL
	check_stack .Lslow_TRAMPOLINE_TAIL, 4
	mov	-72(%rsp), %edi
	add	0(%rip), %edi
	field	PAGE_CONSTANTS, CONSTANT_FIRST_ID
	mov	(%rsp), %r9d
	open_node 2, TRAMPOLINE_TAIL, 4, restore_all, .Lagain_TRAMPOLINE_EXIT
	skid	TRAMPOLINE_TAIL

	.balign	64
dw_trampoline_out_pointer:
	save_all
.Lagain_TRAMPOLINE_OUT_POINTER:
	mov	-72(%rsp), %rdi
	mov	%rdi, %rdx
	sub	0(%rip), %rdx
	field	PAGE_CONSTANTS, CONSTANT_PROBED
	cmp	0(%rip), %rdx
	field	PAGE_CONSTANTS, CONSTANT_PROBED_BYTES
	jb	.Lno_event
	find_thread .Lslow_TRAMPOLINE_OUT_POINTER
	check_stack .Lslow_TRAMPOLINE_OUT_POINTER, 4
	bts	$63, %rdi
	mov	(%rsp), %r9d
	open_node 2, TRAMPOLINE_OUT_POINTER, 4, restore_all
	skid	TRAMPOLINE_OUT_POINTER
.Lno_event:
	restore_all

/*
 * The call has pushed nothing where the top lies above it: no event. Where the callee has ended in a
 * jump, what lies below ends first: what it has jumped to, then itself. An odd record does not count.
 */
	.balign	64
dw_trampoline_return:
.Lreturn:
	save_most
.Lagain_TRAMPOLINE_RETURN:
	find_thread .Lslow_TRAMPOLINE_RETURN
	mov	THREAD_TOP(%rcx), %rsi
	mov	SHADOW_RECORD(%rsi), %rdx
	sub	%rsp, %rdx
	lea	12(%rdx), %r8
	ror	$2, %r8
	cmp	$2, %r8
	ja	1f
	read_time
	measure_skid TRAMPOLINE_RETURN
	check_os .Lslow_TRAMPOLINE_RETURN
	close_node 3, TRAMPOLINE_RETURN
1:	let_pass .Lslow_TRAMPOLINE_RETURN
	skid	TRAMPOLINE_RETURN

	.balign	16
dw_trampoline_landing:
	save_some
	find_thread .Lslow_TRAMPOLINE_LANDING
	mov	THREAD_TOP(%rcx), %rsi
	mov	SHADOW_RECORD(%rsi), %rdx
	sub	%rsp, %rdx
	cmp	$WINDOW, %rdx
	jae	.Lslow_TRAMPOLINE_LANDING
	restore_some

/*
 * The activation on top, in whose frame rsp lies, comes to a statement: its node becomes that child
 * of its function. Nothing is pushed. What is not the function's own statement it has no child for.
 * Signals find the program before or behind the probe, never in it (agent/clones/signal-context.h).
 */
	.balign	64
dw_trampoline_line:
	mov	%r11, -88(%rsp)		/* so all that it changes is in memory from .Lagain on */
	save_all
.Lagain_TRAMPOLINE_LINE:
	find_thread .Lslow_TRAMPOLINE_LINE
	mov	THREAD_TOP(%rcx), %rsi
	mov	SHADOW_RECORD(%rsi), %r8
	sub	%rsp, %r8
	cmp	$FRAME_BYTES_MAX, %r8
	jae	.Lslow_TRAMPOLINE_LINE
	testb	$1, SHADOW_RECORD(%rsi)
	jne	.Lslow_TRAMPOLINE_LINE
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
	find_child TRAMPOLINE_LINE
	jmp	.Lfound_TRAMPOLINE_LINE
.Lquick_TRAMPOLINE_LINE:
	find_quick .Lslow_TRAMPOLINE_LINE, TRAMPOLINE_LINE
.Lfound_TRAMPOLINE_LINE:
	read_time_keeping_rdx
	check_os_by_r10 .Lslow_TRAMPOLINE_LINE
	mov	(%rsi), %r8
	mov	THREAD_LINE_TICKS(%rcx), %r9d
	add	THREAD_COST(%rcx), %r9
	mov	NODE_CALLS(%rdx), %r10
	add	$1, %r10
	add_interval
.Lcommit_TRAMPOLINE_LINE:
	mov	%r9, THREAD_COST(%rcx)
	mov	%r10, NODE_CALLS(%rdx)
	mov	%rdx, (%rsi)
	commit
.Lend_TRAMPOLINE_LINE:
	look	restore_all
.Lover_TRAMPOLINE_LINE:
	interrupted .Lagain_TRAMPOLINE_LINE, .Lcommit_TRAMPOLINE_LINE, .Lend_TRAMPOLINE_LINE, .Lover_TRAMPOLINE_LINE

/*
 * Calls that are measured no more but counted. These trampolines read no
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
dw_trampoline_counted:
	save_few
.Lcount:
	find_counters .Lslow_TRAMPOLINE_COUNTED, TO_RCX
	mov	-72(%rsp), %eax
	cmp	THREAD_COUNTED_END(%rcx), %eax
	jge	.Lslow_TRAMPOLINE_COUNTED
	add	THREAD_COUNTED(%rcx), %rax
.Lat_TRAMPOLINE_COUNTED:
	incq	(%rax)
.Lend_TRAMPOLINE_COUNTED:
	mov	-80(%rsp), %eax
	add	$0x7f, %al		/* sets OF when al was 1 */
	sahf
	mov	-16(%rsp), %rcx
	mov	-8(%rsp), %rax
	ret
.Lover_TRAMPOLINE_COUNTED:
	interrupted .Lcount, .Lat_TRAMPOLINE_COUNTED, .Lend_TRAMPOLINE_COUNTED, .Lover_TRAMPOLINE_COUNTED

/* Where TAIL would have been an event: RETURN stands where the function returns to, or stood. */
	.balign	64
dw_trampoline_counted_tail:
	save_few
	mov	8(%rsp), %rcx
	lea	0(%rip), %rax
	field	PAGE_AREA, 0
	neg	%rax
	add	%rcx, %rax
	cmp	0(%rip), %rax
	field	PAGE_CONSTANTS, CONSTANT_AREA_BYTES
	jae	.Lend_TRAMPOLINE_COUNTED
	cmpb	$CALL, (%rcx)
	jne	.Loff_TRAMPOLINE_COUNTED_TAIL
	movslq	1(%rcx), %rax
	lea	5(%rcx, %rax), %rcx
	lea	.Lreturn(%rip), %rax
	cmp	%rcx, %rax
	je	.Lcount
	jmp	.Lend_TRAMPOLINE_COUNTED
.Loff_TRAMPOLINE_COUNTED_TAIL:
	jump_unless_return_off %rcx, .Lend_TRAMPOLINE_COUNTED
	jmp	.Lcount

/* The same where TAIL itself is not off, as it is others' too. */
.Loff_TRAMPOLINE_TAIL:
	jump_unless_return_off %rdx, .Lagain_TRAMPOLINE_EXIT
	mov	0(%rip), %rdi
	field	PAGE_WIPED, WIPED_PLACES
	test	%rdi, %rdi
	je	.Lslow_TRAMPOLINE_TAIL
	mov	-72(%rsp), %edx
	mov	(%rdi, %rdx, 4), %edx
	cmp	$1, %edx
	je	.Lagain_TRAMPOLINE_EXIT
	ja	1f		/* places are below 0 */
	jmp	.Lslow_TRAMPOLINE_TAIL
1:	find_counters .Lslow_TRAMPOLINE_TAIL, TO_RCX
	cmp	THREAD_COUNTED_END(%rcx), %edx
	jge	.Lslow_TRAMPOLINE_TAIL
	add	THREAD_COUNTED(%rcx), %rdx
	incq	(%rdx)		/* last: a handler that comes before or behind it finds all as it is */
	jmp	.Lagain_TRAMPOLINE_EXIT

/* A line of the thread's for each set of addresses, each with its counter behind it. */
	.balign	64
dw_trampoline_counted_pointer:
	save_few
.Lcount_pointer:
	mov	-72(%rsp), %rax
	sub	0(%rip), %rax
	field	PAGE_CONSTANTS, CONSTANT_PROBED
	cmp	0(%rip), %rax
	field	PAGE_CONSTANTS, CONSTANT_PROBED_BYTES
	jb	.Lend_TRAMPOLINE_COUNTED_POINTER
	imul	$KEY_FACTOR, -72(%rsp), %ecx
	shr	$POINTER_SHIFT, %ecx
	shl	$6, %ecx
	find_counters .Lslow_TRAMPOLINE_COUNTED_POINTER, TO_RAX
	mov	THREAD_POINTERS(%rax), %rax
	test	%rax, %rax
	je	.Lslow_TRAMPOLINE_COUNTED_POINTER
	add	%rax, %rcx
	mov	-72(%rsp), %rax
	cmp	%rax, (%rcx)
	je	1f
	add	$POINTER_BYTES, %rcx
	cmp	%rax, (%rcx)
	je	1f
	add	$POINTER_BYTES, %rcx
	cmp	%rax, (%rcx)
	jne	.Lslow_TRAMPOLINE_COUNTED_POINTER
1:
.Lat_TRAMPOLINE_COUNTED_POINTER:
	incq	8(%rcx)
.Lend_TRAMPOLINE_COUNTED_POINTER:
	mov	-80(%rsp), %eax
	add	$0x7f, %al
	sahf
	mov	-16(%rsp), %rcx
	mov	-8(%rsp), %rax
	ret
.Lover_TRAMPOLINE_COUNTED_POINTER:
	interrupted .Lcount_pointer, .Lat_TRAMPOLINE_COUNTED_POINTER, .Lend_TRAMPOLINE_COUNTED_POINTER, .Lover_TRAMPOLINE_COUNTED_POINTER

/* The way out saves what the slow path does not keep; last it changes rdi, by which a signal knows
 * that all is saved (agent/clones/signal-context-x86-64.c). */
	.macro	slow_counted trampoline
.Lslow_\trampoline:
	save_rdx_to_r10
	mov	$\trampoline, %edi
	.endm

	.balign	16
dw_trampoline_call_begin:
	mov	%rax, -72(%rsp)
	save_some
	mov	$TRAMPOLINE_CALL_BEGIN, %edi
	mov	%r9, -56(%rsp)
	mov	%r10, -64(%rsp)
	jmp	dw_trampolines_time_moves	/* the process may end, whoever is measured */

	.balign	16
dw_trampoline_call_end:
	save_some
	.byte	0x64, 0x48, 0x8b, 0x0c, 0x25	/* mov %fs:0, %rcx */
	.long	0
	field	PAGE_THREAD, 0
	cmpl	$THREAD_IN_CALL, THREAD_STATE(%rcx)
	je	.Lslow_TRAMPOLINE_CALL_END
	restore_some

/* Behind what is used most, and what cells need. */
	.subsection 2
.Lslow_TRAMPOLINE_ENTER:
	mov	$TRAMPOLINE_ENTER, %edi
	jmp	.Lslow
.Lslow_TRAMPOLINE_OUT:
	mov	$TRAMPOLINE_OUT, %edi
	jmp	.Lslow
.Lslow_TRAMPOLINE_TAIL:
	mov	$TRAMPOLINE_TAIL, %edi
	jmp	.Lslow
.Lslow_TRAMPOLINE_OUT_POINTER:
	mov	$TRAMPOLINE_OUT_POINTER, %edi
	jmp	.Lslow
.Lslow_TRAMPOLINE_LINE:
	mov	$TRAMPOLINE_LINE, %edi
	jmp	.Lslow
.Lslow_TRAMPOLINE_EXIT:
	xor	%eax, %eax
.Lmiss_TRAMPOLINE_EXIT:
	mov	%rax, -72(%rsp)
	mov	$TRAMPOLINE_EXIT, %edi
	jmp	.Lslow
.Lslow_TRAMPOLINE_RETURN:
	xor	%eax, %eax
.Lmiss_TRAMPOLINE_RETURN:
	mov	%rax, -72(%rsp)
	mov	$TRAMPOLINE_RETURN, %edi
	jmp	.Lslow
.Lslow_TRAMPOLINE_LANDING:
	mov	$TRAMPOLINE_LANDING, %edi
	jmp	.Lslow_some
.Lslow_TRAMPOLINE_CALL_END:
	mov	$TRAMPOLINE_CALL_END, %edi
.Lslow_some:
	mov	%r9, -56(%rsp)
	mov	%r10, -64(%rsp)

	jmp	.Lslow
	slow_counted TRAMPOLINE_COUNTED_POINTER
	jmp	.Lslow
	slow_counted TRAMPOLINE_COUNTED

/* Threads that are not measured end here, but for a fork's child, which may be. */
.Lslow:
	.byte	0x83, 0x3d			/* cmpl $0, 0(%rip) */
	.long	0
	.byte	0
	field	PAGE_WIPED, WIPED_ALIVE, 1
	je	dw_trampolines_time_moves
	.byte	0x64, 0x48, 0x8b, 0x0c, 0x25	/* mov %fs:0, %rcx */
	.long	0
	field	PAGE_THREAD, 0
	cmpl	$THREAD_OFF, THREAD_STATE(%rcx)
	je	dw_trampolines_time_moved

/* A popfq would bring back the trap flag that a debugger's step put into the word, so only the
 * direction is taken from it. */
dw_trampolines_time_moves:
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
dw_trampolines_time_signals:
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
dw_trampolines_time_moved:
	restore_all
dw_trampolines_time_end:

	.section .rodata.dw_trampolines_time_fixups, "a", @progbits
dw_trampolines_time_fixups_end:
	.section .rodata.dw_trampolines_time_interrupted, "a", @progbits
dw_trampolines_time_interrupted_end:

	.section .rodata.dw_trampolines_time, "a", @progbits
/* Call frame instructions: DW_CFA_advance_loc2, then what holds from there on. */
	.macro	from label, before
	.byte	0x03
	.short	\label - \before
	.endm
	.macro	offset label, before, n
	from	\label, \before
	.byte	0x0e, \n		/* DW_CFA_def_cfa_offset */
	.endm
dw_trampolines_time_program:
	offset	.Lat88, dw_trampolines_time, 88
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
dw_trampolines_time_program_end:

	.section .note.GNU-stack, "", @progbits
