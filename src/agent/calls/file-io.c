/*
 * Reads and writes by file; see file-io.h.
 *
 * A thread has tables of its own, so nobody competes for anything: descriptors by their lowest
 * bits, with the row that was used last; files by hash, as chains through their lines, and below
 * each its rows, which are few.
 * What all threads share are counters that say how often a descriptor was closed. They are many
 * fewer than descriptors can be: that one goes with another's costs a look, and is never wrong.
 *
 * A file is known by its name, so what was opened often is one. To ask for a name takes longer than
 * to open a file, so the names of those that have not changed for a while are kept by device, inode
 * and the time of their last change: that takes a tenth, and none of them can be another file,
 * whose inode would have changed since. Where lines for files have run out, rows that are not there
 * yet are added up in one.
 */
#include "agent/calls/file-io.h"

#include "agent/calls/threads.h"
#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum {
	NUMBERS = 512,
	COUNTERS = 4096,
	SLOTS = 256,
	CHAINS = 2048,
	KNOWN = 256,
	CLOSES_FEW = 256, /* descriptors: close_range() of more is of all */
	FIRST_BYTES = sizeof((struct dw_tree_file){0}.name),
	MORE_BYTES = sizeof((struct dw_tree_name){0}.name),
};

/* Ticks after dup2() began, some 0.1 s: then it is done, whatever came between. */
#define SETTLE_TICKS ((uint64_t)1 << 28)

/* Since a file has changed: the clock of files has ticks of some ms. */
#define STEADY_NS ((uint64_t)1000000000)

/* Which arguments are descriptors, and what the result says. */
enum shape {
	NO_IO,
	READS,	     /* from the first */
	WRITES,	     /* to the first */
	READS_MANY,  /* messages, the second argument has their lengths */
	WRITES_MANY, /* likewise */
	FROM_SECOND, /* to the first */
	TO_SECOND,   /* from the first */
	TO_THIRD,    /* likewise */
};

static const uint8_t shapes[NUMBERS] = {
	[SYS_read] = READS,	      [SYS_pread64] = READS,
	[SYS_readv] = READS,	      [SYS_preadv] = READS,
	[SYS_preadv2] = READS,	      [SYS_recvfrom] = READS,
	[SYS_recvmsg] = READS,	      [SYS_recvmmsg] = READS_MANY,
	[SYS_write] = WRITES,	      [SYS_pwrite64] = WRITES,
	[SYS_writev] = WRITES,	      [SYS_pwritev] = WRITES,
	[SYS_pwritev2] = WRITES,      [SYS_sendto] = WRITES,
	[SYS_sendmsg] = WRITES,	      [SYS_vmsplice] = WRITES,
	[SYS_sendmmsg] = WRITES_MANY, [SYS_sendfile] = FROM_SECOND,
	[SYS_tee] = TO_SECOND,	      [SYS_copy_file_range] = TO_THIRD,
	[SYS_splice] = TO_THIRD,
};

/* What is known of a descriptor. */
struct slot {
	uint64_t looked_at; /* TSC; 0 = nothing is known */
	uint32_t fd;
	uint32_t closes; /* closes_of() then */
	uint32_t file;	 /* line */
	uint32_t function, row;
};

/* A file whose name need not be asked for. */
struct known {
	uint64_t device, inode, changed_ns; /* CLOCK_REALTIME */
	uint32_t file;			    /* line, 0 = none */
};

struct dw_io_tables {
	struct slot slots[SLOTS];
	struct known known[KNOWN]; /* by inode */
	uint32_t files[CHAINS];	   /* by hash of the name: lines */
};

/* All atomic. */
struct closes {
	uint64_t settled; /* TSC from which on what is found out is so */
	uint32_t of_all;
	uint32_t n[COUNTERS]; /* by the lowest bits of descriptors */
};

static struct closes closes;

static uint64_t pipes; /* the device of all pipes, atomic; 0 = not known yet */

static const char unnamed[] = "[unnamed]", not_open[] = "[not open]", a_socket[] = "[socket]",
		  a_pipe[] = "[pipe]";

void dw_file_io_start(struct dw_file_io *io)
{
	if (io->tables)
		memset(io->tables, 0, sizeof(*io->tables));
	io->other = 0;
	io->call = (struct dw_io_call){0};
}

static void add_close(uint64_t fd)
{
	__atomic_fetch_add(&closes.n[fd % COUNTERS], 1, __ATOMIC_RELEASE);
}

static void forget_range(uint32_t first, uint32_t last)
{
	if (last < first)
		return;
	if (last - first >= CLOSES_FEW) {
		__atomic_fetch_add(&closes.of_all, 1, __ATOMIC_RELEASE);
		return;
	}
	for (uint32_t i = 0; i <= last - first; i++)
		add_close(first + (uint64_t)i);
}

void dw_file_io_forget(uint64_t number, uint64_t first, uint64_t second)
{
	switch (number) {
	case SYS_close:
		add_close(first);
		break;
	case SYS_dup2:
	case SYS_dup3:
		__atomic_store_n(&closes.settled, dw_ticks() + SETTLE_TICKS, __ATOMIC_RELEASE);
		add_close(second);
		break;
	case SYS_close_range:
		forget_range((uint32_t)first, (uint32_t)second);
		break;
	default:
		break;
	}
}

static uint32_t closes_of(uint32_t fd)
{
	return __atomic_load_n(&closes.n[fd % COUNTERS], __ATOMIC_ACQUIRE) +
	       __atomic_load_n(&closes.of_all, __ATOMIC_ACQUIRE);
}

static void *line_at(uint32_t line)
{
	return dw_arena_line(dw_arena_base(), line);
}

static uint32_t take_lines(struct dw_thread *t, uint32_t n, enum dw_line_use use)
{
	return dw_arena_take(&t->tree.lines, n, use);
}

/* A new row. 0 = no room. */
static uint32_t add_row(struct dw_thread *t, uint32_t file, uint32_t function, uint32_t next,
			enum dw_line_use use)
{
	uint32_t line = take_lines(t, 1, use);
	struct dw_tree_file_io *row = line_at(line);

	if (!line)
		return 0;
	row->function = function;
	row->file = file;
	row->thread = dw_arena_index(dw_arena_base(), t->line);
	row->next = next;
	__atomic_store_n(&row->mark, DWELL_MARK_FILE_IO, __ATOMIC_RELEASE);
	return line;
}

/* The row of what has none. */
static uint32_t other_row(struct dw_thread *t)
{
	if (!t->io.other)
		t->io.other = add_row(t, 0, DWELL_KEY_ROOT, 0, DWELL_LINE_OTHER);
	return t->io.other;
}

static uint32_t hash_of(const char *name, uint32_t bytes)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (uint32_t i = 0; i < bytes; i++)
		hash = (hash ^ (uint8_t)name[i]) * 16777619u;
	return hash ^ hash >> 16;
}

/* Whether the file at @line has this @name. */
static bool is_called(uint32_t line, const char *name, uint32_t bytes)
{
	const struct dw_tree_file *file = line_at(line);
	uint32_t first = bytes < FIRST_BYTES ? bytes : FIRST_BYTES;

	if (file->bytes != bytes || memcmp(file->name, name, first))
		return false;
	for (uint32_t at = first; at < bytes; at += MORE_BYTES) {
		const struct dw_tree_name *more = line_at(++line);
		uint32_t n = bytes - at < MORE_BYTES ? bytes - at : MORE_BYTES;

		if (memcmp(more->name, name + at, n))
			return false;
	}
	return true;
}

static uint32_t add_file(struct dw_thread *t, const char *name, uint32_t bytes, uint32_t next)
{
	uint32_t first = bytes < FIRST_BYTES ? bytes : FIRST_BYTES;
	uint32_t more_n = (bytes - first + MORE_BYTES - 1) / MORE_BYTES;
	uint32_t line = take_lines(t, 1 + more_n, DWELL_LINE_FILE);
	struct dw_tree_file *file = line_at(line);
	uint32_t at = first;

	if (!line)
		return 0;
	for (uint32_t i = 1; i <= more_n; i++, at += MORE_BYTES) {
		struct dw_tree_name *more = line_at(line + i);

		memcpy(more->name, name + at, bytes - at < MORE_BYTES ? bytes - at : MORE_BYTES);
		__atomic_store_n(&more->mark, DWELL_MARK_NAME, __ATOMIC_RELEASE);
	}
	memcpy(file->name, name, first);
	file->bytes = bytes;
	file->next = next;
	__atomic_store_n(&file->mark, DWELL_MARK_FILE, __ATOMIC_RELEASE);
	return line;
}

/* The line of the file of this @name, 0 = no room. */
static uint32_t find_file(struct dw_thread *t, const char *name, uint32_t bytes)
{
	uint32_t *chain = &t->io.tables->files[hash_of(name, bytes) % CHAINS], line = *chain;

	while (line && !is_called(line, name, bytes))
		line = ((const struct dw_tree_file *)line_at(line))->next;
	if (line)
		return line;
	line = add_file(t, name, bytes, *chain);
	if (line)
		*chain = line;
	return line;
}

/* The line of the row of @file and @function, or that of what has none. 0 = no room. */
static uint32_t find_row(struct dw_thread *t, uint32_t file, uint32_t function)
{
	struct dw_tree_file *of = line_at(file);
	const struct dw_tree_file_io *row;
	uint32_t line = file ? of->rows : 0;

	if (!file)
		return other_row(t);
	for (; line; line = row->next) {
		row = line_at(line);
		if (row->function == function)
			return line;
	}
	line = add_row(t, file, function, of->rows, DWELL_LINE_FILE);
	if (!line)
		return other_row(t);
	of->rows = line;
	return line;
}

/* The kinds of what has no name of its own, as "socket:[N]" and "anon_inode:[KIND]": @name, which
 * has room for brackets, becomes "[socket]" or "[KIND]". Its length. */
static uint32_t simplify(char *name, uint32_t bytes)
{
	static const char anonymous[] = "anon_inode:";
	uint32_t at = sizeof(anonymous) - 1, end = 0;

	if (name[0] == '/')
		return bytes;
	if (bytes > at && !memcmp(name, anonymous, at)) {
		at += name[at] == '[';
		end = bytes - (name[bytes - 1] == ']');
	} else {
		at = 0;
		while (end < bytes && name[end] != ':')
			end++;
		if (end == bytes)
			return bytes;
	}
	memmove(name + 1, name + at, end - at);
	name[0] = '[';
	name[end - at + 1] = ']';
	return end - at + 2;
}

/* The name of @fd as the kernel has it, in @name with room for DWELL_FILE_NAME_MAX: its length, 0 =
 * it is not known. */
static uint32_t ask_name(uint32_t fd, char *name)
{
	char path[32] = "/proc/self/fd/";
	long n;

	if (!dw_text_append_number(path, sizeof(path), fd, 10))
		return 0;
	n = dw_syscall(SYS_readlink, path, name, DWELL_FILE_NAME_MAX - 1);
	return n > 0 ? simplify(name, (uint32_t)n) : 0;
}

/* The innermost function with probes that is open: its key. */
static uint32_t function_of(const struct dw_thread *t)
{
	struct dw_shadow *at = t->line->top;

	while (dw_stack_activation(t->stacks.current, &at)) {
		if (!(at->record & DWELL_RECORD_CALL_OUT))
			return (uint32_t)at->function->key;
		at--;
	}
	return DWELL_KEY_ROOT;
}

/* Whether what @slot has is that of @fd still. */
static bool is_known(const struct slot *slot, uint32_t fd, uint64_t now)
{
	uint64_t settled = __atomic_load_n(&closes.settled, __ATOMIC_ACQUIRE);

	return slot->looked_at && slot->fd == fd && slot->closes == closes_of(fd) &&
	       (slot->looked_at >= settled || now < settled);
}

/* The line of the file that stands for all that are called @name. 0 = no room. */
static uint32_t find_kind(struct dw_thread *t, const char *name)
{
	return find_file(t, name, (uint32_t)dw_text_length(name));
}

/* What tells a file from others. */
struct identity {
	uint64_t device, inode, changed_ns;
	uint32_t type; /* of its mode, 0 = not known, or none */
};

/* Find out what @fd is without asking a server for it, as a file system may have one. 0 or -errno.
 */
static long identify(uint32_t fd, struct identity *ret)
{
	struct statx st;
	long rc = dw_syscall(SYS_statx, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
			     STATX_TYPE | STATX_INO | STATX_CTIME, &st);

	*ret = (struct identity){0};
	if (!rc)
		*ret = (struct identity){
			(uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor, st.stx_ino,
			(uint64_t)st.stx_ctime.tv_sec * 1000000000 + st.stx_ctime.tv_nsec,
			st.stx_mode & S_IFMT};
	return rc;
}

/* Keep the file @id, whose line is @file, if it will have changed when its inode is another's. What
 * has no type is an inode that several kinds of descriptors share. */
static void keep_known(struct known *k, const struct identity *id, uint32_t file)
{
	struct timespec now = {0, 0};

	if (id->type != S_IFREG && id->type != S_IFCHR && id->type != S_IFBLK)
		return;
	dw_syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
	if ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec > id->changed_ns + STEADY_NS)
		*k = (struct known){id->device, id->inode, id->changed_ns, file};
}

/* Ask for the name of @fd, which is @id, and find its file. False: it has none. */
static bool ask_file(struct dw_thread *t, uint32_t fd, const struct identity *id, struct known *k,
		     uint32_t *file)
{
	char name[DWELL_FILE_NAME_MAX];
	uint32_t bytes = ask_name(fd, name);

	if (!bytes)
		return false;
	*file = find_file(t, name, bytes);
	if (*file)
		keep_known(k, id, *file);
	if (id->type == S_IFIFO && name[0] == '[')
		__atomic_store_n(&pipes, id->device, __ATOMIC_RELAXED);
	return true;
}

/* Find the file of @fd: its line in *@file, 0 = there was no room. False: nothing is known of it.
 */
static bool file_of(struct dw_thread *t, uint32_t fd, uint32_t *file)
{
	struct identity id;
	struct known *k;

	if (!dw_agent_may_call() || identify(fd, &id) == -EBADF)
		return false;
	k = &t->io.tables->known[id.inode % KNOWN];
	if (id.type == S_IFSOCK)
		*file = find_kind(t, a_socket);
	else if (id.type == S_IFIFO && id.device == __atomic_load_n(&pipes, __ATOMIC_RELAXED))
		*file = find_kind(t, a_pipe);
	else if (k->file && k->inode == id.inode && k->device == id.device &&
		 k->changed_ns == id.changed_ns)
		*file = k->file;
	else
		return ask_file(t, fd, &id, k, file);
	return true;
}

/* Find out what @fd is. False: nothing is known of it. */
static bool look_up(struct dw_thread *t, struct slot *slot, uint32_t fd)
{
	uint32_t seen = closes_of(fd), file;

	slot->looked_at = 0;
	if (!file_of(t, fd, &file))
		return false;
	*slot = (struct slot){.looked_at = t->line->last, .fd = fd, .closes = seen, .file = file};
	return true;
}

static void add_side(struct dw_thread *t, struct dw_io_call *call, enum dw_io_side side,
		     uint32_t fd)
{
	struct slot *slot = &t->io.tables->slots[fd % SLOTS];

	call->sides |= 1 << side;
	if (!is_known(slot, fd, t->line->last) && !look_up(t, slot, fd)) {
		call->nameless |= 1 << side;
		call->rows[side] = find_row(t, find_kind(t, unnamed), call->function);
		return;
	}
	if (!slot->row || slot->function != call->function) {
		slot->row = find_row(t, slot->file, call->function);
		slot->function = call->function;
	}
	call->rows[side] = slot->row;
}

static bool has_tables(struct dw_file_io *io)
{
	if (!io->tables)
		io->tables = dw_agent_memory(sizeof(*io->tables));
	return io->tables;
}

/* What @call does with its descriptors. */
static void add_sides(struct dw_thread *t, struct dw_io_call *call, const uint64_t *arguments)
{
	static const struct {
		int reads, writes; /* arguments, -1 = none */
	} sides[] = {
		[NO_IO] = {-1, -1},	[READS] = {0, -1},	 [WRITES] = {-1, 0},
		[READS_MANY] = {0, -1}, [WRITES_MANY] = {-1, 0}, [FROM_SECOND] = {1, 0},
		[TO_SECOND] = {0, 1},	[TO_THIRD] = {0, 2},
	};
	int reads = sides[call->shape].reads, writes = sides[call->shape].writes;

	if (!has_tables(&t->io)) {
		call->sides =
			(uint8_t)((reads >= 0) << DWELL_IO_READ | (writes >= 0) << DWELL_IO_WRITE);
		call->rows[DWELL_IO_READ] = call->rows[DWELL_IO_WRITE] = other_row(t);
		return;
	}
	if (reads >= 0)
		add_side(t, call, DWELL_IO_READ, (uint32_t)arguments[reads]);
	if (writes >= 0)
		add_side(t, call, DWELL_IO_WRITE, (uint32_t)arguments[writes]);
}

void dw_file_io_begin(struct dw_thread *t, uint64_t number, const uint64_t arguments[3])
{
	struct dw_io_call *call = &t->io.call;

	*call = (struct dw_io_call){.shape = number < NUMBERS ? shapes[number] : NO_IO,
				    .forks = t->forks};
	if (!call->shape)
		return;
	call->function = function_of(t);
	add_sides(t, call, arguments);
}

/* What @n messages whose headers stand at @address were long: the kernel has written that there. */
static uint64_t messages_bytes(uint64_t address, uint64_t n)
{
	const struct mmsghdr *messages = (const void *)address;
	uint64_t bytes = 0;

	for (uint64_t i = 0; i < n; i++)
		bytes += messages[i].msg_len;
	return bytes;
}

static void count(struct dw_thread *t, const struct dw_io_call *call, enum dw_io_side side,
		  uint64_t bytes, uint64_t ticks)
{
	struct dw_tree_file_io *row = line_at(call->rows[side]);

	if (!call->rows[side]) {
		t->line->io_lost++;
		return;
	}
	if (side == DWELL_IO_READ) {
		row->reads++;
		row->bytes_read += bytes;
	} else {
		row->writes++;
		row->bytes_written += bytes;
	}
	row->ticks += ticks;
}

void dw_file_io_end(struct dw_thread *t, int64_t result, uint64_t second, uint64_t ticks)
{
	struct dw_io_call *call = &t->io.call;
	uint64_t bytes = result > 0 ? (uint64_t)result : 0;
	bool writes = call->sides & 1 << DWELL_IO_WRITE;

	if (!call->shape || call->forks != t->forks)
		return;
	if (call->shape == READS_MANY || call->shape == WRITES_MANY)
		bytes = messages_bytes(second, bytes);
	for (unsigned side = 0; side < DWELL_IO_SIDES && result == -EBADF; side++)
		if (call->nameless & 1 << side)
			call->rows[side] = find_row(t, find_kind(t, not_open), call->function);
	ticks += call->ticks;
	if (call->sides & 1 << DWELL_IO_READ)
		count(t, call, DWELL_IO_READ, bytes, writes ? 0 : ticks);
	if (writes)
		count(t, call, DWELL_IO_WRITE, bytes, ticks);
	call->shape = NO_IO;
}

struct dw_io_call dw_file_io_interrupt(struct dw_thread *t, uint64_t ticks)
{
	struct dw_io_call call = t->io.call;

	call.ticks += ticks;
	t->io.call.shape = NO_IO;
	return call;
}

void dw_file_io_resume(struct dw_thread *t, const struct dw_io_call *call)
{
	t->io.call = *call;
}
