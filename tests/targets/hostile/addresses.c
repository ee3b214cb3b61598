/*
 * Programs that look at their own return addresses: they must be those of the program's file.
 *
 * Built with -rdynamic, so that functions have names, and with frame pointers.
 */
#include "hostile.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <unistd.h>
#include <unwind.h>

#define VISIBLE __attribute__((noinline, visibility("default")))
#define BARRIER __asm__ volatile("" ::: "memory")

/* Defined in addresses-x86-64.S: calls, and tables of what stands behind them. */
extern long frames_of_a(long number);
extern long frames_of_b(long number);
extern long relative_frames(long number);
extern const struct frame_entry {
	uintptr_t return_address;
	long live;
} frame_table[];
extern const struct relative_entry {
	int return_address, live;
} relative_table[];

static const char *name_of(const void *address)
{
	Dl_info info;

	return dladdr(address, &info) && info.dli_sname ? info.dli_sname : "?";
}

/* Name and distance from its beginning. */
static void print_place(const char *what, const void *address)
{
	Dl_info info;

	if (!dladdr(address, &info))
		printf("%s: nowhere\n", what);
	else if (!info.dli_sname)
		printf("%s: no function\n", what);
	else
		printf("%s: %s+%ld\n", what, info.dli_sname,
		       (long)((const char *)address - (const char *)info.dli_saddr));
}

/* The address lies in this function, by the symbol table. */
static bool is_within(const void *address, const void *function)
{
	Dl_info info;
	const ElfW(Sym) *symbol = NULL;

	if (!dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
		return false;
	return info.dli_saddr == function && address > function &&
	       (const char *)address <= (const char *)function + symbol->st_size;
}

VISIBLE const void *inner_return(void)
{
	return __builtin_return_address(0);
}

VISIBLE const void *middle_return(void)
{
	const void *address = inner_return();

	BARRIER;
	CHECK(is_within(address, middle_return));
	return __builtin_return_address(0);
}

VISIBLE void outer_return(void)
{
	const void *address = middle_return();

	BARRIER;
	CHECK(is_within(address, outer_return));
	print_place("return address", address);
}

static void run_return_address(void)
{
	for (int i = 0; i < 3; i++) {
		outer_return();
		BARRIER;
	}
}

VISIBLE const void *second_return(void)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wframe-address"
	return __builtin_return_address(1);
#pragma GCC diagnostic pop
}

VISIBLE const void *calls_second(void)
{
	const void *address = second_return();

	BARRIER;
	return address;
}

static void run_second_address(void)
{
	const void *address = calls_second();

	BARRIER;
	CHECK(hostile_is_own_code((uintptr_t)address));
	print_place("caller's return address", address);
}

enum { FRAMES = 64 };

VISIBLE int walk_here(void **addresses)
{
	int count = backtrace(addresses, FRAMES);

	BARRIER;
	return count;
}

VISIBLE int walk_deep(int depth, void **addresses)
{
	int count = depth ? walk_deep(depth - 1, addresses) : walk_here(addresses);

	BARRIER;
	return count;
}

static void run_backtrace(void)
{
	void *addresses[FRAMES];
	int count = walk_deep(5, addresses);

	for (int i = 0; i < count; i++)
		print_place("frame", addresses[i]);
}

/* As backtrace_symbols writes them, without the last part: where the program is mapped. */
static void run_symbols(void)
{
	void *addresses[FRAMES];
	int count = walk_deep(3, addresses);
	char **names = backtrace_symbols(addresses, count);

	for (int i = 0; i < count; i++) {
		char *end = strstr(names[i], " [");

		printf("%.*s\n", end ? (int)(end - names[i]) : 200, names[i]);
	}
	free(names);
}

static void run_symbols_to_file(void)
{
	void *addresses[FRAMES];
	int pipes[2], count = walk_deep(3, addresses);
	char text[8192];
	ssize_t length;

	CHECK(!pipe(pipes));
	backtrace_symbols_fd(addresses, count, pipes[1]);
	close(pipes[1]);
	length = read(pipes[0], text, sizeof(text) - 1);
	text[length < 0 ? 0 : length] = 0;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char *end = strchr(line, '[');

		printf("%.*s\n", end ? (int)(end - line) : 200, line);
	}
}

static _Unwind_Reason_Code print_frame(struct _Unwind_Context *context, void *argument)
{
	int is_before = 0;
	uintptr_t ip = _Unwind_GetIPInfo(context, &is_before);
	const void *start = _Unwind_FindEnclosingFunction((void *)(ip - 1));

	print_place("unwound", (void *)ip);
	printf("  in %s, region %s, %d\n", name_of(start),
	       name_of((void *)_Unwind_GetRegionStart(context)), is_before);
	CHECK(_Unwind_GetCFA(context) > *(uintptr_t *)argument);
	*(uintptr_t *)argument = _Unwind_GetCFA(context);
	return strcmp(name_of(start), "main") ? _URC_NO_REASON : _URC_END_OF_STACK;
}

VISIBLE void unwind_here(int depth)
{
	uintptr_t last = 0;

	if (depth)
		unwind_here(depth - 1);
	else
		_Unwind_Backtrace(print_frame, &last);
	BARRIER;
}

static void run_unwinder(void)
{
	unwind_here(3);
}

struct search {
	uintptr_t address;
	int found;
};

static int find_module(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct search *search = argument;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type == PT_LOAD &&
		    search->address - (info->dlpi_addr + header->p_vaddr) < header->p_memsz)
			search->found += 1 + (info->dlpi_name[0] != 0);
	}
	return 0;
}

/* An unwinder of the program's own finds the module of each address, once. */
VISIBLE void search_modules(void)
{
	struct search search = {(uintptr_t)__builtin_return_address(0), 0};

	dl_iterate_phdr(find_module, &search);
	printf("found %d\n", search.found);
	search = (struct search){(uintptr_t)printf, 0};
	dl_iterate_phdr(find_module, &search);
	printf("printf found %d\n", search.found);
}

static void run_modules(void)
{
	search_modules();
	BARRIER;
}

static int print_module(struct dl_phdr_info *info, size_t size, void *argument)
{
	const char *name = strrchr(info->dlpi_name, '/');

	(void)size;
	++*(int *)argument;
	printf("module %s\n", name ? name + 1 : info->dlpi_name);
	return 0;
}

static void run_module_list(void)
{
	int count = 0;

	dl_iterate_phdr(print_module, &count);
	printf("%d modules\n", count);
}

static void run_dladdr(void)
{
	Dl_info info;

	CHECK(dladdr((void *)outer_return, &info) && info.dli_saddr == (void *)outer_return);
	print_place("function", (void *)outer_return);
	print_place("inside", (const char *)outer_return + 3);
	print_place("library", (void *)dlsym(RTLD_DEFAULT, "qsort"));
	CHECK(!dladdr((void *)16, &info));
	CHECK(dladdr(&info, &info) == 0);
}

/* A collector finds the roots of a frame in a table, by the frame's return address. */
long collect(const uintptr_t *stack);
long collect(const uintptr_t *stack)
{
	const struct frame_entry *entry = frame_table;
	const struct relative_entry *relative = relative_table;

	for (; entry->return_address; entry++)
		if (entry->return_address == *stack)
			return entry->live;
	for (; relative->live; relative++)
		if ((uintptr_t)relative + (uintptr_t)relative->return_address == *stack)
			return relative->live;
	return -1000000;
}

static void run_frame_table(void)
{
	for (int i = 0; i < 1000; i++) {
		CHECK(frames_of_a(i) == i + 11 + 22);
		CHECK(frames_of_b(i) == i + 33);
	}
}

static void run_relative_table(void)
{
	for (int i = 0; i < 1000; i++)
		CHECK(relative_frames(i) == i + 44 + 55);
}

/* A library function that trusts only some callers, as the loader does. */
VISIBLE int is_trusted(void)
{
	return hostile_is_own_code((uintptr_t)__builtin_return_address(0));
}

static int compare(const void *left, const void *right)
{
	CHECK(!hostile_is_own_code((uintptr_t)__builtin_return_address(0)));
	return *(const char *)left - *(const char *)right;
}

static void run_trusted_caller(void)
{
	char text[] = "sorted by a library";

	for (int i = 0; i < 100; i++)
		CHECK(is_trusted());
	qsort(text, sizeof(text) - 1, 1, compare);
	puts(text);
}

static const struct hostile_case cases[] = {
	{"return-address", run_return_address},
	{"second-address", run_second_address},
	{"backtrace", run_backtrace},
	{"symbols", run_symbols},
	{"symbols-to-file", run_symbols_to_file},
	{"unwinder", run_unwinder},
	{"modules", run_modules},
	{"module-list", run_module_list},
	{"dladdr", run_dladdr},
	{"frame-table", run_frame_table},
	{"relative-table", run_relative_table},
	{"trusted-caller", run_trusted_caller},
	{0},
};

int main(int argc, char **argv)
{
	return hostile_main(argc, argv, cases);
}
