/* Patches of a module's text (src/agent/clones/text-x86-64.c), on a module and an area made by
 * hand.
 */
#include "agent/clones/text.h"
#include "agent/core/memory.h"

#include "check.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PATCHES_AT = 64,
	CLONE_AT = DWELL_PAGE_BYTES, /* in the area */
	TEXT_AT = DWELL_PAGE_BYTES,  /* in the module, which follows */
	FUNCTION_AT = TEXT_AT + 8,
	OLD = 1, /* what the function returns in the module */
	NEW = 2, /* and in its clone */
};

static struct dw_clone_header header = {.patches = {PATCHES_AT, 1}};

/* mov $@result, %eax; ret */
static void put_function(uint8_t *at, uint8_t result)
{
	const uint8_t code[] = {0xb8, result, 0, 0, 0, 0xc3};

	memcpy(at, code, sizeof(code));
}

static bool make(struct dw_area *ret)
{
	uint8_t *area = mmap(NULL, 4 * DWELL_PAGE_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *module = area + 2 * DWELL_PAGE_BYTES;
	struct dw_clone_patch patch = {FUNCTION_AT, CLONE_AT,	      0,
				       {0xb8, OLD}, DWELL_PATCH_JUMP, {0}};

	if (area == MAP_FAILED)
		return false;
	memcpy(area + PATCHES_AT, &patch, sizeof(patch));
	put_function(area + CLONE_AT, NEW);
	put_function(module + FUNCTION_AT, OLD);
	*ret = (struct dw_area){.area = (uint64_t)area,
				.bytes = 2 * DWELL_PAGE_BYTES,
				.module = (uint64_t)module,
				.module_bytes = 2 * DWELL_PAGE_BYTES,
				.text = (uint64_t)module + TEXT_AT,
				.text_bytes = DWELL_PAGE_BYTES,
				.header = &header};
	return !mprotect(area + CLONE_AT, DWELL_PAGE_BYTES, PROT_READ | PROT_EXEC) &&
	       !mprotect(module + TEXT_AT, DWELL_PAGE_BYTES, PROT_READ | PROT_EXEC);
}

static int call(const struct dw_area *area)
{
	int (*function)(void) = (int (*)(void))(area->module + FUNCTION_AT);

	return function();
}

/* Refuse system call @number to this process from now on, as @error. */
static bool refuse(uint32_t number, uint32_t error)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(rules) / sizeof(*rules), rules};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Whether a child to which @number is refused patches as if it were not alone. */
static bool patches_without(uint32_t number, uint32_t error)
{
	pid_t pid = fork();
	struct dw_area area;
	int status;

	if (!pid)
		_exit(!make(&area) || !refuse(number, error) || dw_text_patch(&area, false) ||
		      !dw_text_is_patched(&area) || call(&area) != NEW);
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

TEST(patched)
{
	struct dw_area area;

	for (int is_alone = 0; is_alone < 2; is_alone++) {
		CHECK(make(&area));
		CHECK(!dw_text_check(&area) && !dw_text_is_patched(&area));
		CHECK_INT(call(&area), OLD);
		CHECK_INT(dw_text_patch(&area, is_alone), 0);
		CHECK(dw_text_is_patched(&area));
		CHECK_INT(call(&area), NEW);
	}
}

/* /proc is not there, or may not be opened. */
TEST(patched_where_memory_cannot_be_opened)
{
	CHECK(patches_without(SYS_openat, EACCES));
}

/* Kernels may be told not to write through it what is not writable. */
TEST(patched_where_memory_cannot_be_written)
{
	CHECK(patches_without(SYS_pwrite64, EIO));
}

static void make_newer(void *ctx, uint8_t *copy)
{
	put_function(copy, *(uint8_t *)ctx);
}

TEST(pages_swapped)
{
	const uint8_t pages = 1;
	struct dw_area area;
	uint8_t result = NEW + 1;

	CHECK(make(&area));
	CHECK_INT(dw_text_patch(&area, true), 0);
	CHECK_INT(dw_text_swap_pages(area.area + CLONE_AT, DWELL_PAGE_BYTES, &pages, make_newer,
				     &result),
		  0);
	CHECK_INT(call(&area), result);
	result++;
	CHECK_INT(dw_text_share(area.area + CLONE_AT, DWELL_PAGE_BYTES, make_newer, &result), 0);
	CHECK_INT(call(&area), result);
}

TEST(undone_in_a_copy)
{
	uint8_t copy[DWELL_PAGE_BYTES], old[DWELL_PAGE_BYTES];
	struct dw_area area;

	CHECK(make(&area));
	memcpy(old, (const void *)area.text, sizeof(old));
	CHECK_INT(dw_text_patch(&area, true), 0);
	memcpy(copy, (const void *)area.text, sizeof(copy));
	CHECK(memcmp(copy, old, sizeof(copy)));
	dw_text_undo(&area, copy);
	CHECK(!memcmp(copy, old, sizeof(copy)));
	CHECK_INT(call(&area), NEW);
}

bool dw_agent_may_call(void);

bool dw_agent_may_call(void)
{
	return true;
}

__attribute__((constructor)) static void reserve(void)
{
	dw_memory_start();
}

TEST_MAIN()
