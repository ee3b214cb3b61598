/*
 * Kinds of waiting; see wait.h.
 *
 * A name of a function stands for all that begin with it if it ends in '*', else for the function
 * of exactly this name without scopes and parameters.
 */
#include "model/wait.h"

#include "model/function-name.h"

#include <string.h>

static const char *const names[DWELL_WAIT_KINDS] = {
	[DWELL_WAIT_OTHER] = "other",
	[DWELL_WAIT_LOCK] = "lock",
	[DWELL_WAIT_CONDITION] = "condition",
	[DWELL_WAIT_DISK] = "disk",
	[DWELL_WAIT_SOCKET] = "socket",
	[DWELL_WAIT_PIPE] = "pipe",
	[DWELL_WAIT_SLEEP] = "sleep",
	[DWELL_WAIT_TIMER] = "timer",
	[DWELL_WAIT_COLLECTION] = "collection",
	[DWELL_WAIT_IO] = "io",
	[DWELL_WAIT_IDLE] = "idle",
	[DWELL_WAIT_CHILD] = "child",
	[DWELL_WAIT_READY] = "ready",
	[DWELL_WAIT_INTERPRETER] = "interpreter",
};

const char *dw_wait_kind_name(enum dw_wait_kind kind)
{
	return names[kind < DWELL_WAIT_KINDS ? kind : DWELL_WAIT_OTHER];
}

enum dw_wait_kind dw_wait_kind_find(const char *name, size_t n)
{
	enum dw_wait_kind kind = 0;

	while (kind < DWELL_WAIT_KINDS &&
	       (strlen(names[kind]) != n || memcmp(names[kind], name, n)))
		kind++;
	return kind;
}

const char *dw_wait_kinds_read(const char *list, dw_wait_kinds *ret)
{
	dw_wait_kinds set = 0;

	for (const char *word = list; *word; word += *word == ',') {
		size_t n = strcspn(word, ",");
		enum dw_wait_kind kind = dw_wait_kind_find(word, n);

		if (n == strlen("all") && !memcmp(word, "all", n))
			set |= DWELL_WAITS_ALL;
		else if (kind < DWELL_WAIT_KINDS)
			set |= 1u << kind;
		else if (n != strlen("none") || memcmp(word, "none", n) != 0)
			return word;
		word += n;
	}
	*ret = set;
	return NULL;
}

struct name {
	const char *text;
	enum dw_wait_kind kind;
};

/* Functions of the system's libraries, without the underscores that some of their names begin with.
 * Those of one kind may wait by means of those of another, and the outermost that is known tells.
 */
static const struct name c_library[] = {
	{"pthread_join", DWELL_WAIT_CHILD},
	{"pthread_timedjoin_np", DWELL_WAIT_CHILD},
	{"pthread_clockjoin_*", DWELL_WAIT_CHILD},
	{"thrd_join", DWELL_WAIT_CHILD},
	{"wait", DWELL_WAIT_CHILD},
	{"wait3", DWELL_WAIT_CHILD},
	{"wait4", DWELL_WAIT_CHILD},
	{"waitid", DWELL_WAIT_CHILD},
	{"waitpid", DWELL_WAIT_CHILD},
	{"vfork", DWELL_WAIT_CHILD},
	{"posix_spawn*", DWELL_WAIT_CHILD},
	{"system", DWELL_WAIT_CHILD},
	{"pclose", DWELL_WAIT_CHILD},
	{"pthread_mutex_lock*", DWELL_WAIT_LOCK},
	{"pthread_mutex_timedlock", DWELL_WAIT_LOCK},
	{"pthread_mutex_clocklock", DWELL_WAIT_LOCK},
	{"lll_mutex_lock*", DWELL_WAIT_LOCK},
	{"pthread_rwlock_*", DWELL_WAIT_LOCK},
	{"mtx_lock", DWELL_WAIT_LOCK},
	{"mtx_timedlock", DWELL_WAIT_LOCK},
	{"lll_lock_wait*", DWELL_WAIT_LOCK},
	{"lock", DWELL_WAIT_LOCK}, /* musl's own */
	{"lockfile", DWELL_WAIT_LOCK},
	{"flockfile", DWELL_WAIT_LOCK},
	{"lockf*", DWELL_WAIT_LOCK},
	{"flock", DWELL_WAIT_LOCK},
	{"semop", DWELL_WAIT_LOCK},
	{"semtimedop", DWELL_WAIT_LOCK},
	{"PyThread_acquire_lock*", DWELL_WAIT_LOCK},
	{"pthread_cond_*", DWELL_WAIT_CONDITION},
	{"cnd_wait", DWELL_WAIT_CONDITION},
	{"cnd_timedwait", DWELL_WAIT_CONDITION},
	{"pthread_barrier_wait", DWELL_WAIT_CONDITION},
	{"sem_wait", DWELL_WAIT_CONDITION},
	{"sem_timedwait", DWELL_WAIT_CONDITION},
	{"sem_clockwait", DWELL_WAIT_CONDITION},
	{"eventfd_read", DWELL_WAIT_CONDITION},
	{"nanosleep*", DWELL_WAIT_SLEEP},
	{"clock_nanosleep*", DWELL_WAIT_SLEEP},
	{"usleep", DWELL_WAIT_SLEEP},
	{"sleep", DWELL_WAIT_SLEEP},
	{"thrd_sleep", DWELL_WAIT_SLEEP},
	{"sigtimedwait", DWELL_WAIT_TIMER},
	{"epoll_wait", DWELL_WAIT_IDLE},
	{"epoll_pwait*", DWELL_WAIT_IDLE},
	{"poll", DWELL_WAIT_IDLE},
	{"ppoll", DWELL_WAIT_IDLE},
	{"select", DWELL_WAIT_IDLE},
	{"pselect", DWELL_WAIT_IDLE},
	{"accept", DWELL_WAIT_IDLE},
	{"accept4", DWELL_WAIT_IDLE},
	{"pause", DWELL_WAIT_IDLE},
	{"sigwait*", DWELL_WAIT_IDLE},
	{"sigsuspend", DWELL_WAIT_IDLE},
	{"msgrcv", DWELL_WAIT_IDLE},
	{"mq_receive", DWELL_WAIT_IDLE},
	{"mq_timedreceive", DWELL_WAIT_IDLE},
	{"connect", DWELL_WAIT_SOCKET},
	{"recv", DWELL_WAIT_SOCKET},
	{"recvfrom", DWELL_WAIT_SOCKET},
	{"recvmsg", DWELL_WAIT_SOCKET},
	{"recvmmsg", DWELL_WAIT_SOCKET},
	{"send", DWELL_WAIT_SOCKET},
	{"sendto", DWELL_WAIT_SOCKET},
	{"sendmsg", DWELL_WAIT_SOCKET},
	{"sendmmsg", DWELL_WAIT_SOCKET},
	{"getaddrinfo", DWELL_WAIT_SOCKET},
	{"fsync", DWELL_WAIT_DISK},
	{"fdatasync", DWELL_WAIT_DISK},
	{"sync", DWELL_WAIT_DISK},
	{"syncfs", DWELL_WAIT_DISK},
	{"sync_file_range", DWELL_WAIT_DISK},
	{"msync", DWELL_WAIT_DISK},
	{"pread*", DWELL_WAIT_DISK},
	{"pwrite*", DWELL_WAIT_DISK},
	{"getdents64", DWELL_WAIT_DISK},
	{"readdir*", DWELL_WAIT_DISK},
	{"open*", DWELL_WAIT_DISK},
	{"fopen*", DWELL_WAIT_DISK},
	{"copy_file_range", DWELL_WAIT_DISK},
	{"read", DWELL_WAIT_IO},
	{"readv", DWELL_WAIT_IO},
	{"write", DWELL_WAIT_IO},
	{"writev", DWELL_WAIT_IO},
	{"sendfile*", DWELL_WAIT_IO},
	{"splice", DWELL_WAIT_IO},
	{"fread*", DWELL_WAIT_IO},
	{"fwrite*", DWELL_WAIT_IO},
	{"fgets*", DWELL_WAIT_IO},
	{"getline", DWELL_WAIT_IO},
	{"getdelim", DWELL_WAIT_IO},
	{"fputs*", DWELL_WAIT_IO},
	{"puts", DWELL_WAIT_IO},
	{"fflush*", DWELL_WAIT_IO},
	{"System.Threading.Thread.Sleep", DWELL_WAIT_SLEEP}, /* .NET's core library */
	{"System.Threading.Thread.Join", DWELL_WAIT_CHILD},
	{"System.Threading.Monitor.Enter*", DWELL_WAIT_LOCK},
	{"System.Threading.Monitor.TryEnter*", DWELL_WAIT_LOCK},
	{"System.Threading.Lock.*", DWELL_WAIT_LOCK},
	{"System.Threading.Monitor.Wait", DWELL_WAIT_CONDITION},
	{"System.Threading.WaitHandle.*", DWELL_WAIT_CONDITION},
	{"System.Threading.Tasks.Task.InternalWaitCore", DWELL_WAIT_CONDITION},
	/* A tick a second of every ASP.NET Core service. */
	{"Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Infrastructure.Heartbeat.TimerLoop",
	 DWELL_WAIT_IDLE},
};

/* What is made of locks in Python's library. Names have no class before Python 3.11. */
static const struct name python_library[] = {
	{"join", DWELL_WAIT_CHILD},
	{"_wait_for_tstate_lock", DWELL_WAIT_CHILD},
	{"wait", DWELL_WAIT_CONDITION},
};

/* Methods in C that Ruby makes of its own queues of threads. */
static const struct name ruby_library[] = {
	{"sleep", DWELL_WAIT_SLEEP},	  {"join", DWELL_WAIT_CHILD},
	{"value", DWELL_WAIT_CHILD},	  {"lock", DWELL_WAIT_LOCK},
	{"synchronize", DWELL_WAIT_LOCK}, {"pop", DWELL_WAIT_CONDITION},
	{"push", DWELL_WAIT_CONDITION},	  {"shift", DWELL_WAIT_CONDITION},
	{"wait", DWELL_WAIT_CONDITION},
};

/* Functions of other standard libraries and runtimes, in whatever module. */
static const struct name runtimes[] = {
	{"[garbage collection]", DWELL_WAIT_COLLECTION}, /* .NET, as the agent calls it */
	{"SuspendEE", DWELL_WAIT_COLLECTION},
	{"WaitUntilGCComplete", DWELL_WAIT_COLLECTION},
	{"RareDisablePreemptiveGC", DWELL_WAIT_COLLECTION},
	{"SafepointSynchronize*", DWELL_WAIT_COLLECTION}, /* Java */
	{"GC_stop_world", DWELL_WAIT_COLLECTION},	  /* Boehm's */
	{"GC_suspend_handler*", DWELL_WAIT_COLLECTION},
	{"lock_contended", DWELL_WAIT_LOCK}, /* Rust */
	{"read_contended", DWELL_WAIT_LOCK},
	{"write_contended", DWELL_WAIT_LOCK},
	{"lock_slow", DWELL_WAIT_LOCK}, /* Rust's parking_lot */
	{"lock_shared_slow", DWELL_WAIT_LOCK},
	{"lock_exclusive_slow", DWELL_WAIT_LOCK},
	{"runtime.lock2", DWELL_WAIT_LOCK},			       /* Go */
	{"System.Threading.LowLevelLifoSemaphore.*", DWELL_WAIT_IDLE}, /* .NET's pool */
	{"jobserver_acquire", DWELL_WAIT_CHILD},		       /* GNU make */
};

/* Names of threads that runtimes have for their own purposes. */
static const char *const service_threads[] = {
	".NET SynchManag*", ".NET EventPipe",	".NET DebugPipe",   ".NET SigHandler",
	".NET Signal Han*", ".NET Finalizer",	".NET Server GC",   ".NET BGC",
	".NET Tiered Com*", ".NET TP G*",	".NET Timer",	    ".NET Debugger",
	".NET File Watch*", ".NET Sockets",	"GC Thread#*",	    "G1 *",
	"VM Thread",	    "VM Periodic *",	"C1 CompilerThre*", "C2 CompilerThre*",
	"Reference Handl*", "Finalizer",	"Signal Dispatch*", "Service Thread",
	"Monitor Deflati*", "Notification Th*", "Common-Cleaner",   "Attach Listener", /* Java */
};

static bool fits(const char *pattern, const char *name, size_t n)
{
	size_t length = strlen(pattern);

	if (pattern[length - 1] == '*')
		return n >= length - 1 && !memcmp(pattern, name, length - 1);
	return n == length && !memcmp(pattern, name, n);
}

static bool find(const struct name *v, size_t n, const char *name, size_t name_n,
		 enum dw_wait_kind *ret)
{
	for (size_t i = 0; i < n; i++)
		if (fits(v[i].text, name, name_n)) {
			*ret = v[i].kind;
			return true;
		}
	return false;
}

bool dw_wait_kind_of_function(const char *name, enum dw_wait_names of, enum dw_wait_kind *ret)
{
	const char *dot = strrchr(name, '.');
	struct dw_function_name parts;

	if (of == DWELL_NAMES_OF_SYSTEM) {
		name += strspn(name, "_");
		return find(c_library, sizeof c_library / sizeof *c_library, name,
			    strcspn(name, "@("), ret);
	}
	if (of == DWELL_NAMES_OF_PYTHON) {
		name = dot ? dot + 1 : name;
		return find(python_library, sizeof python_library / sizeof *python_library, name,
			    strlen(name), ret);
	}
	if (of == DWELL_NAMES_OF_RUBY)
		return find(ruby_library, sizeof ruby_library / sizeof *ruby_library, name,
			    strlen(name), ret);
	dw_function_name_parse(name, strlen(name), &parts);
	return find(runtimes, sizeof runtimes / sizeof *runtimes, name + parts.own,
		    parts.own_end - parts.own, ret) ||
	       find(runtimes, sizeof runtimes / sizeof *runtimes, name, strcspn(name, "("), ret);
}

bool dw_wait_is_service_thread(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof service_threads / sizeof *service_threads; i++)
		if (fits(service_threads[i], name, n))
			return true;
	return false;
}

bool dw_wait_is_pool_thread(const char *name)
{
	return !strcmp(name, ".NET TP Worker");
}
