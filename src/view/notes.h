/*
 * The summary as notes: what is to be said of a recording, for any format to print.
 *
 * A note is a sentence of one table, the numbers and names for its places, and for some kinds a row
 * of the view with its shares. Places of a sentence are {INDEX TYPE}, or {INDEX TYPE NOUN}:
 *
 *   n number, its thousands grouped   d the same, plain          c counted things: 1,234 samples
 *   t time, ns                        b bytes                    % the share, INDEX decimals
 *   s name                            f name of a function, ()   l names that commas divide
 *   q word of a command line          o names as --module options @ path of the session
 *
 * All names are foreign text. They are borrowed from the profile, rows belong to the view.
 */
#pragma once

#include "view/view.h"

enum dw_note_kind {
	DWELL_NOTE_TITLE,   /* what was recorded, the session's path without a name */
	DWELL_NOTE_HEADING, /* begins a section */
	DWELL_NOTE_SAYS,    /* a sentence in a line of its own */
	DWELL_NOTE_MORE,    /* goes on where the last one ends, whatever kind that is */
	DWELL_NOTE_APART, /* a sentence that begins a section without a heading, or goes on with one
			   */
	DWELL_NOTE_SHARE, /* a sentence about a share of everything */
	DWELL_NOTE_PATH,  /* row of the hot path, n[0] levels deep, n[1] = callers are left out */
	DWELL_NOTE_RANKED,  /* row with its share, and a sentence behind it, if there is one */
	DWELL_NOTE_SLOWEST, /* row with a single call that took n[0] ns, and a sentence */
	DWELL_NOTE_WORK, /* function name[1] with a single call that took n[0] ns, and a sentence */
	DWELL_NOTE_NEXT, /* a command to type next */
};

/* S(name, text), and F(name, fact, text) of a fact that is n[0]: these are told in this order. */
#define DWELL_SENTENCES(S, F)                                                                                   \
	S(NONE, "")                                                                                             \
	/* What a filter has chosen of it. */                                                                   \
	S(ONLY, "Only {0s}")                                                                                    \
	S(AND, ", ")                                                                                            \
	S(FROM_TO, "from {0t} to {1t}")                                                                         \
	S(FROM, "from {0t} on")                                                                                 \
	S(TO, "up to {0t}")                                                                                     \
	/* What was recorded. */                                                                                \
	S(DURATION, "{0t}, ")                                                                                   \
	S(SAMPLES, "{0c sample}")                                                                               \
	S(OF_EVENT, " of {0s}")                                                                                 \
	S(ONE_EACH, ", one each {0n}")                                                                          \
	S(FREQUENCY, " at {0n} Hz")                                                                             \
	S(FREQUENCY_OF_TIME, " at {0n} Hz of CPU time")                                                         \
	S(CALLS, "{0c call} of {1c function}")                                                                  \
	S(OBJECTS, "{0c object} of {1c type}, {2b}")                                                            \
	S(TASKS, ", {0c thread} in {1c process}")                                                               \
	S(KERNEL_NOT_SAMPLED, "Not sampled: {0t} in the kernel")                                                \
	S(MOSTLY_WAITING,                                                                                       \
	  "It used {0%} of one processor: record where threads wait, too, to see the rest.")                    \
	S(PROGRAMS, "By program: ")                                                                             \
	S(COMMANDS, "By command: ")                                                                             \
	S(PROGRAM, "{0s} {0%}")                                                                                 \
	S(OF_PROCESSES, " in {0c process}")                                                                     \
	/* What for, in the order of enum dw_wait_kind. */                                                      \
	S(WAITS_OTHER, "otherwise")                                                                             \
	S(WAITS_LOCK, "for locks")                                                                              \
	S(WAITS_CONDITION, "for conditions")                                                                    \
	S(WAITS_DISK, "for files")                                                                              \
	S(WAITS_SOCKET, "for sockets")                                                                          \
	S(WAITS_PIPE, "for pipes")                                                                              \
	S(WAITS_SLEEP, "in sleep")                                                                              \
	S(WAITS_TIMER, "for timers")                                                                            \
	S(WAITS_COLLECTION, "for garbage collections")                                                          \
	S(WAITS_IO, "for input and output")                                                                     \
	S(WAITS_IDLE, "for work (idle)")                                                                        \
	S(WAITS_CHILD, "for processes or threads to end")                                                       \
	S(WAITS_READY, "for a processor")                                                                       \
	S(WAITS_INTERPRETER, "for the interpreter (GIL)")                                                       \
	S(WAITS_MOST, ", most in {0f}")                                                                         \
	S(WAITS_HELD_BY, ", held by {0f}")                                                                      \
	S(WAITS_MORE, "for other things (dwell report {0@} waits)")                                             \
	S(WAITING_TIME, "{0t} waiting ")                                                                        \
	S(OFF_PROCESSOR, "{0t} off-CPU ")                                                                       \
	S(CHOSEN_FOR_ONE,                                                                                       \
	  "{0l} has little code of its own: measured with {1l} (--module chooses otherwise).")                  \
	S(CHOSEN_FOR_MORE,                                                                                      \
	  "{0l} have little code of their own: measured with {1l} (--module chooses otherwise).")               \
	S(SYSTEM_FOLDED, "Code of the system is part of what called it (--all-code shows it).")                 \
	S(MERGED, "Merged from {0n} sessions, which stand one after the other in time.")                        \
	/* How far samples can be trusted. */                                                                   \
	S(NO_SAMPLE, "No sample was taken")                                                                     \
	S(NO_EVENT, "No sample was taken: the program had no {0s}.")                                            \
	S(FEW_SAMPLES, "Only {0c sample}: too few to trust the percentages")                                    \
	S(FEW_EVENTS, "Only {0c sample}, one for each of the program's {0s}: there were no more.")              \
	S(MORE_OF_THEM, "; run longer or with a lower --period.")                                               \
	S(RUN_LONGER, "; run longer.")                                                                          \
	S(RUN_LONGER_OR_FASTER, "; run longer or with a higher -F.")                                            \
	S(IN_PROCESS, "Sampled in-process, at the kernel's ticks: {0s}")                                        \
	S(PROCFS, "Waits alone, read from /proc: {0s}")                                                         \
	F(THREADS_UNSAMPLED, "threads_unsampled",                                                               \
	  "{0c thread} not sampled: they began in a way that gives no timer.")                                  \
	F(CHILDREN_UNSAMPLED, "children_unsampled",                                                             \
	  "{0c child program} not sampled: static, of another C library, or with other rights.")                \
	F(ALONE_SIGNAL, "left_alone_signal",                                                                    \
	  "{0c program} left alone: it uses the sampler's signal itself.")                                      \
	F(ALONE_FILTER, "left_alone_filter",                                                                    \
	  "{0c program} left alone: it forbade itself system calls.")                                           \
	F(ALONE_TRACED, "left_alone_traced", "{0c program} left alone: it asked to be traced.")                 \
	F(ALONE_TIMER, "left_alone_timer",                                                                      \
	  "{0c program} not sampled: the kernel refused its timer.")                                            \
	F(WAITS_CUT, "waits_stacks_cut", "{0c stack of a wait} cut: outer callers are missing.")                \
	F(WAITS_UNREAD, "waits_python_unread",                                                                  \
	  "{0c stack of a wait} without some of its Python functions, which could not be read just then.")      \
	F(WAITS_PHP_UNREAD, "waits_php_unread",                                                                 \
	  "{0c stack of a wait} without some of its PHP functions, which could not be read just then.")         \
	F(WAITS_RUBY_UNREAD, "waits_ruby_unread",                                                               \
	  "{0c stack of a wait} without some of its Ruby functions, which could not be read just then.")        \
	S(WAITS_WITHOUT_STACKS,                                                                                 \
	  "Waits have no stacks: we may not read the processes' memory (another user's, or "                    \
	  "kernel.yama.ptrace_scope).")                                                                         \
	S(SHORT_PROCESSES,                                                                                      \
	  "Processes of less than {0t} of CPU time are mostly missing; a higher -F shows them.")                \
	S(BETWEEN_TICKS,                                                                                        \
	  "The kernel's ticks found the program for {0%} of its CPU time: it gave way to others between them.") \
	F(SAMPLES_LOST, "samples_lost",                                                                         \
	  "{0c sample} lost (buffers were full): shares may lean towards quiet times.")                         \
	F(RECORDS_LOST, "records_lost",                                                                         \
	  "{0c event record} lost: some processes, threads, modules or waits may be missing.")                  \
	F(THROTTLED, "throttled",                                                                               \
	  "{0c time} slowed down by the kernel: fewer samples there; a lower -F avoids it.")                    \
	S(STACKS_CUT,                                                                                           \
	  "{0c stack} cut: outer callers are missing, the functions themselves are right.")                     \
	S(NAMELESS,                                                                                             \
	  "{0c sample} in JIT code, without names: man dwell-sample tells how to have them.")                   \
	F(DISCARDED_32BIT, "samples_discarded_32bit",                                                           \
	  "{0c sample} discarded: of 32-bit code, which is not unwound.")                                       \
	F(PYTHON_UNKNOWN, "python_unknown",                                                                     \
	  "{0c interpreter} of Python without functions: those of 3.9 to 3.13 are known.")                      \
	F(PHP_UNKNOWN, "php_unknown",                                                                           \
	  "{0c interpreter} of PHP without functions: those of 7.4 to 8.4 without threads (NTS) are known.")    \
	F(RUBY_UNKNOWN, "ruby_unknown",                                                                         \
	  "{0c interpreter} of Ruby without functions: those of 3.0 to 3.4 are known.")                         \
	F(PYTHON_UNREAD, "python_unread",                                                                       \
	  "{0c sample} without some of its Python functions, which could not be read just then.")               \
	F(PHP_UNREAD, "php_unread",                                                                             \
	  "{0c sample} without some of its PHP functions, which could not be read just then.")                  \
	F(RUBY_UNREAD, "ruby_unread",                                                                           \
	  "{0c sample} without some of its Ruby functions, which could not be read just then.")                 \
	S(DISCARDED, "{0c sample} discarded: the program was not running then.")                                \
	/* The hot path, and functions. */                                                                      \
	S(PATH, "Hot path: shares with callees (… callers left out)")                                           \
	S(PATH_OF_CALLS, "Hot path: with callees, and own (… callers left out)")                                \
	S(PATH_OF_OBJECTS, "Hot path: bytes with callees, and own (… callers left out)")                        \
	S(COUNTED, "Functions by samples of their own")                                                         \
	S(WORKING, "Functions by time of their own")                                                            \
	S(WORKING_OR_WAITING, "Functions by time of their own (█ processor, ░ waits)")                          \
	S(WAITING, "Functions by waits of their own")                                                           \
	S(CALLED, "Functions by time of their own (█ program, ▒ system, ░ waits)")                              \
	S(PROCESSES, "{0c process}")                                                                            \
	/* Where a function begins. */                                                                          \
	S(AT_LINE, "{0s}:{1d}")                                                                                 \
	S(AND_PROCESSES, ", {0c process}")                                                                      \
	S(TIMES_CALLED, "{0c call}")                                                                            \
	S(IN_PROCESSES, " in {0c process}")                                                                     \
	S(MEASURED, ", {0c measured one}")                                                                      \
	S(TAKING, ", {0t}")                                                                                     \
	S(TAKING_UP_TO, ", {0t} to {1t}")                                                                       \
	S(AT_MOST_EACH, ", at most {0t} each")                                                                  \
	S(EACH, " each")                                                                                        \
	/* Whose the time of all threads was. */                                                                \
	S(TIME, "Where the time went: 100 % is {0t}")                                                           \
	S(TIME_OF_THREADS, " of all threads")                                                                   \
	S(ON_PROCESSOR, "{0t} on the processor")                                                                \
	S(OF_IT_IN_KERNEL, ", ~{0t} of it in the kernel")                                                       \
	S(NO_PROCESSOR, "No processor was free for {0t}, which made all of it take longer.")                    \
	S(NO_PROCESSOR_IN_CALLS,                                                                                \
	  "No processor was free for {0t}, and for part of the off-CPU times.")                                 \
	S(IN_PROGRAM, "{0t} in the program")                                                                    \
	S(IN_PROGRAM_AT_MOST, "{0t} in the program, at most")                                                   \
	S(SWITCHES, "Off the processor: {0c switch}.")                                                          \
	S(BLOCKING_CALLS, "Off the processor: {0c blocking call}.")                                             \
	S(SWITCHES_AND_CALLS, "Off the processor: {0c switch}, {1c blocking call}.")                            \
	S(IN_SYSTEM_CALLS, "{0t} in system calls")                                                              \
	S(IO_CALLS, ": {0c I/O call}")                                                                          \
	S(AROUND_SWITCHES, "{0t} around switches")                                                              \
	S(BESIDES_WAITS, "Not counted: waiting ")                                                               \
	S(OF_TIME, "{0t} ")                                                                                     \
	S(BESIDES_PROBES, "Not counted: {0t} in probes")                                                        \
	S(AND_PROBES, "; {0t} in probes")                                                                       \
	/* Of all files. */                                                                                     \
	S(READ_AND_WRITTEN, "Files: {0b} read in {1c call}, {2b} written in {3c call}")                         \
	S(OF_FILES, ", of {0c file}")                                                                           \
	S(SEE_FILES, " (view file-io)")                                                                         \
	/* Single calls that took long, by the largest part of their time. */                                   \
	S(SLOWEST, "Their slowest calls")                                                                       \
	S(SLOWEST_WORK, "Slowest pieces of work")                                                               \
	S(SLOW_OWN, "at {1t}: its own work took {2t}")                                                          \
	S(SLOW_CALLEES, "at {1t}: callees worked {2t}")                                                         \
	S(SLOW_IO, "at {1t}: I/O took {2t}")                                                                    \
	S(SLOW_BLOCKING, "at {1t}: blocked {2t}")                                                               \
	S(SLOW_SWITCHED, "at {1t}: switched away {2t}")                                                         \
	S(SLOW_CALLEE_BLOCKED, "at {1t}: {0f} blocked {2t}")                                                    \
	S(SLOW_CALLEE_TOOK, "at {1t}: {0f} took {2t}")                                                          \
	/* How far times of calls can be trusted. */                                                            \
	S(NO_CALL, "No call was seen.")                                                                         \
	S(NO_PROBES,                                                                                            \
	  "No function had probes: see what --include, --exclude and --module choose by --list-functions.")     \
	S(TRUST, "How far to trust this")                                                                       \
	S(RESIDUAL_MOST, "! {0%} of the CPU time is in none of these numbers.")                                 \
	S(SWITCHES_UNSEEN, "OS events: context switches could not be seen")                                     \
	S(SWITCHES_BY, "OS events: context switches by {0s}")                                                   \
	S(UNSEEN_IN_ONE, " but in {0s} ({0d}), whose application times are upper bounds")                       \
	S(UNSEEN_IN_MORE, " but in {0c process}, whose application times are upper bounds")                     \
	S(SYSTEM_CALLS_SEEN, ", system calls by probes in the C library.")                                      \
	S(SYSTEM_CALLS_UNSEEN, "; system calls could not be seen.")                                             \
	S(COSTS_OF_LOOPS,                                                                                       \
	  "Cost of probes: as measured in loops; of large programs too little is taken off.")                   \
	S(COSTS_LEFT,                                                                                           \
	  "Short calls took less than their probes cost: {0t} could not be taken off.")                         \
	S(RESIDUAL, "Not explained: {0t}")                                                                      \
	S(OF_CPU_TIME, ", {1%} of the CPU time")                                                                \
	S(TOO_MUCH, " too much in the rows above.")                                                             \
	S(IN_NO_ROW, " in no row.")                                                                             \
	S(AGENTS_START, "Starting the agents took {0t}, which is in no row.")                                   \
	S(MEMORY_WAITS,                                                                                         \
	  "Where code waits for memory, probes shift shares: some waits get longer, others hide.\n"             \
	  "  dwell sample is the judge there.")                                                                 \
	S(EXTERNAL, "{0%} of the program's time is in {0q}: --module {0q}{1o} shows where.")                    \
	F(FUNCTIONS_SHORT, "functions_short",                                                                   \
	  "{0c short function} without probes: a part of their callers (--all-functions).")                     \
	F(METHODS_SHORT, "methods_short",                                                                       \
	  "{0c small .NET method} without probes: a part of their callers (--all-functions).")                  \
	F(METHODS_ALONE, "methods_left_alone",                                                                  \
	  "{0c .NET method} left alone: in contexts that can be unloaded, or not understood.")                  \
	F(DISABLED, "functions_switched_off",                                                                   \
	  "{0c function} switched off: calls cost more than they measured; their time is their callers'.")      \
	F(ONLY_COUNTED, "calls_only_counted",                                                                   \
	  "{0c call} of what is switched off were counted, without time and caller.")                           \
	F(DISABLED_BEFORE, "functions_switched_off_before",                                                     \
	  "{0c function} of these never measured: an earlier run has found out (--forget).")                    \
	F(DISABLED_IN_PART, "callees_switched_off_in_part",                                                     \
	  "{0c callee} switched off for some callers, likewise.")                                               \
	F(FUNCTIONS_ALONE, "functions_left_alone",                                                              \
	  "{0c function} left alone: clones were not safe (--list-functions).")                                 \
	F(STATEMENTS_ALONE, "statements_left_alone",                                                            \
	  "{0c statement} without a probe: their time is the one's before.")                                    \
	F(MODULES_WITHOUT_LINES, "modules_without_lines",                                                       \
	  "{0c module} had no debug information: no times of lines, only of functions.")                        \
	F(MODULES_WITHOUT_PROBES, "modules_not_instrumented",                                                   \
	  "{0c module} chosen, but not instrumented.")                                                          \
	F(PROCESSES_WITHOUT_PROBES, "processes_not_instrumented",                                               \
	  "{0c process} not instrumented: the time is missing.")                                                \
	F(PROCESSES_LEFT_OUT, "processes_left_out",                                                             \
	  "{0c process} left out: they began when the call trees were too large already.")                      \
	F(DOTNET_RUNTIMES, "runtimes",                                                                          \
	  "{0c .NET runtime} ran without probes in its methods: it had another profiler, or no agent.")         \
	F(JAVA_RUNTIMES, "java_runtimes",                                                                       \
	  "{0c Java runtime} ran, whose methods only dwell sample shows.")                                      \
	F(THREADS_DROPPED, "threads_dropped", "{0c thread} ran unmeasured: the time is missing.")               \
	F(THREADS_FILTERED, "threads_filtered",                                                                 \
	  "{0c thread} of these began under a system-call filter: agents make no calls there.")                 \
	F(CALLS_TRUNCATED, "calls_truncated",                                                                   \
	  "Paths of {0c call} are estimates (--memory was full), all else is exact.")                           \
	F(CALLS_WITHOUT_CALLER, "calls_without_caller",                                                         \
	  "{0c call} of these only counted for their functions: no memory for more callers (--memory).")        \
	F(PATH_SAMPLES, "paths_drawn", "{0c path sample} tell the shares of these paths.")                      \
	F(PATHS_MISSING, "paths_not_drawn",                                                                     \
	  "{0c path sample} told nothing: there was no memory for their paths.")                                \
	F(WITHOUT_EXTREMES, "callees_without_extremes",                                                         \
	  "{0c callee} without shortest, longest and slowest calls in a thread: no memory (--memory).")         \
	F(FILE_IO_LOST, "file_io_calls_lost",                                                                   \
	  "{0c call} that read or wrote without a file: no memory.")                                            \
	F(EVENTS_DROPPED, "events_dropped",                                                                     \
	  "{0c event} of signal handlers dropped: their time is the interrupted function's.")                   \
	F(EVENTS_BLIND, "events_blind",                                                                         \
	  "{0c event} after strict seccomp mode was entered: the time from there on is missing.")               \
	F(CALLS_DROPPED, "calls_dropped", "{0c call} dropped: they are in no row.")                             \
	F(COUNTERS_DROPPED, "counters_dropped",                                                                 \
	  "{0c time} there was no memory for counters of what is switched off: calls are missing.")             \
	F(SITES_WITHOUT_PROBE, "system_calls_without_probe",                                                    \
	  "{0c system call site} without a probe: their time is the program's.")                                \
	F(NODES_DROPPED, "nodes_dropped", "{0c node} dropped that broke the rules of call trees.")              \
	/* Objects, and what became of them. */                                                                 \
	S(ESTIMATES,                                                                                            \
	  "All numbers are estimates from {0c sample}: bytes are right to ± {1%}, with 95 % certainty.")        \
	S(NO_LIFETIME, "What became of them was not recorded.")                                                 \
	S(LIFETIME, "What became of it")                                                                        \
	S(DIED_GEN0, "{0b} died young, in generation 0: {1c object}")                                           \
	S(DIED_GEN1, "{0b} died in generation 1: {1c object}")                                                  \
	S(DIED_GEN2, "{0b} died old, in generation 2: {1c object}")                                             \
	S(DIED_LARGE, "{0b} died in the large object heap: {1c object}")                                        \
	S(DIED_PINNED, "{0b} died in the pinned object heap: {1c object}")                                      \
	S(ALIVE, "{0b} still alive at the end: {1c object}")                                                    \
	S(ALIVE_COLLECTED, "{0b} still alive after a last collection: {1c object}")                             \
	S(COLLECTIONS,                                                                                          \
	  "{0c collection} ({1d} of generation 0, {2d} of 1, {3d} of 2) stopped the program for {4t}")          \
	S(OF_THE_RUN, ", {1%} of the run.")                                                                     \
	S(FULL_STOP, ".")                                                                                       \
	S(LONGEST_PAUSE, "The longest took {0t}: number {1d}, generation {2d}")                                 \
	S(REASON, " ({0s}).")                                                                                   \
	S(PAUSES_ADDED,                                                                                         \
	  "Pauses were longer by {0t} in all, not counted here, because dwell was told of each.")               \
	S(NO_ALLOCATION, "No allocation was seen.")                                                             \
	S(NO_DOTNET,                                                                                            \
	  "No .NET code ran that dwell knows of, and it counts the objects of .NET alone:\n"                    \
	  "  dwell sample and dwell instrument show where the time of other programs goes.")                    \
	S(ALLOCATING, "Functions allocating most memory themselves")                                            \
	S(TYPES_BY_BYTES, "Types with most memory allocated")                                                   \
	S(TYPES_BY_OBJECTS, "Types with most instances")                                                        \
	S(TYPES_BY_OLD, "What dies old: types collected in generation 2")                                       \
	S(BYTES_OF_OBJECTS, "{0b} = {1n} × {2b}")                                                               \
	S(CHANGED, "What measuring changed")                                                                    \
	S(BACKGROUND_OFF,                                                                                       \
	  "Following objects turned background collections off: those of generation 2\n"                        \
	  "  stopped the program instead. --no-lifetime keeps them.")                                           \
	S(ONE_OBJECT_IN,                                                                                        \
	  "Little: one object in {0b} was noted. The runtime itself allocated some\n"                           \
	  "  600 kB more when it started, for telling of them.")                                                \
	S(SLOW_WAY,                                                                                             \
	  "Each allocation took the runtime's slow way and was noted: times of this run\n"                      \
	  "  say little about a plain one.")                                                                    \
	S(NOT_ALL_ANNOUNCED,                                                                                    \
	  "That the runtime announced all objects is not known: boxes of structs and\n"                         \
	  "  some others may be missing.")                                                                      \
	S(RUNTIME_COUNTED, "The runtime itself counted {0b} more, {2%}.")                                       \
	F(OBJECTS_LOST, "objects_lost", "{0c object} not counted: they are in no row.")                         \
	F(WITHOUT_STACK, "objects_without_stack",                                                               \
	  "{0c object} counted without a stack, as [unknown].")                                                 \
	F(FOLDED, "objects_folded", "{0c object} counted without the recursion of their stacks.")               \
	F(BEYOND, "objects_beyond",                                                                             \
	  "{0c object} counted by function, call and line, in no call tree: no memory was left for it.")        \
	F(UNTRACKED, "objects_untracked",                                                                       \
	  "{0c object} whose end is not known: they count as alive.")                                           \
	F(NOT_MEASURED, "processes_not_instrumented",                                                           \
	  "{0c process} not measured: its objects are missing.")                                                \
	F(ROWS_DROPPED, "rows_dropped", "{0c row} dropped that made no sense.")                                 \
	S(ALLOCATIONS_CUT,                                                                                      \
	  "{0c allocation} with a stack that was cut: outer callers are missing.")                              \
	/* Debug information, and what to do next. */                                                           \
	S(NAMELESS_CODE, "{0%} is code of {0l} without names")                                                  \
	S(IN_PACKAGES, ": install {0l}.")                                                                       \
	S(IN_NO_PACKAGE, ": no symbols; --debuginfod may have them.")                                           \
	S(NO_SERVERS,                                                                                           \
	  "Debug information that is not here: not asked for, DEBUGINFOD_URLS names no server.")                \
	S(NO_LIBRARY,                                                                                           \
	  "Debug information that is not here: not asked for, libdebuginfod.so.1 is not installed.")            \
	S(FROM_SERVERS,                                                                                         \
	  "Debug information that is not here: {0d} of {1c module} came from debuginfod.")                      \
	F(SERVERS_LATE, "debuginfod_late",                                                                      \
	  "{0c module} not answered in time: try again, or --debuginfod-timeout.")                              \
	F(SERVERS_FAILED, "debuginfod_failed",                                                                  \
	  "{0c module} not answered: no server could be reached.")                                              \
	F(SERVERS_WRONG, "debuginfod_wrong",                                                                    \
	  "{0c module} answered with another build's debug information: not used.")                             \
	S(NEXT, "Next: dwell report {0@} calltree  (or functions")                                              \
	S(NEXT_OF, "Next: dwell report {0@} callers {0q}  (or calltree")                                        \
	S(NEXT_OF_OBJECTS, "Next: dwell report {0@} allocations  (or lifetime, gc, calltree")                   \
	S(OR_DETAILS, "; --details)")                                                                           \
	S(NO_DETAILS, ")")

#define DWELL_SENTENCE_NAME(name, ...) DWELL_SAYS_##name,
enum dw_sentence { DWELL_SENTENCES(DWELL_SENTENCE_NAME, DWELL_SENTENCE_NAME) };

struct dw_note {
	enum dw_note_kind kind;
	enum dw_sentence says;
	uint32_t row;	   /* of the view: PATH, RANKED, SLOWEST */
	uint32_t function; /* WORK: the one called name[1] */
	unsigned shares;   /* PATH: columns of them; RANKED, SHARE: 2 = the second is a part of the
			      first, 3 = and the third of the rest */
	double share[3];   /* percent */
	uint64_t n[5];	   /* for the places; times may be below 0 */
	const char *name[2]; /* likewise */
	bool is_detail;	     /* only told where details are asked for */
};

struct dw_notes {
	const struct dw_view *view;
	const struct dw_profile *profile; /* of the view, as these are */
	const struct dw_totals *totals;
	size_t end[DWELL_SECTIONS_N]; /* of the rows of each section, which begin where the last
					 one's end */
	DW_VEC(struct dw_note) rows;
	struct dw_buf scratch;	 /* of the row at hand */
	struct dw_buf nameless;	 /* names of modules, for a note */
	struct dw_buf busiest;	 /* likewise of a function */
	struct dw_buf only;	 /* what a filter has chosen, likewise */
	struct dw_strings names; /* of programs, likewise */
	bool in_details;	 /* notes added now are details */
	int failed;		 /* -ENOMEM: some are missing */
};

/* The text of @sentence, with its places. Static. */
const char *dw_sentence_text(enum dw_sentence sentence);

/* Make the notes of an opened view that has some (ops->notes). 0 or -ENOMEM, to be released in
 * either case. */
int dw_notes_make(const struct dw_view *v, struct dw_notes *ret);

/* Free everything. */
void dw_notes_release(struct dw_notes *t);

/* For those who make notes: append one. */
void dw_notes_add(struct dw_notes *t, struct dw_note note);

/* Append one of @kind_ that says @says_, by its name or as an expression, with further fields of
 * struct dw_note. */
#define dw_note_by(t, kind_, says_, ...) \
	dw_notes_add(t, (struct dw_note){.kind = DWELL_NOTE_##kind_, .says = (says_), __VA_ARGS__})
#define dw_note(t, kind_, says_, ...) dw_note_by(t, kind_, DWELL_SAYS_##says_, __VA_ARGS__)

/* Append what facts that are above 0 say, by the sentences from @first to @last. */
void dw_notes_facts(struct dw_notes *t, enum dw_sentence first, enum dw_sentence last);

/* The integer under @key, @otherwise when the session does not say. */
int64_t dw_notes_fact(const struct dw_notes *t, const char *key, int64_t otherwise);

/* The text under @key, NULL when the session does not say. */
const char *dw_notes_word(const struct dw_notes *t, const char *key);

/* Behind the first @most rows of @section. */
static inline size_t dw_notes_end(const struct dw_notes *t, enum dw_section section, size_t most)
{
	size_t begin = t->end[section - 1], end = t->end[section];

	return end - begin > most ? begin + most : end;
}

/* Append what was read and written, if anything was. */
void dw_notes_files(struct dw_notes *t);

/* Row @i of the view, until the next one. */
struct dw_row dw_notes_row(struct dw_notes *t, size_t i);

/* @n of @all in percent. */
static inline double dw_share(uint64_t n, uint64_t all)
{
	return all ? 100.0 * (double)n / (double)all : 0;
}

/* Whether a filter leaves something out. */
bool dw_notes_is_part(const struct dw_notes *t);

/* What it has chosen. Nothing without one. */
void dw_notes_filter(struct dw_notes *t);

/* How many threads and processes there are, or have anything that was chosen. */
void dw_notes_count_tasks(const struct dw_notes *t, uint64_t *ret_threads, uint64_t *ret_processes);

/* Begin the line that says how much there is, with the duration unless a range was chosen. */
void dw_notes_begin_size(struct dw_notes *t);

/* End it, with threads and processes. */
void dw_notes_end_size(struct dw_notes *t);

/* The hot path. */
void dw_notes_path(struct dw_notes *t);

/* How much each program did, where there are several. */
void dw_notes_programs(struct dw_notes *t);

/* Where the time of calls went, and what of it is in no other number. */
void dw_notes_time_of_calls(struct dw_notes *t);

/* Likewise of samples and waits. */
void dw_notes_time_of_samples(struct dw_notes *t);

/* What is said of samples and waits. */
void dw_notes_samples(struct dw_notes *t);

/* What is said of calls. */
void dw_notes_calls(struct dw_notes *t);

/* What is said of allocations. */
void dw_notes_memory(struct dw_notes *t);
