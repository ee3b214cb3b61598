/*
 * The C library's execve() leads to ours, so that its own calls of it do.
 *
 * Its code is `mov $59,%eax; syscall; ...`, behind an endbr64 where it was built with one; the mov
 * has just the length of a jump. Other code is left alone, also a jump: another tool's. Where the
 * library runs from clones, the clone of the mov gets the jump too. The page is not changed in
 * place, because making text writable and executable again can be refused half-way (SELinux's
 * execmod, MDWE): a copy gets the jump, becomes executable, and then takes the page's place in one
 * step. No byte is ever writable and executable. The copy is one of the library's file where
 * that can be had, so that /proc/self/maps still tells whose code it is.
 */
#include "agent/core/agent-internal.h"
#include "agent/core/elf-file.h"
#include "agent/core/exec.h"
#include "agent/core/syscall-x86-64.h"

#include <link.h>

enum { DWELL_PATCH_PAGE = 4096, DWELL_PATCH_JUMP_BYTES = 5 };

static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
static const unsigned char number_59[] = {0xb8, 59, 0, 0, 0}; /* mov $59,%eax */
static const unsigned char syscall[] = {0x0f, 0x05};

static unsigned char *patched; /* in the library, NULL = nothing is */

/* The file's page that stands at @page in @map, private and writable; NULL = it cannot be had, or
 * differs. */
static unsigned char *map_page(const struct link_map *map, const unsigned char *page)
{
	int fd = dw_sys_open(map->l_name, O_RDONLY | O_CLOEXEC, 0);
	unsigned char *copy = NULL;
	uint64_t offset;

	if (fd < 0)
		return NULL;
	offset = dw_elf_file_offset(fd, (uint64_t)page - map->l_addr);
	if (offset && offset % DWELL_PATCH_PAGE == 0)
		copy = dw_sys_mmap(NULL, DWELL_PATCH_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd,
				   offset);
	dw_sys_close(fd);
	if (!copy || !dw_is_mapped(copy))
		return NULL;
	if (!memcmp(copy, page, DWELL_PATCH_PAGE))
		return copy;
	dw_sys_munmap(copy, DWELL_PATCH_PAGE);
	return NULL;
}

/* A writable copy of @page; NULL = no memory. */
static unsigned char *copy_page(const struct link_map *map, const unsigned char *page)
{
	unsigned char *copy = map_page(map, page);

	if (copy)
		return copy;
	copy = dw_sys_mmap(NULL, DWELL_PATCH_PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!dw_is_mapped(copy))
		return NULL;
	memcpy(copy, page, DWELL_PATCH_PAGE);
	return copy;
}

/* Whether execve()'s system call stands at @at, in a clone perhaps behind a call of its probe. */
static bool is_system_call(const unsigned char *at)
{
	const unsigned char *next = at + sizeof(number_59);

	if (memcmp(at, number_59, sizeof(number_59)))
		return false;
	return !memcmp(*next == 0xe8 ? next + 5 : next, syscall, sizeof(syscall));
}

/* Let the system call at @at lead to dw_execve(). */
static bool redirect(const struct link_map *map, unsigned char *at)
{
	size_t offset = (uintptr_t)at % DWELL_PATCH_PAGE;
	int64_t distance = (int64_t)((uintptr_t)dw_execve - (uintptr_t)at) - DWELL_PATCH_JUMP_BYTES;
	int32_t near = (int32_t)distance;
	unsigned char *copy;

	if (!is_system_call(at) || distance != near ||
	    offset > DWELL_PATCH_PAGE - DWELL_PATCH_JUMP_BYTES)
		return false;
	copy = copy_page(map, at - offset);
	if (!copy)
		return false;
	copy[offset] = 0xe9;
	memcpy(copy + offset + 1, &near, sizeof(near));
	if (!dw_sys_mprotect(copy, DWELL_PATCH_PAGE, PROT_READ | PROT_EXEC) &&
	    dw_is_mapped((void *)dw_syscall(SYS_mremap, copy, DWELL_PATCH_PAGE, DWELL_PATCH_PAGE,
					    MREMAP_MAYMOVE | MREMAP_FIXED, at - offset)))
		return true;
	dw_sys_munmap(copy, DWELL_PATCH_PAGE);
	return false;
}

/* Where execve() makes its system call, entered at @entry. */
static unsigned char *behind_endbr64(unsigned char *entry)
{
	return memcmp(entry, endbr64, sizeof(endbr64)) ? entry : entry + sizeof(endbr64);
}

void dw_exec_unpatch(uint64_t text, uint64_t bytes, uint8_t *copy)
{
	uint64_t at = (uintptr_t)patched - text;

	if (patched && at < bytes && bytes - at >= sizeof(number_59))
		memcpy(copy + at, number_59, sizeof(number_59));
}

bool dw_exec_patch(void)
{
	const struct link_map *map = dw_loader_libc();
	unsigned char *entry = map ? dw_loader_find(map, "execve") : NULL, *clone = entry;
	bool is_done;

	if (!entry)
		return false;
	if (dw_agent.is_on && dw_agent_part.running)
		clone = (unsigned char *)dw_agent_part.running((uintptr_t)entry);
	is_done = redirect(map, behind_endbr64(entry));
	if (is_done)
		patched = behind_endbr64(entry);
	return clone == entry ? is_done : redirect(map, behind_endbr64(clone));
}
