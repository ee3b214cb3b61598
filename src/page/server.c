/*
 * A server of one page; see server.h. Some browsers open several connections and leave them idle,
 * so a few are open at a time; each has one request and one answer, and is closed when nothing has
 * moved for a while.
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

enum { CONNECTIONS = 16, IDLE_MS = 10 * 1000, TOKEN_BYTES = 16, BACKLOG = 16 };

struct connection {
	int fd; /* -1 = free */
	uint64_t moved_ns;
	char in[DWELL_HTTP_BYTES_MAX];
	size_t in_n;
	bool answers;
	struct dw_buf head;
	const struct dw_buf *body; /* NULL = none */
	size_t sent;		   /* of head and body */
};

int dw_server_open(struct dw_server *s, const struct dw_buf *page, struct dw_error *err)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof at;
	uint8_t token[TOKEN_BYTES];

	*s = (struct dw_server){.fd = -1, .page = page};
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
	dw_buf_release(&c->head);
	c->fd = -1;
	c->in_n = c->sent = 0;
	c->answers = false;
	c->body = NULL;
}

static void begin_answer(struct connection *c, const char *status, const struct dw_buf *body,
			 bool is_head)
{
	c->answers = true;
	c->body = is_head ? NULL : body;
	dw_buf_printf(&c->head,
		      "HTTP/1.1 %s\r\n"
		      "Content-Type: text/html; charset=utf-8\r\n"
		      "Content-Length: %zu\r\n"
		      "Connection: close\r\n"
		      "Cache-Control: no-store\r\n"
		      "Referrer-Policy: no-referrer\r\n"
		      "X-Content-Type-Options: nosniff\r\n"
		      "X-Frame-Options: DENY\r\n"
		      "Cross-Origin-Opener-Policy: same-origin\r\n"
		      "Cross-Origin-Resource-Policy: same-origin\r\n\r\n",
		      status, body ? body->len : 0);
}

static void take_request(const struct dw_server *s, struct connection *c)
{
	struct dw_http_request r;

	switch (dw_http_read(c->in, c->in_n, &r)) {
	case DWELL_HTTP_MORE:
		return;
	case DWELL_HTTP_OK:
		if (!dw_http_is_local(&r, s->port))
			begin_answer(c, "403 Forbidden", NULL, false);
		else if (dw_http_is_for(&r, s->path))
			begin_answer(c, "200 OK", s->page, r.is_head);
		else
			begin_answer(c, "404 Not Found", NULL, false);
		return;
	case DWELL_HTTP_METHOD:
		return begin_answer(c, "405 Method Not Allowed", NULL, false);
	case DWELL_HTTP_TOO_LONG:
		return begin_answer(c, "431 Request Header Fields Too Large", NULL, false);
	default:
		return begin_answer(c, "400 Bad Request", NULL, false);
	}
}

/* False: the connection is over. */
static bool receive(const struct dw_server *s, struct connection *c)
{
	ssize_t n = recv(c->fd, c->in + c->in_n, sizeof c->in - c->in_n, 0);

	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR);
	c->in_n += (size_t)n;
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
	if (!lives || c->head.failed || now_ns - c->moved_ns > IDLE_MS * 1000000ull)
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
