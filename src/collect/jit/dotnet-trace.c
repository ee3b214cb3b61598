/*
 * Rundowns; see dotnet-trace.h. The request is CollectTracing3 of .NET 9, by which it does not walk
 * the stack for each event, else CollectTracing2 of the runtime's document ipc-protocol.md. The
 * answer has a number for the session, the stream follows it on the same connection, and the
 * session is ended by its number on another one. That is done at once, as its end brings the
 * rundown; and a session that is open would let the process wait for us when it ends.
 */
#include "collect/jit/dotnet-trace.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

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
	t->fd = t->is_older ? dw_dotnet_ask(p, SET_EVENTS, COLLECT_OLDER, older, sizeof older)
			    : dw_dotnet_ask(p, SET_EVENTS, COLLECT, &r, sizeof r);
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
	t->stop_fd = dw_dotnet_ask(p, SET_EVENTS, STOP, &a.session, sizeof a.session);
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
