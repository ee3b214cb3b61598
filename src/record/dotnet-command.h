/*
 * Whether a command line starts a .NET program, as far as can be seen before it runs.
 */
#pragma once

#include <stdbool.h>

/*
 * Whether @argv names dotnet in any of its words ("sh -c 'dotnet ...'" too), or a .NET program by
 * its file or by the text of a script. False for builds that start one: that is not seen.
 */
bool dw_is_dotnet_command(char *const *argv);

/* Whether the program behind @fd has a .NET runtime in itself, which compiles methods while they
 * run. */
bool dw_has_dotnet_runtime(int fd);
