/*
 * The gates that measure time: what probes call in images with DWELL_PROBES_TIME and
 * DWELL_PROBES_SYSTEM_CALLS. Data of the collector, copied into each image, as gates-x86-64.S.
 *
 * What their callers have done is told by enum dw_gate (gates.h). Every register and flag is kept.
 */
	.section .rodata.dw_gates_time, "a", @progbits

	.globl	dw_gates_time, dw_gates_time_end
	.globl	dw_gate_enter, dw_gate_exit, dw_gate_out, dw_gate_out_pointer, dw_gate_back
	.globl	dw_gate_landing, dw_gate_call_begin, dw_gate_call_end
	.globl	dw_gates_time_fixups, dw_gates_time_fixups_end
	.globl	dw_gates_time_program, dw_gates_time_program_end
	.globl	dw_gates_time_half_way, dw_gates_time_half_way_end
	.hidden	dw_gates_time_half_way, dw_gates_time_half_way_end
	.hidden	dw_gates_time, dw_gates_time_end
	.hidden	dw_gate_enter, dw_gate_exit, dw_gate_out, dw_gate_out_pointer, dw_gate_back
	.hidden	dw_gate_landing, dw_gate_call_begin, dw_gate_call_end
	.hidden	dw_gates_time_fixups, dw_gates_time_fixups_end
	.hidden	dw_gates_time_program, dw_gates_time_program_end

	.balign	16
dw_gates_time:
dw_gate_enter:
dw_gate_out:
dw_gate_out_pointer:
	mov	-8(%rsp), %rax
	ret
	.balign	16, 0xcc
dw_gate_exit:
dw_gate_back:
dw_gate_landing:
dw_gate_call_begin:
dw_gate_call_end:
	ret
dw_gates_time_end:

	.balign	4
dw_gates_time_fixups:
dw_gates_time_fixups_end:
/* struct dw_clone_gate of each gate that commits: again, commit and end, from dw_gates_time on */
dw_gates_time_half_way:
dw_gates_time_half_way_end:
dw_gates_time_program:
dw_gates_time_program_end:

	.section .note.GNU-stack, "", @progbits
