/*
 * How many system-call filters this task runs under: the kernel tells in its status.
 */
#include "agent/core/agent-internal.h"
#include "agent/core/syscall-x86-64.h"

/* The system-call filters of this task by the text of its /proc status. */
static uint64_t count_filters(const char *status)
{
	const char *mode = NULL, *count = NULL;

	while (*status) {
		mode = mode ? mode : dw_text_after(status, "Seccomp:\t");
		count = count ? count : dw_text_after(status, "Seccomp_filters:\t");
		status = dw_text_find(status, '\n');
		status += *status == '\n';
	}
	/* Before Linux 5.9 only their presence is told. */
	return count ? dw_text_number(count) : mode ? dw_text_number(mode) != 0 : UINT64_MAX;
}

bool dw_filters_fit(uint64_t filters)
{
	char status[4096];
	size_t n = 0;
	long more = 1;
	int fd = dw_sys_open("/proc/self/status", O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return false;
	while (more > 0 && n < sizeof(status) - 1) {
		more = dw_sys_read(fd, status + n, sizeof(status) - 1 - n);
		n += more > 0 ? (size_t)more : 0;
	}
	status[n] = '\0';
	dw_sys_close(fd);
	return count_filters(status) <= filters;
}
