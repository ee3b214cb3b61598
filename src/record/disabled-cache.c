/*
 * Memory of what was switched off; see disabled-cache.h.
 *
 * The file is a head and the subjects. Its name is a hash of the image's, which says everything
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
	uint64_t hash; /* of the subjects */
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

/* The subjects in @place and their number. NULL = none; the caller frees them. */
static uint32_t *load(const struct place *place, struct head *head, size_t *n)
{
	size_t bytes;
	dw_auto_close int fd = dw_cache_open(place->folder, place->name, &bytes);
	dw_auto_free uint32_t *subjects = NULL;

	if (fd < 0 || bytes < sizeof *head || pread(fd, head, sizeof *head, 0) != sizeof *head)
		return NULL;
	bytes -= sizeof *head;
	*n = bytes / sizeof *subjects;
	if (memcmp(head->magic, magic, sizeof magic) || head->version != VERSION ||
	    *n > DWELL_REGION_MUTES)
		return NULL;
	subjects = malloc(bytes + 1);
	if (!subjects || pread(fd, subjects, bytes, sizeof *head) != (ssize_t)bytes ||
	    dw_hash_bytes(subjects, bytes, head->runs) != head->hash)
		return NULL;
	dw_cache_note_use(fd);
	return dw_take_ptr(subjects);
}

static int add(struct dw_learnt *l, uint32_t subject, enum dw_learnt_state state)
{
	if (dw_vec_push(&l->rows, (struct dw_learnt_row){subject, state}))
		return -ENOMEM;
	if (dw_map_put(&l->index, subject, (uint32_t)l->rows.n)) {
		l->rows.n--;
		return -ENOMEM;
	}
	return 0;
}

int dw_learnt_read(struct dw_learnt *l, const char *path, double limit, uint32_t max)
{
	struct place place = {0};
	struct head head = {0};
	size_t n = 0;
	dw_auto_free uint32_t *subjects = NULL;
	int rc = find_place(path, limit, &place);

	if (!rc)
		subjects = load(&place, &head, &n);
	free(place.folder);
	if (subjects)
		l->runs = head.runs;
	for (int again = 0; again < 2 && subjects; again++) {
		for (size_t i = 0; i < n && !rc; i++) {
			uint32_t s = subjects[i], number = s & ~DWELL_MUTE_POINTERS;

			if (number < max && ((number + l->runs) % AGAIN == 0) == again &&
			    !dw_map_get(&l->index, s))
				rc = add(l, s, again ? DWELL_LEARNT_AGAIN : DWELL_LEARNT_OFF);
		}
		if (!again)
			l->off_n = l->rows.n;
	}
	return rc;
}

int dw_learnt_add(struct dw_learnt *l, uint32_t subject)
{
	uint32_t at = dw_map_get(&l->index, subject);

	if (!at)
		return add(l, subject, DWELL_LEARNT_NOW);
	if (l->rows.v[at - 1].state != DWELL_LEARNT_OFF)
		l->rows.v[at - 1].state = DWELL_LEARNT_NOW;
	return 0;
}

void dw_learnt_forget(struct dw_learnt_row *row)
{
	if (row->state == DWELL_LEARNT_AGAIN)
		row->state = DWELL_LEARNT_FORGOT;
}

int dw_learnt_write(const struct dw_learnt *l, const char *path, double limit)
{
	struct head head = {.version = VERSION, .runs = l->runs + 1};
	dw_auto_free uint32_t *subjects = calloc(l->rows.n + 1, sizeof *subjects);
	struct place place = {0};
	struct iovec parts[2];
	size_t n = 0;
	int rc = subjects ? find_place(path, limit, &place) : -ENOMEM;

	if (rc)
		return rc;
	dw_vec_each(row, &l->rows) {
		if (row->state != DWELL_LEARNT_FORGOT && n < DWELL_REGION_MUTES)
			subjects[n++] = row->subject;
	}
	memcpy(head.magic, magic, sizeof magic);
	head.hash = dw_hash_bytes(subjects, n * sizeof *subjects, head.runs);
	parts[0] = (struct iovec){&head, sizeof head};
	parts[1] = (struct iovec){subjects, n * sizeof *subjects};
	rc = dw_cache_store(place.folder, place.name, parts, 2);
	dw_cache_prune(place.folder, suffix, MAX_BYTES);
	free(place.folder);
	return rc;
}

void dw_learnt_release(struct dw_learnt *l)
{
	dw_vec_release(&l->rows);
	dw_map_release(&l->index);
}
