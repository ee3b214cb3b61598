/*
 * The system calls of a helper; see spawn.h. What is not listed fails with EPERM. Opening is read
 * only and must not wait: libdw opens .dwo files in its own way, so an open without O_NONBLOCK
 * traps and is done again as dw_debugfile_open() would, in the SIGSYS handler. Memory never becomes
 * executable. Source: seccomp(2), linux/Documentation/userspace-api/seccomp_filter.rst.
 */
#include "symbol/spawn.h"

#include "symbol/debugfile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define FIELD(name)    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, (action))
#define DENY	       RETURN(SECCOMP_RET_ERRNO | EPERM)

/* Return @action for system call @nr, else go on. */
#define ON(nr, action) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1), RETURN(action)
#define ALLOW(name)    ON(SYS_##name, SECCOMP_RET_ALLOW)

/* For call @name: deny when argument @arg has one of @bits, else allow. */
#define UNLESS(name, arg, bits)                                                  \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 4), FIELD(args[arg]), \
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, 1), DENY,        \
		RETURN(SECCOMP_RET_ALLOW)

#define WRITING_FLAGS \
	(O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY))

/* An open that might wait or give a device: done again the safe way. */
static void open_safely(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	int flags = (int)regs[REG_RDX] | O_NONBLOCK | O_NOCTTY, saved = errno, rc;
	long fd;

	(void)sig;
	if (info->si_syscall != SYS_openat)
		return;
	fd = syscall(SYS_openat, regs[REG_RDI], regs[REG_RSI], flags, 0);
	rc = fd < 0 ? -errno : dw_debugfile_check((int)fd);
	if (fd >= 0 && rc)
		close((int)fd);
	regs[REG_RAX] = rc ? rc : fd;
	errno = saved;
}

int dw_confine_filter(bool may_open)
{
	struct sigaction action = {.sa_sigaction = open_safely, .sa_flags = SA_SIGINFO};
	struct sock_filter code[] = {
		FIELD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		FIELD(nr),
		ALLOW(read),
		ALLOW(pread64),
		ALLOW(write),
		ALLOW(close),
		ALLOW(fstat),
		ALLOW(newfstatat),
		ALLOW(lseek),
		ALLOW(fcntl),
		ALLOW(readlink),
		ALLOW(munmap),
		ALLOW(mremap),
		ALLOW(madvise),
		ALLOW(brk),
		ALLOW(futex),
		ALLOW(getrandom),
		ALLOW(sysinfo),
		ALLOW(clock_gettime),
		ALLOW(rt_sigreturn),
		ALLOW(exit),
		ALLOW(exit_group),
		UNLESS(mmap, 2, PROT_EXEC),
		UNLESS(mprotect, 2, PROT_EXEC),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
		DENY,
		may_open ? (struct sock_filter)FIELD(args[2]) : (struct sock_filter)DENY,
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, WRITING_FLAGS, 0, 1),
		DENY,
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_NONBLOCK, 0, 1),
		RETURN(SECCOMP_RET_ALLOW),
		RETURN(SECCOMP_RET_TRAP),
	};
	struct sock_fprog program = {sizeof code / sizeof *code, code};

	if (sigaction(SIGSYS, &action, NULL))
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -errno : 0;
}
