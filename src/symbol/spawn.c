/*
 * Starting helpers; see spawn.h. posix_spawn() shares the memory until the child has executed, so
 * it costs the same whatever the parent has. The input is a file in memory: the child may begin
 * to read when all of it is there.
 */
#include "symbol/spawn.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <linux/close_range.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>

enum { WORDS = 5 }; /* of the command: program, word, kind, two descriptors */

static const char word[] = "--helper";

static int write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno != EINTR)
			return -errno;
		if (done > 0) {
			p += done;
			n -= (size_t)done;
		}
	}
	return 0;
}

/* A file in memory with the contents @input, or a negative code. */
static int make_input(const struct dw_buf *input)
{
	dw_auto_close int fd = memfd_create("dwell-helper", MFD_CLOEXEC);
	int rc = fd < 0 ? -errno : write_all(fd, input->data, input->len);

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
		[DWELL_SPAWN_EARLY] = dw_early_live,
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
