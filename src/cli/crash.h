/*
 * What a command that records says when it goes wrong itself, so that its end is not taken for the
 * target's.
 */
#pragma once

/*
 * From now on this process ends with DWELL_EXIT_FAILED and one line on stderr where SIGSEGV,
 * SIGBUS, SIGILL, SIGFPE or SIGABRT would have ended it; a core file is made as without that. The
 * line names what is in @session.partial by then; NULL = nothing is written. A target goes on, and
 * processes that are forked end by these signals as usual. Signals that are handled or ignored
 * already stay so. [main-thread]
 */
void dw_crash_report(const char *session);
