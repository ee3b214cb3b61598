/*
 * A server for one browser; see server.h. Some browsers open several connections and leave them
 * idle, so a few are open at a time; each has one request and one answer, and is closed when
 * nothing has moved for a while.
 */
#include "page/server.h"

#include "base/clock.h"
#include "page/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	CONNECTIONS = 16,
	IDLE_MS = 10 * 1000,
	TOKEN_BYTES = 16,
	BACKLOG = 16,
	RECEIVE_BYTES = 16 << 10,
	RECEIVED_MAX = DWELL_HTTP_BYTES_MAX + DWELL_HTTP_BODY_MAX,
};

struct connection {
	int fd; /* -1 = free */
	uint64_t moved_ns;
	struct dw_buf in;
	bool answers;
	struct dw_buf head;
	struct dw_buf own;	   /* what body may be */
	const struct dw_buf *body; /* NULL = none */
	size_t sent;		   /* of head and body */
};

int dw_server_open(struct dw_server *s, dw_server_fn *answer, void *ctx, struct dw_error *err)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof at;
	uint8_t token[TOKEN_BYTES];

	*s = (struct dw_server){.fd = -1, .answer = answer, .ctx = ctx};
	if (getrandom(token, sizeof token, 0) != sizeof token)
		return dw_error_set_errno(err, errno, "cannot make a token");
	stpcpy(s->path, "/");
	for (size_t i = 0; i < sizeof token; i++)
		snprintf(s->path + 1 + 2 * i, 3, "%02x", token[i]);
	strcat(s->path, "/");
	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd < 0 || bind(s->fd, (struct sockaddr *)&at, sizeof at) || listen(s->fd, BACKLOG) ||
	    getsockname(s->fd, (struct sockaddr *)&at, &n))
		return dw_error_set_errno(err, errno, "cannot listen on 127.0.0.1");
	s->port = ntohs(at.sin_port);
	return 0;
}

static void close_connection(struct connection *c)
{
	close(c->fd);
	dw_buf_release(&c->in);
	dw_buf_release(&c->head);
	dw_buf_release(&c->own);
	*c = (struct connection){.fd = -1};
}

static void begin_answer(struct connection *c, const char *status, const char *type,
			 const struct dw_buf *body, bool is_head)
{
	c->answers = true;
	c->body = is_head ? NULL : body;
	dw_buf_printf(&c->head,
		      "HTTP/1.1 %s\r\n"
		      "Content-Type: %s\r\n"
		      "Content-Length: %zu\r\n"
		      "Connection: close\r\n"
		      "Cache-Control: no-store\r\n"
		      "Referrer-Policy: no-referrer\r\n"
		      "X-Content-Type-Options: nosniff\r\n"
		      "X-Frame-Options: DENY\r\n"
		      "Cross-Origin-Opener-Policy: same-origin\r\n"
		      "Cross-Origin-Resource-Policy: same-origin\r\n\r\n",
		      status, type, body ? body->len : 0);
}

static void refuse(struct connection *c, int status)
{
	static const struct {
		int status;
		const char *line;
	} lines[] = {
		{403, "403 Forbidden"},
		{404, "404 Not Found"},
		{405, "405 Method Not Allowed"},
		{413, "413 Content Too Large"},
		{431, "431 Request Header Fields Too Large"},
		{500, "500 Internal Server Error"},
	};
	const char *line = "400 Bad Request";

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		line = lines[i].status == status ? lines[i].line : line;
	begin_answer(c, line, "text/plain", NULL, false);
}

/* What @rest, the target behind the path, asks for. */
static void answer(const struct dw_server *s, struct connection *c, struct dw_http_request *r,
		   const char *rest)
{
	char *query = strchr(rest, '?');
	struct dw_server_question q = {.name = rest,
				       .query = query ? query + 1 : "",
				       .is_post = r->is_post,
				       .body = dw_buf_str(&c->in) + r->body,
				       .body_n = r->body_n};
	struct dw_server_answer a = {0};
	int status;

	if (query)
		*query = 0;
	status = s->answer(s->ctx, &q, &a);
	c->own = a.own;
	if (status != 200)
		refuse(c, status);
	else
		begin_answer(c, "200 OK", a.type, a.whole ? a.whole : &c->own, r->is_head);
}

static void take_request(const struct dw_server *s, struct connection *c)
{
	struct dw_http_request r;
	enum dw_http_state state = dw_http_read(dw_buf_str(&c->in), c->in.len, &r);
	const char *rest;

	if (state == DWELL_HTTP_MORE)
		return;
	if (state != DWELL_HTTP_OK)
		return refuse(c, (int)state);
	if (!dw_http_is_local(&r, s->port))
		return refuse(c, 403);
	rest = dw_http_under(&r, s->path);
	if (rest)
		answer(s, c, &r, rest);
	else
		refuse(c, 404);
}

/* False: the connection is over. */
static bool receive(const struct dw_server *s, struct connection *c)
{
	ssize_t n;

	if (c->in.len >= RECEIVED_MAX || dw_buf_reserve(&c->in, RECEIVE_BYTES))
		return false;
	n = recv(c->fd, c->in.data + c->in.len, RECEIVE_BYTES, 0);
	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR);
	c->in.len += (size_t)n;
	c->in.data[c->in.len] = 0;
	take_request(s, c);
	return true;
}

/* Likewise, also when all was sent. */
static bool send_more(struct connection *c)
{
	bool in_head = c->sent < c->head.len;
	const char *from =
		in_head ? c->head.data + c->sent : dw_buf_str(c->body) + (c->sent - c->head.len);
	size_t all = c->head.len + (c->body ? c->body->len : 0);
	size_t n = (in_head ? c->head.len : all) - c->sent;
	ssize_t sent = send(c->fd, from, n, MSG_NOSIGNAL);

	if (sent < 0)
		return errno == EAGAIN || errno == EINTR;
	c->sent += (size_t)sent;
	if (c->sent < all)
		return true;
	shutdown(c->fd, SHUT_WR);
	return false;
}

/* What has not moved longest makes room for what is new. */
static void accept_one(const struct dw_server *s, struct connection *connections)
{
	struct connection *c = connections;
	int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	for (size_t i = 0; i < CONNECTIONS && c->fd >= 0; i++)
		if (connections[i].fd < 0 || connections[i].moved_ns < c->moved_ns)
			c = &connections[i];
	if (c->fd >= 0)
		close_connection(c);
	c->fd = fd;
	c->moved_ns = dw_clock_ns(CLOCK_MONOTONIC);
}

static void serve_ready(const struct dw_server *s, struct connection *c, short events)
{
	uint64_t now_ns = dw_clock_ns(CLOCK_MONOTONIC);
	bool lives = true;

	if (events & (POLLIN | POLLOUT | POLLERR | POLLHUP)) {
		lives = c->answers ? send_more(c) : receive(s, c);
		c->moved_ns = now_ns;
	}
	if (!lives || c->head.failed || c->own.failed ||
	    now_ns - c->moved_ns > IDLE_MS * 1000000ull)
		close_connection(c);
}

static int serve(const struct dw_server *s, int stop_fd, struct connection *connections)
{
	for (;;) {
		struct pollfd fds[CONNECTIONS + 2] = {{.fd = stop_fd, .events = POLLIN},
						      {.fd = s->fd, .events = POLLIN}};

		for (size_t i = 0; i < CONNECTIONS; i++)
			fds[i + 2] = (struct pollfd){.fd = connections[i].fd,
						     .events = connections[i].answers ? POLLOUT
										      : POLLIN};
		if (poll(fds, CONNECTIONS + 2, IDLE_MS) < 0 && errno != EINTR)
			return -errno;
		if (fds[0].revents)
			return 0;
		for (size_t i = 0; i < CONNECTIONS; i++)
			if (connections[i].fd >= 0)
				serve_ready(s, &connections[i], fds[i + 2].revents);
		if (fds[1].revents & POLLIN)
			accept_one(s, connections);
	}
}

int dw_server_run(struct dw_server *s, int stop_fd, struct dw_error *err)
{
	struct connection *connections = calloc(CONNECTIONS, sizeof *connections);
	int rc;

	if (!connections)
		return dw_error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < CONNECTIONS; i++)
		connections[i].fd = -1;
	rc = serve(s, stop_fd, connections);
	for (size_t i = 0; i < CONNECTIONS; i++)
		if (connections[i].fd >= 0)
			close_connection(&connections[i]);
	free(connections);
	return rc ? dw_error_set_errno(err, -rc, "cannot serve") : 0;
}

void dw_server_close(struct dw_server *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}
