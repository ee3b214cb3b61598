/*
 * What a process is called: programs of .NET are all run by one that is called "dotnet", and only
 * their command line says which they are. One thread.
 */
#pragma once

#include "base/buf.h"

#include <sys/types.h>

enum { DWELL_TITLE_BYTES = 160 };

/*
 * Append to @ret the name of process @pid, whose main thread is called @name: that, and for
 * "dotnet" the rest of its command line, without the folders of assemblies and cut behind
 * DWELL_TITLE_BYTES. What cannot be read is left out. 0 or -ENOMEM.
 */
int dw_process_title(pid_t pid, const char *name, struct dw_buf *ret);
