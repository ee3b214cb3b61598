/*
 * Confinement of helpers; see confine.h. Order matters: descriptors while our own /proc is there,
 * then the root (it needs privilege), then groups, gid, uid, and the filter last. A changed uid
 * makes the process undumpable, so that the target's owner cannot attach to it. Limits and filter
 * stay off in sanitizer builds, which reserve terabytes of address space. capabilities(7),
 * seccomp(2).
 */
#include "symbol/confine.h"

#include "symbol/spawn.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define DWELL_SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define DWELL_SANITIZED 1
#endif
#ifndef DWELL_SANITIZED
#define DWELL_SANITIZED 0
#endif

#define ADDRESS_SPACE_BYTES ((rlim_t)32 << 30) /* debug files are mapped whole */
#define DATA_BYTES	    ((rlim_t)4 << 30)

static int compare_fds(const void *pa, const void *pb)
{
	return *(const int *)pa - *(const int *)pb;
}

/* Close every descriptor but those of @keep and @root. */
static int close_others(const int *keep, size_t n, int root)
{
	int *sorted = calloc(n + 1, sizeof *sorted);
	unsigned next = 0;
	int rc = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		sorted[i] = keep[i];
	if (root >= 0)
		sorted[n++] = root;
	qsort(sorted, n, sizeof *sorted, compare_fds);
	for (size_t i = 0; i < n && !rc; i++) {
		unsigned fd = (unsigned)sorted[i];

		if (fd > next)
			rc = dw_spawn_close(next, fd - 1);
		if (fd >= next)
			next = fd + 1;
	}
	if (!rc)
		rc = dw_spawn_close(next, ~0u);
	free(sorted);
	return rc;
}

static bool is_own_root(int fd)
{
	struct stat a, b;

	return fd < 0 ||
	       (!fstat(fd, &a) && !stat("/", &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

/* Go into the target's root. Another mount namespace may have a root that looks like ours, so a
 * privileged caller always goes. */
static bool take_root(int fd)
{
	if (fd >= 0 && !fchdir(fd) && !chroot("."))
		return true;
	return is_own_root(fd);
}

static bool take_credentials(const struct dw_module_source *s)
{
	if (s->uid == geteuid() && s->gid == getegid() && s->uid == getuid())
		return true;
	return !setgroups(s->groups_n, s->groups) && !setresgid(s->gid, s->gid, s->gid) &&
	       !setresuid(s->uid, s->uid, s->uid);
}

static void set_limit(int what, rlim_t limit)
{
	struct rlimit now;

	if (getrlimit(what, &now))
		return;
	if (limit > now.rlim_max)
		limit = now.rlim_max;
	(void)setrlimit(what, &(struct rlimit){limit, limit});
}

static void set_limits(const struct dw_confinement *c)
{
	set_limit(RLIMIT_CORE, 0);
	set_limit(RLIMIT_FSIZE, c->file_bytes);
	set_limit(RLIMIT_NOFILE, 4096);
	set_limit(RLIMIT_CPU, c->cpu_seconds);
	if (!DWELL_SANITIZED) {
		set_limit(RLIMIT_AS, ADDRESS_SPACE_BYTES);
		set_limit(RLIMIT_DATA, DATA_BYTES);
	}
}

int dw_confine(const struct dw_confinement *c)
{
	bool may_open;
	int rc;

	signal(SIGINT, SIG_IGN); /* the parent decides, and takes us along */
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
	rc = close_others(c->keep, c->keep_n, c->whose->root_fd);
	if (rc)
		return rc;
	may_open = take_root(c->whose->root_fd);
	if (c->whose->root_fd >= 0)
		close(c->whose->root_fd);
	may_open &= take_credentials(c->whose);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	set_limits(c);
	return DWELL_SANITIZED ? 0 : dw_confine_filter(may_open);
}
