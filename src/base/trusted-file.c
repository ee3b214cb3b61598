/* Files that nobody else can change; see trusted-file.h. */
#include "base/trusted-file.h"

#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES = 4096 }; /* of a group with few members */

/* Whether the group @gid has nobody in it but its user, who is us. */
static bool is_own_group(gid_t gid)
{
	char user_text[TEXT_BYTES], group_text[TEXT_BYTES];
	struct passwd user, *u = NULL;
	struct group group, *g = NULL;

	if (gid != getegid() || getpwuid_r(geteuid(), &user, user_text, sizeof user_text, &u) ||
	    getgrgid_r(gid, &group, group_text, sizeof group_text, &g) || !u || !g ||
	    strcmp(u->pw_name, g->gr_name) != 0)
		return false;
	for (char **member = g->gr_mem; *member; member++)
		if (strcmp(*member, u->pw_name) != 0)
			return false;
	return true;
}

bool dw_file_is_trusted(const struct stat *st)
{
	if ((st->st_uid && st->st_uid != geteuid()) || st->st_mode & S_IWOTH)
		return false;
	return !(st->st_mode & S_IWGRP) || is_own_group(st->st_gid);
}
