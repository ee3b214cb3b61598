/*
 * Triggers; see trigger.h.
 *
 * With the workstation's collector the thread that triggers a collection stops the others itself.
 * The server's collector has threads of its own for that, and only an event tells of the other one.
 * A session of events makes the program allocate some 600 kB more when it starts (the runtime's
 * managed half writes a manifest), so there is one only with threads of that name.
 */
#include "agent/clr/trigger.h"

#include "agent/clr/collection.h"
#include "agent/clr/runtime.h"
#include "agent/clr/tree.h"
#include "agent/clr/walk.h"
#include "agent/core/bytes.h"
#include "agent/core/syscall-x86-64.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>

#define SERVER_THREAD ".NET Server GC\n"

enum { ENTRIES_BYTES = 2048, ENTRIES_READS = 64, PATH_BYTES = 48 };

/* What getdents64() gives. */
struct entry {
	uint64_t inode, next;
	uint16_t bytes;
	uint8_t kind;
	char name[];
};

struct triggers {
	bool has_stacks, is_known, is_server;
};

static struct triggers triggers;

void dw_trigger_start(bool has_stacks)
{
	triggers.has_stacks = has_stacks;
}

/* Whether the thread @tid, a number as text, is one of the server's collector. */
static bool is_server_thread(const char *tid)
{
	char path[PATH_BYTES] = "/proc/self/task/", name[32];
	long n;
	int fd;

	if (!dw_text_append(path, sizeof(path), tid) ||
	    !dw_text_append(path, sizeof(path), "/comm"))
		return false;
	fd = dw_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	n = dw_sys_read(fd, name, sizeof(name) - 1);
	dw_sys_close(fd);
	name[n > 0 ? n : 0] = 0;
	return dw_text_equal(name, SERVER_THREAD);
}

static bool is_server_in(const char *entries, long bytes)
{
	long at = 0;

	while (at < bytes) {
		const struct entry *e = (const struct entry *)(entries + at);

		if (is_server_thread(e->name))
			return true;
		at += e->bytes;
	}
	return false;
}

static bool has_server_threads(void)
{
	int fd = dw_sys_open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	_Alignas(8) char entries[ENTRIES_BYTES];
	bool is_found = false;
	long n;

	if (fd < 0)
		return false;
	for (int i = 0; i < ENTRIES_READS && !is_found; i++) {
		n = dw_syscall(SYS_getdents64, fd, entries, sizeof(entries));
		if (n <= 0)
			break;
		is_found = is_server_in(entries, n);
	}
	dw_sys_close(fd);
	return is_found;
}

void dw_trigger_module_loaded(void)
{
	if (triggers.is_known)
		return;
	triggers.is_known = true;
	triggers.is_server = has_server_threads();
	if (triggers.is_server)
		dw_runtime_listen(DWELL_EVENT_WORD_GC, DWELL_EVENT_LEVEL_INFORMATIONAL);
}

static void note(uint64_t base)
{
	struct dw_clr_self *t = dw_clr_self();

	if (t)
		dw_collection_triggered(
			t->row, triggers.has_stacks && dw_walk(t, base) ? dw_clr_tree_node(t) : 0);
}

void dw_trigger_suspends(uint64_t base)
{
	if (!triggers.is_server)
		note(base);
}

void dw_trigger_said(uint64_t base)
{
	if (triggers.is_server)
		note(base);
}
