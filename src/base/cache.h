/*
 * Folders of files that can be made anew: tables and images that cost time to make.
 *
 * A file counts only if it belongs to the effective user, in a folder of that user, neither
 * writable by others. Names are 32 hexadecimal digits and a suffix. Atomic against other processes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/uio.h>

enum { DWELL_CACHE_NAME = 48 };

/* Open the file @name of @dir to read, when it counts. *@bytes = its size. -1 = none. */
int dw_cache_open(const char *dir, const char *name, size_t *bytes);

/* Note that the file @fd is used: mounts do not do so by themselves. */
void dw_cache_note_use(int fd);

/*
 * Put a file of @n @parts, which are used up, into @dir, which is made when it is not there, with
 * the folders above it. Atomic. 0; -errno; DWELL_ERR_REFUSED (the folder is not ours alone).
 */
int dw_cache_store(const char *dir, const char *name, struct iovec *parts, int n);

/*
 * Remove files whose names end in @suffix from @dir, the longest unused first, until what is left
 * takes no more than @max_bytes. Only plain files of ours count, and only if the folder is ours.
 */
void dw_cache_prune(const char *dir, const char *suffix, uint64_t max_bytes);

/*
 * Whether nobody but us and root can change the file with *@st. Its group may, if that is the
 * user's own, of the same name and without other members: distributions whose users have such
 * groups let them write by default (adduser(8), USERGROUPS; pam_umask(8)). [any-thread]
 */
bool dw_file_is_trusted(const struct stat *st);
