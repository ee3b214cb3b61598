/*
 * Changing code without ever having it writable and executable at once.
 *
 * A program with one task and no child has its text made writable, patched, and made executable
 * again: 45,000 patches cost the copies of their pages and no more. Else each patch is written
 * through /proc/self/mem, which changes no rights and leaves the text its file's. Where that is
 * refused, all of the text becomes a copy. That others are not in the function just then is the
 * caller's to know. Clones, which may be running, are changed in a copy of their pages that takes
 * their place at once.
 *
 * Kernels that refuse executable memory (MDWE, SELinux, system-call filters) refuse only the last
 * step, so the whole way is tried beforehand on a page of its own.
 */
#include "agent/clones/text.h"

#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

#include <errno.h>

enum { JUMP = 0xe9, HOP = 0xeb, HOP_BYTES = 2 };

static const struct dw_clone_patch *patches(const struct dw_area *area)
{
	return (const struct dw_clone_patch *)(area->area + area->header->patches.at);
}

void dw_text_write_jump(uint8_t bytes[static DWELL_JUMP_BYTES], uint64_t at, uint64_t to)
{
	int32_t distance = (int32_t)(to - (at + DWELL_JUMP_BYTES));

	bytes[0] = JUMP;
	__builtin_memcpy(bytes + 1, &distance, sizeof distance);
}

/* What @p writes; the number of bytes. */
static size_t patch_bytes(const struct dw_area *area, const struct dw_clone_patch *p,
			  uint8_t ret[static DWELL_JUMP_BYTES])
{
	if (p->kind == DWELL_PATCH_HOP) {
		ret[0] = HOP;
		ret[1] = (uint8_t)p->target;
		return HOP_BYTES;
	}
	dw_text_write_jump(ret, area->module + p->at, area->area + p->target);
	return DWELL_JUMP_BYTES;
}

static bool is_there(const uint8_t *at, const uint8_t *bytes, size_t n)
{
	while (n > 0 && at[n - 1] == bytes[n - 1])
		n--;
	return !n;
}

static void put(uint8_t *at, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		at[i] = bytes[i];
}

int dw_text_may_change(const char *path)
{
	int fd = dw_sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	void *place = dw_agent_addresses(DWELL_PAGE_BYTES);
	uint8_t *page;
	int error;

	page = place ? dw_sys_mmap(place, DWELL_PAGE_BYTES, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_FIXED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0)
		     : (void *)-ENOMEM;
	if (fd >= 0)
		dw_sys_close(fd);
	error = dw_is_mapped(page) ? 0 : (int)(long)page;
	if (!error) {
		*(volatile uint8_t *)page = JUMP;
		error = dw_sys_mprotect(page, DWELL_PAGE_BYTES, PROT_READ | PROT_EXEC);
	}
	dw_agent_addresses_free(place, DWELL_PAGE_BYTES);
	return error;
}

int dw_text_check(const struct dw_area *area)
{
	const struct dw_clone_patch *p = patches(area), *end = p + area->header->patches.n;
	uint64_t first = area->text - area->module;

	for (; p < end; p++) {
		size_t n = p->kind == DWELL_PATCH_HOP ? HOP_BYTES : DWELL_JUMP_BYTES;

		if (p->at < first || p->at + n > first + area->text_bytes ||
		    (p->kind == DWELL_PATCH_JUMP && p->target >= area->bytes) ||
		    !is_there((const uint8_t *)area->module + p->at, p->old, n))
			return -ESTALE;
	}
	return 0;
}

bool dw_text_is_patched(const struct dw_area *area)
{
	uint8_t bytes[DWELL_JUMP_BYTES];
	size_t n;

	if (!area->header->patches.n || area->is_restored || area->left)
		return true;
	n = patch_bytes(area, patches(area), bytes);
	return is_there((const uint8_t *)area->module + patches(area)->at, bytes, n);
}

/* Put all patches of @ctx, an area, to @text: what its module has, or a copy. */
static void put_all(void *ctx, uint8_t *text)
{
	const struct dw_area *area = ctx;
	const struct dw_clone_patch *p = patches(area), *end = p + area->header->patches.n;
	uint8_t bytes[DWELL_JUMP_BYTES];

	for (; p < end; p++) {
		size_t n = patch_bytes(area, p, bytes);

		put(text + (area->module + p->at - area->text), bytes, n);
	}
}

static int patch_alone(struct dw_area *area)
{
	int error = dw_sys_mprotect((void *)area->text, area->text_bytes, PROT_READ | PROT_WRITE);

	if (error)
		return error;
	put_all(area, (uint8_t *)area->text);
	return dw_sys_mprotect((void *)area->text, area->text_bytes, PROT_READ | PROT_EXEC);
}

/* Write all patches through @fd or, with @is_undo, what they replaced in the first @n of them. */
static int write_through(const struct dw_area *area, int fd, uint32_t n, bool is_undo)
{
	const struct dw_clone_patch *p = patches(area);
	uint8_t bytes[DWELL_JUMP_BYTES];

	for (uint32_t i = 0; i < n; i++, p++) {
		size_t size = patch_bytes(area, p, bytes);
		long written = dw_syscall(SYS_pwrite64, fd, is_undo ? p->old : bytes, size,
					  area->module + p->at);

		if (written == (long)size || is_undo)
			continue;
		write_through(area, fd, i, true);
		return written < 0 ? (int)written : -EIO;
	}
	return 0;
}

int dw_text_patch(struct dw_area *area, bool is_alone)
{
	int fd, error;

	if (is_alone)
		return patch_alone(area);
	fd = dw_sys_open("/proc/self/mem", O_RDWR | O_CLOEXEC, 0);
	error = fd < 0 ? fd : write_through(area, fd, area->header->patches.n, false);
	if (fd >= 0)
		dw_sys_close(fd);
	return error ? dw_text_swap(area->text, area->text_bytes, put_all, area) : 0;
}

void dw_text_restore(const struct dw_area *area, const uint8_t *functions, uint32_t first,
		     uint32_t end)
{
	const struct dw_clone_patch *p = patches(area), *last = p + area->header->patches.n;

	for (; p < last; p++) {
		uint32_t n = p->kind == DWELL_PATCH_HOP ? HOP_BYTES : DWELL_JUMP_BYTES;

		if (functions[p->function / 8] >> (p->function % 8) & 1 && p->at >= first &&
		    p->at + n <= end)
			put((uint8_t *)area->module + p->at, p->old, n);
	}
}

void dw_text_undo(const struct dw_area *area, uint8_t *copy)
{
	const struct dw_clone_patch *p = patches(area), *end = p + area->header->patches.n;

	for (; p < end; p++)
		put(copy + (area->module + p->at - area->text), p->old,
		    p->kind == DWELL_PATCH_HOP ? HOP_BYTES : DWELL_JUMP_BYTES);
}

void dw_text_keep_landings(const struct dw_area *area, uint8_t *copy)
{
	const struct dw_clone_patch *p = patches(area), *end = p + area->header->patches.n;

	for (; p < end; p++) {
		uint64_t at = area->module + p->at + HOP_BYTES + (uint64_t)(int8_t)p->target;

		if (p->kind == DWELL_PATCH_HOP && at >= area->text &&
		    at + DWELL_JUMP_BYTES <= area->text + area->text_bytes)
			put(copy + (at - area->text), (const uint8_t *)at, DWELL_JUMP_BYTES);
	}
}

/* Let @copy, which may be NULL, take the place of [@at, @at + @bytes), of which it becomes a copy
 * that @edit changes. 0 or -errno. */
static int swap(uint64_t at, uint64_t bytes, uint8_t *copy, void (*edit)(void *ctx, uint8_t *copy),
		void *ctx)
{
	long moved;

	if (!copy)
		return -ENOMEM;
	__builtin_memcpy(copy, (const void *)at, bytes);
	if (edit)
		edit(ctx, copy);
	moved = dw_sys_mprotect(copy, bytes, PROT_READ | PROT_EXEC);
	if (!moved)
		moved = dw_syscall(SYS_mremap, copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
				   at);
	if (moved < 0 && moved >= -4095) {
		dw_agent_memory_free(copy, bytes);
		return (int)moved;
	}
	if (dw_agent_addresses_take_back(copy, bytes))
		dw_agent_memory_free(copy, bytes);
	return 0;
}

int dw_text_swap(uint64_t at, uint64_t bytes, void (*edit)(void *ctx, uint8_t *copy), void *ctx)
{
	return swap(at, bytes, dw_agent_memory(bytes), edit, ctx);
}

int dw_text_share(uint64_t at, uint64_t bytes, void (*edit)(void *ctx, uint8_t *copy), void *ctx)
{
	return swap(at, bytes, dw_agent_memory_shared(bytes), edit, ctx);
}

/* The run of pages of @n with a bit in @pages that begins at *@first or behind it: its end, which
 * is *@first when there is none. */
static uint64_t next_run(const uint8_t *pages, uint64_t n, uint64_t *first)
{
	uint64_t end;

	while (*first < n && !(pages[*first / 8] >> *first % 8 & 1))
		++*first;
	for (end = *first; end < n && pages[end / 8] >> end % 8 & 1;)
		end++;
	return end;
}

/* Let the runs of @copy take their places, unless there is an @error already, and give it back. */
static int move_runs(uint64_t at, uint8_t *copy, const uint8_t *pages, uint64_t n, int error)
{
	uint64_t first = 0, end, bytes;
	bool is_ours = true;
	long moved;

	for (; !error && (end = next_run(pages, n, &first)) > first; first = end) {
		bytes = (end - first) * DWELL_PAGE_BYTES;
		moved = dw_syscall(SYS_mremap, copy + first * DWELL_PAGE_BYTES, bytes, bytes,
				   MREMAP_MAYMOVE | MREMAP_FIXED, at + first * DWELL_PAGE_BYTES);
		if (moved < 0 && moved >= -4095)
			error = (int)moved;
		else
			is_ours &= dw_agent_addresses_take_back(copy + first * DWELL_PAGE_BYTES,
								bytes);
	}
	if (is_ours)
		dw_agent_memory_free(copy, n * DWELL_PAGE_BYTES);
	return error;
}

int dw_text_swap_pages(uint64_t at, uint64_t bytes, const uint8_t *pages,
		       void (*edit)(void *ctx, uint8_t *copy), void *ctx)
{
	uint64_t n = bytes / DWELL_PAGE_BYTES, first = 0, end;
	uint8_t *copy = dw_agent_memory(bytes);
	int error;

	if (!copy)
		return -ENOMEM;
	while ((end = next_run(pages, n, &first)) > first) {
		__builtin_memcpy(copy + first * DWELL_PAGE_BYTES,
				 (const void *)(at + first * DWELL_PAGE_BYTES),
				 (end - first) * DWELL_PAGE_BYTES);
		first = end;
	}
	edit(ctx, copy);
	error = dw_sys_mprotect(copy, bytes, PROT_READ | PROT_EXEC);
	return move_runs(at, copy, pages, n, error);
}
