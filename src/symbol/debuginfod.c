/*
 * Asking debuginfod servers; see debuginfod.h. Helpers look for what is here, with the rights of
 * whom the module belongs to, as they do for names. A few processes ask for the rest at a time,
 * since most of an answer's time is waiting. Each sends what it got by a socket, files as
 * descriptors. Shortly before time is up the processes give up by themselves, so that the library
 * takes its unfinished files away; who hangs, in a name server's answer say, is killed. Time is up
 * early for who presses Ctrl-C: recordings block that while they finish, so it is looked whether it
 * waits.
 */
#include "symbol/debuginfod.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "code/elf/elf.h"
#include "symbol/debugfile.h"
#include "symbol/helper.h"
#include "symbol/spawn.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A wanted debug file. */
struct dw_debuginfod_file {
	uint8_t id[64]; /* build-id of the module */
	size_t id_n;
	int fd;	    /* set: the file, which has that build-id; -1 = none */
	int alt_fd; /* set: the supplementary file that it names; -1 = none */
};

enum { PROCESSES = 4, LAST_MS = 1200, LOOK_MS = 200, PRESENCE_MS = 10000 };

DW_DEFINE_FREEP(dw_elf)

static const char library[] = "libdebuginfod.so.1";

/* What is used of the library. */
struct client {
	void *handle;
	void *(*begin)(void);
	int (*find)(void *client, const unsigned char *id, int id_n, char **path);
	void (*set_progress)(void *client, int (*progress)(void *client, long a, long b));
};

enum outcome { FOUND, ABSENT, WRONG, FAILED, LATE, NO_LIBRARY };

/* What a process says of one file; descriptors go with it. */
struct message {
	uint32_t file;
	uint32_t outcome;
};

/* What asking processes are told. */
struct order {
	uint64_t first, n; /* file to begin with, and their number, which follow */
	int give_up;	   /* a file in memory that holds the time when to give up */
};

static uint64_t *give_up_ns; /* of the monotonic clock, shared with asking processes */

bool dw_debuginfod_has_library(void)
{
	return dlopen(library, RTLD_NOW | RTLD_LOCAL);
}

bool dw_debuginfod_has_servers(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && urls[strspn(urls, " ")];
}

static void *open_client(struct client *c)
{
	void *library_handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

	if (!library_handle)
		return NULL;
	*(void **)&c->begin = dlsym(library_handle, "debuginfod_begin");
	*(void **)&c->find = dlsym(library_handle, "debuginfod_find_debuginfo");
	*(void **)&c->set_progress = dlsym(library_handle, "debuginfod_set_progressfn");
	c->handle = c->begin && c->find && c->set_progress ? c->begin() : NULL;
	return c->handle;
}

static int is_over(void *client, long a, long b)
{
	(void)client, (void)a, (void)b;
	return dw_clock_ns(CLOCK_MONOTONIC) >= __atomic_load_n(give_up_ns, __ATOMIC_RELAXED);
}

/* Get the file with build-id @id. Its descriptor at *@fd when it was found. */
static enum outcome get(const struct client *c, const uint8_t *id, size_t n, int *fd)
{
	char *path = NULL;
	int rc = is_over(NULL, 0, 0) ? -ETIME : c->find(c->handle, id, (int)n, &path);

	free(path);
	*fd = -1;
	if (rc < 0)
		return is_over(NULL, 0, 0) ? LATE : rc == -ENOENT ? ABSENT : FAILED;
	if (dw_debugfile_check(rc) || !dw_debugfile_has_id(rc, id, n)) {
		close(rc);
		return WRONG;
	}
	*fd = rc;
	return FOUND;
}

/* Get the supplementary file that the debug file @fd names, -1 = none. What is packed is for
 * helpers: nothing of a server is unpacked here. */
static int get_alt(const struct client *c, int fd)
{
	const struct dw_elf_section *section;
	dw_auto_ptr(dw_elf) elf = NULL;
	dw_auto_free uint8_t *bytes = NULL;
	struct dw_cursor cursor;
	const uint8_t *id;
	size_t n;
	int alt;

	if (dw_elf_open(fd, &elf, NULL))
		return -1;
	section = dw_elf_section(elf, ".gnu_debugaltlink");
	if (!section || section->flags & SHF_COMPRESSED ||
	    dw_elf_read_section(elf, section, &bytes, &n, NULL))
		return -1;
	dw_cursor_init(&cursor, bytes, n);
	dw_cursor_cstr(&cursor);
	n = dw_cursor_left(&cursor);
	id = dw_cursor_bytes(&cursor, n);
	if (!id || n <= 1 || n > sizeof((struct dw_debuginfod_file *)0)->id)
		return -1;
	get(c, id, n, &alt);
	return alt;
}

static void tell(int socket, struct message m, int fd, int alt_fd)
{
	int fds[2] = {fd, alt_fd};
	size_t n = fd < 0 ? 0 : alt_fd < 0 ? 1 : 2;
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof fds)];
	} control = {0};
	struct iovec bytes = {&m, sizeof m};
	struct msghdr h = {.msg_iov = &bytes, .msg_iovlen = 1};

	if (n) {
		h.msg_control = &control;
		h.msg_controllen = CMSG_SPACE(n * sizeof *fds);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(n * sizeof *fds);
		memcpy(CMSG_DATA(&control.header), fds, n * sizeof *fds);
	}
	if (sendmsg(socket, &h, MSG_NOSIGNAL) < 0)
		_exit(1);
}

/* Share the time when to give up, which stands in the file @fd. */
static int map_give_up(int fd)
{
	void *p = mmap(NULL, sizeof *give_up_ns, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	give_up_ns = p;
	return 0;
}

/* Ask for each PROCESSES-th file from @first on. */
static void ask(int socket, const struct dw_debuginfod_file *files, size_t n, size_t first)
{
	struct client c = {0};

	if (!open_client(&c)) {
		tell(socket, (struct message){0, NO_LIBRARY}, -1, -1);
		return;
	}
	c.set_progress(c.handle, is_over);
	for (size_t i = first; i < n; i += PROCESSES) {
		int fd, alt_fd = -1;
		enum outcome outcome = get(&c, files[i].id, files[i].id_n, &fd);

		if (outcome == FOUND)
			alt_fd = get_alt(&c, fd);
		tell(socket, (struct message){(uint32_t)i, outcome}, fd, alt_fd);
		dw_cleanup_close(&fd);
		dw_cleanup_close(&alt_fd);
	}
}

_Noreturn void dw_debuginfod_live(const struct dw_spawned *s)
{
	const struct order *order = s->input;
	unsigned socket = (unsigned)s->fd;

	signal(SIGINT, SIG_IGN); /* the parent decides, and takes us along */
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	if (map_give_up(order->give_up) || (socket > 3 && dw_spawn_close(3, socket - 1)) ||
	    dw_spawn_close(socket + 1, ~0u))
		_exit(1);
	ask(s->fd, (const struct dw_debuginfod_file *)(order + 1), order->n, order->first);
	_exit(0);
}

/* Take the descriptors that came with @h: at most two. */
static void take_fds(struct msghdr *h, int fds[2])
{
	struct cmsghdr *c = CMSG_FIRSTHDR(h);
	size_t n;

	fds[0] = fds[1] = -1;
	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return;
	n = (c->cmsg_len - CMSG_LEN(0)) / sizeof *fds;
	memcpy(fds, CMSG_DATA(c), (n < 2 ? n : 2) * sizeof *fds);
}

static void count(struct dw_debuginfod_stats *stats, enum outcome outcome)
{
	stats->found += outcome == FOUND;
	stats->wrong += outcome == WRONG;
	stats->failed += outcome == FAILED;
	stats->late += outcome == LATE;
	if (outcome == NO_LIBRARY)
		stats->state = DWELL_DEBUGINFOD_NO_LIBRARY;
}

/* Receive one message. False: there are no more. */
static bool receive(int socket, struct dw_debuginfod_file *files, size_t n,
		    struct dw_debuginfod_stats *stats, size_t *heard)
{
	struct message m;
	int fds[2];
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof fds)];
	} control;
	struct iovec bytes = {&m, sizeof m};
	struct msghdr h = {.msg_iov = &bytes,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof control};
	ssize_t got = recvmsg(socket, &h, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	if (got < 0)
		return errno == EINTR || errno == EAGAIN;
	if (!got)
		return false;
	take_fds(&h, fds);
	if (got != sizeof m || m.file >= n || files[m.file].fd >= 0) {
		dw_cleanup_close(&fds[0]);
		dw_cleanup_close(&fds[1]);
		return true;
	}
	files[m.file].fd = fds[0];
	files[m.file].alt_fd = fds[1];
	*heard += m.outcome != NO_LIBRARY;
	count(stats, (enum outcome)m.outcome);
	return true;
}

static bool is_hurried(void)
{
	sigset_t waiting;

	return !sigpending(&waiting) &&
	       (sigismember(&waiting, SIGINT) || sigismember(&waiting, SIGTERM) ||
		sigismember(&waiting, SIGHUP) || sigismember(&waiting, SIGQUIT));
}

/* Let all give up at once. The new deadline. */
static uint64_t hurry(uint64_t deadline_ns, uint64_t now_ns)
{
	uint64_t soon_ns = now_ns + LAST_MS * 1000000ull;

	__atomic_store_n(give_up_ns, 0, __ATOMIC_RELAXED);
	return soon_ns < deadline_ns ? soon_ns : deadline_ns;
}

/* Take what comes until @deadline_ns. */
static void listen_until(uint64_t deadline_ns, int socket, struct dw_debuginfod_file *files,
			 size_t n, struct dw_debuginfod_stats *stats)
{
	uint64_t now_ns;
	size_t heard = 0;

	while ((now_ns = dw_clock_ns(CLOCK_MONOTONIC)) < deadline_ns) {
		struct pollfd p = {.fd = socket, .events = POLLIN};
		uint64_t left_ms = (deadline_ns - now_ns) / 1000000 + 1;

		if (*give_up_ns && is_hurried())
			deadline_ns = hurry(deadline_ns, now_ns);
		if (poll(&p, 1, left_ms > LOOK_MS ? LOOK_MS : (int)left_ms) > 0 &&
		    !receive(socket, files, n, stats, &heard))
			break;
	}
	if (dw_clock_ns(CLOCK_MONOTONIC) >= deadline_ns)
		stats->late += (uint32_t)(n - heard);
	else if (stats->state == DWELL_DEBUGINFOD_ASKED)
		stats->failed += (uint32_t)(n - heard);
}

/* Start a process that asks for the files from @first on. 0 and *@ret, or a negative code. */
static int start(int socket, int give_up, const struct dw_debuginfod_file *files, size_t n,
		 size_t first, pid_t *ret)
{
	dw_auto(dw_buf) input = DW_BUF_INIT;
	struct order order = {.first = first, .n = n, .give_up = give_up};

	dw_buf_put(&input, &order, sizeof order);
	if (dw_buf_put(&input, files, n * sizeof *files))
		return -ENOMEM;
	return dw_spawn(DWELL_SPAWN_DEBUGINFOD, socket, &input, &give_up, 1, ret);
}

static void end_all(const pid_t pids[PROCESSES])
{
	for (size_t i = 0; i < PROCESSES; i++) {
		if (pids[i] <= 0)
			continue;
		kill(pids[i], SIGKILL);
		while (waitpid(pids[i], NULL, 0) < 0 && errno == EINTR)
			;
	}
}

/* Ask for all until @deadline_ns; whoever asks gives up by the time in the file @give_up. */
static int ask_all(struct dw_debuginfod_file *files, size_t n, uint64_t deadline_ns, int give_up,
		   struct dw_debuginfod_stats *stats, struct dw_error *err)
{
	pid_t pids[PROCESSES] = {0};
	int ends[2], rc = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return dw_error_set_errno(err, errno, "cannot make a socket");
	for (size_t i = 0; i < PROCESSES && i < n && !rc; i++)
		rc = start(ends[1], give_up, files, n, i, &pids[i]);
	close(ends[1]);
	if (!rc)
		listen_until(deadline_ns, ends[0], files, n, stats);
	close(ends[0]);
	end_all(pids);
	return rc ? dw_error_set_errno(err, -rc, "cannot start a process for debuginfod") : 0;
}

/*
 * Get @n files, the first ones first. Returns after @timeout_ms at the latest, and soon after a
 * SIGINT, SIGTERM or SIGHUP that is blocked, with those that have come by then: the descriptors are
 * the caller's. 0; -ENOMEM, -errno: no process could be started.
 */
static int get_files(struct dw_debuginfod_file *files, size_t n, uint32_t timeout_ms,
		     struct dw_debuginfod_stats *stats, struct dw_error *err)
{
	uint64_t deadline_ns = dw_clock_ns(CLOCK_MONOTONIC) + (uint64_t)timeout_ms * 1000000;
	uint32_t last_ms = timeout_ms / 4 < LAST_MS ? timeout_ms / 4 : LAST_MS;
	dw_auto_close int give_up = -1;
	int rc;

	for (size_t i = 0; i < n; i++)
		files[i].fd = files[i].alt_fd = -1;
	if (!n)
		return 0;
	stats->asked = (uint32_t)n;
	stats->state = DWELL_DEBUGINFOD_NO_SERVERS;
	if (!dw_debuginfod_has_servers())
		return 0;
	stats->state = DWELL_DEBUGINFOD_ASKED;
	give_up = memfd_create("dwell-debuginfod", MFD_CLOEXEC);
	if (give_up < 0 || ftruncate(give_up, sizeof *give_up_ns) || map_give_up(give_up))
		return dw_error_set_errno(err, errno, "cannot ask debuginfod servers");
	*give_up_ns = deadline_ns - (uint64_t)last_ms * 1000000;
	rc = ask_all(files, n, deadline_ns, give_up, stats, err);
	munmap(give_up_ns, sizeof *give_up_ns);
	return rc;
}

/* A question whose module lacks debug information. */
struct missing {
	size_t question;
	size_t addresses;
};

struct search {
	const struct dw_question *questions;
	DW_VEC(struct missing) missing;
};

static int note_presence(void *ctx, size_t i, struct dw_answer *answer)
{
	struct search *s = ctx;

	if (!answer || answer->has_debug)
		return 0;
	return dw_vec_push(&s->missing, (struct missing){i, s->questions[i].n});
}

/* Ask which modules of @questions have nothing here. */
static int search(struct search *s, const struct dw_question *questions, size_t n,
		  struct dw_error *err)
{
	dw_auto_free struct dw_question *presence = calloc(n + 1, sizeof *presence);

	if (!presence)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		presence[i] = questions[i];
		presence[i].n = 0;
		presence[i].presence_only = true;
	}
	return dw_ask(presence, n, PRESENCE_MS, note_presence, s, err);
}

static int by_addresses(const void *pa, const void *pb)
{
	const struct missing *a = pa, *b = pb;

	if (a->addresses != b->addresses)
		return a->addresses < b->addresses ? 1 : -1;
	return (a->question > b->question) - (a->question < b->question);
}

/* Read the build-id of a file into @f. False: it has none. */
static bool read_id(const struct dw_module_source *source, struct dw_debuginfod_file *f)
{
	dw_auto_ptr(dw_elf) elf = NULL;

	if (source->fd < 0 || dw_elf_open(source->fd, &elf, NULL))
		return false;
	f->id_n = dw_elf_build_id(elf, f->id, sizeof f->id);
	return f->id_n > 1;
}

int dw_fetch_missing(struct dw_question *questions, size_t n, uint32_t timeout_ms,
		     struct dw_fetched *ret, struct dw_error *err)
{
	struct search s = {.questions = questions};
	dw_auto_free size_t *question_of = calloc(n + 1, sizeof *question_of);
	int rc = question_of ? search(&s, questions, n, err) : -ENOMEM;

	*ret = (struct dw_fetched){.files = calloc(s.missing.n + 1, sizeof *ret->files)};
	if (!ret->files)
		rc = -ENOMEM;
	if (!rc && s.missing.n)
		qsort(s.missing.v, s.missing.n, sizeof *s.missing.v, by_addresses);
	dw_vec_each(m, &s.missing) {
		if (rc || !read_id(questions[m->question].source, &ret->files[ret->n]))
			continue;
		question_of[ret->n++] = m->question;
	}
	if (!rc)
		rc = get_files(ret->files, ret->n, timeout_ms, &ret->stats, err);
	for (size_t i = 0; i < ret->n && !rc; i++) {
		questions[question_of[i]].debug_fd = ret->files[i].fd;
		questions[question_of[i]].alt_fd = ret->files[i].alt_fd;
	}
	if (rc)
		ret->n = 0;
	dw_vec_release(&s.missing);
	return rc;
}

void dw_fetched_release(struct dw_fetched *f)
{
	for (size_t i = 0; i < f->n; i++) {
		dw_cleanup_close(&f->files[i].fd);
		dw_cleanup_close(&f->files[i].alt_fd);
	}
	free(f->files);
	*f = (struct dw_fetched){0};
}
