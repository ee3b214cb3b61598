/*
 * What signals do to this process, and what they do to programs that it starts.
 *
 * SIGPIPE and SIGXFSZ are ignored: a closed pipe and a limit of file sizes are errors of the write
 * that meets them, and end no process. SIGCHLD is not, whoever started us: else the kernel would
 * keep no status of our children.
 */
#pragma once

/* Set these for the whole process and remember how they were. Call once, before any thread. */
void dw_dispositions_take(void);

/* Give them back as they were: in a forked child that is about to execute a program which is not
 * ours. Does nothing where they were not taken. [signal-safe] */
void dw_dispositions_restore(void);
