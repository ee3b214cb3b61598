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

void dw_restore_module(struct dw_area *area)
{
	if (!area->left && area->link_map && replace_text(area))
		__atomic_store_n(&area->is_restored, true, __ATOMIC_RELEASE);
}
