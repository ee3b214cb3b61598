/*
 * afterwards SECONDS LIBRARY: work until SECONDS have passed, when nobody records any more, then do
 * in a child of fork(), and in a child of that, what an agent would have a part in. Says what came
 * of it, the same in each run, and on stderr the mappings that the first child has.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LEFT_ALONE __attribute__((noinline))

enum {
	DEPTH = 150,
	FRAMES = 400,
	PIECES = 3000,
	PAGE = 4096,
	ANSWER = 0x11223344,
	OTHER = 0x55667788
};

static volatile unsigned int sum;
static volatile sig_atomic_t handled;
static jmp_buf back;
static void *library;
static uint8_t *pieces[PIECES];

LEFT_ALONE static void leaf(unsigned int i)
{
	sum += i * i;
}

LEFT_ALONE static void work(void)
{
	for (unsigned int i = 0; i < 1000; i++)
		leaf(i);
}

/* Short enough to have no probe. */
LEFT_ALONE static unsigned int answer(void)
{
	__asm__ volatile("");
	return ANSWER;
}

LEFT_ALONE static int frames_below(int depth)
{
	void *frames[FRAMES];
	int n = depth ? frames_below(depth - 1) : backtrace(frames, FRAMES);

	sum += (unsigned int)n;
	return n;
}

static void handle(int number)
{
	leaf((unsigned int)number);
	handled++;
	if (number == SIGUSR2)
		longjmp(back, 1);
}

/* Fill addresses that are free now: those of what children lack among them. */
static void fill(void)
{
	for (int i = 0; i < PIECES; i++) {
		size_t bytes = (size_t)PAGE << i % 5;

		pieces[i] = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				 -1, 0);
		memset(pieces[i], i, bytes);
		mprotect(pieces[i], PAGE, i % 2 ? PROT_READ : PROT_READ | PROT_WRITE);
	}
}

static int changed(void)
{
	int n = 0;

	for (int i = 0; i < PIECES; i++)
		for (size_t at = 0; at < (size_t)PAGE << i % 5; at += 64)
			n += pieces[i][at] != (uint8_t)i;
	return n;
}

static void *run_thread(void *ctx)
{
	work();
	return ctx;
}

static void use_signals(void)
{
	struct sigaction action = {.sa_handler = handle};

	sigaction(SIGUSR1, &action, NULL);
	signal(SIGUSR2, handle);
	raise(SIGUSR1);
	if (!setjmp(back))
		raise(SIGUSR2);
	printf("%d signals handled\n", (int)handled);
}

/* Let answer() give another answer; its caller has been running since the start. */
static void change_text(void)
{
	uint8_t *at = (uint8_t *)(uintptr_t)answer;
	const unsigned int old = ANSWER, new = OTHER;
	uint8_t *page = (uint8_t *)((uintptr_t)at & -(uintptr_t)PAGE);

	if (mprotect(page, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC))
		perror("mprotect");
	for (int i = 0; i < 32; i++) {
		if (memcmp(at + i, &old, sizeof(old)))
			continue;
		memcpy(at + i, &new, sizeof(new));
		break;
	}
}

static void use_loader(void)
{
	void *again = dlopen("libm.so.6", RTLD_NOW);

	printf("libm: %d\n", again && dlsym(again, "cos") && !dlclose(again));
	printf("library: %d\n", library && !dlclose(library));
}

static void use_all(void)
{
	const struct rlimit limit = {(rlim_t)8 << 30, RLIM_INFINITY};
	pthread_t thread;

	printf("%d frames\n", frames_below(DEPTH));
	use_signals();
	use_loader();
	printf("limit: %d\n", setrlimit(RLIMIT_DATA, &limit));
	if (!pthread_create(&thread, NULL, run_thread, NULL))
		pthread_join(thread, NULL);
	printf("prctl: %d\n", prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
	fflush(stdout);
	printf("system: %d\n", system("echo from a shell"));
	fflush(stdout);
}

static void show_mappings(void)
{
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");

	while (maps && fgets(line, sizeof(line), maps))
		fputs(line, stderr);
	if (maps)
		fclose(maps);
}

static void wait_for(pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	printf("status %d\n", status);
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 0) + 1;
	pid_t child;

	library = argc > 2 ? dlopen(argv[2], RTLD_NOW) : NULL;
	while (time(NULL) < end)
		work();
	fflush(stdout);
	child = fork();
	if (!child) {
		show_mappings();
		fill();
		use_all();
		child = fork();
		if (!child) {
			use_all();
			printf("%d pieces changed\n", changed());
			fflush(stdout);
			_exit(1);
		}
		wait_for(child);
		change_text();
		printf("answer %x\n", answer());
		printf("%d pieces changed\n", changed());
		return 0;
	}
	wait_for(child);
	printf("answer %x\n", answer());
	return 0;
}
