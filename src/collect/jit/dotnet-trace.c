/*
 * Rundowns; see dotnet-trace.h. The request is CollectTracing3 of .NET 9, by which it does not walk
 * the stack for each event, else CollectTracing2 of the runtime's document ipc-protocol.md. The
 * answer has a number for the session, the stream follows it on the same connection, and the
 * session is ended by its number on another one. That is done at once, as its end brings the
 * rundown; and a session that is open would let the process wait for us when it ends.
 */
#include "collect/jit/dotnet-trace.h"

#include "base/cleanup.h"
#include "code/clr/nettrace.h"
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

/*
 * Events and their fields are those of the runtime's manifest, ClrEtwAll.man. Which IL code comes
 * from is an event of its own, which does not say which of a method's codes it is about but comes
 * just before that of the code.
 */

#define RUNDOWN "Microsoft-Windows-DotNETRuntimeRundown"

enum {
	METHOD_EVENT = 144, /* MethodDCEndVerbose */
	IL_EVENT = 150,	    /* MethodDCEndILToNativeMap */
	MODULE_EVENT = 154, /* ModuleDCEnd */
	TOKEN_MASK = 0xffffff,
};

static int take_method(struct dw_dotnet_methods *m, struct dw_cursor *c)
{
	const uint32_t row = (uint32_t)m->rows.n;
	const uint64_t id = dw_cursor_u64(c);
	struct dw_dotnet_method method = {.module = dw_cursor_u64(c)};

	method.start = dw_cursor_u64(c);
	method.bytes = dw_cursor_u32(c);
	method.token = dw_cursor_u32(c) & TOKEN_MASK;
	method.il_n = id == m->next_method ? m->next_il_n : 0;
	method.il = (uint32_t)m->il.n - method.il_n;
	m->next_il_n = 0;
	if (c->failed || row >= DWELL_DOTNET_METHODS_MAX)
		return 0;
	if (dw_vec_push(&m->rows, method))
		return -ENOMEM;
	return dw_map_put(&m->by_start, method.start, row);
}

/* Read @n rows; those of offsets in the IL come first. */
static int read_il(struct dw_dotnet_methods *m, struct dw_cursor *c, uint32_t n)
{
	struct dw_cursor offsets = *c;

	dw_cursor_skip(&offsets, (size_t)n * 4);
	if (dw_vec_reserve(&m->il, n))
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const struct dw_dotnet_il row = {.il = dw_cursor_u32(c),
						 .offset = dw_cursor_u32(&offsets)};

		if (offsets.failed)
			break;
		m->il.v[m->il.n++] = row;
	}
	return 0;
}

static int take_il(struct dw_dotnet_methods *m, struct dw_cursor *c)
{
	const size_t before = m->il.n;
	uint32_t n;
	int rc;

	m->next_method = dw_cursor_u64(c);
	dw_cursor_skip(c, 8 + 1); /* version, part */
	n = dw_cursor_u16(c);
	if (c->failed || before + n > DWELL_DOTNET_IL_MAX)
		n = 0;
	rc = read_il(m, c, n);
	m->next_il_n = (uint32_t)(m->il.n - before);
	return rc;
}

static int take_module(struct dw_dotnet_methods *m, struct dw_cursor *c)
{
	dw_auto(dw_buf) path = DW_BUF_INIT;
	uint64_t id = dw_cursor_u64(c);
	uint32_t text;
	int rc;

	dw_cursor_skip(c, 8 + 4 + 4); /* assembly, flags, nothing */
	dw_nettrace_text(c, &path);
	if (path.failed)
		return -ENOMEM;
	if (c->failed || !path.len)
		return 0;
	rc = dw_strings_add(&m->texts, path.data, path.len, &text);
	return rc ? rc : dw_map_put(&m->paths, id, text);
}

static int take_event(void *ctx, const struct dw_nettrace_event *e)
{
	struct dw_dotnet_methods *m = ctx;
	struct dw_cursor c;

	dw_cursor_init(&c, e->payload, e->payload_n);
	switch (e->id) {
	case METHOD_EVENT:
		return take_method(m, &c);
	case IL_EVENT:
		return take_il(m, &c);
	case MODULE_EVENT:
		return take_module(m, &c);
	default:
		return 0;
	}
}

int dw_dotnet_methods_read(struct dw_dotnet_methods *m, const void *bytes, size_t n)
{
	int rc = dw_vec_push(&m->rows, (struct dw_dotnet_method){0});

	if (!rc)
		rc = dw_nettrace_read(bytes, n, RUNDOWN, take_event, m);
	return rc == -ENOMEM ? rc : 0;
}

const struct dw_dotnet_method *dw_dotnet_methods_find(const struct dw_dotnet_methods *m,
						      uint64_t start, uint64_t bytes)
{
	uint32_t row = dw_map_get(&m->by_start, start);

	return row && m->rows.v[row].bytes == bytes ? &m->rows.v[row] : NULL;
}

const char *dw_dotnet_methods_path(const struct dw_dotnet_methods *m,
				   const struct dw_dotnet_method *method)
{
	uint32_t text = dw_map_get(&m->paths, method->module);

	return text ? dw_strings_get(&m->texts, text) : NULL;
}

void dw_dotnet_methods_release(struct dw_dotnet_methods *m)
{
	dw_vec_release(&m->rows);
	dw_vec_release(&m->il);
	dw_strings_release(&m->texts);
	dw_map_release(&m->by_start);
	dw_map_release(&m->paths);
	m->next_il_n = 0;
}

/*
 * The protocol is that of the runtime's document ipc-protocol.md: a header of 20 bytes, then
 * numbers. Nothing is waited for, as one that does not answer must not hold up sampling; what a
 * runtime does shows in the map.
 */

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

/* Send the request @id of @set, which has the @n bytes at @content, a few hundred at most. A
 * descriptor for the answer, which does not block. Or -errno, -ENOENT where no runtime listens. */
static int dotnet_ask(const struct dw_dotnet_process *p, uint8_t set, uint8_t id,
		      const void *content, size_t n)
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

	return dotnet_ask(p, SET_PROCESS, ENABLE_MAP, &type, sizeof type);
}

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
	struct pollfd fd = {.fd = dotnet_ask(p, SET_PROCESS, DISABLE_MAP, "", 0), .events = POLLIN};

	if (fd.fd >= 0) {
		poll(&fd, 1, ANSWER_MS);
		close(fd.fd);
	}
	if (removes)
		remove_map(p);
}

#define PROVIDER "Microsoft-Windows-DotNETRuntime"

enum {
	SET_EVENTS = 2,
	STOP = 1,
	COLLECT_OLDER = 3,
	COLLECT = 4,
	BUFFER_MB = 64, /* the most that it keeps for us */
	NETTRACE = 1,
	SET_SERVER = 0xff,
	OK = 0,
	REFUSED = 0xff,
	ANSWER_BYTES = 28,
	READ_BYTES = 64 << 10,
};

struct provider {
	uint64_t keywords;
	uint32_t level;
	uint32_t name_n;
	uint16_t name[sizeof PROVIDER];
	uint32_t filter_n;
} __attribute__((packed));

struct collect {
	uint32_t buffer_mb;
	uint32_t format;
	uint8_t has_rundown;
	uint8_t has_stacks; /* not part of COLLECT_OLDER */
	uint32_t providers_n;
	struct provider provider;
} __attribute__((packed));

struct answer {
	struct dw_dotnet_head head;
	uint64_t session;
} __attribute__((packed));

_Static_assert(sizeof(struct answer) == ANSWER_BYTES, "as sent");

static int ask(struct dw_dotnet_trace *t, const struct dw_dotnet_process *p)
{
	struct collect r = {
		.buffer_mb = BUFFER_MB,
		.format = NETTRACE,
		.has_rundown = 1,
		/* One that tells nothing: without any the request is refused. */
		.providers_n = 1,
		.provider.name_n = sizeof PROVIDER,
	};
	uint8_t older[sizeof r - 1];
	const size_t common = offsetof(struct collect, has_stacks);

	for (size_t i = 0; i < sizeof PROVIDER; i++)
		r.provider.name[i] = (uint8_t)PROVIDER[i];
	memcpy(older, &r, common);
	memcpy(older + common, &r.providers_n, sizeof older - common);
	t->fd = t->is_older ? dotnet_ask(p, SET_EVENTS, COLLECT_OLDER, older, sizeof older)
			    : dotnet_ask(p, SET_EVENTS, COLLECT, &r, sizeof r);
	return t->fd < 0 ? t->fd : 0;
}

int dw_dotnet_trace_begin(struct dw_dotnet_trace *t, const struct dw_dotnet_process *p)
{
	dw_dotnet_trace_release(t);
	return ask(t, p);
}

/* The answer, if it is here whole. */
static bool read_answer(const struct dw_dotnet_trace *t, struct answer *ret)
{
	if (t->bytes.len < sizeof *ret)
		return false;
	memcpy(ret, t->bytes.data, sizeof *ret);
	return ret->head.set == SET_SERVER && ret->head.id == OK && ret->head.bytes == sizeof *ret;
}

static void close_stream(struct dw_dotnet_trace *t)
{
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
}

/* Ask the runtime to end the session, if it has begun and was not asked. */
static void stop(struct dw_dotnet_trace *t, const struct dw_dotnet_process *p)
{
	struct answer a;

	if (t->fd < 0 || t->stop_fd >= 0 || !read_answer(t, &a))
		return;
	t->stop_fd = dotnet_ask(p, SET_EVENTS, STOP, &a.session, sizeof a.session);
	if (t->stop_fd < 0)
		close_stream(t);
}

/* Ask once more if the runtime did not know what was asked. */
static void ask_again(struct dw_dotnet_trace *t, const struct dw_dotnet_process *p)
{
	struct dw_dotnet_head head;

	if (t->is_older || t->bytes.len < sizeof head)
		return;
	memcpy(&head, t->bytes.data, sizeof head);
	if (head.set != SET_SERVER || head.id != REFUSED)
		return;
	close_stream(t);
	dw_buf_clear(&t->bytes);
	t->is_older = true;
	ask(t, p);
}

static void take_bytes(struct dw_dotnet_trace *t)
{
	ssize_t n = 1;

	while (t->fd >= 0 && n > 0) {
		if (t->bytes.len >= DWELL_DOTNET_TRACE_BYTES ||
		    dw_buf_reserve(&t->bytes, READ_BYTES)) {
			close_stream(t);
			return;
		}
		n = read(t->fd, t->bytes.data + t->bytes.len, READ_BYTES);
		if (n > 0) {
			t->bytes.len += (size_t)n;
			t->bytes.data[t->bytes.len] = 0;
		} else if (!n || (errno != EAGAIN && errno != EINTR)) {
			close_stream(t);
		}
	}
}

void dw_dotnet_trace_more(struct dw_dotnet_trace *t, const struct dw_dotnet_process *p)
{
	take_bytes(t);
	ask_again(t, p);
	stop(t, p);
}

const void *dw_dotnet_trace_stream(const struct dw_dotnet_trace *t, size_t *ret_n)
{
	struct answer a;

	if (!read_answer(t, &a))
		return NULL;
	*ret_n = t->bytes.len - sizeof a;
	return t->bytes.data + sizeof a;
}

void dw_dotnet_trace_release(struct dw_dotnet_trace *t)
{
	close_stream(t);
	if (t->stop_fd >= 0)
		close(t->stop_fd);
	t->stop_fd = -1;
	dw_buf_release(&t->bytes);
}
