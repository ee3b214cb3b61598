/* The recorder's own priority; see priority.h. */
#include "record/priority.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CROWD = 10 }; /* threads for each processor */

enum { HIGHEST = -20, USUAL = 0, LIMIT_BASE = 20 };

/* The highest that getrlimit(2) leaves us: its values are 20 - nice. */
static int allowed(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NICE, &limit) || limit.rlim_cur <= LIMIT_BASE)
		return USUAL;
	return limit.rlim_cur < LIMIT_BASE - HIGHEST ? LIMIT_BASE - (int)limit.rlim_cur : HIGHEST;
}

bool dw_priority_is_needed(void)
{
	dw_auto_close int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	char text[128];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	long ready;

	if (n <= 0)
		return false;
	text[n] = 0;
	return sscanf(text, "%*s %*s %*s %ld/", &ready) == 1 &&
	       ready > CROWD * sysconf(_SC_NPROCESSORS_ONLN);
}

static bool set(int nice)
{
	return !setpriority(PRIO_PROCESS, (id_t)gettid(), nice);
}

bool dw_priority_raise(void)
{
	const struct sched_param param = {0};

	errno = 0;
	if (sched_getscheduler(0) != SCHED_OTHER ||
	    getpriority(PRIO_PROCESS, (id_t)gettid()) != USUAL || errno)
		return false;
	if (sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &param))
		return false;
	return set(HIGHEST) || (allowed() < USUAL && set(allowed()));
}

void dw_priority_restore(void)
{
	const struct sched_param param = {0};

	set(USUAL);
	/* Who had a limit only may not take this back, nor needs to. */
	(void)!sched_setscheduler(0, SCHED_OTHER, &param);
}
