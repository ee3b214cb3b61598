/*
 * The modules of the process: which there are, which run from clones.
 *
 * All loaded at the start are told to the collector at once, later ones when dlopen() has brought
 * them. Only modules of the program's own namespace: another one has its own copy of the unwinder,
 * which does not see clones.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Clone what the collector has an image for, of all modules. Before any of them runs. */
void dw_modules_start(void);

/* Remember what is loaded, before the loader is asked for more. */
void dw_modules_remember(void);

/* Clone what has been loaded since dw_modules_remember(). @started_no_thread: it has started no
 * thread. */
void dw_modules_opened(bool started_no_thread);

/* Close the areas of modules that are gone. */
void dw_modules_closed(void);
