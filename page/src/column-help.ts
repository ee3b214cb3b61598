/* What columns mean, in one or two sentences: docs/report-json.md has all of it. */

/** Whole columns. */
const WHOLE: Record<string, string> = {
	process_id: "The system's number of the process.",
	process_name: "What the process calls itself.",
	command: "The program and the first file of its command line.",
	command_line: "What the process has executed last. Empty: nobody saw it.",
	thread_id: "The system's number of the thread.",
	module_name: "The program or library that holds the code.",
	module_path: "Where that file was when it was recorded.",
	source_file: "The file that the code was written in, as the debug information says.",
	function_name: "The function. One that was inlined is a function, too; one without a symbol is MODULE+ADDRESS.",
	function_line_number: "The line on which the function begins.",
	function_address: "Where the function begins, in its file's own addresses.",
	name: "What the row is about.",
	level: "How deep the row is; the root is 0.",
	number_of_calls: "Every call, also of those that call themselves.",
	switched_off_at: "From here on calls were not measured, because the probes cost more than they were worth.",
	calls_only_counted: "Calls that were counted but not measured. Means divide by the others.",
	application_exclusive_time_at_most:
		"Where a call takes less than the clock can tell: the most that all of them may have taken of their own.",
	waits_for: "What threads waited for.",
	wait_time: "All waiting of this kind, of all threads.",
	number_of_threads: "How many threads waited so.",
	counts_in_reports: "Whether waits of this kind are part of the times that other views show.",
	function_wait_time: "How much of it was in this function, the program's own that waited most.",
	context_switches: "How often threads were taken off the processor in the row's own code.",
	io_calls: "System calls that read or write, made by the row's own code.",
	blocking_calls: "System calls that may wait, made by the row's own code.",
	begin_time: "When it began, since the start of the recording.",
	end_time: "When it ended. Empty: it was there when the recording ended.",
	call_path: "The functions from the thread's start to this one.",
	deepest_call: "Of the calls within this one the deepest that took at least half of it. Empty: none did.",
	instances: "All objects of the type.",
	total_bytes_allocated: "The bytes of all objects of the type.",
	pause_duration: "How long threads stood still, without what dwell added.",
	pause_added: "How much longer they stood still because dwell was told of the collection.",
	heap_bytes_before: "The heap's size when the collection began.",
	heap_bytes_after: "The heap's size when the collection was over.",
	promoted_bytes: "What survived and went to an older generation.",
	generation: "The oldest generation that was collected.",
	gc_type: "Whether the program stood still: background, or blocking.",
	gc_reason: "Why the runtime collected.",
	source_line_begin: "The line of the statement.",
	instruction_address: "Where the instruction is, in its file's own addresses.",
	instruction: "The instruction, disassembled.",
	reads: "System calls that read, also those that failed.",
	writes: "System calls that wrote, also those that failed.",
	bytes_read: "What these calls have read.",
	bytes_written: "What these calls have written.",
	io_time: "The time in these calls.",
};

/** Parts of the names of measures. */
const MEASURES: readonly (readonly [RegExp, string])[] = [
	[/work_time/, "Processor time and the waits that count, together."],
	[/_samples/, "Samples: each stands for an equal part of the processor's time."],
	[/_latency/, "Processor time divided by the threads that ran then: what the clock would show less."],
	[/_cpu_time/, "Time on the processor, as many samples as there are times what each stands for."],
	[/elapsed_/, "Time by the clock, with all waiting."],
	[/application_/, "The program's own time, without what the operating system took."],
	[/blocked_time/, "Time off the processor, waiting."],
	[/others_waited_time/, "How long other threads waited for locks while this had them."],
	[/probe_overhead/, "What dwell's probes cost. It is taken off all other times."],
	[/_allocations/, "Objects that were allocated."],
	[/_bytes(_|$)/, "Bytes of objects."],
	[/instances/, "Objects."],
];

const LIFE: readonly (readonly [RegExp, string])[] = [
	[/^gen_0_/, "Found dead by a collection while they were in generation 0: they died young."],
	[/^gen_1_/, "Found dead while they were in generation 1."],
	[/^gen_2_/, "Found dead while they were in generation 2: they died old, which costs most."],
	[/^large_object_heap/, "Found dead in the heap of large objects."],
	[/^pinned_object_heap/, "Found dead in the heap of pinned objects."],
	[/alive_at_end/, "Still there when the recording, or the range of time, ended."],
	[/alive_at_begin/, "There when the range of time began."],
	[/growth/, "Alive at the end of the range less alive at its beginning."],
	[/surviving/, "Of what was alive when the range began, what still was when it ended."],
];

function aspect(id: string): string {
	if (id.startsWith("avg_")) return "The mean of one call.";
	if (id.startsWith("max_")) return "The longest call.";
	if (id.startsWith("min_")) return "The shortest call.";
	return "";
}

/** What column @id means; "" for those whose title says it. */
export function columnHelp(id: string): string {
	const whole = WHOLE[id];
	if (whole) return whole;
	const parts: string[] = [];
	const life = LIFE.find(([pattern]) => pattern.test(id));
	const of = MEASURES.find(([pattern]) => pattern.test(id));
	if (of) parts.push(of[1]);
	if (life) parts.push(life[1]);
	else if (id.includes("inclusive")) parts.push("With what the function called; once, however often it is on the stack.");
	else if (id.includes("exclusive")) parts.push("Of the row's own code alone, without what it called.");
	parts.push(aspect(id));
	if (id.endsWith("_percent")) parts.push("As a share of all that the filters let through.");
	if (id.endsWith("_error")) parts.push("The true number is nearer than this to the estimate, with 95 % certainty.");
	return parts.filter(Boolean).join(" ");
}
