/* Reading JSON; see json-read.h. By hand, as its grammar is small: one function a production. */
#include "page/json-read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	struct dw_json *j;
	const char *at, *begin, *end;
	struct dw_error *err;
	unsigned depth;
};

static int wrong(struct reader *r, const char *what)
{
	return dw_error_set(r->err, DWELL_ERR_FORMAT, "no JSON: %s at byte %zu", what,
			    (size_t)(r->at - r->begin));
}

static int no_memory(struct reader *r)
{
	return dw_error_set(r->err, -ENOMEM, "out of memory");
}

static void skip_blanks(struct reader *r)
{
	while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at)
		r->at++;
}

static bool is_next(const struct reader *r, char c)
{
	return r->at < r->end && *r->at == c;
}

static bool is_digit(const struct reader *r)
{
	return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four digits. -1: there are none. */
static int32_t read_hex(struct reader *r)
{
	int32_t v = 0;

	for (int i = 0; i < 4; i++) {
		int digit = r->at < r->end ? hex_digit(*r->at) : -1;

		if (digit < 0)
			return -1;
		v = v << 4 | digit;
		r->at++;
	}
	return v;
}

static void put_code_point(struct dw_buf *b, uint32_t c)
{
	if (c < 0x80) {
		dw_buf_putc(b, (char)c);
	} else if (c < 0x800) {
		dw_buf_putc(b, (char)(0xc0 | c >> 6));
		dw_buf_putc(b, (char)(0x80 | (c & 63)));
	} else if (c < 0x10000) {
		dw_buf_putc(b, (char)(0xe0 | c >> 12));
		dw_buf_putc(b, (char)(0x80 | (c >> 6 & 63)));
		dw_buf_putc(b, (char)(0x80 | (c & 63)));
	} else {
		dw_buf_putc(b, (char)(0xf0 | c >> 18));
		dw_buf_putc(b, (char)(0x80 | (c >> 12 & 63)));
		dw_buf_putc(b, (char)(0x80 | (c >> 6 & 63)));
		dw_buf_putc(b, (char)(0x80 | (c & 63)));
	}
}

/* What stands behind "\u"; two surrogates are one character, a single one is none. */
static int read_unicode(struct reader *r)
{
	int32_t c = read_hex(r), low;

	if (c >= 0xd800 && c < 0xdc00 && r->end - r->at >= 2 && r->at[0] == '\\' &&
	    r->at[1] == 'u') {
		r->at += 2;
		low = read_hex(r);
		if (low < 0xdc00 || low > 0xdfff)
			return wrong(r, "half a character");
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	}
	if (c <= 0 || (c >= 0xd800 && c < 0xe000))
		return wrong(r, "no character");
	put_code_point(&r->j->texts, (uint32_t)c);
	return 0;
}

static int read_escape(struct reader *r)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	char c = r->at < r->end ? *r->at++ : 0;
	const char *at = c ? strchr(letters, c) : NULL;

	if (c == 'u')
		return read_unicode(r);
	if (!at)
		return wrong(r, "an unknown escape");
	dw_buf_putc(&r->j->texts, meant[at - letters]);
	return 0;
}

/* A string, from its first quote on. */
static int read_string(struct reader *r, size_t *ret)
{
	int rc = 0;

	if (!is_next(r, '"'))
		return wrong(r, "a string is missing");
	r->at++;
	*ret = r->j->texts.len;
	while (!rc && r->at < r->end && *r->at != '"') {
		if ((unsigned char)*r->at < ' ')
			return wrong(r, "a control character");
		if (*r->at != '\\') {
			dw_buf_putc(&r->j->texts, *r->at++);
			continue;
		}
		r->at++;
		rc = read_escape(r);
	}
	if (rc)
		return rc;
	if (!is_next(r, '"'))
		return wrong(r, "a string does not end");
	r->at++;
	dw_buf_putc(&r->j->texts, 0);
	return r->j->texts.failed ? no_memory(r) : 0;
}

static void skip_digits(struct reader *r)
{
	while (is_digit(r))
		r->at++;
}

static int read_number(struct reader *r, size_t *ret)
{
	const char *begin = r->at;

	r->at += is_next(r, '-');
	if (!is_digit(r))
		return wrong(r, "no value");
	if (is_next(r, '0'))
		r->at++;
	else
		skip_digits(r);
	if (is_next(r, '.')) {
		r->at++;
		if (!is_digit(r))
			return wrong(r, "a digit is missing");
		skip_digits(r);
	}
	if (is_next(r, 'e') || is_next(r, 'E')) {
		r->at++;
		r->at += is_next(r, '+') || is_next(r, '-');
		if (!is_digit(r))
			return wrong(r, "a digit is missing");
		skip_digits(r);
	}
	*ret = r->j->texts.len;
	dw_buf_put(&r->j->texts, begin, (size_t)(r->at - begin));
	dw_buf_putc(&r->j->texts, 0);
	return r->j->texts.failed ? no_memory(r) : 0;
}

static bool take_word(struct reader *r, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n))
		return false;
	r->at += n;
	return true;
}

static int read_value(struct reader *r, size_t key, uint32_t *ret);

/* Members up to @last, of which each has a key if that is a brace. */
static int read_members(struct reader *r, uint32_t owner, char last)
{
	uint32_t before = 0, at = 0;
	int rc = 0;

	r->at++;
	skip_blanks(r);
	if (is_next(r, last)) {
		r->at++;
		return 0;
	}
	for (;;) {
		size_t key = SIZE_MAX;

		skip_blanks(r);
		if (last == '}') {
			rc = read_string(r, &key);
			skip_blanks(r);
			if (!rc && !is_next(r, ':'))
				rc = wrong(r, "a colon is missing");
			r->at += !rc;
		}
		rc = rc ? rc : read_value(r, key, &at);
		if (rc)
			return rc;
		*(before ? &r->j->values.v[before].next : &r->j->values.v[owner].first) = at;
		before = at;
		skip_blanks(r);
		if (is_next(r, last)) {
			r->at++;
			return 0;
		}
		if (!is_next(r, ','))
			return wrong(r, "a comma is missing");
		r->at++;
	}
}

static int read_value(struct reader *r, size_t key, uint32_t *ret)
{
	struct dw_json_value v = {.key = key};
	int rc = 0;

	skip_blanks(r);
	if (r->depth == DWELL_JSON_DEPTH_MAX || r->j->values.n >= DWELL_JSON_VALUES_MAX)
		return wrong(r, "too much");
	*ret = (uint32_t)r->j->values.n;
	if (is_next(r, '{'))
		v.kind = DWELL_JSON_OBJECT;
	else if (is_next(r, '['))
		v.kind = DWELL_JSON_ARRAY;
	else if (is_next(r, '"')) {
		v.kind = DWELL_JSON_STRING;
		rc = read_string(r, &v.text);
	} else if (take_word(r, "true"))
		v.kind = DWELL_JSON_TRUE;
	else if (take_word(r, "false"))
		v.kind = DWELL_JSON_FALSE;
	else if (!take_word(r, "null")) {
		v.kind = DWELL_JSON_NUMBER;
		rc = read_number(r, &v.text);
	}
	if (!rc && dw_vec_push(&r->j->values, v))
		rc = no_memory(r);
	if (rc || (v.kind != DWELL_JSON_OBJECT && v.kind != DWELL_JSON_ARRAY))
		return rc;
	r->depth++;
	rc = read_members(r, *ret, v.kind == DWELL_JSON_OBJECT ? '}' : ']');
	r->depth--;
	return rc;
}

int dw_json_read(struct dw_json *j, const char *text, size_t n, struct dw_error *err)
{
	struct reader r = {.j = j, .at = text, .begin = text, .end = text + n, .err = err};
	uint32_t root;
	int rc;

	*j = (struct dw_json){0};
	if (n > DWELL_JSON_BYTES_MAX)
		return dw_error_set(err, DWELL_ERR_FORMAT, "too long");
	if (dw_vec_push(&j->values, (struct dw_json_value){0}))
		return no_memory(&r);
	rc = read_value(&r, SIZE_MAX, &root);
	skip_blanks(&r);
	return !rc && r.at < r.end ? wrong(&r, "more than one value") : rc;
}

const struct dw_json_value *dw_json_get(const struct dw_json *j, const struct dw_json_value *object,
					const char *key)
{
	const struct dw_json_value *found = NULL;

	if (!object || object->kind != DWELL_JSON_OBJECT)
		return NULL;
	for (uint32_t i = object->first; i; i = dw_json_at(j, i)->next)
		if (!strcmp(dw_buf_str(&j->texts) + dw_json_at(j, i)->key, key))
			found = dw_json_at(j, i);
	return found && found->kind != DWELL_JSON_NULL ? found : NULL;
}

const char *dw_json_text(const struct dw_json *j, const struct dw_json_value *v)
{
	if (!v || (v->kind != DWELL_JSON_STRING && v->kind != DWELL_JSON_NUMBER))
		return NULL;
	return dw_buf_str(&j->texts) + v->text;
}

bool dw_json_whole(const struct dw_json *j, const struct dw_json_value *v, uint64_t *ret)
{
	const char *text = v && v->kind == DWELL_JSON_NUMBER ? dw_json_text(j, v) : NULL;
	char *end;
	unsigned long long n;

	if (!text || *text == '-')
		return false;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (*end || errno)
		return false;
	*ret = n;
	return true;
}

void dw_json_release(struct dw_json *j)
{
	dw_vec_release(&j->values);
	dw_buf_release(&j->texts);
}
