/*
 * The region of a fork's child.
 *
 * It goes on with its parent's mappings until its first slow path, which finds the wiped page
 * zeroed. Then it gets a file of its own, mapped over the parent's at the same addresses, so that
 * no pointer that is held anywhere changes; where that fails, zeroed memory that nobody reads. What
 * executes another program before that never makes a region.
 */
#include "agent/core/region-internal.h"

#include "agent/core/memory.h"
#include "agent/core/syscall-x86-64.h"
#include "agent/core/threads.h"

#include <errno.h>
#include <linux/kcmp.h>

static void inherit_chunk(struct dw_region_header *header, uint32_t i)
{
	const struct dw_region_chunk *chunk = &dw_agent.chunks[i].chunk;

	header->chunks[i] = *chunk;
	if (chunk->kind == DWELL_CHUNK_COUNTS && header->modules[chunk->module].counts)
		header->modules[chunk->module].counts = chunk->at;
}

/* Copy the parent's modules and chunks, as they were at the fork, to the child's @header. */
static void inherit(struct dw_region_header *header)
{
	const struct dw_region_header *parent = dw_agent.region;

	for (uint32_t i = 0; i < dw_agent.module_n; i++) {
		header->modules[i] = parent->modules[i];
		if (header->modules[i].state == DWELL_MODULE_ASKED) /* by a thread left behind */
			header->modules[i].state = DWELL_MODULE_LATE;
	}
	header->module_n = dw_agent.module_n;
	header->system_calls_seen = parent->system_calls_seen;
	memcpy(header->probe_cost, parent->probe_cost, sizeof(header->probe_cost));
	header->pass_cost = parent->pass_cost;
	for (uint32_t i = 0; i < dw_agent.chunk_n; i++)
		inherit_chunk(header, i);
	header->chunk_n = dw_agent.chunk_n;
}

/* Whether the child's @header has memory for what it gets of the parent. */
static bool has_room(const struct dw_region_header *header)
{
	return dw_region_have(header, header->modules,
			      dw_agent.module_n * sizeof(*header->modules)) &&
	       dw_region_have(header, header->answers,
			      dw_agent.module_n * sizeof(*header->answers)) &&
	       dw_region_have(header, header->chunks, dw_agent.chunk_n * sizeof(*header->chunks));
}

/* Put the file's header and chunks in the place of the parent's. */
static bool replace(int fd)
{
	uint64_t bytes = dw_whole_pages(sizeof(struct dw_region_header));
	void *room = dw_agent_addresses(bytes);
	struct dw_region_header *header = room ? dw_map_file(room, bytes, fd, 0) : NULL;
	bool is_whole = header && dw_is_mapped(header) && has_room(header);
	const struct dw_agent_chunk *chunk;

	if (is_whole) {
		inherit(header);
		dw_region_fill(header, true);
		is_whole = dw_is_mapped(dw_map_file(dw_agent.region, bytes, fd, 0));
	}
	/* Not before: the collector takes who has it not mapped for another process. */
	dw_agent_addresses_free(room, bytes);
	for (uint32_t i = 0; i < dw_agent.chunk_n && is_whole; i++) {
		chunk = &dw_agent.chunks[i];
		is_whole = dw_is_mapped(
			dw_map_file(chunk->mapped, chunk->chunk.bytes, fd, chunk->chunk.at));
	}
	return is_whole;
}

/* Let go of the parent's region: this process is not measured. */
static void forsake(void)
{
	dw_agent.is_on = false;
	dw_region_window_close();
	dw_map_memory(dw_agent.region, dw_whole_pages(sizeof(*dw_agent.region)));
	for (uint32_t i = 0; i < dw_agent.chunk_n; i++)
		dw_map_memory(dw_agent.chunks[i].mapped, dw_agent.chunks[i].chunk.bytes);
}

/*
 * Whether this task shares its memory with its parent: the child of a vfork() that a fork's child
 * called before its own first slow path.
 */
static bool is_borrower(void)
{
	long parent = dw_syscall(SYS_getppid);

	return parent != (long)dw_agent.pid &&
	       dw_syscall(SYS_kcmp, dw_sys_getpid(), parent, KCMP_VM, 0, 0) == 0;
}

/* The child's region has no arena yet: what follows its chunks moves up. */
static void leave_arena(void)
{
	uint32_t n = 0;

	dw_agent.bytes = dw_whole_pages(sizeof(*dw_agent.region));
	for (uint32_t i = 0; i < dw_agent.chunk_n; i++) {
		if (dw_agent.chunks[i].chunk.kind == DWELL_CHUNK_ARENA)
			continue;
		dw_agent.chunks[n] = dw_agent.chunks[i];
		dw_agent.chunks[n++].chunk.at = dw_agent.bytes;
		dw_agent.bytes += dw_agent.chunks[i].chunk.bytes;
	}
	dw_agent.chunk_n = n;
}

/* This process is one of its own. */
static void become(void)
{
	dw_agent.pid = dw_sys_getpid();
	dw_agent.wiped->is_same_process = 1;
}

static void remake(void)
{
	int fd;
	bool is_whole;

	leave_arena();
	fd = dw_agent.is_on ? dw_region_create(dw_agent.bytes) : -EPERM;
	is_whole = fd >= 0 && replace(fd);
	if (is_whole)
		dw_region_window_again(fd);

	if (!is_whole) {
		dw_agent_drop(DWELL_DROP_CHILDREN); /* in the parent's region */
		if (!dw_agent_is_over())
			dw_agent_drop(DWELL_DROP_CHILD_APART);
		forsake();
	}
	if (fd >= 0)
		dw_sys_close(fd);
	if (fd >= 0 && !is_whole)
		dw_syscall(SYS_unlink, dw_agent.path);
	become();
	if (is_whole)
		dw_agent_part.forked();
	else
		dw_threads_forked(); /* lines of the parent's threads are not ours */
}

void dw_agent_after_fork(void)
{
	if (!dw_agent.wiped || dw_agent.wiped->is_same_process)
		return;
	if (!dw_agent_may_call())
		dw_agent.is_on = false;
	if (!dw_agent_enter())
		return;
	if (!dw_agent.wiped->is_same_process && !is_borrower()) {
		if (dw_agent_is_retired()) /* as its parent, of which it has nothing to replace */
			become();
		else
			remake();
	}
	dw_agent_leave();
}
