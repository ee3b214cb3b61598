/*
 * Registries of JIT code; see jit.h.
 *
 * A perf map has no times. A line that was not there at the last look counts from then on: names
 * are written before the code runs, so no sample of the time before lay in it. Where nothing else
 * was told, it counts before as well, for runtimes that write late; those that write at their end
 * name what was not found until then.
 */
#include "collect/jit/jit.h"

#include "base/clock.h"
#include "base/error.h"
#include "code/jit/perf-map.h"
#include "collect/jit/jitdump.h"
#include "target/memory.h"
#include "target/proc.h"
#include "unwind/prolog.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Most runtimes set a frame pointer first and keep it, so all that matters is whether a sample was
 * taken before or after that. .NET has methods without one.
 */

enum { NEXT_BYTES = 32 };

static size_t at_most(uint64_t bytes, size_t room)
{
	return bytes < room ? (size_t)bytes : room;
}

static bool read_begin(const struct dw_jit_where *w, struct dw_jit_begin *begin)
{
	ssize_t n;

	if (begin->n)
		return true;
	n = dw_memory_read(w->pid, w->start, begin->bytes,
			   at_most(w->end - w->start, sizeof begin->bytes));
	begin->n = n > 0 ? (uint8_t)n : 0;
	return begin->n;
}

/* The bytes that are executed next. */
static size_t read_next(const struct dw_jit_where *w, uint8_t *ret)
{
	ssize_t n = dw_memory_read(w->pid, w->avma, ret, at_most(w->end - w->avma, NEXT_BYTES));

	return n > 0 ? (size_t)n : 0;
}

static void dotnet_row(const struct dw_jit_where *w, const struct dw_jit_begin *begin,
		       const uint8_t *next, size_t next_n, struct dw_cfi_row *ret)
{
	bool is_next = w->place == DWELL_PLACE_NEXT;

	if (is_next && dw_epilog_row(next, next_n, ret))
		return;
	*ret = dw_prolog_row(begin->bytes, begin->n, is_next ? w->avma - w->start : UINT64_MAX,
			     w->place == DWELL_PLACE_LEFT ? DWELL_BASE_STACK : DWELL_BASE_USUAL);
}

/* The row at @where. @begin is that of its piece, read where it is needed. False: none is known. */
static bool jit_rows_find(const struct dw_jit_where *w, struct dw_jit_begin *begin,
			  struct dw_cfi_row *ret)
{
	bool is_next = w->place == DWELL_PLACE_NEXT;
	uint8_t next[NEXT_BYTES];
	size_t next_n;

	if (!is_next && !w->is_dotnet)
		return false;
	next_n = is_next ? read_next(w, next) : 0;
	if (!read_begin(w, begin))
		return false;
	if (!w->is_dotnet)
		return dw_framed_row((struct dw_code_bytes){begin->bytes, begin->n},
				     w->avma - w->start, (struct dw_code_bytes){next, next_n}, ret);
	dotnet_row(w, begin, next, next_n, ret);
	return true;
}

#define SEARCH_FIRST_NS 20000000ull
#define SEARCH_MOST_NS	1000000000ull
#define TEXT_MAX_BYTES	(64u << 20) /* of one process */

enum {
	NAME_MAX_BYTES = 4096,
};

void dw_jit_init(struct dw_jit *j, struct dw_profile *p)
{
	*j = (struct dw_jit){.functions.p = p, .born_ns = (int64_t)dw_clock_ns(CLOCK_REALTIME)};
}

void dw_jit_look(struct dw_jit *j)
{
	j->look++;
	dw_vec_each(p, &j->processes)
		dw_jit_dotnet_more(*p);
}

size_t dw_jit_poll_fds(const struct dw_jit *j, struct pollfd *fds, size_t room)
{
	size_t n = 0;

	dw_vec_each(p, &j->processes)
		if ((*p)->dotnet.trace.fd >= 0 && n < room)
			fds[n++] = (struct pollfd){.fd = (*p)->dotnet.trace.fd, .events = POLLIN};
	return n;
}

struct dw_jit_process *dw_jit_begin(struct dw_jit *j, pid_t pid, const struct dw_owner *owner,
				    const struct dw_owner *own)
{
	struct dw_jit_process *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->jit = j;
	p->pid = pid;
	p->where = (struct dw_map_place){pid, owner, own, j->born_ns};
	dw_proc_ns_pid(pid, &p->where.ns_pid);
	dw_proc_born_ns(pid, &p->where.born_ns);
	p->file = (struct dw_map_file)DW_MAP_FILE_INIT;
	p->dump = (struct dw_dump_file)DW_DUMP_FILE_INIT;
	p->map.told_late = true;
	p->dotnet = (struct dw_dotnet_registry)DW_DOTNET_REGISTRY_INIT;
	p->index = j->processes.n;
	if (dw_vec_push(&p->pieces, (struct dw_jit_piece){0}) || dw_vec_push(&j->processes, p)) {
		dw_vec_release(&p->pieces);
		free(p);
		return NULL;
	}
	return p;
}

static void free_process(struct dw_jit_process *p)
{
	dw_dotnet_registry_release(&p->dotnet);
	dw_jit_assemblies_release(&p->assemblies);
	dw_map_file_close(&p->file);
	dw_dump_file_close(&p->dump);
	dw_map_release(&p->by_index);
	dw_jit_open_release(&p->open);
	dw_code_map_release(&p->map);
	dw_vec_release(&p->pieces);
	dw_buf_release(&p->texts);
	free(p);
}

void dw_jit_use_dump(struct dw_jit_process *p, const struct dw_perf_mapping *mapping)
{
	const struct dw_dump_owner who = {p->pid, p->where.owner, p->where.own};

	p->jit->maps += !dw_dump_file_open(&p->dump, &who, mapping);
}

int dw_jit_keep_name(struct dw_jit_process *p, const char *name, size_t n,
		     struct dw_jit_piece *piece)
{
	if (n > NAME_MAX_BYTES)
		n = NAME_MAX_BYTES;
	if (p->texts.len + n > TEXT_MAX_BYTES)
		n = 0;
	piece->name_at = p->texts.len;
	piece->name_n = (uint32_t)n;
	return dw_buf_put(&p->texts, name, n);
}

/* Whether the piece that @line tells of is known already: from an earlier line, or from the dump,
 * which knows more. */
static bool is_known(const struct dw_jit_process *p, const struct dw_perf_map_line *line)
{
	const struct dw_code_piece *known = dw_code_map_find(&p->map, line->start, UINT64_MAX);
	const struct dw_jit_piece *piece;

	if (!known || known->start != line->start || known->end != line->start + line->bytes)
		return false;
	piece = &p->pieces.v[known->row];
	return p->by_index.used ||
	       (piece->name_n == line->name_n &&
		!memcmp(dw_buf_str(&p->texts) + piece->name_at, line->name, line->name_n));
}

static int take_line(void *ctx, const struct dw_perf_map_line *line)
{
	struct dw_jit_process *p = ctx;
	const struct dw_code_piece code = {line->start, line->start + line->bytes, p->told_ns,
					   (uint32_t)p->pieces.n};
	struct dw_jit_piece piece = {0};
	int rc;

	if (is_known(p, line))
		return 0;
	if (p->pieces.n >= DWELL_JIT_PIECES_MAX) {
		p->jit->dropped++;
		return 0;
	}
	rc = dw_jit_keep_name(p, line->name, line->name_n, &piece);
	if (!rc)
		rc = dw_vec_push(&p->pieces, piece);
	return rc ? rc : dw_code_map_add(&p->map, &code);
}

/* Read what has been written since the last look, @last: there is no other. */
static int read_more(struct dw_jit_process *p, bool last)
{
	uint64_t now_ns = dw_clock_ns(CLOCK_MONOTONIC);
	int rc = dw_jit_read_dump(p);

	if (!rc)
		rc = dw_code_map_merge(&p->map);
	/* V8's dump has all that its map has, and more, but later; .NET's may end early. */
	if (!rc && (last || !p->dump.header.is_v8))
		rc = dw_map_file_more(&p->file, take_line, p);
	p->told_ns = now_ns;
	return rc ? rc : dw_code_map_merge(&p->map);
}

/* Look for a map, or another one than before, where addresses are not found. */
static void search(struct dw_jit_process *p, uint64_t now_ns)
{
	if (now_ns < p->search_at_ns)
		return;
	if (!dw_map_file_open(&p->file, &p->where)) {
		p->jit->maps++;
		p->search_wait_ns = 0;
	}
	dw_jit_dotnet_begin(p);
	p->search_wait_ns = p->search_wait_ns ? 2 * p->search_wait_ns : SEARCH_FIRST_NS;
	if (p->search_wait_ns > SEARCH_MOST_NS)
		p->search_wait_ns = SEARCH_MOST_NS;
	p->search_at_ns = now_ns + p->search_wait_ns;
}

int dw_jit_update(struct dw_jit_process *p, uint32_t anon, uint64_t time_ns, bool *is_other)
{
	const struct dw_code_map *map = &p->map;
	int rc = 0;

	*is_other = false;
	p->anon = anon;
	if (p->look != p->jit->look) {
		p->look = p->jit->look;
		if (p->has_missed || p->file.fd < 0)
			search(p, time_ns);
		rc = read_more(p, false);
		if (!rc)
			rc = dw_jit_dotnet_find(p, dw_clock_ns(CLOCK_MONOTONIC));
		/* What had no name may have one now. */
		if (p->has_missed && p->pieces.n > p->pieces_asked) {
			*is_other = true;
			p->has_missed = false;
		}
	}
	for (; p->changes_seen < map->changes.n && map->changes.v[p->changes_seen] <= time_ns;
	     p->changes_seen++)
		*is_other = true;
	return rc;
}

/* Give the piece of @code a function, if it has none. */
static int name_piece(struct dw_jit_process *p, const struct dw_code_piece *code)
{
	struct dw_jit_functions *functions = &p->jit->functions;
	struct dw_jit_piece *piece = &p->pieces.v[code->row];
	const struct dw_jit_teller who = {p->pid, &p->assemblies};
	int rc;

	if (piece->function)
		return 0;
	rc = dw_jit_functions_add(functions, &who, dw_buf_str(&p->texts) + piece->name_at,
				  piece->name_n, &piece->function);
	if (rc)
		return rc;
	piece->svma = dw_jit_functions_place(functions, piece->function, code->end - code->start);
	rc = dw_jit_read_lines(p, piece, code);
	return rc ? rc : dw_jit_dotnet_want(p, code);
}

/* A frame at @avma, which nothing is known of. Where there is a dump that will tell, it is open. */
static int unknown_frame(struct dw_jit_process *p, uint64_t avma, uint64_t time_ns,
			 struct dw_frame *ret)
{
	struct dw_frame frame = {.kind = DWELL_FRAME_CODE};
	int rc = DWELL_ERR_NOT_FOUND;

	p->has_missed = true;
	p->pieces_asked = (uint32_t)p->pieces.n;
	if (p->dump.fd >= 0 || p->dotnet.map_fd >= 0)
		rc = dw_jit_pending_add(&p->jit->pendings, &p->open, avma, time_ns, &frame.svma);
	if (!rc)
		rc = dw_jit_functions_module(&p->jit->functions, &frame.module);
	if (!rc)
		*ret = frame;
	p->has_unnamed |= rc != 0;
	return rc == -ENOMEM ? rc : rc ? DWELL_ERR_NOT_FOUND : 0;
}

int dw_jit_frame(struct dw_jit_process *p, uint64_t avma, uint64_t time_ns, struct dw_frame *ret)
{
	const struct dw_code_piece *found = dw_code_map_find(&p->map, avma, time_ns);
	const struct dw_jit_piece *piece;
	int rc;

	if (!found)
		return unknown_frame(p, avma, time_ns, ret);
	rc = name_piece(p, found);
	if (rc)
		return rc == -ENOMEM ? rc : DWELL_ERR_NOT_FOUND;
	piece = &p->pieces.v[found->row];
	*ret = (struct dw_frame){
		.kind = DWELL_FRAME_CODE,
		.module = p->jit->functions.rows.v[piece->function - 1].module,
		.svma = dw_jit_functions_inside(piece->svma, avma - found->start),
	};
	return 0;
}

/* Find out what an open frame was, and keep its name in the profile. */
static int settle(struct dw_jit_process *p, uint32_t row)
{
	struct dw_jit_functions *functions = &p->jit->functions;
	struct dw_jit_pending *pending = &p->jit->pendings.rows.v[row];
	const struct dw_code_piece *found =
		dw_code_map_find(&p->map, pending->avma, pending->time_ns);
	struct dw_alloc_method method = {.token = dw_jit_pending_token(row)};
	const struct dw_jit_piece *piece;
	uint32_t name, id;
	int rc = found ? name_piece(p, found) : DWELL_ERR_NOT_FOUND;

	if (rc)
		return rc == -ENOMEM ? rc : 0;
	piece = &p->pieces.v[found->row];
	pending->svma = dw_jit_functions_inside(piece->svma, pending->avma - found->start);
	name = functions->rows.v[piece->function - 1].name;
	rc = dw_jit_functions_module(functions, &method.module);
	if (!rc)
		rc = dw_strings_add(&functions->p->strings, dw_strings_get(&functions->texts, name),
				    dw_strings_len(&functions->texts, name), &method.name);
	return rc ? rc : dw_allocations_method(&functions->p->allocations, &method, &id);
}

/* Whether there are addresses without a symbol. */
static bool wants_more(const struct dw_jit_process *p)
{
	return p->has_missed || p->has_unnamed || p->open.rows.n;
}

/* Read the files of @p a last time, and settle what is open. */
static int name_open(struct dw_jit_process *p)
{
	int rc;

	p->search_at_ns = 0;
	search(p, dw_clock_ns(CLOCK_MONOTONIC));
	rc = read_more(p, true);
	dw_vec_each(row, &p->open.rows) {
		if (!rc)
			rc = settle(p, *row);
	}
	p->open.rows.n = 0;
	return rc;
}

/* Nothing comes of @p any more: find what can be found. */
static int complete(struct dw_jit_process *p)
{
	int rc = wants_more(p) ? name_open(p) : 0, ended = dw_jit_dotnet_end(p);

	return rc ? rc : ended;
}

/* Whether @name is that of a .NET method: those end in what tier it is of. */
static bool is_dotnet(const char *name, size_t n)
{
	return name && n && name[n - 1] == ']' && memmem(name, n, "] ", 2) &&
	       memmem(name, n, "::", 2);
}

bool dw_jit_row(struct dw_jit_process *p, uint64_t avma, uint64_t time_ns,
		enum dw_space_place place, struct dw_cfi_row *ret)
{
	const struct dw_code_piece *found = dw_code_map_find(&p->map, avma, time_ns);
	struct dw_jit_where where = {.pid = p->pid, .avma = avma, .place = place};
	struct dw_jit_piece *piece;

	if (!found)
		return false;
	piece = &p->pieces.v[found->row];
	where.start = found->start;
	where.end = found->end;
	where.is_dotnet = is_dotnet(dw_buf_str(&p->texts) + piece->name_at, piece->name_n);
	return jit_rows_find(&where, &piece->begin, ret);
}

void dw_jit_end(struct dw_jit_process *p)
{
	struct dw_jit *j = p ? p->jit : NULL;

	if (!p)
		return;
	p->is_over = true;
	if (j->functions.p)
		complete(p);
	dw_map_file_close(&p->file);
	dw_dump_file_close(&p->dump);
	if (p->has_unnamed && p->pieces.n > 1)
		return;
	j->processes.v[p->index] = j->processes.v[--j->processes.n];
	j->processes.v[p->index]->index = p->index;
	free_process(p);
}

int dw_jit_finish(struct dw_jit *j)
{
	int rc = 0;

	dw_vec_each(p, &j->processes) {
		int own = (*p)->is_over ? 0 : complete(*p);

		rc = rc ? rc : own;
	}
	dw_jit_lines_sort(&j->lines);
	dw_jit_ils_sort(&j->ils);
	return rc;
}

void dw_jit_close(struct dw_jit *j)
{
	j->functions.p = NULL;
}

/* The piece at @avma of a process whose code without a file is @module. */
static const struct dw_code_piece *find_late(const struct dw_jit *j, uint32_t module, uint64_t avma,
					     const struct dw_jit_process **ret)
{
	dw_vec_each(p, &j->processes) {
		const struct dw_code_piece *found =
			module && (*p)->anon == module
				? dw_code_map_find(&(*p)->map, avma, UINT64_MAX)
				: NULL;

		*ret = *p;
		if (found)
			return found;
	}
	return NULL;
}

/* Keep @t, so that it ends in a NUL. */
static const char *keep_text(struct dw_jit *j, struct dw_jit_text t)
{
	uint32_t id = 0;

	dw_strings_add(&j->functions.texts, t.at, t.n, &id);
	return dw_strings_get(&j->functions.texts, id);
}

static bool late_symbol(struct dw_jit *j, uint32_t module, uint64_t avma, struct dw_jit_symbol *ret)
{
	const struct dw_jit_process *p;
	const struct dw_code_piece *found = find_late(j, module, avma, &p);
	const struct dw_jit_piece *piece;
	struct dw_jit_name name;

	if (!found)
		return false;
	piece = &p->pieces.v[found->row];
	name = dw_jit_name_read(p->texts.data + piece->name_at, piece->name_n);
	*ret = (struct dw_jit_symbol){
		.name = keep_text(j, name.name),
		.file = keep_text(j, name.file),
		.line = name.line,
		.svma = found->start,
		.bytes = found->end - found->start,
	};
	return true;
}

/* The symbol of a frame that nothing was told of. */
static bool unknown_symbol(struct dw_jit *j, uint64_t svma, uint64_t avma,
			   struct dw_jit_symbol *ret)
{
	char name[32];
	int n = snprintf(name, sizeof name, "[JIT]+0x%" PRIx64, avma);

	*ret = (struct dw_jit_symbol){.name = keep_text(j, (struct dw_jit_text){name, (size_t)n}),
				      .file = "",
				      .svma = svma,
				      .bytes = 1};
	return true;
}

bool dw_jit_symbolize(void *ctx, uint32_t module, uint64_t svma, struct dw_jit_symbol *ret)
{
	struct dw_jit *j = ctx;
	const struct dw_jit_pending *pending = dw_jit_pending_at(&j->pendings, svma);
	const uint64_t at = pending ? pending->svma : svma;
	const struct dw_jit_function *f = dw_jit_functions_at(&j->functions, at);
	const struct dw_jit_line *line;
	const struct dw_jit_il *il;

	if (pending && !f)
		return unknown_symbol(j, svma, pending->avma, ret);
	if (!f || (!pending && f->module != module))
		return late_symbol(j, module, svma, ret);
	line = dw_jit_lines_find(&j->lines, at);
	il = dw_jit_ils_find(&j->ils, at);
	*ret = (struct dw_jit_symbol){
		.module = f->module,
		.name = dw_strings_get(&j->functions.texts, f->name),
		.file = dw_strings_get(&j->functions.texts, f->file),
		.line = f->line,
		.svma = at >> 32 << 32,
		.bytes = f->bytes,
		.at_file = line ? dw_strings_get(&j->functions.texts, line->file) : "",
		.at_line = line ? line->line : 0,
		.at_column = line ? line->column : 0,
		.il_module = il ? il->module : 0,
		.il = il ? il->il : 0,
	};
	return true;
}

void dw_jit_release(struct dw_jit *j)
{
	dw_vec_each(p, &j->processes)
		free_process(*p);
	dw_vec_release(&j->processes);
	dw_vec_release(&j->pendings.rows);
	dw_jit_lines_release(&j->lines);
	dw_jit_ils_release(&j->ils);
	dw_vec_release(&j->il_of);
	dw_jit_functions_release(&j->functions);
}
