/*
 * Whether a program that is about to be executed can take the agent.
 *
 * The loader complains on stderr about a preload that it cannot load, and a program that runs with
 * more rights than its caller drops LD_PRELOAD but would show our other variables. So the file is
 * read first: "#!" is followed as the kernel follows it (fs/binfmt_script.c), an ELF file must be
 * for x86-64 and name glibc's loader, and nothing may change the rights (fs/exec.c and
 * security/commoncap.c). A file that cannot be read, or that changes meanwhile, is only a
 * missed child. Regular files only are opened: opening others could wait or do something. A task
 * that is traced executes what a debugger wants to see as it is.
 */
#include "agent/core/exec.h"

#include "agent/core/agent-internal.h"
#include "agent/core/system-calls.h"

#include <elf.h>
#include <errno.h>

enum {
	DWELL_EXEC_HEAD = 256,	/* as the kernel reads of a file to know its format */
	DWELL_EXEC_SCRIPTS = 4, /* interpreters that are scripts themselves */
	DWELL_EXEC_SEGMENTS = 64,
	DWELL_EXEC_INTERPRETER = 256,
	DWELL_EXEC_STATUS = 320,     /* bytes of /proc/self/status */
	DWELL_EXEC_SPACE = 64 << 20, /* bytes of address space below which there is none to share */
};

/* The first bytes of a file. */
struct head {
	union {
		char text[DWELL_EXEC_HEAD + 1];
		Elf64_Ehdr elf;
	};
	size_t n;
};

/* -errno, or a descriptor of the regular file. */
static int open_regular(const struct dw_exec_file *file, struct stat *ret_stat)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	char self[40] = "/proc/self/fd/";
	int error = -EFAULT;

	/* Newer kernels take no path for an empty one here, but not where a program is executed. */
	if (file->path)
		error = (int)dw_syscall(SYS_newfstatat, file->folder, file->path, ret_stat,
					file->flags);
	if (error)
		return error;
	if (!S_ISREG(ret_stat->st_mode))
		return -EACCES;
	if (*file->path)
		return (int)dw_syscall(SYS_openat, file->folder, file->path, flags);
	dw_text_append_number(self, sizeof(self), (uint64_t)file->folder, 10);
	return dw_sys_open(self, flags, 0);
}

static bool read_head(int fd, struct head *ret_head)
{
	long n = dw_sys_pread(fd, ret_head->text, DWELL_EXEC_HEAD, 0);

	ret_head->n = n > 0 ? (size_t)n : 0;
	ret_head->text[ret_head->n] = '\0';
	return n > 0;
}

/* Whether the loader will not trust the environment. */
static bool changes_rights(int fd, const struct stat *st)
{
	uint32_t uid[3], gid[3];
	char capability[32];

	if (dw_syscall(SYS_getresuid, &uid[0], &uid[1], &uid[2]) ||
	    dw_syscall(SYS_getresgid, &gid[0], &gid[1], &gid[2]))
		return true;
	if (uid[0] != uid[1] || gid[0] != gid[1])
		return true;
	if ((st->st_mode & S_ISUID && st->st_uid != uid[0]) ||
	    (st->st_mode & S_ISGID && st->st_gid != gid[0]))
		return true;
	return dw_syscall(SYS_fgetxattr, fd, "security.capability", capability,
			  sizeof(capability)) > 0;
}

/* Whether the segment names glibc's loader. Others that load ELF files do not call it so. */
static bool is_glibc(int fd, const Elf64_Phdr *segment)
{
	char path[DWELL_EXEC_INTERPRETER];
	size_t n = segment->p_filesz < sizeof(path) ? segment->p_filesz : sizeof(path);
	const char *name = path;

	if (dw_sys_pread(fd, path, n, segment->p_offset) != (long)n || n == 0 || path[n - 1])
		return false;
	for (const char *c = path; *c; c++)
		if (*c == '/')
			name = c + 1;
	return dw_text_equal(name, "ld-linux-x86-64.so.2");
}

static enum dw_exec_fit fit_elf(int fd, const struct stat *st, const Elf64_Ehdr *elf)
{
	Elf64_Phdr segment;

	if (elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_machine != EM_X86_64)
		return DWELL_EXEC_CLASS;
	if (changes_rights(fd, st))
		return DWELL_EXEC_SETUID;
	if (elf->e_phentsize != sizeof(segment) || elf->e_phnum > DWELL_EXEC_SEGMENTS)
		return DWELL_EXEC_OTHER;
	for (unsigned int i = 0; i < elf->e_phnum; i++) {
		if (dw_sys_pread(fd, &segment, sizeof(segment),
				 elf->e_phoff + i * sizeof(segment)) != (long)sizeof(segment))
			return DWELL_EXEC_OTHER;
		if (segment.p_type == PT_INTERP)
			return is_glibc(fd, &segment) ? DWELL_EXEC_FITS : DWELL_EXEC_STATIC;
	}
	return DWELL_EXEC_STATIC;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The interpreter in a script's first line, ended in place; NULL = none. */
static char *interpreter(struct head *head)
{
	char *path = head->text + 2, *end;

	while (is_blank(*path))
		path++;
	for (end = path; *end && *end != '\n' && !is_blank(*end);)
		end++;
	if (end == path || end == head->text + DWELL_EXEC_HEAD)
		return NULL;
	*end = '\0';
	return path;
}

/*
 * Look at one file. DWELL_EXEC_FITS with the next file's path in @head and *@ret_next, when it is a
 * script.
 */
static enum dw_exec_fit look(const struct dw_exec_file *file, struct head *head, char **ret_next)
{
	struct stat st;
	int fd = open_regular(file, &st);
	enum dw_exec_fit fit = DWELL_EXEC_OTHER;

	*ret_next = NULL;
	if (fd == -ENOENT || fd == -ENOTDIR || fd == -EFAULT)
		return DWELL_EXEC_FAILS;
	if (fd < 0)
		return DWELL_EXEC_OTHER;
	if (!read_head(fd, head)) {
		fit = DWELL_EXEC_OTHER;
	} else if (head->n >= sizeof(head->elf) && !memcmp(head->text, ELFMAG, SELFMAG)) {
		fit = fit_elf(fd, &st, &head->elf);
	} else if (dw_text_after(head->text, "#!")) {
		*ret_next = interpreter(head);
		fit = *ret_next ? DWELL_EXEC_FITS : DWELL_EXEC_OTHER;
	}
	dw_sys_close(fd);
	return fit;
}

/* The agent's own file as it is seen from here. */
static bool look_at_agent(struct stat *ret_stat)
{
	int fd = dw_sys_open(dw_agent.own_path, O_RDONLY | O_CLOEXEC, 0), error;

	if (fd < 0)
		return false;
	error = dw_sys_fstat(fd, ret_stat);
	dw_sys_close(fd);
	return !error;
}

bool dw_exec_program_start(const char *path)
{
	struct stat st;

	dw_agent.own_path = path;
	if (!look_at_agent(&st))
		return false;
	dw_agent.own_device = st.st_dev;
	dw_agent.own_inode = st.st_ino;
	return true;
}

/* Whether a debugger or tracer has this task; its number stands in the first lines. */
static bool is_traced(void)
{
	char status[DWELL_EXEC_STATUS + 1];
	const char *tracer;

	status[dw_read_file("/proc/self/status", status, DWELL_EXEC_STATUS)] = '\0';
	tracer = dw_text_line(status, "TracerPid:\t");
	return tracer && dw_text_number(tracer);
}

/* Whether the loader could find no room for the agent, or the program none beside it. */
static bool is_cramped(void)
{
	struct rlimit limit;

	return !dw_syscall(SYS_prlimit64, 0, RLIMIT_AS, 0, &limit) &&
	       limit.rlim_cur < DWELL_EXEC_SPACE;
}

enum dw_exec_fit dw_exec_program_fit(const struct dw_exec_file *file)
{
	struct dw_exec_file at = *file;
	enum dw_exec_fit fit;
	struct head head;
	struct stat own;
	char *next;

	for (int i = 0; i <= DWELL_EXEC_SCRIPTS; i++) {
		fit = look(&at, &head, &next);
		if (fit != DWELL_EXEC_FITS || !next)
			break;
		at = (struct dw_exec_file){AT_FDCWD, next, 0};
		fit = DWELL_EXEC_OTHER;
	}
	if (fit == DWELL_EXEC_FITS && !(look_at_agent(&own) && own.st_dev == dw_agent.own_device &&
					own.st_ino == dw_agent.own_inode))
		return DWELL_EXEC_AGENT;
	if (fit == DWELL_EXEC_FITS && is_traced())
		return DWELL_EXEC_TRACED;
	return fit == DWELL_EXEC_FITS && is_cramped() ? DWELL_EXEC_CRAMPED : fit;
}
