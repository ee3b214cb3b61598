/*
 * The cache of disabled probes; see disabled-cache.h.
 *
 * The file is a head and the keys. Its name is a hash of the image's, which says everything
 * that the image depends on, and of the limit.
 */
#include "record/disabled-cache.h"

#include "base/cache.h"
#include "base/cleanup.h"
#include "wire/region.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_BYTES ((uint64_t)8 << 20) /* of all files */

enum {
	VERSION = 1,
	AGAIN = 16, /* one in so many is measured again */
};

static const char magic[8] = "dwlearnt", suffix[] = ".learnt";

struct head {
	char magic[sizeof magic];
	uint32_t version;
	uint32_t runs;
	uint64_t hash; /* of the keys */
};

/* Where the file of an image is. */
struct place {
	char *folder; /* owned */
	char name[DWELL_CACHE_NAME];
};

static int find_place(const char *path, double limit, struct place *ret)
{
	const char *slash = strrchr(path, '/');
	uint64_t low, high;

	if (!slash)
		return -EINVAL;
	low = dw_hash_bytes(slash + 1, strlen(slash + 1), VERSION);
	low = dw_hash_bytes(&limit, sizeof limit, low);
	high = dw_hash_bytes(slash + 1, strlen(slash + 1), ~low);
	snprintf(ret->name, sizeof ret->name, "%016lx%016lx%s", low, high, suffix);
	ret->folder = strndup(path, (size_t)(slash - path));
	return ret->folder ? 0 : -ENOMEM;
}

/* The keys in @place and their number. NULL = none; the caller frees them. */
static uint32_t *load(const struct place *place, struct head *head, size_t *n)
{
	size_t bytes;
	dw_auto_close int fd = dw_cache_open(place->folder, place->name, &bytes);
	dw_auto_free uint32_t *disable_keys = NULL;

	if (fd < 0 || bytes < sizeof *head || pread(fd, head, sizeof *head, 0) != sizeof *head)
		return NULL;
	bytes -= sizeof *head;
	*n = bytes / sizeof *disable_keys;
	if (memcmp(head->magic, magic, sizeof magic) || head->version != VERSION ||
	    *n > DWELL_REGION_DISABLED)
		return NULL;
	disable_keys = malloc(bytes + 1);
	if (!disable_keys || pread(fd, disable_keys, bytes, sizeof *head) != (ssize_t)bytes ||
	    dw_hash_bytes(disable_keys, bytes, head->runs) != head->hash)
		return NULL;
	dw_cache_note_use(fd);
	return dw_take_ptr(disable_keys);
}

static int add(struct dw_disabled_cache *l, uint32_t disable_key,
	       enum dw_disabled_cache_state state)
{
	if (dw_vec_push(&l->rows, (struct dw_disabled_cache_row){disable_key, state}))
		return -ENOMEM;
	if (dw_map_put(&l->index, disable_key, (uint32_t)l->rows.n)) {
		l->rows.n--;
		return -ENOMEM;
	}
	return 0;
}

int dw_disabled_cache_read(struct dw_disabled_cache *l, const char *path, double limit,
			   uint32_t max)
{
	struct place place = {0};
	struct head head = {0};
	size_t n = 0;
	dw_auto_free uint32_t *disable_keys = NULL;
	int rc = find_place(path, limit, &place);

	if (!rc)
		disable_keys = load(&place, &head, &n);
	free(place.folder);
	if (disable_keys)
		l->runs = head.runs;
	for (int again = 0; again < 2 && disable_keys; again++) {
		for (size_t i = 0; i < n && !rc; i++) {
			uint32_t s = disable_keys[i], number = s & ~DWELL_DISABLE_POINTERS;

			if (number < max && ((number + l->runs) % AGAIN == 0) == again &&
			    !dw_map_get(&l->index, s))
				rc = add(l, s,
					 again ? DWELL_DISABLED_RETRIED : DWELL_DISABLED_BEFORE);
		}
		if (!again)
			l->off_n = l->rows.n;
	}
	return rc;
}

int dw_disabled_cache_add(struct dw_disabled_cache *l, uint32_t disable_key)
{
	uint32_t at = dw_map_get(&l->index, disable_key);

	if (!at)
		return add(l, disable_key, DWELL_DISABLED_NOW);
	if (l->rows.v[at - 1].state != DWELL_DISABLED_BEFORE)
		l->rows.v[at - 1].state = DWELL_DISABLED_NOW;
	return 0;
}

void dw_disabled_cache_forget(struct dw_disabled_cache_row *row)
{
	if (row->state == DWELL_DISABLED_RETRIED)
		row->state = DWELL_DISABLED_FORGOTTEN;
}

int dw_disabled_cache_write(const struct dw_disabled_cache *l, const char *path, double limit)
{
	struct head head = {.version = VERSION, .runs = l->runs + 1};
	dw_auto_free uint32_t *disable_keys = calloc(l->rows.n + 1, sizeof *disable_keys);
	struct place place = {0};
	struct iovec parts[2];
	size_t n = 0;
	int rc = disable_keys ? find_place(path, limit, &place) : -ENOMEM;

	if (rc)
		return rc;
	dw_vec_each(row, &l->rows) {
		if (row->state != DWELL_DISABLED_FORGOTTEN && n < DWELL_REGION_DISABLED)
			disable_keys[n++] = row->disable_key;
	}
	memcpy(head.magic, magic, sizeof magic);
	head.hash = dw_hash_bytes(disable_keys, n * sizeof *disable_keys, head.runs);
	parts[0] = (struct iovec){&head, sizeof head};
	parts[1] = (struct iovec){disable_keys, n * sizeof *disable_keys};
	rc = dw_cache_store(place.folder, place.name, parts, 2);
	dw_cache_prune(place.folder, suffix, MAX_BYTES);
	free(place.folder);
	return rc;
}

void dw_disabled_cache_release(struct dw_disabled_cache *l)
{
	dw_vec_release(&l->rows);
	dw_map_release(&l->index);
}
