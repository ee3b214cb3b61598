/*
 * The page; see alive.h.
 *
 * The kernel finds a task's robust futexes by a list, in which each lies at the same distance from
 * its entry. The entry must not be in the page, which others map: it stands in one of our own,
 * directly before. The C library has a list of its own for each thread, for robust mutexes, of
 * which we have none; ours takes its place.
 */
#include "collect/region/alive.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, LABEL_BYTES = 128 };

/* Two pages. */
struct dw_alive {
	struct robust_list entry;
	_Alignas(PAGE) struct dw_region_alive told;
};

static struct robust_list_head list = {.list = {&list.list},
				       .futex_offset = offsetof(struct dw_alive, told.owner)};

/* A file of one page, whatever the mask says. */
static int make_file(int folder)
{
	int fd = openat(folder, DWELL_REGION_ALIVE, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	int code;

	if (fd >= 0 && !fchmod(fd, 0644) && !(errno = posix_fallocate(fd, 0, PAGE)))
		return fd;
	code = errno;
	if (fd >= 0)
		close(fd);
	return -code;
}

/* Whether a security module may decide for each file by its label: SELinux's have colons. */
static bool has_labels(void)
{
	dw_auto_close int fd = open("/proc/self/attr/current", O_RDONLY | O_CLOEXEC);
	char label[LABEL_BYTES];
	ssize_t n = fd < 0 ? -1 : read(fd, label, sizeof label);

	/* Without any module the kernel says EINVAL, and where there is no /proc nobody tells. */
	return n < 0 ? fd < 0 || errno != EINVAL : memchr(label, ':', (size_t)n) != NULL;
}

int dw_alive_make(int folder, struct dw_alive **ret)
{
	dw_auto_close int fd = make_file(folder);
	struct dw_alive *alive;

	if (fd < 0)
		return fd;
	alive = mmap(NULL, sizeof *alive, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	if (alive == MAP_FAILED)
		return -errno;
	if (mmap(&alive->told, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
	    MAP_FAILED) {
		int code = errno;

		munmap(alive, sizeof *alive);
		return -code;
	}
	alive->told.files_are_alike = !has_labels();
	alive->told.owner = (uint32_t)gettid();
	alive->entry.next = list.list.next;
	list.list.next = &alive->entry;
	syscall(SYS_set_robust_list, &list, sizeof list); /* without it a death is not seen */
	*ret = alive;
	return 0;
}

void dw_alive_end(struct dw_alive *alive)
{
	if (alive)
		__atomic_store_n(&alive->told.is_over, 1, __ATOMIC_RELEASE);
}

void dw_alive_free(struct dw_alive *alive)
{
	struct robust_list *before = &list.list;

	if (!alive)
		return;
	dw_alive_end(alive);
	while (before->next != &list.list && before->next != &alive->entry)
		before = before->next;
	if (before->next == &alive->entry)
		before->next = alive->entry.next;
	munmap(alive, sizeof *alive);
}
