/* Requests of browsers; see http.h. */
#include "page/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The line at *@at without its end, which *@at is moved behind. NULL: it has no end, or none by the
 * rules. */
static const char *next_line(const char **at, const char *end, size_t *n)
{
	const char *line = *at, *stop = memchr(line, '\n', (size_t)(end - line));

	if (!stop || stop == line || stop[-1] != '\r')
		return NULL;
	*n = (size_t)(stop - 1 - line);
	*at = stop + 1;
	return memchr(line, '\r', *n) || memchr(line, 0, *n) ? NULL : line;
}

/* Copy @n bytes at @text to @ret. False: they are too many. */
static bool copy(const char *text, size_t n, char ret[DWELL_HTTP_FIELD_MAX])
{
	if (n >= DWELL_HTTP_FIELD_MAX)
		return false;
	memcpy(ret, text, n);
	ret[n] = 0;
	return true;
}

static enum dw_http_state read_first_line(const char *line, size_t n, struct dw_http_request *ret)
{
	const char *end = line + n, *target, *version;

	if (n > 4 && !memcmp(line, "GET ", 4))
		target = line + 4;
	else if (n > 5 && (!memcmp(line, "HEAD ", 5) || !memcmp(line, "POST ", 5)))
		target = line + 5;
	else
		return DWELL_HTTP_METHOD;
	ret->is_head = *line == 'H';
	ret->is_post = *line == 'P';
	version = memchr(target, ' ', (size_t)(end - target));
	if (!version || *target != '/' || end - version != (ptrdiff_t)strlen(" HTTP/1.1") ||
	    memcmp(version, " HTTP/1.", strlen(" HTTP/1.")))
		return DWELL_HTTP_BAD;
	return copy(target, (size_t)(version - target), ret->target) ? DWELL_HTTP_OK
								     : DWELL_HTTP_TOO_LONG;
}

/* Fields that decide. Of others it is enough that they are some. */
struct fields {
	struct dw_http_request *to;
	char body_n[DWELL_HTTP_FIELD_MAX], encoding[DWELL_HTTP_FIELD_MAX];
};

/* A field "name: value". Twice the same of those that decide is none. */
static enum dw_http_state read_field(const char *line, size_t n, struct fields *ret)
{
	static const char *const names[] = {"host", "origin", "content-length",
					    "transfer-encoding"};
	char *const fields[] = {ret->to->host, ret->to->origin, ret->body_n, ret->encoding};
	const char *colon = memchr(line, ':', n), *value, *end = line + n;

	if (!colon || colon == line || *line == ' ' || *line == '\t')
		return DWELL_HTTP_BAD;
	for (value = colon + 1; value < end && (*value == ' ' || *value == '\t'); value++)
		;
	while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		if ((size_t)(colon - line) != strlen(names[i]) ||
		    strncasecmp(line, names[i], strlen(names[i])))
			continue;
		if (*fields[i] || end == value)
			return DWELL_HTTP_BAD;
		if (!copy(value, (size_t)(end - value), fields[i]))
			return DWELL_HTTP_TOO_LONG;
	}
	return DWELL_HTTP_OK;
}

/* Where the body of a POST ends, which begins at @at of @n bytes. */
static enum dw_http_state read_body(const struct fields *f, size_t at, size_t n)
{
	size_t digits = strspn(f->body_n, "0123456789");

	if (!f->to->is_post)
		return DWELL_HTTP_OK;
	if (*f->encoding || f->body_n[digits])
		return DWELL_HTTP_BAD;
	if (digits > 9 || strtoul(f->body_n, NULL, 10) > DWELL_HTTP_BODY_MAX)
		return DWELL_HTTP_TOO_LARGE;
	f->to->body = at;
	f->to->body_n = strtoul(f->body_n, NULL, 10);
	return n - at < f->to->body_n ? DWELL_HTTP_MORE : DWELL_HTTP_OK;
}

enum dw_http_state dw_http_read(const char *text, size_t n, struct dw_http_request *ret)
{
	const char *at = text, *line;
	const char *end = memmem(text, n, "\r\n\r\n", 4);
	struct fields fields = {.to = ret};
	enum dw_http_state state;
	size_t line_n;

	if (!end && n < DWELL_HTTP_BYTES_MAX)
		return DWELL_HTTP_MORE;
	if (!end || end - text >= DWELL_HTTP_BYTES_MAX)
		return DWELL_HTTP_TOO_LONG;
	end += 4;
	*ret = (struct dw_http_request){0};
	line = next_line(&at, end, &line_n);
	state = line ? read_first_line(line, line_n, ret) : DWELL_HTTP_BAD;
	while (state == DWELL_HTTP_OK) {
		line = next_line(&at, end, &line_n);
		if (!line)
			return DWELL_HTTP_BAD;
		if (!line_n)
			return read_body(&fields, (size_t)(at - text), n);
		state = read_field(line, line_n, &fields);
	}
	return state;
}

bool dw_http_is_local(const struct dw_http_request *r, unsigned port)
{
	static const char *const names[] = {"127.0.0.1", "localhost"};
	bool is_host = false, is_origin = !*r->origin && !r->is_post;

	for (size_t i = 0; i < 2; i++) {
		char host[32], origin[64];

		snprintf(host, sizeof host, "%s:%u", names[i], port);
		snprintf(origin, sizeof origin, "http://%s", host);
		is_host |= !strcmp(r->host, host);
		is_origin |= !strcmp(r->origin, origin);
	}
	return is_host && is_origin;
}

const char *dw_http_under(const struct dw_http_request *r, const char *path)
{
	size_t n = strlen(path);
	unsigned char differs = 0;

	if (strlen(r->target) < n)
		return NULL;
	for (size_t i = 0; i < n; i++)
		differs |= (unsigned char)(r->target[i] ^ path[i]);
	return differs ? NULL : r->target + n;
}
