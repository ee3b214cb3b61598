/*
 * Files that nobody else can change: what is kept about them stays true, and may be used again.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

/*
 * Whether nobody but us and root can change the file with *@st. Its group may, if that is the
 * user's own, of the same name and without other members: distributions whose users have such
 * groups let them write by default (adduser(8), USERGROUPS; pam_umask(8)). [any-thread]
 */
bool dw_file_is_trusted(const struct stat *st);
