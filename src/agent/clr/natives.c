/*
 * Native code; see natives.h.
 *
 * A library may go and another come to its place: what was inferred of an address counts only while
 * the loader says the same of it as when it was inferred. Rows stay: what comes again finds its own
 * by its file and address.
 */
#include "agent/clr/natives.h"

#include "agent/clr/ids.h"
#include "agent/clr/tables.h"
#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

#include <link.h>

enum { MODULES = 1024, PATH_BYTES = 1024, SVMA_BITS = 44 };

/* What the loader gives (struct dl_find_object). */
struct found {
	uint64_t flags;
	uint64_t start, end;
	const struct link_map *map;
	uint64_t index;
	uint64_t reserved[7];
};

typedef int find_fn(void *address, struct found *ret);

struct module {
	struct found found;
	uint32_t row;
	uint32_t unused;
};

struct natives {
	find_fn *find;
	struct module *modules; /* MODULES of them */
	uint32_t modules_n;
	struct dw_ids ips;    /* return address -> index in modules */
	struct dw_ids frames; /* module's row, svma -> frame */
};

static struct natives natives;

bool dw_natives_start(void)
{
	natives.find = (find_fn *)dw_loader_first("_dl_find_object");
	natives.modules = dw_agent_memory(MODULES * sizeof(*natives.modules));
	return natives.find && natives.modules;
}

/* The module of the return address @ip. */
static bool find(uint64_t ip, struct found *ret)
{
	return natives.find && !natives.find((void *)(ip - 1), ret) && ret->map;
}

bool dw_natives_has(uint64_t ip)
{
	struct found found;

	return find(ip, &found);
}

bool dw_natives_frame_rule(uint64_t ip, uint32_t *ret)
{
	struct dw_cfi_range range;
	struct found found;

	if (!find(ip, &found) || !found.index)
		return false;
	range = (struct dw_cfi_range){found.start, found.end, found.index};
	return dw_cfi_frame_rule(&range, ip, ret);
}

/* The path of @map's file, NULL = it has none. @room has PATH_BYTES. */
static const char *path_of(const struct link_map *map, char *room)
{
	long n;

	if (map->l_name[0])
		return map->l_name[0] == '/' ? map->l_name : NULL;
	n = dw_syscall(SYS_readlink, "/proc/self/exe", room, PATH_BYTES - 1);
	room[n > 0 ? n : 0] = 0;
	return n > 0 && n < PATH_BYTES - 1 ? room : NULL;
}

/* Whether @path is that of @m. */
static bool has_path(const struct module *m, const char *path)
{
	const struct dw_clr_module *row = dw_table_row(DWELL_CLR_MODULES, m->row);
	const char *known = dw_table_row(DWELL_CLR_TEXTS, row->path.at);
	uint32_t i = 0;

	while (i < row->path.bytes && path[i] == known[i])
		i++;
	return i == row->path.bytes && !path[i];
}

/* Whether the loader says of @m what it said when it was named. */
static bool is_same(const struct module *m, const struct found *now, const char *path)
{
	const struct found *then = &m->found;

	return then->start == now->start && then->end == now->end && then->map == now->map &&
	       then->index == now->index && has_path(m, path);
}

/* The row of the module at @path: that which has it already, or a new one. 0 = no room. */
static uint32_t row_of(const char *path)
{
	size_t bytes = dw_text_length(path);
	struct dw_clr_module *row;
	struct dw_clr_text text;
	uint32_t at;

	for (uint32_t i = 0; i < natives.modules_n; i++)
		if (has_path(&natives.modules[i], path))
			return natives.modules[i].row;
	text = dw_tables_add_text(path, bytes);
	at = text.at ? dw_table_take_inside(DWELL_CLR_MODULES, 1) : 0;
	if (!at)
		return 0;
	row = dw_table_row(DWELL_CLR_MODULES, at);
	row->is_native = 1;
	row->path.bytes = text.bytes;
	__atomic_store_n(&row->path.at, text.at, __ATOMIC_RELEASE);
	return at;
}

/* The index of the module @found, which has @path. MODULES = no room. Inside dw_agent_enter(). */
static uint32_t module_of(const struct found *found, const char *path)
{
	uint32_t i = 0, row;

	while (i < natives.modules_n && !is_same(&natives.modules[i], found, path))
		i++;
	if (i < natives.modules_n || i == MODULES)
		return i;
	row = row_of(path);
	if (!row)
		return MODULES;
	natives.modules[i] = (struct module){*found, row, 0};
	natives.modules_n++;
	return i;
}

/* A new frame, 0 = no room. */
static uint32_t add_frame(uint32_t module, uint64_t svma)
{
	uint32_t at = dw_table_take_inside(DWELL_CLR_NATIVES, 1);
	uint32_t row = at ? dw_table_take_inside(DWELL_CLR_FRAMES, 1) : 0;
	struct dw_clr_native *native = dw_table_row(DWELL_CLR_NATIVES, at);
	struct dw_clr_frame *frame = dw_table_row(DWELL_CLR_FRAMES, row);

	if (!row)
		return 0;
	native->svma = svma;
	__atomic_store_n(&native->module, module, __ATOMIC_RELEASE);
	frame->il_offset = DWELL_CLR_IL_NATIVE;
	__atomic_store_n(&frame->function, at, __ATOMIC_RELEASE);
	return row;
}

/* The frame at @svma of module @i, 0 = no room. Inside dw_agent_enter(). */
static uint32_t frame_at(uint32_t i, uint64_t svma)
{
	uint64_t key = (uint64_t)natives.modules[i].row << SVMA_BITS | svma;
	const struct dw_id *id = dw_ids_find(&natives.frames, key);
	uint32_t row = id ? id->value : add_frame(natives.modules[i].row, svma);

	if (row && !id)
		dw_ids_put(&natives.frames, key, row, 0);
	return row;
}

/* Note the module of @ip: its index, MODULES = none. *@ret_row: the frame there, if wanted. */
static uint32_t note(uint64_t ip, uint32_t *ret_row)
{
	uint32_t i = MODULES;
	char room[PATH_BYTES];
	struct found found;
	const char *path;
	uint64_t svma;

	if (!find(ip, &found))
		return MODULES;
	path = path_of(found.map, room);
	svma = ip - found.map->l_addr;
	if (!path || svma >> SVMA_BITS || !dw_agent_enter())
		return MODULES;
	i = module_of(&found, path);
	if (i < MODULES && !dw_ids_put(&natives.ips, ip, i, 0))
		i = MODULES;
	if (i < MODULES && ret_row)
		*ret_row = frame_at(i, svma);
	dw_agent_leave();
	return i;
}

uint32_t dw_natives_frame(uint64_t ip)
{
	uint32_t row = 0;

	note(ip, &row);
	return row ? row : DWELL_CLR_FRAME_NATIVE;
}

bool dw_natives_note(uint64_t ip)
{
	return note(ip, NULL) < MODULES;
}

bool dw_natives_is(uint32_t row)
{
	const struct dw_clr_frame *frame = dw_table_row(DWELL_CLR_FRAMES, row);

	return row && row < DWELL_CLR_FRAME_ROOT && frame->il_offset == DWELL_CLR_IL_NATIVE;
}

bool dw_natives_is_current(uint64_t ip)
{
	const struct dw_id *id = dw_ids_find(&natives.ips, ip);
	const struct module *m = id ? &natives.modules[id->value] : NULL;
	struct found found;

	if (!id)
		return !find(ip, &found);
	/* The program itself stays. */
	return find(ip, &found) && (!found.map->l_name[0] || is_same(m, &found, found.map->l_name));
}

void dw_natives_forget(void)
{
	dw_ids_remove(&natives.ips, NULL, 0);
}
