/*
 * The files of known answers; see known.h: a head, the addresses, and the answer in its form on the
 * pipe. The hash guards against damage; whoever can write the file is the user.
 */
#include "symbol/known.h"

#include "base/cache.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_BYTES      ((uint64_t)32 << 20) /* of all files */
#define FILE_MAX_BYTES ((size_t)16 << 20)

enum { VERSION = 1 }; /* raised when answers become others */

static const char magic[8] = "dwknown", suffix[] = ".known";

/* Which file a module is, and where its debug file was looked for. */
struct key {
	uint64_t device, inode, bytes;
	int64_t modified[2], changed[2];
	uint64_t debug_dirs;
};

struct head {
	char magic[sizeof magic];
	uint64_t version;
	struct key key;
	uint64_t n;    /* addresses */
	uint64_t hash; /* of what follows */
};

static bool find_key(const struct dw_question *q, struct key *ret)
{
	struct stat st;

	if (q->source->fd < 0 || q->source->root_fd >= 0 || fstat(q->source->fd, &st) ||
	    !dw_file_is_trusted(&st))
		return false;
	*ret = (struct key){
		.device = st.st_dev,
		.inode = st.st_ino,
		.bytes = (uint64_t)st.st_size,
		.modified = {st.st_mtim.tv_sec, st.st_mtim.tv_nsec},
		.changed = {st.st_ctim.tv_sec, st.st_ctim.tv_nsec},
		.debug_dirs = dw_hash_bytes(q->debug_dirs, strlen(q->debug_dirs), VERSION),
	};
	return true;
}

bool dw_known_may_keep(const struct dw_question *q)
{
	struct key key;

	return !q->names_only && q->debug_fd < 0 && find_key(q, &key);
}

static void name_file(const struct key *key, char name[DWELL_CACHE_NAME])
{
	uint64_t low = dw_hash_bytes(key, sizeof *key, VERSION);

	snprintf(name, DWELL_CACHE_NAME, "%016lx%016lx%s", low,
		 dw_hash_bytes(key, sizeof *key, ~low), suffix);
}

/* Whether they rise, as they must to be searched. */
static bool is_sorted(const uint64_t *svmas, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (svmas[i - 1] >= svmas[i])
			return false;
	return true;
}

/* Fill @k from the @n bytes of a file at @bytes, which must be about @key. */
static int decode(const uint8_t *bytes, size_t n, const struct key *key, struct dw_known *k)
{
	struct head h;
	size_t list;

	if (n < sizeof h)
		return DWELL_ERR_FORMAT;
	memcpy(&h, bytes, sizeof h);
	bytes += sizeof h;
	n -= sizeof h;
	list = h.n * sizeof *k->svmas;
	if (memcmp(h.magic, magic, sizeof magic) || h.version != VERSION ||
	    memcmp(&h.key, key, sizeof *key) || h.n > DWELL_KNOWN_MAX || list > n ||
	    dw_hash_bytes(bytes, n, h.n) != h.hash)
		return DWELL_ERR_FORMAT;
	k->svmas = malloc(list + 1);
	if (!k->svmas)
		return -ENOMEM;
	memcpy(k->svmas, bytes, list);
	k->n = h.n;
	if (!is_sorted(k->svmas, k->n))
		return DWELL_ERR_FORMAT;
	return dw_answer_decode(bytes + list, n - list, k->n, &k->answer);
}

int dw_known_read(const char *dir, const struct dw_question *q, struct dw_known *k)
{
	char name[DWELL_CACHE_NAME];
	struct key key;
	size_t n;
	dw_auto_free uint8_t *bytes = NULL;
	dw_auto_close int fd = -1;
	int rc = DWELL_ERR_FORMAT;

	if (!find_key(q, &key))
		return DWELL_ERR_NOT_FOUND;
	name_file(&key, name);
	fd = dw_cache_open(dir, name, &n);
	if (fd < 0 || n > FILE_MAX_BYTES)
		return DWELL_ERR_NOT_FOUND;
	bytes = malloc(n + 1);
	if (!bytes)
		return -ENOMEM;
	if (pread(fd, bytes, n, 0) == (ssize_t)n)
		rc = decode(bytes, n, &key, k);
	if (rc)
		dw_known_release(k);
	else
		dw_cache_note_use(fd);
	return rc;
}

/* The place of @svma among those of @k, k->n = it is not there. */
static size_t place(const struct dw_known *k, uint64_t svma)
{
	size_t i = dw_sorted_count(k->svmas, k->n, e, *e < svma);

	return i < k->n && k->svmas[i] == svma ? i : k->n;
}

bool dw_known_has(const struct dw_known *k, uint64_t svma)
{
	return place(k, svma) < k->n;
}

int dw_known_widen(struct dw_known *k, const uint64_t *svmas, size_t n)
{
	size_t old_n = k->n + n > DWELL_KNOWN_MAX ? 0 : k->n, i = 0, j = 0, to = 0;
	uint64_t *all = calloc(old_n + n + 1, sizeof *all);

	if (!all)
		return -ENOMEM;
	while (i < old_n || j < n) {
		if (j == n || (i < old_n && k->svmas[i] < svmas[j])) {
			all[to++] = k->svmas[i++];
			continue;
		}
		i += i < old_n && k->svmas[i] == svmas[j];
		all[to++] = svmas[j++];
	}
	dw_known_release(k);
	k->svmas = all;
	k->n = to;
	return 0;
}

int dw_known_narrow(const struct dw_known *k, const uint64_t *svmas, size_t n, struct dw_answer *a)
{
	struct dw_answer narrow = {0};
	int rc = dw_vec_push(&narrow.first, 0);

	for (size_t i = 0; i < n && !rc; i++) {
		size_t at = place(k, svmas[i]);

		for (uint32_t row = at < k->n ? a->first.v[at] : 0;
		     at < k->n && row < a->first.v[at + 1] && !rc; row++)
			rc = dw_vec_push(&narrow.rows, a->rows.v[row]);
		if (!rc)
			rc = dw_vec_push(&narrow.first, (uint32_t)narrow.rows.n);
	}
	if (rc) {
		dw_answer_release(&narrow);
		return -ENOMEM;
	}
	dw_vec_release(&a->first);
	dw_vec_release(&a->rows);
	memcpy(&a->first, &narrow.first, sizeof a->first);
	memcpy(&a->rows, &narrow.rows, sizeof a->rows);
	return 0;
}

int dw_known_write(const char *dir, const struct dw_question *q, const struct dw_known *k,
		   const struct dw_answer *a)
{
	struct head h = {.version = VERSION, .n = k->n};
	dw_auto(dw_buf) rest = DW_BUF_INIT;
	char name[DWELL_CACHE_NAME];
	struct iovec parts[2];
	int rc;

	if (k->n > DWELL_KNOWN_MAX || !find_key(q, &h.key))
		return DWELL_ERR_LIMIT;
	rc = dw_buf_put(&rest, k->svmas, k->n * sizeof *k->svmas);
	if (!rc)
		rc = dw_answer_encode(a, &rest);
	if (rc || rest.len + sizeof h > FILE_MAX_BYTES)
		return rc ? rc : DWELL_ERR_LIMIT;
	memcpy(h.magic, magic, sizeof magic);
	h.hash = dw_hash_bytes(rest.data, rest.len, h.n);
	parts[0] = (struct iovec){&h, sizeof h};
	parts[1] = (struct iovec){rest.data, rest.len};
	name_file(&h.key, name);
	rc = dw_cache_store(dir, name, parts, 2);
	dw_cache_prune(dir, suffix, MAX_BYTES);
	return rc;
}

void dw_known_release(struct dw_known *k)
{
	free(k->svmas);
	dw_answer_release(&k->answer);
	*k = (struct dw_known){0};
}
