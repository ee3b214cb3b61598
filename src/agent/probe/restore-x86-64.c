/*
 * Giving a module its own text back; see restore.h.
 *
 * The file is mapped apart and compared with the text, whose patches are undone in a copy. It then
 * moves over the text in one step. Only jumps in padding that hops lead to stay, since a task may
 * stand between the two.
 */
#include "agent/probe/restore.h"

#include "agent/core/bytes.h"
#include "agent/core/elf-file.h"
#include "agent/core/exec.h"
#include "agent/core/memory.h"
#include "agent/core/syscall-x86-64.h"
#include "agent/probe/text.h"

#include <link.h>

/* Map the file's text at @to, writable. False: it cannot be had. */
static bool map_text(const struct dw_area *a, void *to)
{
	const struct link_map *map = a->link_map;
	int fd = dw_sys_open(*map->l_name ? map->l_name : "/proc/self/exe",
			     O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	uint64_t offset;
	struct stat st;
	bool is_there;

	if (fd < 0)
		return false;
	offset = dw_elf_file_offset(fd, a->text - map->l_addr);
	/* Its last page may end behind the file. */
	is_there = offset && offset % DWELL_PAGE_BYTES == 0 && !dw_sys_fstat(fd, &st) &&
		   offset + a->text_bytes - DWELL_PAGE_BYTES < (uint64_t)st.st_size &&
		   dw_is_mapped(dw_sys_mmap(to, a->text_bytes, PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_FIXED, fd, offset));
	dw_sys_close(fd);
	return is_there;
}

/* Whether the text is @own but for what we have patched. */
static bool is_own(const struct dw_area *a, const uint8_t *own)
{
	uint8_t *copy = dw_agent_memory(a->text_bytes);
	bool is_same;

	if (!copy)
		return false;
	memcpy(copy, (const void *)a->text, a->text_bytes);
	dw_text_undo(a, copy);
	dw_exec_unpatch(a->text, a->text_bytes, copy);
	is_same = !memcmp(copy, own, a->text_bytes);
	dw_agent_memory_free(copy, a->text_bytes);
	return is_same;
}

/* Let the file's text take the place of the module's. */
static bool replace_text(const struct dw_area *a)
{
	uint8_t *own = dw_agent_addresses(a->text_bytes);
	bool is_done;

	if (!own)
		return false;
	is_done = map_text(a, own) && is_own(a, own);
	if (is_done) {
		/* Else a fork copies what has been read, where a landing is written beside it. */
		dw_syscall(SYS_madvise, own, a->text_bytes, MADV_DONTNEED);
		dw_text_keep_landings(a, own);
		is_done = !dw_sys_mprotect(own, a->text_bytes, PROT_READ | PROT_EXEC) &&
			  dw_is_mapped((void *)dw_syscall(SYS_mremap, own, a->text_bytes,
							  a->text_bytes,
							  MREMAP_MAYMOVE | MREMAP_FIXED, a->text));
	}
	if (!is_done || dw_agent_addresses_take_back(own, a->text_bytes))
		dw_agent_addresses_free(own, a->text_bytes);
	return is_done;
}

/* Mark the pages of the image's tables that relocation has written to. */
static void mark_relocated(const struct dw_area *a, uint8_t *pages)
{
	for (int kind = 0; kind < DWELL_RELOCATIONS; kind++) {
		const struct dw_clone_part *part = &a->header->relocations[kind];
		const uint32_t *at = (const uint32_t *)(a->area + part->at);

		for (uint32_t i = 0; i < part->n; i++) {
			uint32_t first = at[i] / DWELL_PAGE_BYTES;
			uint32_t last = (at[i] + 7) / DWELL_PAGE_BYTES;

			if (at[i] < a->bytes - 7) {
				pages[first / 8] |= (uint8_t)(1 << first % 8);
				pages[last / 8] |= (uint8_t)(1 << last % 8);
			}
		}
	}
}

/* Let go of the tables' pages that are as in the image's file, which nobody ever changes: each that
 * is mapped is copied by a fork, as the mapping has pages that were written to. */
static void drop_tables(const struct dw_area *a)
{
	uint64_t n = a->bytes / DWELL_PAGE_BYTES, first, end;
	uint8_t *pages = dw_agent_memory(n / 8 + 1);

	if (!pages)
		return;
	mark_relocated(a, pages);
	for (first = a->header->wiped_at / DWELL_PAGE_BYTES + 1; first < n; first = end + 1) {
		for (end = first; end < n && !(pages[end / 8] >> end % 8 & 1);)
			end++;
		if (end > first)
			dw_syscall(SYS_madvise, a->area + first * DWELL_PAGE_BYTES,
				   (end - first) * DWELL_PAGE_BYTES, MADV_DONTNEED);
	}
	dw_agent_memory_free(pages, n / 8 + 1);
}

void dw_restore_module(struct dw_area *area)
{
	size_t bytes = area->header->functions.n / 8 + 1;
	uint8_t *left = area->left || !area->link_map ? NULL : dw_agent_memory(bytes);

	if (left && replace_text(area)) {
		memset(left, 0xff, bytes);
		__atomic_store_n(&area->left, left, __ATOMIC_RELEASE);
	} else {
		dw_agent_memory_free(left, bytes);
	}
	drop_tables(area);
}
