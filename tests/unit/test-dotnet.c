/* What .NET runtimes that run already tell: their events, whole, cut and lying, and the way to
 * them, with a runtime that this very process plays. */
#include "check.h"
#include "nettrace-writer.h"

#include "base/clock.h"
#include "base/error.h"
#include "code/clr/nettrace.h"
#include "collect/jit/dotnet-trace.h"
#include "collect/jit/jit.h"
#include "collect/samples/owners.h"
#include "target/proc.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { START = 0x1000, BYTES = 0x40 };

/* Two codes of method 5, one of method 9, which nothing is told of. */
static void put_events(struct dw_buf *b)
{
	put_il(b, 5, 10, 3);
	put_method(b, METHOD, 5, START, BYTES);
	put_il(b, 5, 20, 3);
	put_method(b, METHOD, 5, START + 0x100, BYTES);
	put_il(b, 6, 30, 3);
	put_method(b, METHOD, 9, START + 0x200, BYTES);
	put_method(b, OTHER, 8, START + 0x300, BYTES);
	put_method(b, METHOD, 5, START + 0x400, BYTES);
	put_module(b, 7, "/a/its.dll");
}

static void make(struct dw_buf *b)
{
	struct dw_buf events = DW_BUF_INIT;

	put_events(&events);
	put_stream(b, &events);
	dw_buf_release(&events);
}

/* The IL from which code @offset behind the start of the code at @start comes, -1 = not told. */
static int64_t il_at(const struct dw_dotnet_methods *m, uint64_t start, uint64_t offset)
{
	const struct dw_dotnet_method *method = dw_dotnet_methods_find(m, start, BYTES);
	struct dw_jit_ils ils = {0};
	const struct dw_jit_il *found;
	int64_t il = -1;

	if (!method || dw_jit_ils_add(&ils, m, method, 1, (uint64_t)3 << 32 | 0x80))
		return -1;
	dw_jit_ils_sort(&ils);
	found = dw_jit_ils_find(&ils, ((uint64_t)3 << 32 | 0x80) + offset);
	if (found && method->il_n && found->il >> 32 == method->token)
		il = (uint32_t)found->il;
	dw_jit_ils_release(&ils);
	return il;
}

TEST(methods_by_events)
{
	struct dw_buf b = DW_BUF_INIT;
	struct dw_dotnet_methods m = {0};

	make(&b);
	CHECK_INT(dw_dotnet_methods_read(&m, b.data, b.len), 0);
	CHECK_INT(m.rows.n - 1, 4);
	CHECK_INT(m.il.n, 9);
	CHECK_INT(il_at(&m, START, 0), 0);
	CHECK_INT(il_at(&m, START, 3), 0);
	CHECK_INT(il_at(&m, START, 4), 10);
	CHECK_INT(il_at(&m, START, BYTES - 1), 11);
	CHECK_INT(il_at(&m, START, BYTES), -1);
	CHECK_INT(il_at(&m, START + 0x100, 8), 21);
	CHECK_INT(il_at(&m, START + 0x200, 8), -1);
	CHECK_INT(il_at(&m, START + 0x400, 8), -1);
	CHECK(!dw_dotnet_methods_find(&m, START + 0x300, BYTES));
	CHECK(!dw_dotnet_methods_find(&m, START, BYTES + 1));
	CHECK_STR(dw_dotnet_methods_path(&m, dw_dotnet_methods_find(&m, START, BYTES)),
		  "/a/its.dll");
	dw_dotnet_methods_release(&m);
	dw_buf_release(&b);
}

static int count(void *ctx, const struct dw_nettrace_event *e)
{
	size_t *n = ctx;

	(*n)++;
	return e->payload ? 0 : DWELL_ERR_FORMAT;
}

/* A stream that ends early tells what it has whole, one that does not is read to its end. */
TEST(streams_that_end_early)
{
	struct dw_buf b = DW_BUF_INIT;
	size_t all = 0;

	make(&b);
	CHECK_INT(dw_nettrace_read(b.data, b.len, TEST_PROVIDER, count, &all), 0);
	CHECK_INT(all, 8);
	for (size_t n = 0; n < b.len; n++) {
		uint8_t *cut = malloc(n + !n);
		size_t some = 0;

		memcpy(cut, b.data, n);
		CHECK_INT(dw_nettrace_read(cut, n, TEST_PROVIDER, count, &some), 0);
		CHECK(some == (n < b.len - 2 ? 0 : all));
		free(cut);
	}
	dw_buf_release(&b);
}

/* Whatever a byte says: what is found lies in the stream, and no more is kept than that has. */
TEST(streams_that_lie)
{
	struct dw_buf b = DW_BUF_INIT;

	make(&b);
	for (size_t at = 0; at < b.len; at++) {
		for (int bit = 0; bit < 8; bit++) {
			struct dw_dotnet_methods m = {0};
			uint8_t *lie = malloc(b.len);

			memcpy(lie, b.data, b.len);
			lie[at] ^= (uint8_t)(1 << bit);
			CHECK_INT(dw_dotnet_methods_read(&m, lie, b.len), 0);
			CHECK(m.rows.n * 36 < b.len + 36);
			CHECK(m.il.n * 8 < b.len);
			free(lie);
			dw_dotnet_methods_release(&m);
		}
	}
	dw_buf_release(&b);
}

TEST(numbers_that_lie)
{
	struct dw_buf events = DW_BUF_INIT, b = DW_BUF_INIT;
	struct dw_dotnet_methods m = {0};

	put_il(&events, 5, 20, UINT16_MAX);
	put_method(&events, METHOD, 5, START, BYTES);
	put_il(&events, 6, 20, 3);
	put_method(&events, METHOD, 6, UINT64_MAX, UINT32_MAX);
	put_method(&events, METHOD, 0, START + 0x100, 6);
	put_stream(&b, &events);
	CHECK_INT(dw_dotnet_methods_read(&m, b.data, b.len), 0);
	CHECK_INT(m.rows.n - 1, 3);
	CHECK_INT(m.rows.v[1].il_n, 0);
	CHECK_INT(m.rows.v[2].il_n, 3);
	CHECK(!dw_dotnet_methods_path(&m, &m.rows.v[1]));
	dw_dotnet_methods_release(&m);
	dw_buf_release(&events);
	dw_buf_release(&b);
}

TEST(other_versions)
{
	struct dw_buf b = DW_BUF_INIT;
	size_t n = 0;

	put_stream_head(&b);
	begin_object(&b, "Later", 5);
	CHECK_INT(dw_nettrace_read(b.data, b.len, TEST_PROVIDER, count, &n), DWELL_ERR_UNSUPPORTED);
	dw_buf_clear(&b);
	dw_buf_puts(&b, "Nettrace");
	for (size_t i = 0; i < 8; i++)
		put_number(&b, 6, 4);
	CHECK_INT(dw_nettrace_read(b.data, b.len, TEST_PROVIDER, count, &n), DWELL_ERR_UNSUPPORTED);
	CHECK_INT(n, 0);
	dw_buf_release(&b);
}

TEST(texts)
{
	static const uint16_t wide[] = {'a', 0xe9, 0x20ac, 0xd83d, 0xde00, 0xd83d, 'b', 0xdc00, 0};
	struct dw_buf text = DW_BUF_INIT;
	struct dw_cursor c;

	dw_cursor_init(&c, wide, sizeof wide);
	dw_nettrace_text(&c, &text);
	CHECK(!c.failed && !dw_cursor_left(&c));
	CHECK_STR(dw_buf_str(&text), "a\u00e9\u20ac\U0001f600\ufffdb\ufffd");
	dw_cursor_init(&c, wide, sizeof wide - 1);
	dw_nettrace_text(&c, NULL);
	CHECK(c.failed);
	dw_buf_release(&text);
}

/* How the runtime behaves. */
enum manner { NEWER, OLDER, REFUSES, SILENT, LEAVES };

struct runtime {
	enum manner manner;
	int listens;
	int traces[8]; /* where streams go, by session */
	size_t sessions;
	size_t stopped;
};

static void answer(int fd, uint8_t id, const void *content, size_t n)
{
	struct dw_dotnet_head head = {"DOTNET_IPC_V1", (uint16_t)(sizeof head + n), 0xff, id, 0};
	struct dw_buf b = DW_BUF_INIT;

	dw_buf_put(&b, &head, sizeof head);
	dw_buf_put(&b, content, n);
	send(fd, b.data, b.len, MSG_NOSIGNAL);
	dw_buf_release(&b);
}

static void send_stream(int fd)
{
	struct dw_buf b = DW_BUF_INIT;

	make(&b);
	/* In two pieces. */
	send(fd, b.data, 50, MSG_NOSIGNAL);
	send(fd, b.data + 50, b.len - 50, MSG_NOSIGNAL);
	dw_buf_release(&b);
	close(fd);
}

/* Do what the request of @n bytes at @bytes asks for. */
static void serve(struct runtime *r, int fd, const uint8_t *bytes, size_t n)
{
	const bool knows = bytes[17] == 3 || (bytes[17] == 4 && r->manner == NEWER);
	const uint32_t unknown = 0x80131385;
	uint64_t session = r->sessions;

	if (n < 20 || r->manner == SILENT || bytes[16] != 2)
		return;
	if (r->manner == LEAVES) {
		close(fd);
	} else if (bytes[17] == 1) {
		memcpy(&session, bytes + 20, sizeof session);
		answer(fd, 0, &session, sizeof session);
		r->stopped++;
		if (session < r->sessions)
			send_stream(r->traces[session]);
	} else if (!knows || r->manner == REFUSES || r->sessions == 8) {
		answer(fd, 0xff, &unknown, sizeof unknown);
		close(fd);
	} else {
		answer(fd, 0, &session, sizeof session);
		r->traces[r->sessions++] = fd;
	}
}

static void *play(void *ctx)
{
	struct runtime *r = ctx;
	uint8_t bytes[512];
	int fd;

	while ((fd = accept(r->listens, NULL, NULL)) >= 0) {
		ssize_t n = recv(fd, bytes, sizeof bytes, 0);

		if (n > 0)
			serve(r, fd, bytes, (size_t)n);
	}
	return NULL;
}

/* Attach to a runtime of @manner: the IL of the code at START + 4 in *@ret_il, how many sessions it
 * has ended in *@ret_stopped. */
static bool attach(enum manner manner, uint64_t *ret_il, size_t *ret_stopped)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct runtime runtime = {.manner = manner};
	struct dw_owners owners = {0};
	struct dw_profile profile = {0};
	struct dw_jit_symbol symbol = {0};
	struct dw_jit jit;
	struct dw_jit_process *registry;
	struct dw_proc_stat st;
	struct dw_frame frame;
	const struct dw_owner *own = dw_owners_self(&owners);
	char map[48];
	pthread_t thread = 0;
	bool is_other, is_right;
	FILE *f;

	dw_proc_stat_read(getpid(), &st);
	snprintf(address.sun_path, sizeof address.sun_path,
		 "/tmp/dotnet-diagnostic-%d-%" PRIu64 "-socket", (int)getpid(), st.start_ticks);
	snprintf(map, sizeof map, "/tmp/perf-%d.map", (int)getpid());
	unlink(address.sun_path);
	runtime.listens = socket(AF_UNIX, SOCK_STREAM, 0);
	is_right = !bind(runtime.listens, (struct sockaddr *)&address, sizeof address) &&
		   !listen(runtime.listens, 16) && !pthread_create(&thread, NULL, play, &runtime);
	f = fopen(map, "w");
	fprintf(f, "%x %x void [late] Type::Method()[Tier0]\n", START, BYTES);
	fclose(f);
	dw_jit_init(&jit, &profile);
	jit.asks_dotnet = true;
	registry = dw_jit_begin(&jit, getpid(), own, own);
	dw_jit_look(&jit);
	is_right &= !dw_jit_update(registry, 0, dw_clock_ns(CLOCK_MONOTONIC), &is_other) &&
		    !dw_jit_frame(registry, START + 4, dw_clock_ns(CLOCK_MONOTONIC), &frame) &&
		    !dw_jit_finish(&jit) &&
		    dw_jit_symbolize(&jit, frame.module, frame.svma, &symbol) &&
		    !strcmp(symbol.name, "Type.Method");
	*ret_il = symbol.il_module == frame.module ? symbol.il : 0;
	if (symbol.il_module)
		is_right &= !strcmp(dw_strings_get(&jit.functions.texts, jit.il_of.v[0].path),
				    "/a/its.dll");
	shutdown(runtime.listens, SHUT_RDWR);
	if (thread)
		pthread_join(thread, NULL);
	*ret_stopped = runtime.stopped;
	close(runtime.listens);
	unlink(address.sun_path);
	unlink(map);
	dw_jit_release(&jit);
	dw_owners_release(&owners);
	dw_profile_release(&profile);
	return is_right;
}

TEST(runtimes_that_are_asked)
{
	static const struct {
		enum manner manner;
		uint64_t il;
		size_t stopped;
	} all[] = {
		{NEWER, (uint64_t)5 << 32 | 10, 1},
		{OLDER, (uint64_t)5 << 32 | 10, 1},
		{REFUSES, 0, 0},
		{SILENT, 0, 0},
		{LEAVES, 0, 0},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		uint64_t il;
		size_t stopped;

		CHECK(attach(all[i].manner, &il, &stopped));
		CHECK_INT(il, all[i].il);
		CHECK_INT(stopped, all[i].stopped);
	}
}

TEST_MAIN()
