/*
 * What both ways of telling waits share. A part of waits.h for its own folder.
 */
#pragma once

#include "collect/waits/waits.h"

/* The waiter of the thread with the index @i in the track, made anew when the number has passed to
 * another thread. NULL without memory. */
struct dw_waiter *dw_waits_waiter(struct dw_waits_watch *w, size_t i);

/* Read the stack of @th, now. 0 and v->stack; DWELL_ERR_NOT_FOUND when it does not wait; -EAGAIN
 * when it went on meanwhile; -ENOMEM. @since: its times before, if they are known. Where we may not
 * look, the stack is the empty one. */
int dw_waits_see(struct dw_waits_watch *w, struct dw_tracked_thread *th, struct dw_waiter *v,
		 const struct dw_task_times *since);

/* Tell that @v waited on its stack from @begin_ns to @end_ns, @ns of it. 0 or -ENOMEM. */
int dw_waits_tell(struct dw_waits_watch *w, struct dw_waiter *v, uint64_t begin_ns, uint64_t end_ns,
		  uint64_t ns);

/* Tell of a wait that goes on at @now_ns as much as is due: of long ones seldom. 0 or -ENOMEM. */
int dw_waits_tell_piece(struct dw_waits_watch *w, struct dw_waiter *v, uint64_t now_ns);

/* Look at @th, whose switches are told: whether a stack was read, or a negative code. @look_ns: the
 * time since the look before. */
int dw_waits_look_records(struct dw_waits_watch *w, struct dw_tracked_thread *th,
			  struct dw_waiter *v, uint64_t look_ns);

/* The same by its times. */
int dw_waits_look_times(struct dw_waits_watch *w, struct dw_tracked_thread *th, struct dw_waiter *v,
			uint64_t now_ns);

/* What is still open of @v ends at @now_ns. 0 or -ENOMEM. */
int dw_waits_close_records(struct dw_waits_watch *w, struct dw_waiter *v, uint64_t now_ns);

/* The same by its times. */
int dw_waits_close_times(struct dw_waits_watch *w, struct dw_waiter *v, uint64_t now_ns);
