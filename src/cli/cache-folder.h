/*
 * Where dwell keeps what it can make again: $XDG_CACHE_HOME/dwell, else ~/.cache/dwell.
 */
#pragma once

/*
 * The folder's path, made with mode 0700 when absent. The caller frees it. NULL: there is no place,
 * or no memory, which is no error: everything works without a cache.
 */
char *dw_cache_folder(void);
