/*
 * The entries of signal handlers: one for each distinct handler of the program, so that the kernel
 * keeps the whole state and a handler is known by the address that it was called at. Frameless:
 * CFA = rsp + 8 throughout, the arguments stay where the kernel has put them.
 */
	.text
	.globl	dw_signal_entries
	.hidden	dw_signal_entries
	.type	dw_signal_entries, @function
	.balign	16
dw_signal_entries:
	.cfi_startproc
	.set	i, 0
	.rept	512			/* DWELL_HANDLERS */
	.balign	16			/* DWELL_SIGNAL_ENTRY_BYTES */
	endbr64
	mov	$i, %ecx
	jmp	dw_signal_run
	.set	i, i + 1
	.endr
	.balign	16
	.cfi_endproc
	.size	dw_signal_entries, . - dw_signal_entries

	.section .note.GNU-stack, "", @progbits
