/*
 * Explaining refusals; see refusal.h.
 *
 * perf_event_open() says EACCES or EPERM both for the sysctl and for a seccomp filter (containers);
 * the level tells them apart, because we ask for nothing that level 2 forbids. Debian and Ubuntu
 * know levels 3 and 4, which forbid everything to ordinary users.
 */
#include "collect/perf/refusal.h"

#include "target/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEVEL_ENOUGH = 2 };

/* kernel.perf_event_paranoid, or -1 when it cannot be read. */
static int paranoid_level(void)
{
	char text[16] = "";
	int fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	return n > 0 ? atoi(text) : -1;
}

/* The path of this program, for the command to type. */
static const char *own_path(char *buf, size_t n)
{
	ssize_t got = readlink("/proc/self/exe", buf, n - 1);

	if (got <= 0)
		return "dwell";
	buf[got] = 0;
	return buf;
}

int dw_perf_refusal(int code, struct dw_error *err)
{
	int level = paranoid_level();
	char path[4096];

	if (code == -ENOSYS || code == -ENOENT || code == -EOPNOTSUPP)
		return dw_error_set(err, DWELL_ERR_REFUSED,
				    "this kernel cannot sample (perf_event_open: %s), one built "
				    "with CONFIG_PERF_EVENTS can",
				    strerror(-code));
	if (code != -EACCES && code != -EPERM)
		return dw_error_set_errno(err, -code, "cannot open a perf event");
	if (level > LEVEL_ENOUGH)
		return dw_error_set(err, DWELL_ERR_REFUSED,
				    "the kernel refuses perf to ordinary users "
				    "(kernel.perf_event_paranoid is %d), this opens it: "
				    "sudo sysctl kernel.perf_event_paranoid=2  or: sudo setcap "
				    "cap_perfmon+ep %s",
				    level, own_path(path, sizeof path));
	return dw_error_set(err, DWELL_ERR_REFUSED,
			    "perf_event_open is blocked here though kernel.perf_event_paranoid is "
			    "%d: by seccomp, most likely a container, which opens with: docker run "
			    "--cap-add PERFMON --security-opt seccomp=unconfined",
			    level);
}

int dw_perf_scope_refusal(int code, int level, const char *what, struct dw_error *err)
{
	char path[4096];

	if (paranoid_level() <= level)
		return dw_perf_refusal(code, err);
	return dw_error_set(
		err, DWELL_ERR_REFUSED,
		"%s is for root here (kernel.perf_event_paranoid is %d), this opens it: "
		"sudo sysctl kernel.perf_event_paranoid=%d  or: sudo setcap "
		"cap_perfmon+ep %s",
		what, paranoid_level(), level, own_path(path, sizeof path));
}

int dw_perf_attach_refusal(int code, pid_t pid, struct dw_error *err)
{
	struct dw_rights theirs = {0};
	int rc = code == -EACCES ? dw_rights_read(pid, &theirs) : -1;
	uid_t uid = theirs.uid;

	dw_rights_release(&theirs);
	if (rc)
		return dw_perf_refusal(code, err);
	if (uid != geteuid())
		return dw_error_set(err, DWELL_ERR_REFUSED,
				    "process %d belongs to user %u: only that user, or root, may "
				    "profile it",
				    (int)pid, (unsigned)uid);
	return dw_error_set(err, DWELL_ERR_REFUSED,
			    "process %d lets nobody but root look into it (it has more rights than "
			    "its user, or has said so itself)",
			    (int)pid);
}

int dw_perf_ring_refusal(int code, struct dw_error *err)
{
	if (code != -EPERM)
		return dw_error_set_errno(err, -code, "cannot map a perf ring");
	return dw_error_set(err, DWELL_ERR_REFUSED,
			    "no locked memory is left for perf rings, this gives more: sudo sysctl "
			    "kernel.perf_event_mlock_kb=2048");
}
