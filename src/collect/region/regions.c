/*
 * The regions of a session; see regions.h and wire/region.h.
 *
 * A region is over when nobody else has its file open or mapped: then a lease for writing is given
 * (fcntl(2), F_SETLEASE; kernel: check_conflicting_open()), whatever pid namespace the process
 * lives in, also after exec and SIGKILL. Where there are no leases, a process that was seen alive
 * and is gone ends its region, others end with the session. A lease is held for a moment; whoever
 * opens the file just then makes the kernel send us SIGIO, which is ignored. A file is announced
 * before the process that makes it has opened it (kernel: lookup_open() before do_open()), so one
 * without a header is given time.
 */
#include "collect/region/regions.h"

#include "base/cleanup.h"
#include "base/map.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND_NS  1000000000u
#define OPENING_NS 100000000u

enum {
	LAST_ROUNDS = 64,		    /* of events handled at the end: a flood has none */
	LISTED_MAX = 2 * DWELL_REGIONS_MAX, /* files of a folder that are looked at */
};

struct dw_region {
	uint32_t id;
	uint64_t name_hash;
	char *path; /* owned */
	const char *name;
	int fd;
	struct dw_region_owner owner;
	bool is_valid; /* its header was read */
	bool was_alive;
	uint64_t alive_ns;	/* of struct dw_region_look */
	uint64_t free_since_ns; /* nobody had it open, and it had no header; 0 = not seen so */
	uint32_t next;		/* first module that was not looked at */
	uint32_t predisabled_n; /* in the region's list */
};

static uint64_t hash_name(const char *name, size_t n)
{
	return dw_hash_bytes(name, n, 0);
}

static struct dw_region *find_name(const struct dw_regions *r, const char *name, size_t n)
{
	uint64_t hash = hash_name(name, n);

	dw_vec_each(p, &r->open) {
		if ((*p)->name_hash == hash && !strncmp((*p)->name, name, n) && !(*p)->name[n])
			return *p;
	}
	return NULL;
}

static struct dw_region *find_id(const struct dw_regions *r, uint32_t id)
{
	dw_vec_each(p, &r->open) {
		if ((*p)->id == id)
			return *p;
	}
	return NULL;
}

static void free_region(struct dw_region *g)
{
	if (!g)
		return;
	dw_cleanup_close(&g->fd);
	free(g->path);
	free(g);
}

/* Whether the file called @name in the folder is still the one we have open. */
static bool is_same_file(const struct dw_regions *r, const struct dw_region *g)
{
	struct stat st;

	return !fstatat(r->folder.fd, g->name, &st, AT_SYMLINK_NOFOLLOW) &&
	       st.st_ino == g->owner.inode;
}

/* Take @g out of the list, remove its file and free it. */
static void drop(struct dw_regions *r, struct dw_region *g)
{
	dw_vec_each(p, &r->open) {
		if (*p == g) {
			*p = r->open.v[--r->open.n];
			break;
		}
	}
	if (is_same_file(r, g))
		unlinkat(r->folder.fd, g->name, 0);
	free_region(g);
}

static struct dw_region_look look_at(const struct dw_region *g, const struct dw_region_head *head,
				     bool is_over)
{
	return (struct dw_region_look){g->id, g->fd, g->owner, head, is_over, g->alive_ns};
}

/* Count a valid or refused @head, whose reading gave @rc. False: @g was dropped. */
static bool admit(struct dw_regions *r, struct dw_region *g, int rc,
		  const struct dw_region_head *head)
{
	struct dw_region_look look = look_at(g, head, false);

	if (rc == DWELL_ERR_NOT_FOUND)
		return true; /* not written yet */
	if (rc == DWELL_ERR_UNSUPPORTED)
		r->stats.refused_version++;
	else if (rc)
		r->stats.refused_format++;
	if (rc) {
		drop(r, g);
		return false;
	}
	look.owner.pid = g->owner.pid = head->pid <= INT32_MAX ? (pid_t)head->pid : 0;
	if (g->is_valid)
		return true;
	r->stats.regions++;
	g->is_valid = true;
	if (r->events.began)
		r->events.began(r->events.ctx, &look);
	return true;
}

static void ask(struct dw_regions *r, const struct dw_region *g, uint32_t index,
		const struct dw_region_module *m)
{
	struct dw_region_question q = {
		.region = g->id, .index = index, .owner = g->owner, .module = m};

	r->answers_left--;
	r->stats.answers++;
	if (r->events.asked)
		r->events.asked(r->events.ctx, &q);
	else
		dw_regions_answer(r, &q, DWELL_ANSWER_NONE, 1, NULL);
}

/* Look at the modules that were published since the last time. */
static void scan(struct dw_regions *r, struct dw_region *g)
{
	struct dw_region_head head;
	int rc = dw_region_read_head(g->fd, &head);

	if (!admit(r, g, rc, &head) || rc)
		return;
	g->was_alive |= g->owner.pid > 0 && !kill(g->owner.pid, 0);
	while (g->next < head.module_n && r->answers_left) {
		struct dw_region_module m;

		if (dw_region_read_module(g->fd, g->next, &m))
			return;
		if (m.state == DWELL_MODULE_ASKED)
			ask(r, g, g->next, &m);
		g->next++;
	}
}

/* The last look at @g, then it goes. */
static void end(struct dw_regions *r, struct dw_region *g, bool over)
{
	struct dw_region_head head;
	int rc = dw_region_read_head(g->fd, &head);

	if (!admit(r, g, rc, &head))
		return;
	if (!rc) {
		struct dw_region_look look = look_at(g, &head, over);

		r->events.ended(r->events.ctx, &look);
	}
	drop(r, g);
}

/* Whether no process has @g. */
static bool is_free(const struct dw_region *g)
{
	if (!fcntl(g->fd, F_SETLEASE, F_WRLCK)) {
		fcntl(g->fd, F_SETLEASE, F_UNLCK);
		return true;
	}
	return errno != EAGAIN && g->was_alive && kill(g->owner.pid, 0) && errno == ESRCH;
}

/* Whether no process can write to @g any more, at @now_ns. */
static bool is_over(struct dw_region *g, uint64_t now_ns)
{
	if (!is_free(g)) {
		g->alive_ns = now_ns;
		return false;
	}
	if (!g->free_since_ns)
		g->free_since_ns = now_ns;
	return g->is_valid || now_ns - g->free_since_ns > OPENING_NS;
}

/* End what is over. Walks backwards: the last one takes a dropped one's place. */
static void end_those_over(struct dw_regions *r)
{
	for (size_t i = r->open.n; i-- > 0;)
		if (is_over(r->open.v[i], r->now_ns))
			end(r, r->open.v[i], true);
}

/*
 * Open the file @name for reading and answering, -1 = it is none of those we touch. It is looked at
 * before it is opened: opening a device or a pipe would already do something.
 */
static int open_file(const struct dw_regions *r, const char *name, struct stat *st)
{
	dw_auto_close int look = openat(r->folder.fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char link[32];

	if (look < 0 || fstat(look, st))
		return -1;
	if (!S_ISREG(st->st_mode) || st->st_nlink != 1 || st->st_size > DWELL_REGION_BYTES_MAX) {
		errno = ENXIO;
		return -1;
	}
	snprintf(link, sizeof link, "/proc/self/fd/%d", look);
	return open(link, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static struct dw_region *new_region(const struct dw_regions *r, const char *name, int fd,
				    const struct stat *st)
{
	struct dw_region *g = calloc(1, sizeof *g);

	if (!g)
		return NULL;
	g->fd = fd;
	if (asprintf(&g->path, "%s/%s", r->folder.path, name) < 0) {
		g->path = NULL;
		free_region(g);
		return NULL;
	}
	g->name = g->path + strlen(r->folder.path) + 1;
	g->name_hash = hash_name(name, strlen(name));
	g->owner = (struct dw_region_owner){
		.uid = st->st_uid, .gid = st->st_gid, .inode = st->st_ino, .path = g->path};
	return g;
}

/* Remove @name, a file or an empty folder. */
static void remove_any(const struct dw_regions *r, const char *name)
{
	if (unlinkat(r->folder.fd, name, 0) && errno == EISDIR)
		unlinkat(r->folder.fd, name, AT_REMOVEDIR);
}

/* Remove what came as @name and is no region. */
static void refuse(struct dw_regions *r, const char *name, uint64_t *counter)
{
	++*counter;
	remove_any(r, name);
}

/* A new file @name: open it as a region. NULL = it is none. */
static struct dw_region *adopt(struct dw_regions *r, const char *name)
{
	struct dw_region *g;
	struct stat st;
	int fd;

	if (r->open.n >= DWELL_REGIONS_MAX)
		end_those_over(r);
	if (r->open.n >= DWELL_REGIONS_MAX) {
		refuse(r, name, &r->stats.refused_limit);
		return NULL;
	}
	fd = open_file(r, name, &st);
	if (fd < 0 && errno == ENOENT)
		return NULL; /* the wake-up file of a region that is gone */
	if (fd < 0) {
		refuse(r, name,
		       errno == EMFILE || errno == ENFILE ? &r->stats.refused_limit
							  : &r->stats.refused_kind);
		return NULL;
	}
	g = new_region(r, name, fd, &st);
	if (!g || dw_vec_push(&r->open, g)) {
		free_region(g);
		refuse(r, name, &r->stats.refused_limit);
		return NULL;
	}
	g->id = ++r->last_id;
	g->alive_ns = r->now_ns;
	return g;
}

/* The region called by the @n bytes at @name, adopted if it is new or was put in another's place.
 */
static struct dw_region *get_region(struct dw_regions *r, const char *name, size_t n)
{
	struct dw_region *g = find_name(r, name, n);
	char copy[NAME_MAX + 1];

	if (g && is_same_file(r, g))
		return g;
	if (g)
		end(r, g, true);
	snprintf(copy, sizeof copy, "%.*s", (int)n, name);
	return adopt(r, copy);
}

/* A file came: a region, or NAME.N, the wake-up file of region NAME. */
static void on_file(void *ctx, const char *name)
{
	struct dw_regions *r = ctx;
	size_t n = strcspn(name, ".");
	struct dw_region *g;

	if (name[n])
		remove_any(r, name);
	g = get_region(r, name, n);
	if (g)
		scan(r, g);
}

int dw_regions_open(struct dw_regions *r, const char *fallback,
		    const struct dw_regions_events *events, struct dw_error *err)
{
	*r = (struct dw_regions){.folder = DW_REGION_FOLDER_INIT,
				 .events = *events,
				 .answers_left = DWELL_ANSWERS_PER_SECOND};
	return dw_region_folder_make(&r->folder, fallback, err);
}

const char *dw_regions_path(const struct dw_regions *r)
{
	return r->folder.path;
}

int dw_regions_fd(const struct dw_regions *r)
{
	return r->folder.watch_fd;
}

static void count_seconds(struct dw_regions *r, uint64_t now_ns)
{
	r->now_ns = now_ns;
	if (now_ns - r->second_ns < SECOND_NS)
		return;
	r->second_ns = now_ns;
	r->answers_left = DWELL_ANSWERS_PER_SECOND;
}

bool dw_regions_drain(struct dw_regions *r, uint64_t now_ns)
{
	count_seconds(r, now_ns);
	for (int i = 0; i < DWELL_FOLDER_EVENTS_AT_ONCE; i++) {
		char name[NAME_MAX + 1];

		switch (dw_region_folder_next(&r->folder, name)) {
		case DWELL_FOLDER_NOTHING:
			return false;
		case DWELL_FOLDER_FILE:
			on_file(r, name);
			break;
		case DWELL_FOLDER_LOST:
			dw_region_folder_list(&r->folder, LISTED_MAX, on_file, r);
			break;
		}
	}
	return true;
}

void dw_regions_tick(struct dw_regions *r, uint64_t now_ns)
{
	count_seconds(r, now_ns);
	for (size_t i = r->open.n; i-- > 0;)
		scan(r, r->open.v[i]);
	end_those_over(r);
}

void dw_regions_exited(struct dw_regions *r, pid_t pid, uint64_t at_ns)
{
	dw_vec_each(g, &r->open) {
		if ((*g)->owner.pid == pid)
			(*g)->alive_ns = at_ns;
	}
}

void dw_regions_each(struct dw_regions *r, void (*fn)(void *ctx, const struct dw_region_look *look),
		     void *ctx)
{
	dw_vec_each(g, &r->open) {
		struct dw_region_head head;
		struct dw_region_look look = look_at(*g, &head, false);

		if ((*g)->is_valid && !dw_region_read_head((*g)->fd, &head))
			fn(ctx, &look);
	}
}

int dw_regions_answer(struct dw_regions *r, const struct dw_region_question *q, uint32_t state,
		      uint32_t heartbeat, const char *path)
{
	struct dw_region *g = find_id(r, q->region);

	return g ? dw_region_write_answer(g->fd, q->index, state, heartbeat, path) : 0;
}

int dw_regions_predisable(struct dw_regions *r, const struct dw_region_question *q,
			  const uint32_t *disable_keys, uint32_t n)
{
	struct dw_region *g = find_id(r, q->region);
	int rc;

	if (!g)
		return DWELL_ERR_NOT_FOUND;
	if (n > DWELL_REGION_DISABLED - g->predisabled_n)
		return DWELL_ERR_LIMIT;
	rc = dw_region_write_predisabled(g->fd, q->index, disable_keys, g->predisabled_n, n);
	g->predisabled_n += rc ? 0 : n;
	return rc;
}

bool dw_regions_is_held(const struct dw_regions *r, uint32_t region)
{
	const struct dw_region *g = find_id(r, region);

	return g && !is_free(g);
}

void dw_regions_finish(struct dw_regions *r)
{
	for (int round = 0; round < LAST_ROUNDS && dw_regions_drain(r, r->now_ns); round++)
		;
	dw_region_folder_list(&r->folder, LISTED_MAX, on_file, r);
	for (size_t i = r->open.n; i-- > 0;)
		end(r, r->open.v[i], is_free(r->open.v[i]));
	dw_alive_end(r->folder.alive);
	dw_region_folder_unwatch(&r->folder);
}

void dw_regions_release(struct dw_regions *r)
{
	dw_vec_each(g, &r->open)
		free_region(*g);
	dw_vec_release(&r->open);
	dw_region_folder_remove(&r->folder);
}
