/* Streams of events as .NET runtimes send them, for tests. */
#pragma once

#include "base/buf.h"

#include <stdint.h>
#include <string.h>

static void put_number(struct dw_buf *b, uint64_t v, size_t bytes)
{
	dw_buf_put(b, &v, bytes);
}

static void put_wide(struct dw_buf *b, const char *text)
{
	for (size_t i = 0; i <= strlen(text); i++)
		put_number(b, (uint8_t)text[i], 2);
}

static void put_counted(struct dw_buf *b, const char *text)
{
	put_number(b, strlen(text), 4);
	dw_buf_puts(b, text);
}

static void begin_object(struct dw_buf *b, const char *type, uint32_t version)
{
	dw_buf_put(b, "\5\5\1", 3);
	put_number(b, version, 4);
	put_number(b, version, 4);
	put_counted(b, type);
	dw_buf_putc(b, 6);
}

/* An object of @type that holds @events. */
static void put_block(struct dw_buf *b, const char *type, const struct dw_buf *events)
{
	begin_object(b, type, 2);
	put_number(b, events->len + 20, 4);
	while (b->len % 4)
		dw_buf_putc(b, 0);
	put_number(b, 20, 2);
	put_number(b, 1, 2);
	put_number(b, 0, 8);
	put_number(b, 0, 8);
	dw_buf_put(b, events->data, events->len);
	dw_buf_putc(b, 6);
}

static void put_stream_head(struct dw_buf *b)
{
	dw_buf_puts(b, "Nettrace");
	put_counted(b, "!FastSerialization.1");
	begin_object(b, "Trace", 4);
	for (size_t i = 0; i < 6; i++)
		put_number(b, 0, 8);
	dw_buf_putc(b, 6);
}

/* An event of @kind; @with_all of its head's parts. */
static void put_event(struct dw_buf *b, uint32_t kind, const struct dw_buf *payload, int with_all)
{
	dw_buf_putc(b, (char)(1 | 2 | 128 | (with_all ? 4 | 8 | 16 | 32 | 64 : 0)));
	dw_buf_put_uleb(b, kind);
	dw_buf_put_uleb(b, 1);
	dw_buf_put_uleb(b, 4711);
	dw_buf_put_uleb(b, 3);
	if (with_all) {
		dw_buf_put_uleb(b, 4711);
		dw_buf_put_uleb(b, 300);
	}
	dw_buf_put_uleb(b, 1000000);
	for (size_t i = 0; with_all && i < 4; i++)
		put_number(b, 0, 8);
	dw_buf_put_uleb(b, payload->len);
	dw_buf_put(b, payload->data, payload->len);
}

/* Number @kind is event @id of @provider. */
static void put_kind(struct dw_buf *b, uint32_t kind, const char *provider, uint32_t id)
{
	struct dw_buf payload = DW_BUF_INIT;

	put_number(&payload, kind, 4);
	put_wide(&payload, provider);
	put_number(&payload, id, 4);
	put_wide(&payload, "");
	for (size_t i = 0; i < 5; i++)
		put_number(&payload, 0, 4);
	put_event(b, 0, &payload, 0);
	dw_buf_release(&payload);
}

/* Numbers of events. */
enum { METHOD = 1, IL, MODULE, OTHER };

static void put_module(struct dw_buf *b, uint64_t module, const char *path)
{
	struct dw_buf payload = DW_BUF_INIT;

	put_number(&payload, module, 8);
	put_number(&payload, 0, 8);
	put_number(&payload, 0, 8);
	put_wide(&payload, path);
	put_wide(&payload, "");
	put_event(b, MODULE, &payload, 0);
	dw_buf_release(&payload);
}

/* Code of method @id of module 7. */
static void put_method(struct dw_buf *b, uint32_t kind, uint64_t id, uint64_t start, uint32_t bytes)
{
	struct dw_buf payload = DW_BUF_INIT;

	put_number(&payload, id, 8);
	put_number(&payload, 7, 8);
	put_number(&payload, start, 8);
	put_number(&payload, bytes, 4);
	put_number(&payload, 0x6000000 | id, 4);
	put_number(&payload, 0, 4);
	put_wide(&payload, "Type");
	put_event(b, kind, &payload, 1);
	dw_buf_release(&payload);
}

/* From 0 on code of method @id comes from none, from 4 on from @il, from 8 on from @il + 1; it
 * says that there are @n of these. */
static void put_il(struct dw_buf *b, uint64_t id, uint32_t il, uint16_t n)
{
	struct dw_buf payload = DW_BUF_INIT;

	put_number(&payload, id, 8);
	put_number(&payload, 0, 8);
	put_number(&payload, 0, 1);
	put_number(&payload, n, 2);
	put_number(&payload, UINT32_MAX - 1, 4);
	put_number(&payload, il, 4);
	put_number(&payload, il + 1, 4);
	put_number(&payload, 0, 4);
	put_number(&payload, 4, 4);
	put_number(&payload, 8, 4);
	put_event(b, IL, &payload, 0);
	dw_buf_release(&payload);
}

#define TEST_PROVIDER "Microsoft-Windows-DotNETRuntimeRundown"

/* What the numbers of events mean. */
static void put_kinds(struct dw_buf *b)
{
	struct dw_buf events = DW_BUF_INIT;

	put_kind(&events, METHOD, TEST_PROVIDER, 144);
	put_kind(&events, IL, TEST_PROVIDER, 150);
	put_kind(&events, MODULE, TEST_PROVIDER, 154);
	put_kind(&events, OTHER, TEST_PROVIDER "s", 144);
	put_block(b, "MetadataBlock", &events);
	dw_buf_release(&events);
}

/* A whole stream of @events. */
static void put_stream(struct dw_buf *b, const struct dw_buf *events)
{
	struct dw_buf stream = DW_BUF_INIT;

	put_stream_head(&stream);
	put_kinds(&stream);
	put_block(&stream, "StackBlock", &(struct dw_buf)DW_BUF_INIT);
	put_block(&stream, "EventBlock", events);
	dw_buf_putc(&stream, 1);
	dw_buf_put(b, stream.data, stream.len);
	dw_buf_release(&stream);
}
