/*
 * Runtimes in registries; see dotnet-registry.h. A rundown tells of all code that there is, so one
 * is asked for at the beginning, others when samples lie in code that the last one did not know,
 * less and less often, and one at the end. A process that ends itself has told of code that was
 * there some seconds before.
 */
#include "collect/jit/dotnet-registry.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "collect/jit/jit.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WAIT_FIRST_NS 250000000ull
#define WAIT_MOST_NS  4000000000ull
#define END_MOST_NS   3000000000ull
/* A rundown takes the process some 10 ns of processor time a byte: about a hundredth of it. */
#define WAIT_NS_A_BYTE 1000

enum {
	SILENCE_MS = 500,
	PATH_BYTES = 4096,
	ASSEMBLIES_MAX = 4096,
};

static struct dw_dotnet_process dotnet_of(const struct dw_jit_process *p)
{
	return (struct dw_dotnet_process){p->pid, p->where.ns_pid, p->where.owner, p->where.own};
}

/* What @p executes. The caller frees it. NULL = it is gone. */
static char *program_of(const struct dw_jit_process *p)
{
	char link[32], path[PATH_BYTES];
	ssize_t n;

	snprintf(link, sizeof link, "/proc/%d/exe", (int)p->pid);
	n = readlink(link, path, sizeof path);
	return n > 0 && n < (ssize_t)sizeof path ? strndup(path, (size_t)n) : NULL;
}

static void begin_rundown(struct dw_jit_process *p, uint64_t now_ns)
{
	const struct dw_dotnet_process dotnet = dotnet_of(p);
	struct dw_dotnet_registry *d = &p->dotnet;

	if (dw_dotnet_trace_begin(&d->trace, &dotnet))
		return;
	d->rundowns++;
	d->is_coming = true;
	d->wait_ns = d->wait_ns ? 2 * d->wait_ns : WAIT_FIRST_NS;
	if (d->wait_ns > WAIT_MOST_NS)
		d->wait_ns = WAIT_MOST_NS;
	d->next_ns = now_ns + d->wait_ns;
}

void dw_jit_dotnet_begin(struct dw_jit_process *p)
{
	const struct dw_dotnet_process dotnet = dotnet_of(p);
	struct dw_dotnet_registry *d = &p->dotnet;

	if (!p->jit->asks_dotnet)
		return;
	if (d->map_fd < 0 && p->file.fd < 0) {
		d->map_fd = dw_dotnet_ask_map(&dotnet);
		if (d->map_fd >= 0)
			p->search_wait_ns = 0;
	}
	if (d->rundowns)
		return;
	begin_rundown(p, dw_clock_ns(CLOCK_MONOTONIC));
	d->program = d->rundowns ? program_of(p) : NULL;
}

int dw_jit_dotnet_want(struct dw_jit_process *p, const struct dw_code_piece *code)
{
	const struct dw_dotnet_open row = {*code, p->dotnet.rundowns};

	return p->dotnet.rundowns ? dw_vec_push(&p->dotnet.open, row) : 0;
}

void dw_jit_dotnet_more(struct dw_jit_process *p)
{
	const struct dw_dotnet_process dotnet = dotnet_of(p);

	dw_dotnet_trace_more(&p->dotnet.trace, &dotnet);
}

/* Lines of module @module may be found by the assembly @path. */
static int note_assembly(struct dw_jit_process *p, uint32_t module, const char *path)
{
	struct dw_jit_assembly row = {.module = module, .owner = p->where.owner};
	int rc = dw_strings_adds(&p->jit->functions.texts, path, &row.path);

	dw_vec_each(known, &p->jit->il_of) {
		if (known->module == module && known->path == row.path)
			return rc;
	}
	if (rc || p->jit->il_of.n >= ASSEMBLIES_MAX)
		return rc;
	return dw_vec_push(&p->jit->il_of, row);
}

/* The same, where it may be in the program itself. */
static int note_assemblies(struct dw_jit_process *p, uint32_t module, const char *path)
{
	const char *slash = strrchr(path, '/');
	dw_auto(dw_buf) inside = DW_BUF_INIT;
	int rc = note_assembly(p, module, path);

	if (rc || !p->dotnet.program)
		return rc;
	dw_buf_printf(&inside, "%s/%s", p->dotnet.program, slash ? slash + 1 : path);
	return inside.failed ? -ENOMEM : note_assembly(p, module, dw_buf_str(&inside));
}

/* Find what @open comes from. *@ret_more = a later rundown may tell. */
static int find(struct dw_jit_process *p, const struct dw_dotnet_open *open, bool *ret_more)
{
	const struct dw_dotnet_registry *d = &p->dotnet;
	const struct dw_code_piece *code = &open->code;
	const struct dw_jit_piece *piece = &p->pieces.v[code->row];
	const struct dw_dotnet_method *method =
		dw_dotnet_methods_find(&d->methods, code->start, code->end - code->start);
	const char *path = method ? dw_dotnet_methods_path(&d->methods, method) : NULL;
	uint32_t module;
	int rc;

	*ret_more = !method && (d->is_coming || open->rundowns >= d->rundowns);
	if (!path || !method->token || !method->il_n)
		return 0;
	module = p->jit->functions.rows.v[piece->function - 1].module;
	rc = note_assemblies(p, module, path);
	return rc ? rc : dw_jit_ils_add(&p->jit->ils, &d->methods, method, module, piece->svma);
}

/* Look for those that are open, from row @first on. */
static int find_from(struct dw_jit_process *p, size_t first)
{
	struct dw_dotnet_registry *d = &p->dotnet;
	size_t n = first;
	int rc = 0;

	for (size_t i = first; i < d->open.n && !rc; i++) {
		bool more;

		rc = find(p, &d->open.v[i], &more);
		if (more)
			d->open.v[n++] = d->open.v[i];
	}
	d->open.n = d->open_seen = n;
	return rc;
}

/* Take in the rundown that has come. */
static int take_rundown(struct dw_jit_process *p, uint64_t now_ns)
{
	struct dw_dotnet_registry *d = &p->dotnet;
	size_t n = 0;
	const void *stream = dw_dotnet_trace_stream(&d->trace, &n);
	int rc = 0;

	d->is_coming = false;
	if (now_ns + n * WAIT_NS_A_BYTE > d->next_ns)
		d->next_ns = now_ns + n * WAIT_NS_A_BYTE;
	dw_dotnet_methods_release(&d->methods);
	if (stream)
		rc = dw_dotnet_methods_read(&d->methods, stream, n);
	dw_dotnet_trace_release(&d->trace);
	return rc ? rc : find_from(p, 0);
}

int dw_jit_dotnet_find(struct dw_jit_process *p, uint64_t now_ns)
{
	struct dw_dotnet_registry *d = &p->dotnet;
	int rc;

	if (d->is_coming && d->trace.fd < 0)
		rc = take_rundown(p, now_ns);
	else
		rc = find_from(p, d->open_seen);
	if (!rc && d->open.n && !d->is_coming && now_ns >= d->next_ns)
		begin_rundown(p, now_ns);
	return rc;
}

/* Take the rundown that comes. False: its end did not come. */
static bool wait_for_last(struct dw_jit_process *p)
{
	const uint64_t end_ns = dw_clock_ns(CLOCK_MONOTONIC) + END_MOST_NS;
	struct dw_dotnet_trace *t = &p->dotnet.trace;

	dw_jit_dotnet_more(p);
	while (t->fd >= 0 && dw_clock_ns(CLOCK_MONOTONIC) < end_ns) {
		struct pollfd fd = {.fd = t->fd, .events = POLLIN};

		if (poll(&fd, 1, SILENCE_MS) <= 0)
			break;
		dw_jit_dotnet_more(p);
	}
	return t->fd < 0;
}

int dw_jit_dotnet_end(struct dw_jit_process *p)
{
	const struct dw_dotnet_process dotnet = dotnet_of(p);
	struct dw_dotnet_registry *d = &p->dotnet;
	bool answers = true;
	int rc = 0;

	/* One that comes may have begun before the code. */
	for (size_t i = 0; i < 2 && d->open.n && !rc && answers; i++) {
		if (!d->is_coming && !p->is_over)
			begin_rundown(p, 0);
		if (!d->is_coming)
			break;
		answers = wait_for_last(p);
		rc = take_rundown(p, 0);
	}
	if (d->map_fd < 0)
		return rc;
	dw_dotnet_end_map(&dotnet, p->file.fd >= 0);
	close(d->map_fd);
	d->map_fd = -1;
	return rc;
}

void dw_dotnet_registry_release(struct dw_dotnet_registry *d)
{
	if (d->map_fd >= 0)
		close(d->map_fd);
	dw_dotnet_trace_release(&d->trace);
	dw_dotnet_methods_release(&d->methods);
	dw_vec_release(&d->open);
	free(d->program);
	*d = (struct dw_dotnet_registry)DW_DOTNET_REGISTRY_INIT;
}
