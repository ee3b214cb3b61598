/* Launching: a held child, what it inherits, and failures of exec. */
#include "check.h"

#include "base/error.h"
#include "base/process-setup.h"
#include "collect/launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGV(...) ((char *const *)(const char *const[]){__VA_ARGS__, NULL})

/* Run a command to its end; its wait status, or the negative code of release. */
static int run(char *const *argv)
{
	struct dw_launch l = DW_LAUNCH_INIT;
	int status = -1, rc = dw_launch_prepare(&l, argv, NULL);

	if (!rc)
		rc = dw_launch_release(&l, NULL);
	if (!rc)
		dw_launch_wait(&l, 0, &status, NULL);
	dw_launch_close(&l);
	return rc ? rc : status;
}

TEST(status_of_the_command)
{
	CHECK_INT(WEXITSTATUS(run(ARGV("sh", "-c", "exit 7"))), 7);
	CHECK_INT(WTERMSIG(run(ARGV("sh", "-c", "kill -9 $$"))), 9);
}

TEST(failing_exec)
{
	setenv("PATH", "/usr/bin:/bin", 1); /* in a folder closed to us it might be */
	CHECK_INT(run(ARGV("no-such-command-anywhere")), -ENOENT);
	CHECK_INT(run(ARGV("/etc/passwd")), -EACCES);
	CHECK_INT(dw_launch_exit_code(-ENOENT), 127);
	CHECK_INT(dw_launch_exit_code(-EACCES), 126);
	CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
}

TEST(child_waits_and_can_be_dropped)
{
	struct dw_launch l = DW_LAUNCH_INIT;

	CHECK_INT(dw_launch_prepare(&l, ARGV("true"), NULL), 0);
	usleep(50000);
	CHECK_INT(dw_launch_wait(&l, WNOHANG, NULL, NULL), 0);
	dw_launch_close(&l);
	CHECK_INT(l.pid, 0);
	CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
}

TEST(killed_while_held)
{
	struct dw_launch l = DW_LAUNCH_INIT;
	int status;

	signal(SIGPIPE, SIG_IGN);
	CHECK_INT(dw_launch_prepare(&l, ARGV("true"), NULL), 0);
	kill(l.pid, SIGKILL);
	usleep(50000);
	CHECK_INT(dw_launch_release(&l, NULL), 0);
	CHECK_INT(dw_launch_wait(&l, 0, &status, NULL), 1);
	CHECK_INT(WTERMSIG(status), SIGKILL);
}

/* What a child of ours and one of a plain shell say of themselves must be the same words. */
TEST(inherits_what_a_plain_run_has)
{
	/* posix_spawn(), thus system(), ignores signals 32 and 33: no business of ours. */
	static const char script[] = "ls /proc/self/fd | wc -l; ulimit -n; umask; env | sort | "
				     "grep -v ^_= | cksum; awk '/^Sig(Blk|Ign|Cgt)/ {print $1, "
				     "substr($2, 9) % 80000000}' /proc/self/status";
	char path[] = "/tmp/dwell-test-XXXXXX", got[8192] = "", want[8192] = "", command[1024];
	int fd = mkstemp(path);
	FILE *f;

	CHECK(fd >= 0);
	close(fd);
	snprintf(command, sizeof command, "( %s ) > %s", script, path);
	signal(SIGPIPE, SIG_DFL);
	CHECK_INT(system(command), 0);
	f = fopen(path, "r");
	CHECK(f && fread(want, 1, sizeof want - 1, f) > 0);
	fclose(f);
	dw_dispositions_take();
	CHECK_INT(run(ARGV("sh", "-c", command)), 0);
	dw_dispositions_restore();
	f = fopen(path, "r");
	CHECK(f && fread(got, 1, sizeof got - 1, f) > 0);
	fclose(f);
	unlink(path);
	CHECK_STR(got, want);
}

/* As a parent that ignores SIGCHLD would start us. */
TEST(status_although_sigchld_is_ignored)
{
	signal(SIGCHLD, SIG_IGN);
	dw_dispositions_take();
	CHECK_INT(WEXITSTATUS(run(ARGV("sh", "-c", "exit 7"))), 7);
	/* The command has it ignored as before: bit 16 of the mask, the fifth digit from the right.
	 */
	CHECK_INT(run(ARGV("grep", "-q", "^SigIgn:.*1....$", "/proc/self/status")), 0);
	signal(SIGCHLD, SIG_DFL);
}

TEST_MAIN()
