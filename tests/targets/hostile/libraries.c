/*
 * The dynamic loader: what it finds depends on who asks, libraries come and go, constructors and
 * destructors keep their order. argv[0] must be in the folder of plugin-a.so and plugin-b.so.
 */
#include "hostile.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <math.h>
#include <unistd.h>

static int constructed;
static bool is_talking;

__attribute__((constructor(101))) static void construct_first(void)
{
	constructed = constructed * 10 + 1;
}

__attribute__((constructor(102))) static void construct_second(void)
{
	constructed = constructed * 10 + 2;
}

__attribute__((constructor)) static void construct_last(void)
{
	constructed = constructed * 10 + 3;
}

__attribute__((destructor)) static void destruct(void)
{
	if (is_talking)
		puts("destructor");
}

/* The program's own function in front of the library's. */
char *strerror(int number)
{
	static char text[100];
	char *(*next)(int) = (char *(*)(int))dlsym(RTLD_NEXT, "strerror");

	snprintf(text, sizeof(text), "own %s", next ? next(number) : "nothing");
	return text;
}

static void run_next(void)
{
	void *(*volatile through_pointer)(void *, const char *) = dlsym;

	printf("%s\n", strerror(ENOENT));
	CHECK(dlsym(RTLD_DEFAULT, "strerror") == (void *)strerror);
	CHECK(dlsym(RTLD_NEXT, "strerror") != (void *)strerror);
	CHECK(through_pointer(RTLD_NEXT, "strerror") == dlsym(RTLD_NEXT, "strerror"));
	CHECK(through_pointer(RTLD_DEFAULT, "strerror") == (void *)strerror);
	CHECK(dlvsym(RTLD_NEXT, "strerror", "GLIBC_2.2.5") == dlsym(RTLD_NEXT, "strerror"));
	CHECK(dlsym(RTLD_NEXT, "no such function") == NULL);
	printf("%s\n", strstr(dlerror(), "undefined symbol"));
}

static const char *plugin_path(const char *name)
{
	static char path[4096];
	const char *slash = strrchr(hostile_self, '/');

	snprintf(path, sizeof(path), "%.*s/%s", slash ? (int)(slash - hostile_self) : 1,
		 slash ? hostile_self : ".", name);
	return path;
}

static long add_ten(long number)
{
	return number + 10;
}

static long use(void *handle)
{
	long (*work)(long) = (long (*)(long))dlsym(handle, "plugin_work");
	long (*call)(long (*)(long), long) =
		(long (*)(long (*)(long), long))dlsym(handle, "plugin_call");

	if (!CHECK(work && call))
		return 0;
	return work(60) + call(add_ten, 5);
}

static void run_open(void)
{
	long sum = 0;

	for (int i = 0; i < 30; i++) {
		void *handle = dlopen(plugin_path(i & 1 ? "plugin-a.so" : "plugin-b.so"),
				      i & 2 ? RTLD_NOW : RTLD_LAZY);

		if (!CHECK(handle != NULL))
			break;
		sum += use(handle);
		CHECK(!dlclose(handle));
		CHECK(!dlopen(plugin_path("plugin-a.so"), RTLD_NOLOAD | RTLD_NOW));
	}
	printf("sum %ld\n", sum);
}

/* Found by the program's own DT_RUNPATH: only when the program is known as the caller. */
static void run_by_run_path(void)
{
	void *(*volatile through_pointer)(const char *, int) = dlopen;
	void *handle = dlopen("plugin-a.so", RTLD_NOW), *again;

	if (!CHECK(handle != NULL)) {
		puts(dlerror());
		return;
	}
	again = through_pointer("plugin-b.so", RTLD_NOW | RTLD_GLOBAL);
	CHECK(again != NULL && again != handle);
	CHECK(dlsym(RTLD_DEFAULT, "plugin_work") == dlsym(again, "plugin_work"));
	printf("sum %ld\n", use(handle) - use(again));
}

static void run_namespace(void)
{
	void *handle = dlmopen(LM_ID_NEWLM, plugin_path("plugin-a.so"), RTLD_NOW);
	void *usual = dlopen(plugin_path("plugin-a.so"), RTLD_NOW);
	Lmid_t id = -1;

	if (!CHECK(handle && usual && handle != usual))
		return;
	CHECK(dlsym(handle, "plugin_work") != dlsym(usual, "plugin_work"));
	CHECK(!dlinfo(handle, RTLD_DI_LMID, &id) && id != LM_ID_BASE);
	printf("sums %ld %ld\n", use(handle), use(usual));
	CHECK(!dlclose(usual));
	CHECK(!dlclose(handle));
}

static void run_library(void)
{
	void *math = dlopen("libm.so.6", RTLD_NOW);
	double (*cosine)(double) = (double (*)(double))dlsym(math, "cos");
	double sum = 0;

	for (int i = 0; i < 1000; i++)
		sum += cosine(i);
	printf("sum %.15g\n", sum);
	CHECK(!dlclose(math));
	CHECK(dlopen(NULL, RTLD_NOW) != NULL);
	CHECK(!dlopen("libnosuch.so.1", RTLD_NOW));
	puts(dlerror());
}

static long fast(long number)
{
	return number * 2;
}

__attribute__((used)) static long (*choose(void))(long)
{
	return fast;
}

static long chosen(long number) __attribute__((ifunc("choose")));

static void run_ifunc(void)
{
	long (*volatile pointer)(long) = chosen;
	long sum = 0;

	for (int i = 0; i < 1000; i++)
		sum += chosen(i) + pointer(i);
	printf("sum %ld, same %d\n", sum, pointer == chosen);
}

static void at_exit_1(void)
{
	puts("exit 1");
}

static void at_exit_2(void)
{
	puts("exit 2");
	atexit(at_exit_1);
}

static void on_exit_3(int status, void *argument)
{
	printf("exit 3: %d %s\n", status, (char *)argument);
}

static void run_order(void)
{
	printf("constructed %d\n", constructed);
	is_talking = true;
	atexit(at_exit_1);
	on_exit(on_exit_3, "text");
	atexit(at_exit_2);
	exit(0);
}

static void run_quick_exit(void)
{
	atexit(at_exit_1);
	at_quick_exit(at_exit_2);
	at_quick_exit(at_exit_1);
	fflush(stdout);
	setvbuf(stdout, NULL, _IONBF, 0);
	quick_exit(0);
}

static void run_link_map(void)
{
	struct link_map *map = NULL;
	void *program = dlopen(NULL, RTLD_NOW);
	int count = 0;

	CHECK(!dlinfo(program, RTLD_DI_LINKMAP, &map));
	for (; map; map = map->l_next, count++)
		if (map->l_name[0]) {
			const char *slash = strrchr(map->l_name, '/');

			printf("%s\n", slash ? slash + 1 : map->l_name);
		}
	printf("%d in the link map\n", count);
}

static const struct hostile_case cases[] = {
	{"next", run_next},
	{"open", run_open},
	{"by-run-path", run_by_run_path},
	{"namespace", run_namespace},
	{"library", run_library},
	{"ifunc", run_ifunc},
	{"order", run_order},
	{"quick-exit", run_quick_exit},
	{"link-map", run_link_map},
	{0},
};

int main(int argc, char **argv)
{
	return hostile_main(argc, argv, cases);
}
