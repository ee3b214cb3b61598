/*
 * Names of events; see event.h. Those of the kernel and of all processors are its constants
 * (linux/perf_event.h). A PMU describes itself in sysfs: its type, the events it has names for, and
 * which bits of which config word a term stands in ("config:0-7,32-35"). Tracepoints have a number
 * in tracefs. [any-thread]
 */
#include "collect/perf/event.h"

#include "target/file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * perf_event_open() says EACCES or EPERM both for the sysctl and for a seccomp filter (containers);
 * the level tells them apart, because we ask for nothing that level 2 forbids. Debian and Ubuntu
 * know levels 3 and 4, which forbid everything to ordinary users.
 */

enum { LEVEL_ENOUGH = 2 };

/* kernel.perf_event_paranoid, or -1 when it cannot be read. */
static int paranoid_level(void)
{
	char text[16] = "";
	int fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	return n > 0 ? atoi(text) : -1;
}

/* The path of this program, for the command to type. */
static const char *own_path(char *buf, size_t n)
{
	ssize_t got = readlink("/proc/self/exe", buf, n - 1);

	if (got <= 0)
		return "dwell";
	buf[got] = 0;
	return buf;
}

int dw_perf_refusal(int code, struct dw_error *err)
{
	int level = paranoid_level();
	char path[4096];

	if (code == -ENOSYS || code == -ENOENT || code == -EOPNOTSUPP)
		return dw_error_set(err, DWELL_ERR_REFUSED,
				    "this kernel cannot sample (perf_event_open: %s), one built "
				    "with CONFIG_PERF_EVENTS can",
				    strerror(-code));
	if (code != -EACCES && code != -EPERM)
		return dw_error_set_errno(err, -code, "cannot open a perf event");
	if (level > LEVEL_ENOUGH)
		return dw_error_set(err, DWELL_ERR_REFUSED,
				    "the kernel refuses perf to ordinary users "
				    "(kernel.perf_event_paranoid is %d), this opens it: "
				    "sudo sysctl kernel.perf_event_paranoid=2  or: sudo setcap "
				    "cap_perfmon+ep %s",
				    level, own_path(path, sizeof path));
	return dw_error_set(err, DWELL_ERR_REFUSED,
			    "perf_event_open is blocked here though kernel.perf_event_paranoid is "
			    "%d: by seccomp, most likely a container, which opens with: docker run "
			    "--cap-add PERFMON --security-opt seccomp=unconfined",
			    level);
}

int dw_perf_scope_refusal(int code, int level, const char *what, struct dw_error *err)
{
	char path[4096];

	if (paranoid_level() <= level)
		return dw_perf_refusal(code, err);
	return dw_error_set(
		err, DWELL_ERR_REFUSED,
		"%s is for root here (kernel.perf_event_paranoid is %d), this opens it: "
		"sudo sysctl kernel.perf_event_paranoid=%d  or: sudo setcap "
		"cap_perfmon+ep %s",
		what, paranoid_level(), level, own_path(path, sizeof path));
}

int dw_perf_attach_refusal(int code, pid_t pid, struct dw_error *err)
{
	struct dw_rights theirs = {0};
	int rc = code == -EACCES ? dw_rights_read(pid, &theirs) : -1;
	uid_t uid = theirs.uid;

	dw_rights_release(&theirs);
	if (rc)
		return dw_perf_refusal(code, err);
	if (uid != geteuid())
		return dw_error_set(err, DWELL_ERR_REFUSED,
				    "process %d belongs to user %u: only that user, or root, may "
				    "profile it",
				    (int)pid, (unsigned)uid);
	return dw_error_set(err, DWELL_ERR_REFUSED,
			    "process %d lets nobody but root look into it (it has more rights than "
			    "its user, or has said so itself)",
			    (int)pid);
}

int dw_perf_ring_refusal(int code, struct dw_error *err)
{
	if (code != -EPERM)
		return dw_error_set_errno(err, -code, "cannot map a perf ring");
	return dw_error_set(err, DWELL_ERR_REFUSED,
			    "no locked memory is left for perf rings, this gives more: sudo sysctl "
			    "kernel.perf_event_mlock_kb=2048");
}

#define PMUS	    "/sys/bus/event_source/devices"
#define TRACEPOINTS "/sys/kernel/tracing/events"

enum { LINE_BYTES = 256 };

struct known {
	const char *name;
	uint64_t config;
	uint8_t type;
	uint8_t kind; /* enum dw_perf_event_kind */
	bool in_kernel;
};

#define SOFT(name, config, kind, kernel)                                                     \
	{                                                                                    \
		name, PERF_COUNT_SW_##config, PERF_TYPE_SOFTWARE, DWELL_EVENT_##kind, kernel \
	}
#define HARD(name, config)                                                                 \
	{                                                                                  \
		name, PERF_COUNT_HW_##config, PERF_TYPE_HARDWARE, DWELL_EVENT_CYCLE, false \
	}

static const struct known known[] = {
	SOFT("cpu-clock", CPU_CLOCK, CLOCK, false),
	SOFT("task-clock", TASK_CLOCK, CLOCK, false),
	SOFT("page-faults", PAGE_FAULTS, COUNT, false),
	SOFT("minor-faults", PAGE_FAULTS_MIN, COUNT, false),
	SOFT("major-faults", PAGE_FAULTS_MAJ, COUNT, false),
	SOFT("context-switches", CONTEXT_SWITCHES, COUNT, true),
	SOFT("cpu-migrations", CPU_MIGRATIONS, COUNT, true),
	SOFT("alignment-faults", ALIGNMENT_FAULTS, COUNT, false),
	SOFT("emulation-faults", EMULATION_FAULTS, COUNT, false),
	HARD("cycles", CPU_CYCLES),
	HARD("instructions", INSTRUCTIONS),
	HARD("cache-references", CACHE_REFERENCES),
	HARD("cache-misses", CACHE_MISSES),
	HARD("branches", BRANCH_INSTRUCTIONS),
	HARD("branch-misses", BRANCH_MISSES),
	HARD("bus-cycles", BUS_CYCLES),
	HARD("ref-cycles", REF_CPU_CYCLES),
	HARD("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HARD("stalled-cycles-backend", STALLED_CYCLES_BACKEND),
};

const char *dw_perf_event_name(unsigned i)
{
	return i < sizeof known / sizeof *known ? known[i].name : NULL;
}

/* Read the first line of the file "FOLDER/OWNER/NAME" into @ret. */
static bool read_line(const char *folder, const char *owner, const char *name, char ret[LINE_BYTES])
{
	char path[512];
	ssize_t n;
	int fd;

	if (strstr(owner, "..") || strstr(name, ".."))
		return false;
	if (snprintf(path, sizeof path, "%s/%s/%s", folder, owner, name) >= (int)sizeof path)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, ret, LINE_BYTES - 1);
	close(fd);
	ret[n > 0 ? n : 0] = 0;
	ret[strcspn(ret, "\n")] = 0;
	return n > 0;
}

static bool find_known(const char *name, struct dw_perf_event *ret)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		const struct known *k = &known[i];

		if (strcmp(k->name, name) != 0)
			continue;
		ret->kind = k->kind;
		ret->type = k->type;
		ret->config = k->config;
		ret->in_kernel = k->in_kernel;
		return true;
	}
	return false;
}

/* "r" and a hexadecimal number: an event of the processor by its own code. */
static bool find_raw(const char *name, struct dw_perf_event *ret)
{
	char *end;

	if (name[0] != 'r' || !isxdigit((unsigned char)name[1]))
		return false;
	ret->config = strtoull(name + 1, &end, 16);
	ret->type = PERF_TYPE_RAW;
	ret->kind = DWELL_EVENT_CYCLE;
	return !*end;
}

/* "SYSTEM:NAME". *@ret_refused: tracefs is not ours to read. */
static bool find_tracepoint(const char *name, struct dw_perf_event *ret, int *ret_refused)
{
	const char *colon = strchr(name, ':');
	char system[64], file[DWELL_EVENT_NAME_BYTES + 4], number[LINE_BYTES];

	if (!colon || colon - name >= (int)sizeof system)
		return false;
	snprintf(system, sizeof system, "%.*s", (int)(colon - name), name);
	*ret_refused = access(TRACEPOINTS, X_OK) ? errno : 0;
	snprintf(file, sizeof file, "%s/id", colon + 1);
	if (!read_line(TRACEPOINTS, system, file, number))
		return false;
	ret->type = PERF_TYPE_TRACEPOINT;
	ret->config = strtoull(number, NULL, 10);
	ret->kind = DWELL_EVENT_COUNT;
	ret->in_kernel = true;
	return true;
}

/* Put @value into the bits that @format names, lowest first. */
static bool put_term(const char *format, uint64_t value, struct dw_perf_event *ret)
{
	uint64_t *word = !strncmp(format, "config:", 7)	   ? &ret->config
			 : !strncmp(format, "config1:", 8) ? &ret->config1
			 : !strncmp(format, "config2:", 8) ? &ret->config2
							   : NULL;
	const char *at = strchr(format, ':');

	while (word && *at) {
		char *end;
		unsigned long first = strtoul(at + 1, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (last > 63 || first > last || (*end && *end != ','))
			return false;
		for (unsigned long bit = first; bit <= last; bit++, value >>= 1)
			*word = (*word & ~(1ull << bit)) | (value & 1) << bit;
		at = end;
	}
	return word != NULL && !value;
}

/* "TERM=VALUE,TERM,..." of @pmu. */
static bool put_terms(const char *pmu, char *terms, struct dw_perf_event *ret)
{
	char *rest = NULL;

	for (char *term = strtok_r(terms, ",", &rest); term; term = strtok_r(NULL, ",", &rest)) {
		char *equals = strchr(term, '='), *end = NULL;
		uint64_t value = equals ? strtoull(equals + 1, &end, 0) : 1;
		char file[DWELL_EVENT_NAME_BYTES + 8], format[LINE_BYTES];

		if (equals)
			*equals = 0;
		if ((size_t)snprintf(file, sizeof file, "format/%s", term) >= sizeof file ||
		    (end && *end) || !read_line(PMUS, pmu, file, format) ||
		    !put_term(format, value, ret))
			return false;
	}
	return true;
}

/* "PMU/EVENT/" or "PMU/TERM=VALUE,.../". */
static bool find_pmu(const char *name, struct dw_perf_event *ret)
{
	const char *slash = strchr(name, '/');
	char pmu[64], body[DWELL_EVENT_NAME_BYTES], file[DWELL_EVENT_NAME_BYTES + 8];
	char line[LINE_BYTES];

	if (!slash || slash == name || slash - name >= (int)sizeof pmu)
		return false;
	snprintf(pmu, sizeof pmu, "%.*s", (int)(slash - name), name);
	snprintf(body, sizeof body, "%s", slash + 1);
	body[strcspn(body, "/")] = 0;
	if (!read_line(PMUS, pmu, "type", line))
		return false;
	ret->type = (uint32_t)strtoul(line, NULL, 10);
	ret->kind = DWELL_EVENT_CYCLE;
	snprintf(file, sizeof file, "events/%s", body);
	if (read_line(PMUS, pmu, file, line))
		return put_terms(pmu, line, ret);
	return put_terms(pmu, body, ret);
}

int dw_perf_event_find(const char *name, struct dw_perf_event *ret, struct dw_error *err)
{
	int refused = 0;

	*ret = (struct dw_perf_event){0};
	if (strlen(name) < sizeof ret->name) {
		snprintf(ret->name, sizeof ret->name, "%s", name);
		if (find_known(name, ret) || find_raw(name, ret) ||
		    find_tracepoint(name, ret, &refused) || find_pmu(name, ret))
			return 0;
	}
	if (refused == ENOENT)
		return dw_error_set(err, DWELL_ERR_NOT_FOUND,
				    "there is no event '%s' here: tracepoints need 'mount -t "
				    "tracefs tracefs /sys/kernel/tracing' (--event list shows "
				    "others)",
				    name);
	if (refused)
		return dw_error_set(err, DWELL_ERR_NOT_FOUND,
				    "'%s' is looked up in " TRACEPOINTS ", which only root may "
				    "read here",
				    name);
	return dw_error_set(err, DWELL_ERR_NOT_FOUND,
			    "there is no event '%s' here (--event list shows some)", name);
}

void dw_perf_event_fill(const struct dw_perf_event *e, struct perf_event_attr *attr)
{
	attr->type = e->type;
	attr->config = e->config;
	attr->config1 = e->config1;
	attr->config2 = e->config2;
}

int dw_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}
