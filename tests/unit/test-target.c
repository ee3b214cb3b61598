/* Processes from outside: maps, stat and status texts, memory, careful opening of files. */
#include "check.h"

#include "base/buf.h"
#include "base/error.h"
#include "code/elf/elf.h"
#include "target/memory.h"
#include "target/file.h"
#include "target/maps.h"
#include "target/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

TEST(places_of_threads)
{
	struct dw_task_place p;

	CHECK_INT(dw_task_place_parse("running\n", &p), DWELL_ERR_NOT_FOUND);
	CHECK_INT(dw_task_place_parse("230 0x1 0x0 0x7ffc 0x0 0x0 0x8 0x7ffc10 0x7f20\n", &p), 0);
	CHECK_INT(p.call, 230);
	CHECK_INT(p.sp, 0x7ffc10);
	CHECK_INT(p.pc, 0x7f20);
	CHECK_INT(dw_task_place_parse("-1 0x7ffc18 0x55d0\n", &p), 0);
	CHECK_INT(p.call, -1);
	CHECK_INT(p.sp, 0x7ffc18);
	CHECK_INT(p.pc, 0x55d0);
	CHECK_INT(dw_task_place_parse("", &p), DWELL_ERR_FORMAT);
	CHECK_INT(dw_task_place_parse("230 0x1 0x0\n", &p), DWELL_ERR_FORMAT);
	CHECK_INT(dw_task_place_read(getpid(), getpid(), &p), 0);
	CHECK(p.sp && p.pc);
}

TEST(times_of_threads)
{
	struct dw_task_times t;

	CHECK_INT(dw_task_times_parse("123456 789 42\n", &t), 0);
	CHECK_INT(t.ran_ns, 123456);
	CHECK_INT(t.ready_ns, 789);
	CHECK_INT(t.runs, 42);
	CHECK_INT(dw_task_times_parse("123456 789", &t), DWELL_ERR_FORMAT);
	CHECK_INT(dw_task_times_parse("", &t), DWELL_ERR_FORMAT);
}

TEST(maps_text)
{
	static const char text[] =
		"55d0c0a00000-55d0c0a21000 r-xp 00002000 08:01 1234   /bin/a\\012b (deleted)\n"
		"garbage\n"
		"7000-6000 r--p 0 0:0 0 \n"
		"7ffd1000-7ffd3000 r-xp 00000000 00:00 0          [vdso]\n"
		"7f0000-7f1000 rw-p 00000000 00:00 0 ";
	struct dw_mappings m;

	CHECK_INT(dw_mappings_parse(strdup(text), sizeof text - 1, &m), 0);
	CHECK_INT(m.rows.n, 3);
	CHECK_INT(m.rows.v[0].start, 0x55d0c0a00000);
	CHECK_INT(m.rows.v[0].end, 0x55d0c0a21000);
	CHECK_INT(m.rows.v[0].offset, 0x2000);
	CHECK_INT(m.rows.v[0].device, makedev(8, 1));
	CHECK_INT(m.rows.v[0].inode, 1234);
	CHECK_STR(m.rows.v[0].path, "/bin/a\nb (deleted)");
	CHECK(m.rows.v[0].executable);
	CHECK_STR(m.rows.v[1].path, "[vdso]");
	CHECK_STR(m.rows.v[2].path, "");
	CHECK(!m.rows.v[2].executable);
	dw_mappings_release(&m);
}

/* A process names its files; a hang here is a failure. */
TEST(maps_of_many_newlines)
{
	enum { NEWLINES = 1 << 20 };
	static const char head[] = "1000-2000 r-xp 00000000 08:01 1 /\\0";
	size_t n = sizeof head - 1;
	char *text = malloc(n + 4 * NEWLINES + 1);
	struct dw_mappings m;

	CHECK(text != NULL);
	memcpy(text, head, n);
	for (int i = 0; i < NEWLINES; i++, n += 4)
		memcpy(text + n, "\\012", 4);
	text[n] = 0;
	CHECK_INT(dw_mappings_parse(text, n, &m), 0);
	CHECK_INT(m.rows.n, 1);
	CHECK_INT(strlen(m.rows.v[0].path), sizeof "/\\0" - 1 + NEWLINES);
	CHECK_INT(strncmp(m.rows.v[0].path, "/\\0\n\n", 5), 0);
	dw_mappings_release(&m);
}

TEST(maps_of_this_process)
{
	uint64_t here = (uint64_t)(uintptr_t)&check_run;
	struct dw_mappings m;
	int hits = 0;

	CHECK_INT(dw_mappings_read(getpid(), &m), 0);
	dw_vec_each(row, &m.rows)
		hits += row->executable && row->start <= here && here < row->end;
	dw_mappings_release(&m);
	CHECK_INT(hits, 1);
	CHECK_INT(dw_mappings_read(0x7ffffff0, &m), -ENOENT);
}

TEST(stat_text)
{
	struct dw_proc_stat st;

	CHECK_INT(dw_proc_stat_parse("7 (a) b) S 5 7 7 0 -1 4194308 1 2 3 4 250 50 9 9 20", &st),
		  0);
	CHECK(st.is_ending);
	CHECK_STR(st.name, "a) b");
	CHECK_INT(st.parent, 5);
	CHECK_INT(st.user_cpu_ns, 250 * (1000000000 / sysconf(_SC_CLK_TCK)));
	CHECK_INT(st.kernel_cpu_ns, 50 * (1000000000 / sysconf(_SC_CLK_TCK)));
	CHECK_INT(dw_proc_stat_parse("7 (a\\nb\\\\n) S 5 7 7 0 -1 0 1 2 3 4 250 50", &st), 0);
	CHECK_STR(st.name, "a\nb\\n");
	CHECK_INT(dw_proc_stat_parse("7 (a S 5", &st), DWELL_ERR_FORMAT);
	CHECK_INT(dw_proc_stat_parse(")(", &st), DWELL_ERR_FORMAT);
	CHECK_INT(dw_proc_stat_read(getpid(), &st), 0);
	CHECK(!st.is_ending);
	CHECK_INT(st.parent, getppid());
}

TEST(status_text)
{
	struct dw_rights r, copy;

	CHECK_INT(dw_rights_parse("Name:\tx\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nGroups:\t9 10 \n",
				  &r),
		  0);
	CHECK_INT(r.uid, 4);
	CHECK_INT(r.gid, 8);
	CHECK_INT(r.groups.n, 2);
	CHECK_INT(r.groups.v[1], 10);
	CHECK_INT(dw_rights_copy(&copy, &r), 0);
	CHECK(dw_rights_equal(&copy, &r));
	copy.groups.v[0] = 0;
	CHECK(!dw_rights_equal(&copy, &r));
	dw_rights_release(&copy);
	dw_rights_release(&r);
	CHECK_INT(dw_rights_parse("Uid:\t1\n", &r), DWELL_ERR_FORMAT);
}

TEST(memory_up_to_a_hole)
{
	long page = sysconf(_SC_PAGESIZE);
	size_t n = 64 * (size_t)page;
	char *there = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *here = calloc(1, n);

	memset(there, 'x', n);
	munmap(there + n - (size_t)page, (size_t)page);
	CHECK_INT(dw_memory_read(getpid(), (uintptr_t)there + 8, here, n - 8),
		  (int64_t)(n - 8 - (size_t)page));
	CHECK_INT(here[n - 9 - (size_t)page], 'x');
	CHECK_INT(here[n - 8 - (size_t)page], 0);
	CHECK_INT(dw_memory_read(getpid(), 16, here, 8), -EFAULT);
	free(here);
	munmap(there, n);
}

/* A folder with a file, a link out of it, a FIFO and a secret file. */
struct place {
	char dir[64];
	int fd;
};

static struct place make_place(void)
{
	struct place p = {"/tmp/dwell-test-XXXXXX", -1};
	int fd;

	if (!mkdtemp(p.dir))
		return p;
	chmod(p.dir, 0755);
	p.fd = open(p.dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = openat(p.fd, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	close(fd);
	fd = openat(p.fd, "secret", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	close(fd);
	mkfifoat(p.fd, "fifo", 0644);
	if (symlinkat("/etc/passwd", p.fd, "out") || symlinkat("/file", p.fd, "in"))
		return p;
	return p;
}

static void remove_place(struct place *p)
{
	static const char *const names[] = {"file", "secret", "fifo", "out", "in"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unlinkat(p->fd, names[i], 0);
	close(p->fd);
	rmdir(p->dir);
}

/* Its section headers stand behind its segment, on the same page. */
TEST(the_vdso_has_its_symbols)
{
	struct dw_image *image = NULL;
	struct dw_elf *elf = NULL;
	const uint8_t *bytes;
	size_t n;

	CHECK_INT(dw_image_vdso(NULL, &image, NULL), 0);
	bytes = dw_image_bytes(image, &n);
	CHECK_INT(dw_elf_open_bytes(bytes, n, true, &elf, NULL), 0);
	CHECK(dw_elf_section(elf, ".dynsym"));
	dw_elf_free(elf);
	dw_image_free(image);
}

TEST(files_under_a_root)
{
	struct place p = make_place();
	struct dw_rights own, nobody = {.uid = 65534, .gid = 65534};
	int file, in, out, fifo, missing, mine, theirs;

	CHECK_INT(dw_rights_read(getpid(), &own), 0);
	file = dw_target_file_open(p.fd, "/file", &own, &own);
	in = dw_target_file_open(p.fd, "/in", &own, &own);
	out = dw_target_file_open(p.fd, "/out", &own, &own);
	fifo = dw_target_file_open(p.fd, "/fifo", &own, &own);
	missing = dw_target_file_open(p.fd, "/../../../../etc/passwd", &own, &own);
	mine = dw_target_file_open(p.fd, "/secret", &own, &own);
	theirs = dw_target_file_open(p.fd, "/secret", &nobody, &own);
	remove_place(&p);
	CHECK(file >= 0);
	CHECK(in >= 0);
	CHECK_INT(out, -ENOENT);
	CHECK_INT(fifo, -ENXIO);
	CHECK_INT(missing, -ENOENT);
	CHECK(mine >= 0);
	CHECK_INT(theirs, geteuid() ? -EPERM : -EACCES);
	/* Our own rights are back: root may write anywhere again. */
	CHECK(access("/proc/self/mem", R_OK) == 0);
	close(file);
	close(in);
	close(mine);
	dw_rights_release(&own);
}

TEST(files_by_link)
{
	struct dw_rights own;
	int exe, cwd;

	CHECK_INT(dw_rights_read(getpid(), &own), 0);
	exe = dw_target_link_open(getpid(), "exe", &own, &own);
	cwd = dw_target_link_open(getpid(), "cwd", &own, &own);
	CHECK(exe >= 0);
	CHECK_INT(cwd, -ENXIO);
	close(exe);
	dw_rights_release(&own);
}

TEST_MAIN()
