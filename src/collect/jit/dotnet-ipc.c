/*
 * Requests to .NET runtimes; see dotnet-ipc.h. The protocol is that of the runtime's document
 * ipc-protocol.md: a header of 20 bytes, then numbers. Nothing is waited for, as one that does not
 * answer must not hold up sampling; what a runtime does shows in the map.
 */
#include "collect/jit/dotnet-ipc.h"

#include "target/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum {
	SET_PROCESS = 4,
	ENABLE_MAP = 5,
	DISABLE_MAP = 6,
	TYPE_MAP = 3,
	ANSWER_MS = 500, /* to the request that ends a map */
	CONTENT_BYTES = 256,
};

struct request {
	struct dw_dotnet_head head;
	uint8_t content[CONTENT_BYTES];
} __attribute__((packed));

/* The folder /tmp of the process's root, O_PATH. Or -errno. */
static int open_tmp(const struct dw_dotnet_process *p)
{
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	int fd = p->owner->root_fd < 0
			 ? open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC)
			 : (int)syscall(SYS_openat2, p->owner->root_fd, "tmp", &how, sizeof how);

	return fd < 0 ? -errno : fd;
}

/* Whether @p is who listens at the other end of @fd. */
static bool is_peer(const struct dw_dotnet_process *p, int fd)
{
	struct ucred peer;
	socklen_t n = sizeof peer;

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) && peer.pid == p->pid;
}

/* Connect to the runtime, whose socket has the time at which it began in its name. */
static int connect_to(const struct dw_dotnet_process *p)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct dw_proc_stat st;
	int rc = dw_proc_stat_read(p->pid, &st), tmp = rc ? rc : open_tmp(p), fd;

	if (tmp < 0)
		return tmp;
	snprintf(address.sun_path, sizeof address.sun_path,
		 "/proc/self/fd/%d/dotnet-diagnostic-%d-%" PRIu64 "-socket", tmp, (int)p->ns_pid,
		 st.start_ticks);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	rc = fd < 0 ? -errno : dw_rights_take(&p->owner->rights, &p->own->rights);
	if (!rc) {
		if (connect(fd, (const struct sockaddr *)&address, sizeof address))
			rc = -errno;
		dw_rights_restore(&p->owner->rights, &p->own->rights);
	}
	if (!rc && !is_peer(p, fd))
		rc = -ENOENT;
	close(tmp);
	if (rc && fd >= 0)
		close(fd);
	return rc ? rc : fd;
}

int dw_dotnet_ask(const struct dw_dotnet_process *p, uint8_t set, uint8_t id, const void *content,
		  size_t n)
{
	struct request r = {.head = {.magic = "DOTNET_IPC_V1", .set = set, .id = id}};
	int fd = n > sizeof r.content ? -EMSGSIZE : connect_to(p);

	if (fd < 0)
		return fd;
	r.head.bytes = (uint16_t)(sizeof r.head + n);
	memcpy(r.content, content, n);
	if (send(fd, &r, r.head.bytes, MSG_NOSIGNAL) != r.head.bytes) {
		close(fd);
		return -EPIPE;
	}
	return fd;
}

int dw_dotnet_ask_map(const struct dw_dotnet_process *p)
{
	const uint32_t type = TYPE_MAP;

	return dw_dotnet_ask(p, SET_PROCESS, ENABLE_MAP, &type, sizeof type);
}

/* Remove the map. */
static void remove_map(const struct dw_dotnet_process *p)
{
	char name[32];
	int tmp = open_tmp(p);

	snprintf(name, sizeof name, "perf-%d.map", (int)p->ns_pid);
	if (tmp >= 0 && !dw_rights_take(&p->owner->rights, &p->own->rights)) {
		unlinkat(tmp, name, 0);
		dw_rights_restore(&p->owner->rights, &p->own->rights);
	}
	if (tmp >= 0)
		close(tmp);
}

void dw_dotnet_end_map(const struct dw_dotnet_process *p, bool removes)
{
	struct pollfd fd = {.fd = dw_dotnet_ask(p, SET_PROCESS, DISABLE_MAP, "", 0),
			    .events = POLLIN};

	if (fd.fd >= 0) {
		poll(&fd, 1, ANSWER_MS);
		close(fd.fd);
	}
	if (removes)
		remove_map(p);
}
