/*
 * The trampolines that count: what probes in clones call. Data of the collector, copied into each
 * image; the fields listed at the end get their distances there.
 *
 * A probe at an entry has put rax at -16(%rsp) and the function's index into eax. The red zone is
 * dead there, so registers are saved below rsp without moving it, and rsp-relative unwinding stays
 * exact: CFA = rsp + 8 until the slow path moves rsp, whose steps the program at the end tells.
 * Every register and flag is kept; no vector register is touched.
 */
	.section .rodata.dw_trampolines, "a", @progbits

	.globl	dw_trampolines_code, dw_trampolines_code_end, dw_trampoline_count, dw_trampoline_leave
	.globl	dw_trampolines_fixups, dw_trampolines_fixups_end, dw_trampolines_program, dw_trampolines_program_end
	.hidden	dw_trampolines_code, dw_trampolines_code_end, dw_trampoline_count, dw_trampoline_leave
	.hidden	dw_trampolines_fixups, dw_trampolines_fixups_end, dw_trampolines_program, dw_trampolines_program_end

	.balign	16
dw_trampolines_code:
dw_trampoline_count:
	mov	%rcx, -16(%rsp)
	mov	%rdx, -24(%rsp)
	mov	%eax, %edx
	mov	0x0(%rip), %rcx		/* calls[], 0 after a fork */
.Lcounts:
	jrcxz	.Lslow
	lahf
	seto	%al
	lock incq (%rcx,%rdx,8)
	add	$0x7f, %al		/* sets OF when al was 1 */
	sahf
	mov	-24(%rsp), %rdx
	mov	-16(%rsp), %rcx
	mov	-8(%rsp), %rax
	ret

/* Call slow(area, function) of the agent on an aligned stack. A popfq would bring back the trap
 * flag that a debugger's step put into the word, so only the direction is taken from it. */
.Lslow:
	lahf
	seto	%al
	lea	-24(%rsp), %rsp
.Lat32:
	pushfq
.Lat40:
	mov	%eax, 4(%rsp)
	push	%rbp
.Lat48:
	push	%rsi
.Lat56:
	push	%rdi
.Lat64:
	push	%r8
.Lat72:
	push	%r9
.Lat80:
	push	%r10
.Lat88:
	push	%r11
.Lat96:
	mov	%rsp, %rbp
.Lby_rbp:
	and	$-16, %rsp
	cld
	lea	0x0(%rip), %rdi		/* the area's start */
.Larea:
	mov	%edx, %esi
	mov	0x0(%rip), %rcx		/* DWELL_CONSTANT_SLOW_COUNT */
.Lslow_count:
	jrcxz	1f
	call	*%rcx
1:	mov	%rbp, %rsp
.Lback96:
	pop	%r11
.Lback88:
	pop	%r10
.Lback80:
	pop	%r9
.Lback72:
	pop	%r8
.Lback64:
	pop	%rdi
.Lback56:
	pop	%rsi
.Lback48:
	pop	%rbp
.Lback40:
	mov	4(%rsp), %eax
	testl	$0x400, (%rsp)
	je	2f
	std
2:	lea	8(%rsp), %rsp
.Lback32:
	add	$0x7f, %al		/* sets OF when al was 1 */
	sahf
	pop	%rdx
.Lback24:
	pop	%rcx
.Lback16:
	pop	%rax
.Lback8:
	ret

	.balign	16, 0xcc
dw_trampoline_leave:
	ret
dw_trampolines_code_end:

/* offset of a 32-bit distance, page it leads to (enum dw_trampoline_page), offset in it */
	.balign	4
dw_trampolines_fixups:
	.long	.Lcounts - 4 - dw_trampolines_code, 1, 0
	.long	.Larea - 4 - dw_trampolines_code, 2, 0
	.long	.Lslow_count - 4 - dw_trampolines_code, 0, 0
dw_trampolines_fixups_end:

/* Call frame instructions: DW_CFA_advance_loc1, then what holds from there on. */
	.macro	from label, before
	.byte	0x02, \label - \before
	.endm
	.macro	offset label, before, n
	from	\label, \before
	.byte	0x0e, \n		/* DW_CFA_def_cfa_offset */
	.endm
dw_trampolines_program:
	offset	.Lat32, dw_trampolines_code, 32
	offset	.Lat40, .Lat32, 40
	offset	.Lat48, .Lat40, 48
	.byte	0x86, 6			/* DW_CFA_offset: rbp at CFA - 48 */
	offset	.Lat56, .Lat48, 56
	offset	.Lat64, .Lat56, 64
	offset	.Lat72, .Lat64, 72
	offset	.Lat80, .Lat72, 80
	offset	.Lat88, .Lat80, 88
	offset	.Lat96, .Lat88, 96
	from	.Lby_rbp, .Lat96
	.byte	0x0d, 6			/* DW_CFA_def_cfa_register: rbp */
	from	.Lback96, .Lby_rbp
	.byte	0x0d, 7			/* rsp */
	offset	.Lback88, .Lback96, 88
	offset	.Lback80, .Lback88, 80
	offset	.Lback72, .Lback80, 72
	offset	.Lback64, .Lback72, 64
	offset	.Lback56, .Lback64, 56
	offset	.Lback48, .Lback56, 48
	offset	.Lback40, .Lback48, 40
	.byte	0xc6			/* DW_CFA_restore: rbp */
	offset	.Lback32, .Lback40, 32
	offset	.Lback24, .Lback32, 24
	offset	.Lback16, .Lback24, 16
	offset	.Lback8, .Lback16, 8
dw_trampolines_program_end:

	.section .note.GNU-stack, "", @progbits
