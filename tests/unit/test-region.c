/*
 * Unit tests of src/collect/region: the session's folder, regions as agents write them, and files
 * that are none.
 */
#include "check.h"
#include "scratch.h"

#include "base/cleanup.h"
#include "collect/region/process.h"
#include "collect/region/regions.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "region-writer.h"

enum { COUNTED = 5000 };

/* What a session's callbacks have seen. */
struct seen {
	struct dw_regions *regions;
	uint32_t answer; /* state to answer with at once, 0 = do not answer */
	int asked;
	int ended;
	struct dw_region_question question;
	struct dw_region_module module;
	struct dw_region_head head;
	uint64_t sums[COUNTED];
	int counts_rc;
};

static void on_asked(void *ctx, const struct dw_region_question *q)
{
	struct seen *s = ctx;

	s->asked++;
	s->question = *q;
	s->module = *q->module;
	if (s->answer)
		dw_regions_answer(s->regions, q, s->answer, 7, "/some/image");
}

static void on_ended(void *ctx, const struct dw_region_look *e)
{
	struct seen *s = ctx;
	struct dw_region_module m;

	s->ended++;
	s->head = *e->head;
	if (!dw_region_read_module(e->fd, 0, &m))
		s->counts_rc = dw_region_add_counts(e->fd, &m, COUNTED, s->sums);
}

struct session {
	struct dw_regions regions;
	struct seen seen;
};

static int open_session(struct session *s)
{
	struct dw_regions_events events = {on_asked, NULL, on_ended, &s->seen};

	signal(SIGIO, SIG_IGN);
	s->seen = (struct seen){.regions = &s->regions, .answer = DWELL_ANSWER_IMAGE};
	return dw_regions_open(&s->regions, ".", &events, NULL);
}

static void drain(struct session *s)
{
	while (dw_regions_drain(&s->regions, 1))
		;
}

/* Files of others in the session's folder. */
static int count_files(const struct session *s)
{
	char command[DWELL_REGION_PATH];
	FILE *f;
	int n = -1;

	snprintf(command, sizeof command, "ls %s | wc -l", dw_regions_path(&s->regions));
	f = popen(command, "r");
	if (f && fscanf(f, "%d", &n) != 1)
		n = -1;
	if (f)
		pclose(f);
	return n;
}

TEST(folder_lets_others_add_and_not_list)
{
	struct session s;
	struct stat st;
	char path[DWELL_REGION_PATH];

	CHECK_INT(open_session(&s), 0);
	CHECK_INT(stat(dw_regions_path(&s.regions), &st), 0);
	CHECK_INT(st.st_mode & 07777, 01733);
	CHECK_INT(st.st_uid, geteuid());
	snprintf(path, sizeof path, "%s", dw_regions_path(&s.regions));
	dw_regions_release(&s.regions);
	CHECK(stat(path, &st) && errno == ENOENT);
}

TEST(folder_of_a_killed_collector_is_swept)
{
	struct session s;
	char dead[DWELL_REGION_PATH] = "";
	struct stat st;
	int ends[2], status;
	pid_t child;

	CHECK_INT(pipe(ends), 0);
	child = fork();
	if (!child) {
		struct session own;
		struct region_writer w;

		if (open_session(&own))
			_exit(1);
		w = region_write(dw_regions_path(&own.regions), "r", 0);
		region_ring(&w);
		_exit(write(ends[1], dw_regions_path(&own.regions),
			    strlen(dw_regions_path(&own.regions)) + 1) < 0);
	}
	CHECK_INT(waitpid(child, &status, 0), child);
	CHECK_INT(status, 0);
	CHECK(read(ends[0], dead, sizeof dead) > 0);
	CHECK_INT(stat(dead, &st), 0);
	CHECK_INT(open_session(&s), 0);
	CHECK(stat(dead, &st) && errno == ENOENT);
	dw_regions_release(&s.regions);
}

TEST(folder_of_a_living_collector_stays)
{
	struct session one, two;
	struct stat st;

	CHECK_INT(open_session(&one), 0);
	CHECK_INT(open_session(&two), 0);
	CHECK_INT(stat(dw_regions_path(&one.regions), &st), 0);
	dw_regions_release(&two.regions);
	dw_regions_release(&one.regions);
}

TEST(question_is_answered_and_wake_up_file_removed)
{
	struct session s;
	struct region_writer w;

	CHECK_INT(open_session(&s), 0);
	w = region_write(dw_regions_path(&s.regions), "abc", 0);
	CHECK(w.h);
	CHECK_INT(region_ask(&w, "/bin/true", 0x1000, true), 0);
	CHECK_INT(count_files(&s), 2);
	drain(&s);
	CHECK_INT(count_files(&s), 1);
	CHECK_INT(s.seen.asked, 1);
	CHECK_INT(s.seen.question.owner.uid, geteuid());
	CHECK_INT(s.seen.question.owner.pid, getpid());
	CHECK_STR(s.seen.module.path, "/bin/true");
	CHECK_INT(w.h->answers[0].state, DWELL_ANSWER_IMAGE);
	CHECK_INT(w.h->answers[0].heartbeat, 7);
	CHECK_STR(w.h->answers[0].image, "/some/image");
	CHECK_INT(region_ask(&w, "/lib/two", 0x2000, false), 1);
	drain(&s);
	CHECK_INT(s.seen.asked, 2);
	CHECK_INT(s.seen.question.index, 1);
	CHECK_INT(s.seen.ended, 0);
	region_leave(&w);
	dw_regions_release(&s.regions);
}

TEST(region_ends_when_nobody_has_it)
{
	struct session s;
	struct region_writer w;

	CHECK_INT(open_session(&s), 0);
	w = region_write(dw_regions_path(&s.regions), "abc", COUNTED * 8);
	CHECK(w.h);
	w.h->modules[0].counts = sizeof *w.h;
	w.h->modules[0].counts_n = COUNTED;
	for (uint64_t i = 0; i < COUNTED; i++)
		((uint64_t *)(w.h + 1))[i] = i;
	region_ask(&w, "/bin/true", 0, true);
	drain(&s);
	dw_regions_tick(&s.regions, 1);
	CHECK_INT(s.seen.ended, 0);
	w.h->drops[DWELL_DROP_CHILDREN] = 3;
	close(w.fd); /* the mapping alone keeps it, as with an agent */
	w.fd = -1;
	dw_regions_tick(&s.regions, 1);
	CHECK_INT(s.seen.ended, 0);
	munmap(w.h, sizeof *w.h + COUNTED * 8);
	dw_regions_tick(&s.regions, 1);
	CHECK_INT(s.seen.ended, 1);
	CHECK_INT(s.seen.head.drops[DWELL_DROP_CHILDREN], 3);
	CHECK_INT(s.seen.counts_rc, 0);
	CHECK_INT(s.seen.sums[0], 0);
	CHECK_INT(s.seen.sums[COUNTED - 1], COUNTED - 1);
	CHECK_INT(count_files(&s), 0);
	CHECK_INT(s.regions.stats.regions, 1);
	dw_regions_release(&s.regions);
}

TEST(counts_that_do_not_fit_are_refused)
{
	struct session s;
	struct region_writer w;
	struct dw_region_module m = {.counts = sizeof *w.h, .counts_n = COUNTED};
	uint64_t sums[COUNTED] = {0};

	CHECK_INT(open_session(&s), 0);
	w = region_write(dw_regions_path(&s.regions), "abc", COUNTED * 8);
	CHECK(w.h);
	CHECK_INT(dw_region_add_counts(w.fd, &m, COUNTED, sums), 0);
	CHECK_INT(dw_region_add_counts(w.fd, &m, COUNTED - 1, sums), DWELL_ERR_FORMAT);
	m.counts += 8; /* one behind the end */
	CHECK_INT(dw_region_add_counts(w.fd, &m, COUNTED, sums), DWELL_ERR_FORMAT);
	m.counts = UINT64_MAX - 8;
	CHECK_INT(dw_region_add_counts(w.fd, &m, COUNTED, sums), DWELL_ERR_FORMAT);
	m.counts = 8; /* in the header */
	CHECK_INT(dw_region_add_counts(w.fd, &m, COUNTED, sums), DWELL_ERR_FORMAT);
	m.counts = 0;
	CHECK_INT(dw_region_add_counts(w.fd, &m, COUNTED, sums), DWELL_ERR_NOT_FOUND);
	region_leave(&w);
	dw_regions_release(&s.regions);
}

/* Put something that is no region into the folder; it must be gone and counted after draining. */
static bool is_refused(struct session *s, const char *command, const uint64_t *counter)
{
	char line[2 * DWELL_REGION_PATH];
	uint64_t before = *counter;

	snprintf(line, sizeof line, "cd %s && %s", dw_regions_path(&s->regions), command);
	if (system(line))
		return false;
	drain(s);
	dw_regions_finish(&s->regions);
	return *counter == before + 1 && !s->seen.asked && !s->seen.ended && !count_files(s);
}

TEST(what_is_no_region_is_removed_and_counted)
{
	struct session s;
	const struct dw_regions_stats *stats = &s.regions.stats;

	CHECK_INT(open_session(&s), 0);
	CHECK(is_refused(&s, "ln -s /etc/passwd link", &stats->refused_kind));
	CHECK(is_refused(&s, "mkfifo pipe", &stats->refused_kind));
	CHECK(is_refused(&s, "truncate -s 9G large", &stats->refused_kind));
	/* One that begins with 0 has not been written yet. */
	CHECK(is_refused(&s, "(printf x; head -c 200000 /dev/urandom) >noise",
			 &stats->refused_format));
	CHECK(is_refused(&s, "mkdir folder", &stats->refused_kind));
	CHECK(is_refused(&s, "touch .own; ln .own twice", &stats->refused_kind));
	CHECK_INT(stats->regions, 0);
	dw_regions_release(&s.regions);
}

TEST(region_of_another_dwell_is_refused)
{
	struct session s;
	struct region_writer w;

	CHECK_INT(open_session(&s), 0);
	w = region_write(dw_regions_path(&s.regions), "abc", 0);
	CHECK(w.h);
	w.h->version++;
	region_ask(&w, "/bin/true", 0, true);
	drain(&s);
	CHECK_INT(s.seen.asked, 0);
	CHECK_INT(s.regions.stats.refused_version, 1);
	region_leave(&w);
	dw_regions_release(&s.regions);
}

TEST(truncated_and_replaced_regions_do_no_harm)
{
	struct session s;
	struct region_writer w, second;

	CHECK_INT(open_session(&s), 0);
	w = region_write(dw_regions_path(&s.regions), "abc", 0);
	CHECK(w.h);
	region_ask(&w, "/bin/true", 0, true);
	drain(&s);
	CHECK_INT(s.seen.asked, 1);
	CHECK_INT(ftruncate(w.fd, 100), 0);
	drain(&s);
	dw_regions_tick(&s.regions, 1);
	CHECK_INT(dw_regions_answer(&s.regions, &s.seen.question, DWELL_ANSWER_NONE, 0, NULL), 0);
	CHECK_INT(unlink(w.path), 0);
	second = region_write(dw_regions_path(&s.regions), "abc", 0);
	CHECK(second.h);
	region_ask(&second, "/bin/false", 0, true);
	drain(&s);
	CHECK_INT(s.seen.asked, 2);
	CHECK_STR(s.seen.module.path, "/bin/false");
	region_leave(&second);
	close(w.fd);
	dw_regions_release(&s.regions);
}

TEST(counts_of_modules_and_paths_are_bounded)
{
	struct session s;
	struct region_writer w;

	CHECK_INT(open_session(&s), 0);
	w = region_write(dw_regions_path(&s.regions), "abc", 0);
	CHECK(w.h);
	memset(w.h->modules[0].path, 'x', sizeof w.h->modules[0].path);
	w.h->modules[0].state = DWELL_MODULE_ASKED;
	w.h->module_n = 1;
	region_ring(&w);
	drain(&s);
	CHECK_INT(s.seen.asked, 1);
	CHECK_INT(strlen(s.seen.module.path), DWELL_REGION_PATH - 1);
	w.h->module_n = DWELL_REGION_MODULES + 1;
	region_ring(&w);
	drain(&s);
	CHECK_INT(s.seen.asked, 1);
	CHECK_INT(s.regions.stats.refused_format, 1);
	region_leave(&w);
	dw_regions_release(&s.regions);
}

TEST(process_is_known_by_its_mapping)
{
	struct session s;
	struct region_writer w;
	struct dw_region_process p;
	struct dw_rights own;
	struct dw_region_owner liar;
	struct stat here, there;
	int fd;

	CHECK_INT(open_session(&s), 0);
	CHECK_INT(dw_rights_read(getpid(), &own), 0);
	w = region_write(dw_regions_path(&s.regions), "abc", 0);
	CHECK(w.h);
	region_ask(&w, "/etc/passwd", (uint64_t)(uintptr_t)&gnu_get_libc_version, false);
	drain(&s);
	CHECK_INT(dw_region_process_read(&s.seen.question.owner, &p), 0);
	CHECK_CONTAINS(dw_region_process_path(&p, &s.seen.module), "libc");
	fd = dw_region_process_open(&p, &s.seen.module, &own);
	CHECK(fd >= 0);
	CHECK_INT(fstat(fd, &there), 0);
	close(fd);
	s.seen.module.is_main = 1;
	fd = dw_region_process_open(&p, &s.seen.module, &own);
	CHECK(fd >= 0);
	CHECK_INT(fstat(fd, &there) | stat("/proc/self/exe", &here), 0);
	CHECK_INT(there.st_ino, here.st_ino);
	close(fd);
	dw_region_process_release(&p);
	liar = s.seen.question.owner;
	liar.pid = getppid();
	CHECK_INT(dw_region_process_read(&liar, &p), DWELL_ERR_REFUSED);
	dw_region_process_release(&p);
	dw_rights_release(&own);
	region_leave(&w);
	dw_regions_release(&s.regions);
}

/* Whoever looks for it among all processes would look for nothing. */
TEST(process_that_ends_is_told_from_one_elsewhere)
{
	struct session s;
	struct region_writer w;
	struct dw_region_process p;
	struct dw_region_owner owner;
	siginfo_t info;
	pid_t pid;

	CHECK_INT(open_session(&s), 0);
	w = region_write(dw_regions_path(&s.regions), "abc", 0);
	region_ask(&w, "/etc/passwd", 0x1000, false);
	drain(&s);
	owner = s.seen.question.owner;
	CHECK(dw_regions_is_held(&s.regions, s.seen.question.region));
	pid = fork();
	if (!pid)
		_exit(0);
	CHECK_INT(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	owner.pid = pid;
	CHECK_INT(dw_region_process_read(&owner, &p), -ESRCH);
	dw_region_process_release(&p);
	CHECK_INT(waitpid(pid, NULL, 0), pid);
	region_leave(&w);
	CHECK(!dw_regions_is_held(&s.regions, s.seen.question.region));
	dw_regions_release(&s.regions);
}

TEST_MAIN()
