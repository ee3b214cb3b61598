/*
 * Finding modules, asking for their images, following the loader.
 *
 * Everything is done from within dl_iterate_phdr(), which keeps the loader from unmapping what is
 * looked at; the agent's own lock is taken inside, never around it. A module is patched when no
 * code of it can be running: at the start, or when the dlopen() that brought it is about to return
 * and its constructors have started no thread. What a failed or foreign dlopen() brings is
 * remembered as known and left alone.
 */
#include "agent/clones/modules.h"

#include "agent/clones/area.h"
#include "agent/clones/clones.h"
#include "agent/clones/text.h"
#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/slow.h"
#include "agent/core/syscall-x86-64.h"
#include "wire/identity.h"

#include <errno.h>
#include <link.h>

extern struct r_debug _r_debug __attribute__((weak));
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

typedef int visit(struct dl_phdr_info *info, size_t size, void *ctx);

/* Visit every module; what the program's own callers of dl_iterate_phdr() do not see. */
static void each(visit *visitor, void *ctx)
{
	__typeof__(&dl_iterate_phdr) iterate = DW_REAL(dl_iterate_phdr);
	bool is_own = dw_slow_begin_own((uint64_t)__builtin_frame_address(0));

	if (iterate)
		iterate(visitor, ctx);
	dw_slow_end_own(is_own);
}

/* Whether no image is wanted: this agent, the loader, and the vDSO, which has no file. */
static bool is_exempt(const struct dl_phdr_info *info, const struct dw_module *m)
{
	uint64_t self = (uint64_t)__ehdr_start, loader = &_r_debug ? _r_debug.r_ldbase : 0;

	return !m->bytes || self - m->start < m->bytes || loader - m->start < m->bytes ||
	       dw_text_after(info->dlpi_name, "linux-vdso") ||
	       dw_text_after(info->dlpi_name, "linux-gate");
}

static bool is_known(uint64_t start)
{
	for (uint32_t i = 0; i < dw_probe.known_n; i++)
		if (dw_probe.known[i] == start)
			return true;
	return false;
}

/* The open area beside the module that starts at @start. */
static struct dw_area *area_of(uint64_t start)
{
	for (uint32_t i = 0; i < dw_probe.area_n; i++)
		if (dw_probe.areas[i].module == start && !dw_probe.areas[i].is_closed)
			return &dw_probe.areas[i];
	return NULL;
}

/* The path that the collector finds the module by. */
static void name_module(struct dw_region_module *r, const char *name)
{
	long n;

	r->is_main = !*name;
	if (!r->is_main) {
		dw_text_append(r->path, sizeof r->path, name);
		return;
	}
	n = dw_syscall(SYS_readlink, "/proc/self/exe", r->path, sizeof r->path - 1);
	if (n < 0 || n >= (long)sizeof r->path - 1)
		n = 0; /* unreadable or cut */
	r->path[n] = '\0';
}

/* The entry of a module that was closed and is opened again: its image and its counts are there. */
static struct dw_region_module *find_closed(const char *path, const struct dw_module *m,
					    uint64_t hash)
{
	for (uint32_t i = 0; i < dw_probe.module_n; i++) {
		struct dw_region_module *r = &dw_agent_region()->modules[i];

		if (r->state == DWELL_MODULE_CLOSED && r->headers_hash == hash &&
		    r->bytes == m->bytes && dw_text_equal(r->path, path))
			return r;
	}
	return NULL;
}

/* Whether the region can tell of module @i and be answered. */
static bool has_entry(uint32_t i)
{
	const struct dw_region_header *region = dw_agent_region();

	return i < DWELL_REGION_MODULES &&
	       dw_agent_have(&region->modules[i], sizeof(*region->modules)) &&
	       dw_agent_have(&region->answers[i], sizeof(*region->answers));
}

/* Fill in an entry of the region for a module that has just been found. */
static int announce(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct dw_module m = dw_module_read(info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum);
	struct dw_region_module *r;
	uint64_t hash;

	(void)size;
	(void)ctx;
	if (is_exempt(info, &m) || is_known(m.start) || area_of(m.start))
		return 0;
	hash = dw_identity_hash(DWELL_HASH_INIT, m.headers, m.headers_n * sizeof(*m.headers));
	r = find_closed(info->dlpi_name, &m, hash);
	if (!r && !has_entry(dw_probe.module_n)) {
		dw_agent_drop(DWELL_DROP_MODULES);
		return 0;
	}
	if (!r) {
		r = &dw_agent_region()->modules[dw_probe.module_n++];
		name_module(r, info->dlpi_name);
	}
	r->start = m.start;
	r->bytes = m.bytes;
	r->headers_hash = hash;
	r->loaded_ns = dw_sys_now_ns();
	r->state = DWELL_MODULE_ASKED;
	return 0;
}

/* Whether nobody else runs the code. At the start there is nobody, and /proc may not be there to
 * ask. */
static bool is_alone(void)
{
	return !dw_probe.is_started || dw_agent_is_alone();
}

/* Whether @m is the C library, and its system calls are seen in the image with @probes. */
static bool tells_system_calls(const struct dw_module *m, uint32_t probes)
{
	const struct link_map *libc = dw_loader_libc();

	return libc && (uint64_t)libc->l_ld - m->start < m->bytes &&
	       (probes == DWELL_PROBES_SYSTEM_CALLS || probes == DWELL_PROBES_TIME);
}

/* Wait for the image of an announced module and let the module run from it. */
static void clone_module(const struct dw_module *m, uint32_t i, bool started_no_thread)
{
	struct dw_region_module *r = &dw_agent_region()->modules[i];
	const char *image = NULL;
	uint32_t state, error;

	if (!dw_agent_answer(i, &image) ||
	    dw_text_length_max(image, DWELL_REGION_PATH) == DWELL_REGION_PATH)
		return;
	error = started_no_thread ? 0 : EBUSY;
	state = error ? DWELL_MODULE_REFUSED : dw_area_open(m, image, is_alone(), i, &error);
	r->error = state == DWELL_MODULE_REFUSED ? error : 0;
	r->area = state == DWELL_MODULE_CLONED ? area_of(m->start)->area : 0;
	if (r->area && tells_system_calls(m, area_of(m->start)->header->probes))
		dw_agent_region()->system_calls_seen = 1;
	__atomic_store_n(&r->state, state, __ATOMIC_RELEASE);
}

/* Clone the module if it has been announced just now. */
static int clone_new(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const bool *started_no_thread = ctx;
	struct dw_module m = dw_module_read(info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum);

	(void)size;
	for (uint32_t i = 0; i < dw_probe.module_n && m.bytes; i++) {
		struct dw_region_module *r = &dw_agent_region()->modules[i];

		if (r->start != m.start || r->state != DWELL_MODULE_ASKED || !dw_agent_enter())
			continue;
		clone_module(&m, i, *started_no_thread);
		dw_agent_leave();
		break;
	}
	return 0;
}

/* Both passes over what the loader lists: first all are told to the collector, so that it works on
 * several at once, then each is waited for. */
static void clone_unknown(bool started_no_thread)
{
	uint32_t first = dw_probe.module_n;

	each(announce, NULL);
	if (dw_probe.module_n > first && dw_agent_enter()) {
		dw_agent_ask(first, dw_probe.module_n - first);
		dw_agent_leave();
	}
	each(clone_new, &started_no_thread);
}

static int count_adds(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	*(uint64_t *)ctx = info->dlpi_adds;
	return 1;
}

void dw_modules_start(void)
{
	clone_unknown(true);
	dw_probe.is_started = true;
}

static int remember(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct dw_module m = dw_module_read(info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum);

	(void)size;
	(void)ctx;
	if (dw_probe.known_n == DWELL_KNOWN)
		return 1;
	dw_probe.known[dw_probe.known_n++] = m.start;
	return 0;
}

void dw_modules_remember(void)
{
	dw_probe.known_n = 0;
	each(count_adds, &dw_probe.adds);
	each(remember, NULL);
}

void dw_modules_opened(bool started_no_thread)
{
	uint64_t adds = dw_probe.adds;

	if (dw_agent_is_over())
		return;
	each(count_adds, &adds);
	if (adds == dw_probe.adds || dw_probe.known_n == DWELL_KNOWN)
		return;
	dw_modules_closed();
	clone_unknown(started_no_thread);
}

/* Mark the area of a module that is still there by the number of this walk in *@ctx, 0 at its first
 * module. The loader's lock makes walks follow each other, so what one has found stays found while
 * another thread's begins. */
static int mark_seen(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct dw_module m = dw_module_read(info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum);
	struct dw_area *a = area_of(m.start);
	uint32_t *walk = ctx;

	(void)size;
	if (!*walk)
		*walk = ++dw_probe.walks;
	if (a && m.bytes == a->module_bytes && dw_text_is_patched(a))
		a->seen = *walk;
	return 0;
}

/* Close the areas that no walk from @walk on has found. */
static void close_absent(uint32_t walk)
{
	for (uint32_t i = 0; i < dw_probe.area_n; i++) {
		struct dw_area *a = &dw_probe.areas[i];

		if (a->seen >= walk || a->is_closed)
			continue;
		dw_agent_region()->modules[a->region_module].state = DWELL_MODULE_CLOSED;
		dw_area_close(a);
	}
}

void dw_modules_closed(void)
{
	uint32_t walk = 0;

	each(mark_seen, &walk);
	if (dw_agent_enter()) {
		close_absent(walk);
		dw_agent_leave();
	}
}
