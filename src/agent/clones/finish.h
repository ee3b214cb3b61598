/*
 * What becomes of images when the recording is over.
 *
 * Modules run by themselves again, from their files' text. A task that is in a clone goes on there,
 * past probes that are nops, and where it calls a clone that had a probe it comes to the module.
 * Images that lie where they were made for have their files' final code then, which all processes
 * share; of others it is made here.
 * Images that lie side by side become one mapping that a process shares with its children, so that
 * a fork has little to copy.
 */
#pragma once

#include <stdint.h>

/* Do it with all images, once and for good, and let the agent retire if nothing is left that could
 * measure. In the slow path of a process whose code is its own. */
void dw_finish_all(void);

/* Let the trampolines of all images that can be changed run, or send all their probes to the slow
 * path.
 */
void dw_finish_set_alive(uint64_t is_alive);
