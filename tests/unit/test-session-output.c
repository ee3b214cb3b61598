/* Unit tests of src/session: names, rights, dying writers, full disks. */
#include "check.h"
#include "scratch.h"

#include "base/process-setup.h"

#include "recorded.h"
#include "session/read.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct synthetic small = SYNTHETIC_SMALL;

static int write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f)
		return -errno;
	fputs(text, f);
	return fclose(f) ? -errno : 0;
}

static int copy_file(const char *from, const char *to)
{
	char command[256];

	snprintf(command, sizeof command, "cp %s %s", from, to);
	return system(command);
}

/* Samples in the session at @path, or the negative code of its loading. */
static int64_t samples_in(const char *path)
{
	struct dw_profile p = DW_PROFILE_INIT;
	int64_t rc = dw_session_load(path, &p, NULL, NULL);

	rc = rc ? rc : (int64_t)p.samples.n;
	dw_profile_release(&p);
	return rc;
}

TEST(other_files_are_refused)
{
	struct dw_error err = DW_ERROR_INIT;

	CHECK_INT(write_file("notes.txt", "precious"), 0);
	CHECK_INT(write_file("empty", ""), 0);
	CHECK_INT(mkdir("folder", 0755), 0);
	CHECK_INT(dw_session_check_output("notes.txt", &err), DWELL_ERR_REFUSED);
	CHECK_STR(dw_error_message(&err),
		  "notes.txt exists and is not a dwell session, not overwriting it");
	CHECK_INT(dw_session_check_output("empty", &err), DWELL_ERR_REFUSED);
	CHECK_INT(dw_session_check_output("folder", &err), DWELL_ERR_REFUSED);
	CHECK_INT(dw_session_check_output("/dev/null", &err), DWELL_ERR_REFUSED);
	CHECK_INT(dw_session_check_output("", &err), DWELL_ERR_USAGE);
	CHECK_INT(dw_session_check_output("absent/x.dwell", &err), -ENOENT);
	CHECK_CONTAINS(dw_error_message(&err), "absent");
	CHECK_INT(dw_session_check_output("notes.txt/x.dwell", &err), -ENOTDIR);
	CHECK_INT(dw_session_check_output("new.dwell", &err), 0);
	CHECK_INT(access("new.dwell.partial", F_OK), -1);
	dw_error_clear(&err);
}

TEST(folder_without_rights_is_refused)
{
	struct dw_error err = DW_ERROR_INIT;
	int rc;

	CHECK_INT(mkdir("locked", 0555), 0);
	CHECK_INT(chmod(".", 0755), 0);
	if (!getuid())
		CHECK_INT(seteuid(65534), 0);
	rc = dw_session_check_output("locked/x.dwell", &err);
	CHECK_INT(seteuid(getuid()), 0);
	CHECK_INT(rc, -EACCES);
	CHECK_STR(dw_error_message(&err), "cannot write to the folder locked: Permission denied");
	dw_error_clear(&err);
}

TEST(a_session_is_replaced)
{
	struct dw_error err = DW_ERROR_INIT;
	struct stat before, after;

	CHECK_INT(recorded_session(&small, "again.dwell", 1, true, &err), 0);
	CHECK_INT(stat("again.dwell", &before), 0);
	CHECK_INT(recorded_session(&small, "again.dwell", 1, false, &err), 0);
	CHECK_INT(stat("again.dwell", &after), 0);
	CHECK_INT(after.st_ino, before.st_ino);
	CHECK_INT(recorded_finish(&small, "again.dwell.partial", "again.dwell", &err), 0);
	CHECK_INT(samples_in("again.dwell"), small.samples);
	CHECK_INT(access("again.dwell.partial", F_OK), -1);
	CHECK_INT(access("again.dwell.partial-new", F_OK), -1);
}

TEST(names_are_taken_literally)
{
	static const char name[] = "50% of? #1 'x'.dwell";
	struct dw_error err = DW_ERROR_INIT;

	CHECK_INT(recorded_session(&small, name, 2, true, &err), 0);
	CHECK_INT(samples_in(name), small.samples);
}

TEST(unfinished_recordings_are_kept)
{
	struct dw_error err = DW_ERROR_INIT;
	struct dw_session_writer *w = NULL;

	CHECK_INT(recorded_session(&small, "left.dwell", 2, false, &err), 0);
	CHECK_INT(dw_session_create("left.dwell", &w, &err), DWELL_ERR_REFUSED);
	CHECK_STR(dw_error_message(&err),
		  "left.dwell.partial holds an unfinished recording: finish it with 'dwell recover "
		  "left.dwell.partial' or remove it");
	CHECK_INT(samples_in("left.dwell.partial"), small.samples);
	CHECK_INT(dw_session_check_target("left.dwell", &err), 0);
	CHECK_INT(write_file("odd.dwell.partial", "what is this"), 0);
	CHECK_INT(dw_session_create("odd.dwell", &w, &err), DWELL_ERR_REFUSED);
	/* Nothing was recorded: nothing is lost. */
	CHECK_INT(dw_session_create("none.dwell", &w, &err), 0);
	dw_session_writer_free(w, false);
	CHECK_INT(samples_in("none.dwell.partial"), 0);
	CHECK_INT(dw_session_create("none.dwell", &w, &err), 0);
	dw_session_writer_free(w, true);
	CHECK_INT(access("none.dwell.partial", F_OK), -1);
	dw_error_clear(&err);
}

TEST(living_recordings_are_left_alone)
{
	struct dw_error err = DW_ERROR_INIT;
	struct dw_session_writer *w = NULL, *second = NULL;
	int fd;

	CHECK_INT(dw_session_create("live.dwell", &w, &err), 0);
	CHECK_INT(dw_session_create("live.dwell", &second, &err), DWELL_ERR_REFUSED);
	CHECK_STR(dw_error_message(&err), "live.dwell is being written by another recording");
	CHECK_INT(dw_session_close_partial(w, &err), 0);
	CHECK_INT(dw_session_hold("live.dwell.partial", &fd, &err), DWELL_ERR_REFUSED);
	CHECK_INT(dw_session_create("live.dwell", &second, &err), DWELL_ERR_REFUSED);
	dw_session_writer_free(w, true);
	dw_error_clear(&err);
}

/* Begin recordings again and again, and see whether those that begin keep their file. */
static int compete(void)
{
	struct dw_session_writer *w;
	struct stat before, after;

	for (int i = 0; i < 300; i++) {
		int rc = dw_session_create("race.dwell", &w, NULL);

		if (rc == DWELL_ERR_REFUSED)
			continue;
		if (rc || stat("race.dwell.partial", &before))
			return 1;
		usleep(50);
		if (stat("race.dwell.partial", &after) || after.st_ino != before.st_ino)
			return 2;
		if (dw_session_close_partial(w, NULL))
			return 3;
		dw_session_writer_free(w, i % 2);
	}
	return 0;
}

TEST(of_several_that_begin_one_has_the_file)
{
	pid_t pids[4];
	int status;

	for (size_t i = 0; i < 4; i++) {
		pids[i] = fork();
		if (!pids[i])
			_exit(compete());
	}
	for (size_t i = 0; i < 4; i++) {
		CHECK_INT(waitpid(pids[i], &status, 0), pids[i]);
		CHECK_INT(status, 0);
	}
}

/* In a child: record @flushes flushes of 1/@flushes of the samples, @pause_us apart, and wait. */
static pid_t fork_recorder(const char *path, uint32_t flushes, useconds_t pause_us)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_session_writer *w;
	uint32_t *leaves, each = small.samples / flushes;
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (dw_session_create(path, &w, NULL) || synthetic_tables(&small, &p, &leaves))
		_exit(1);
	for (uint32_t i = 0; i < flushes; i++) {
		synthetic_samples(&small, leaves, i * each, (i + 1) * each, &p);
		if (dw_session_flush(w, &p, NULL))
			_exit(1);
		usleep(pause_us);
	}
	for (;;)
		pause();
}

static void kill_and_reap(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST(a_killed_writer_leaves_a_complete_partial)
{
	struct dw_profile got = DW_PROFILE_INIT, want = DW_PROFILE_INIT;
	struct dw_error err = DW_ERROR_INIT;
	pid_t pid = fork_recorder("killed.dwell", 4, 1000);
	int64_t n = 0;

	CHECK(pid > 0);
	/* Reading while the writer lives: at the latest 10 s from now all is there. */
	for (int i = 0; i < 1000 && n < small.samples; i++) {
		n = samples_in("killed.dwell.partial");
		usleep(10000);
	}
	kill_and_reap(pid);
	CHECK_INT(n, small.samples);
	CHECK_INT(mkdir("elsewhere", 0755), 0);
	CHECK_INT(copy_file("killed.dwell.partial", "elsewhere/alone"), 0);
	CHECK_INT(dw_session_load("elsewhere/alone", &got, NULL, &err), 0);
	CHECK_INT(recorded_expect(&small, false, &want), 0);
	CHECK_STR(recorded_difference(&got, &want), "none");
	CHECK_INT(recorded_finish(&small, "killed.dwell.partial", "killed.dwell", &err), 0);
	CHECK_INT(samples_in("killed.dwell"), small.samples);
	CHECK_INT(access("killed.dwell.partial", F_OK), -1);
	CHECK_INT(access("killed.dwell.partial-wal", F_OK), -1);
	dw_profile_release(&got);
	dw_profile_release(&want);
}

TEST(a_writer_killed_at_any_time_can_be_recovered)
{
	enum { FLUSHES = 200, TIMES = 40 };
	uint64_t random = 5;

	for (int i = 0; i < TIMES; i++) {
		pid_t pid = fork_recorder("any.dwell", FLUSHES, 50);
		int64_t n;

		CHECK(pid > 0);
		for (int tries = 0; samples_in("any.dwell.partial") < 0; tries++) {
			CHECK(tries < 10000);
			usleep(1000); /* not created yet */
		}
		usleep((useconds_t)(synthetic_random(&random) % 40000));
		kill_and_reap(pid);
		n = samples_in("any.dwell.partial");
		if (n < 0 || n % (small.samples / FLUSHES))
			CHECK_FAIL("kill %d: %" PRId64 " samples", i, n);
		unlink("any.dwell.partial");
		unlink("any.dwell.partial-wal");
		unlink("any.dwell.partial-shm");
	}
}

/* Record until a flush fails, and say what of. */
static int record_until_failure(const char *path, struct dw_error *err)
{
	struct synthetic large = small;
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_session_writer *w = NULL;
	uint32_t *leaves = NULL;
	int rc = dw_session_create(path, &w, err);

	large.samples = 100000000;
	if (!rc)
		rc = synthetic_tables(&large, &p, &leaves);
	for (uint32_t i = 0; !rc && i < large.samples; i += 50000) {
		rc = synthetic_samples(&large, leaves, i, i + 50000, &p);
		if (!rc)
			rc = dw_session_flush(w, &p, err);
		usleep(20000); /* else 256 MB are queued before the disk is full */
	}
	dw_session_writer_free(w, false);
	dw_profile_release(&p);
	free(leaves);
	return rc;
}

TEST(a_full_disk_is_told_and_nothing_is_lost)
{
	struct dw_error err = DW_ERROR_INIT;
	int rc;
	int64_t n, finished;

	CHECK_INT(mkdir("disk", 0777), 0);
	if (mount("none", "disk", "tmpfs", 0, "size=2m"))
		SKIP("needs: namespaces");
	rc = record_until_failure("disk/full.dwell", &err);
	n = samples_in("disk/full.dwell.partial");
	finished = recorded_finish(&small, "disk/full.dwell.partial", "disk/full.dwell", NULL);
	if (samples_in("disk/full.dwell.partial") != n || !access("disk/full.dwell", F_OK) ||
	    !access("disk/full.dwell.partial-new", F_OK))
		n = -1;
	umount2("disk", MNT_DETACH);
	CHECK_INT(rc, -ENOSPC);
	CHECK_STR(dw_error_message(&err), "cannot write the session: No space left on device");
	CHECK(n >= 50000 && n % 50000 == 0);
	CHECK_INT(finished, -ENOSPC);
	dw_error_clear(&err);
}

TEST(a_file_size_limit_is_told_and_nothing_is_lost)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		struct rlimit limit = {1 << 20, 1 << 20};

		dw_dispositions_take();
		setrlimit(RLIMIT_FSIZE, &limit);
		_exit(record_until_failure("limited.dwell", NULL) == -EFBIG ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	CHECK_INT(status, 0);
	CHECK(samples_in("limited.dwell.partial") >= 50000);
}

TEST_MAIN()
