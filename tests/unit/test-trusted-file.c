/* Files that nobody else can change. */
#include "base/cache.h"
#include "check.h"

#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

static struct stat file_of(uid_t uid, gid_t gid, mode_t mode)
{
	return (struct stat){.st_uid = uid, .st_gid = gid, .st_mode = S_IFREG | mode};
}

/* Whether our group has our name, and no members. */
static bool has_own_group(void)
{
	struct passwd *user = getpwuid(geteuid());
	struct group *group = user ? getgrgid(getegid()) : NULL;

	return group && !strcmp(group->gr_name, user->pw_name) && !*group->gr_mem;
}

TEST(owners_and_others)
{
	struct stat mine = file_of(geteuid(), getegid(), 0755), roots = file_of(0, 0, 0755),
		    others = file_of(geteuid() + 1, getegid(), 0755),
		    anybodys = file_of(geteuid(), getegid(), 0757);

	CHECK(dw_file_is_trusted(&mine));
	CHECK(dw_file_is_trusted(&roots));
	CHECK(!dw_file_is_trusted(&others));
	CHECK(!dw_file_is_trusted(&anybodys));
}

TEST(groups)
{
	struct stat own = file_of(geteuid(), getegid(), 0775),
		    foreign = file_of(geteuid(), getegid() + 1, 0775),
		    readers = file_of(geteuid(), getegid() + 1, 0755);

	CHECK_INT(dw_file_is_trusted(&own), has_own_group());
	CHECK(!dw_file_is_trusted(&foreign));
	CHECK(dw_file_is_trusted(&readers));
}

TEST_MAIN()
