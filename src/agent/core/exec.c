/*
 * Children get the agent again: what executes a program passes here, with our variables added to
 * the environment of programs that can take the agent.
 *
 * All of the C library's ways to execute a program (execl() to execvpe(), posix_spawn(), system(),
 * popen()) end in its execve(), whose first instruction is therefore made to lead here.
 * execve(), execveat() and fexecve() also stand in for the library's by
 * name, syscall() in limits.c. Programs with system-call instructions of their own have children
 * without the agent.
 *
 * In the process itself the new environment is mapped: success takes the mapping away. But this
 * often runs in a child of vfork() or posix_spawn(), which shares the parent's memory, where a
 * mapping would stay behind: there the environment stands on the stack, of which
 * posix_spawn() gives 32 KB, and is only mapped when it is too large for that. Once the recording
 * is over children run without the agent. Results and errno are those of the plain call: where the
 * kernel finds the longer environment too large, the program runs without the agent, and what
 * cannot be read is left for the kernel to refuse.
 *
 * The library's execve() is `mov $59,%eax; syscall; ...`, behind an endbr64 where it was built with
 * one; the mov has just the length of a jump. Other code is left alone, also a jump: another
 * tool's. Where the library runs from clones, the clone of the mov gets the jump too. The page is
 * not changed in place, because making text writable and executable again can be refused half-way
 * (SELinux's execmod, MDWE): a copy gets the jump, becomes executable, and then takes the page's
 * place in one step. No byte is ever writable and executable. The copy is one of the library's file
 * where that can be had, so that /proc/self/maps still tells whose code it is.
 */
#include "agent/core/exec.h"

#include "agent/core/agent-internal.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

#include <errno.h>
#include <link.h>

enum {
	DWELL_EXEC_SMALL = 1536,  /* bytes of stack for the environment */
	DWELL_EXEC_LARGE = 16384, /* the same in a child, which stands on no alternate stack */
};

/* One call: its words, and which system call it is. */
struct exec {
	struct dw_exec_file file;
	char *const *argv;
	char *const *envp;
	bool is_at;
};

int execve(const char *path, char *const argv[], char *const envp[]);
int execveat(int folder, const char *path, char *const argv[], char *const envp[], int flags);
int fexecve(int fd, char *const argv[], char *const envp[]);

typedef int execve_function(const char *path, char *const argv[], char *const envp[]);
typedef int execveat_function(int folder, const char *path, char *const argv[], char *const envp[],
			      int flags);

static int run(const struct exec *exec, char *const *envp)
{
	const struct dw_exec_file *file = &exec->file;

	if (!exec->is_at)
		return (int)dw_syscall(SYS_execve, file->path, exec->argv, envp);
	return (int)dw_syscall(SYS_execveat, file->folder, file->path, exec->argv, envp,
			       file->flags);
}

static bool is_ours(const char *entry)
{
	for (int i = 0; i < DWELL_AGENT_VARIABLES - 1; i++)
		if (dw_text_after(entry, dw_environment_name(i)))
			return true;
	return dw_agent_part.hides && dw_agent_part.hides(entry);
}

static const char *preload_of(const char *entry)
{
	return dw_text_after(entry, DWELL_ENV_PRELOAD "=");
}

/* Whether the loader shall tell what it loads: the agent is not to be told. */
static bool is_told(char *const *envp)
{
	for (; envp && *envp; envp++)
		if (dw_text_after(*envp, "LD_TRACE_LOADED_OBJECTS=") ||
		    dw_text_after(*envp, "LD_DEBUG="))
			return true;
	return false;
}

/* Bytes that the environment takes with our variables in it. */
static size_t count_bytes(char *const *envp)
{
	size_t bytes = (DWELL_AGENT_VARIABLES + 1) * sizeof(*envp);

	for (; envp && *envp; envp++) {
		bytes += sizeof(*envp);
		if (preload_of(*envp))
			bytes += dw_text_length(*envp) + DWELL_AGENT_TEXT;
	}
	return bytes;
}

/*
 * Write the environment to @to, which has room for count_bytes(): the program's own variables where
 * they are, its preloads before ours, our variables at the end.
 */
static void fill(char **to, char *const *envp)
{
	const bool is_over = dw_agent_is_over(); /* then children get the program's own */
	const char *preload = is_over ? NULL : dw_agent.variables[DWELL_AGENT_VARIABLES - 1];
	size_t n = 0;
	char *text;

	for (char *const *entry = envp; entry && *entry; entry++)
		n++;
	text = (char *)(to + n + DWELL_AGENT_VARIABLES + 1);
	for (; envp && *envp; envp++) {
		if (is_ours(*envp))
			continue;
		*to++ = *envp;
		if (!preload || !preload_of(*envp))
			continue;
		to[-1] = text;
		*text = '\0';
		dw_text_append(text, SIZE_MAX / 2, *envp);
		dw_text_append(text, SIZE_MAX / 2, ":"); /* also behind nothing: it was set */
		dw_text_append(text, SIZE_MAX / 2, preload_of(preload));
		preload = NULL;
	}
	for (int i = 0; i < DWELL_AGENT_VARIABLES - 1 && !is_over; i++)
		if (dw_agent.variables[i][0])
			*to++ = dw_agent.variables[i];
	if (preload)
		*to++ = (char *)preload;
	*to = NULL;
}

static int run_in(const struct exec *exec, void *room)
{
	fill(room, exec->envp);
	return run(exec, room);
}

static __attribute__((noinline)) int run_small(const struct exec *exec)
{
	char *room[DWELL_EXEC_SMALL / sizeof(char *)];

	return run_in(exec, room);
}

static __attribute__((noinline)) int run_large(const struct exec *exec)
{
	char *room[DWELL_EXEC_LARGE / sizeof(char *)];

	return run_in(exec, room);
}

static int run_mapped(const struct exec *exec, size_t bytes)
{
	void *room = dw_agent_memory(bytes);
	int error;

	if (!room)
		return -E2BIG;
	error = run_in(exec, room);
	dw_agent_memory_free(room, bytes);
	return error;
}

/* Execute with the agent. -errno, also of the agent's own needs: -E2BIG. */
static int run_with_agent(const struct exec *exec)
{
	size_t bytes = count_bytes(exec->envp);

	if (bytes > DWELL_EXEC_LARGE || dw_agent_is_self())
		return run_mapped(exec, bytes);
	return bytes > DWELL_EXEC_SMALL ? run_large(exec) : run_small(exec);
}

/* Execute without the agent, counted for @fit unless it fails. */
static int run_without_agent(const struct exec *exec, enum dw_exec_fit fit)
{
	static const uint32_t drops[] = {
		[DWELL_EXEC_CLASS] = DWELL_DROP_CHILD_CLASS,
		[DWELL_EXEC_SETUID] = DWELL_DROP_CHILD_SETUID,
		[DWELL_EXEC_STATIC] = DWELL_DROP_CHILD_STATIC,
	};
	uint32_t drop = fit < sizeof(drops) / sizeof(*drops) ? drops[fit] : 0;
	int error;

	if (!dw_agent_may_call())
		drop = DWELL_DROP_CHILD_FILTERED;

	dw_agent_drop_n(DWELL_DROP_CHILDREN, 1);
	if (drop)
		dw_agent_drop_n(drop, 1);
	error = run(exec, exec->envp);
	dw_agent_drop_n(DWELL_DROP_CHILDREN, -1);
	if (drop)
		dw_agent_drop_n(drop, -1);
	return error;
}

static int execute_fitting(const struct exec *exec)
{
	enum dw_exec_fit fit = DWELL_EXEC_OTHER;
	int error;

	if (!dw_agent.is_active || (dw_agent_is_over() && !dw_agent_part.hides))
		return run(exec, exec->envp);
	if (dw_agent_may_call()) {
		if (!dw_are_readable_texts(exec->envp))
			return run(exec, exec->envp);
		if (!is_told(exec->envp))
			fit = dw_exec_program_fit(&exec->file);
	}
	if (fit == DWELL_EXEC_FAILS)
		return run(exec, exec->envp);
	if (fit == DWELL_EXEC_FITS) {
		error = run_with_agent(exec);
		if (error != -E2BIG)
			return error;
	}
	return run_without_agent(exec, fit);
}

static int execute(const struct exec *exec)
{
	int error;

	if (dw_agent_part.executes)
		dw_agent_part.executes(true);
	error = execute_fitting(exec);
	if (dw_agent_part.executes)
		dw_agent_part.executes(false);
	return error;
}

static int result(int error)
{
	dw_errno_set(-error);
	return -1;
}

/* Whether the first agent executes for both; its function is at *@real then. */
static bool is_for_first(void **real, const char *name)
{
	return dw_agent.is_second && dw_real_once(real, name);
}

int dw_execve(const char *path, char *const argv[], char *const envp[])
{
	const struct exec exec = {{AT_FDCWD, path, 0}, argv, envp, false};

	if (is_for_first(&dw_agent.real_execve, "execve"))
		return ((execve_function *)dw_agent.real_execve)(path, argv, envp);
	return result(execute(&exec));
}

DWELL_STAND_IN int execve(const char *path, char *const argv[], char *const envp[])
{
	return dw_execve(path, argv, envp);
}

int dw_execveat(int folder, const char *path, char *const argv[], char *const envp[], int flags)
{
	const struct exec exec = {{folder, path, flags}, argv, envp, true};

	if (is_for_first(&dw_agent.real_execveat, "execveat"))
		return ((execveat_function *)dw_agent.real_execveat)(folder, path, argv, envp,
								     flags);
	return result(execute(&exec));
}

DWELL_STAND_IN int execveat(int folder, const char *path, char *const argv[], char *const envp[],
			    int flags)
{
	return dw_execveat(folder, path, argv, envp, flags);
}

DWELL_STAND_IN int fexecve(int fd, char *const argv[], char *const envp[])
{
	return fd < 0 || !argv || !envp ? result(-EINVAL)
					: dw_execveat(fd, "", argv, envp, AT_EMPTY_PATH);
}

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
