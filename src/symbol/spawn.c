/*
 * Starting and confining helpers; see spawn.h. posix_spawn() shares the memory until the child has
 * executed, so it costs the same whatever the parent has. The input is a file in memory: the child
 * may begin to read when all of it is there.
 *
 * The order of confinement matters: descriptors while our own /proc is there,
 * then the root (it needs privilege), then groups, gid, uid, and the filter last. A changed uid
 * makes the process undumpable, so that the target's owner cannot attach to it. Limits and filter
 * stay off in sanitizer builds, which reserve terabytes of address space. capabilities(7),
 * seccomp(2).
 */
#include "symbol/spawn.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <linux/close_range.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORDS = 5 }; /* of the command: program, word, kind, two descriptors */

static const char word[] = "--helper";

int dw_write_all(int fd, const void *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno != EINTR)
			return -errno;
		if (done > 0) {
			p = (const char *)p + done;
			n -= (size_t)done;
		}
	}
	return 0;
}

/* A file in memory with the contents @input, or a negative code. */
static int make_input(const struct dw_buf *input)
{
	dw_auto_close int fd = memfd_create("dwell-helper", MFD_CLOEXEC);
	int rc = fd < 0 ? -errno : dw_write_all(fd, input->data, input->len);

	return rc ? rc : dw_take_fd(fd);
}

/* Let @fd be open in the child: a descriptor duplicated to itself is inherited. */
static int keep_open(posix_spawn_file_actions_t *actions, int fd)
{
	return -posix_spawn_file_actions_adddup2(actions, fd, fd);
}

int dw_spawn(enum dw_spawn_kind kind, int fd, const struct dw_buf *input, const int *keep,
	     size_t keep_n, pid_t *ret)
{
	dw_auto_close int in = make_input(input);
	char numbers[3][16];
	char *const argv[WORDS + 1] = {(char[]){"dwell"}, (char *)word, numbers[0], numbers[1],
				       numbers[2]};
	posix_spawn_file_actions_t actions;
	int rc = in < 0 ? in : -posix_spawn_file_actions_init(&actions);

	if (rc)
		return rc;
	snprintf(numbers[0], sizeof numbers[0], "%d", kind);
	snprintf(numbers[1], sizeof numbers[1], "%d", fd);
	snprintf(numbers[2], sizeof numbers[2], "%d", in);
	rc = keep_open(&actions, fd);
	if (!rc)
		rc = keep_open(&actions, in);
	for (size_t i = 0; i < keep_n && !rc; i++)
		rc = keep_open(&actions, keep[i]);
	if (!rc)
		rc = -posix_spawn(ret, "/proc/self/exe", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

/* Close those of this process's descriptors that its folder lists, where the kernel knows no
 * close_range(), or a filter does not allow it. */
static int close_listed(unsigned first, unsigned last)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *e;

	if (!dir)
		return -errno;
	while ((e = readdir(dir))) {
		unsigned long fd = strtoul(e->d_name, NULL, 10);

		if (e->d_name[0] != '.' && fd >= first && fd <= last && (int)fd != dirfd(dir))
			close((int)fd);
	}
	closedir(dir);
	return 0;
}

int dw_spawn_close(unsigned first, unsigned last)
{
	return close_range(first, last, 0) ? close_listed(first, last) : 0;
}

/* Map what the file @fd holds. False: it cannot be had. */
static bool read_input(int fd, struct dw_spawned *s)
{
	struct stat st;
	void *p;

	if (fstat(fd, &st) || !st.st_size)
		return false;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	s->input = p;
	s->input_n = (size_t)st.st_size;
	return p != MAP_FAILED;
}

__attribute__((constructor)) static void become_helper(int argc, char **argv)
{
	static void (*const lives[])(const struct dw_spawned *) = {
		[DWELL_SPAWN_SYMBOLS] = dw_helper_live,
		[DWELL_SPAWN_PREFETCH] = dw_prefetch_live,
		[DWELL_SPAWN_DEBUGINFOD] = dw_debuginfod_live,
	};
	struct dw_spawned s;
	unsigned long kind;

	if (argc != WORDS || strcmp(argv[1], word) != 0)
		return;
	kind = strtoul(argv[2], NULL, 10);
	s.fd = atoi(argv[3]);
	prctl(PR_SET_NAME, "dwell");
	if (kind < sizeof lives / sizeof *lives && read_input(atoi(argv[4]), &s))
		lives[kind](&s);
	_exit(1);
}

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
