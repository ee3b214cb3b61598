/*
 * The session's folder: where targets put their regions and collectors find them.
 *
 * A folder of random name under /dev/shm, else in a folder of the caller's choice. Mode 1733: any
 * user may add files, nobody else may list them or remove those of others; what begins with a dot
 * is ours. A lock file says that its collector lives; the next collector of the same user removes
 * the folders of dead ones. Targets see it by a page (struct dw_region_alive). One thread, the
 * process's main one.
 */
#pragma once

#include "base/error.h"
#include "wire/region.h"

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct dw_alive;

/* Say that the recording is over. NULL is fine. */
void dw_alive_end(struct dw_alive *alive);

/* Say so, and forget the page. By the thread that made it. NULL is fine. */
void dw_alive_free(struct dw_alive *alive);

#define DWELL_FOLDER_PREFIX "dwell-"

/* Folders in it that are ours alone: nobody else enters the one, all may open what they know by
 * name in the other. */
#define DWELL_FOLDER_PRIVATE ".private"
#define DWELL_FOLDER_PUBLIC  ".public"

enum { DWELL_FOLDER_EVENT_BYTES = 16 << 10 };

struct dw_region_folder {
	char *path;		/* absolute, without links; owned */
	int fd;			/* of the folder */
	int watch_fd;		/* inotify: readable when files came */
	int lock_fd;		/* held as long as we live */
	struct dw_alive *alive; /* tells targets whether we live and record */
	pthread_t closer;	/* closes what was @watch_fd; with old_watch_fd >= 0 */
	int old_watch_fd;
	size_t event_at; /* next of the events that were read */
	size_t event_end;
	_Alignas(8) char events[DWELL_FOLDER_EVENT_BYTES];
};

#define DW_REGION_FOLDER_INIT                                               \
	{                                                                   \
		.fd = -1, .watch_fd = -1, .lock_fd = -1, .old_watch_fd = -1 \
	}

/* What dw_region_folder_next() found. */
enum dw_folder_event {
	DWELL_FOLDER_NOTHING,
	DWELL_FOLDER_FILE, /* a file came, or its writer has closed it */
	DWELL_FOLDER_LOST, /* too many came at once: list the folder */
};

/*
 * Make the folder under /dev/shm or, where that is refused, under @fallback, and remove those that
 * dead collectors of this user left there. 0 or -errno. dw_region_folder_remove() in any case.
 */
int dw_region_folder_make(struct dw_region_folder *f, const char *fallback, struct dw_error *err);

/* What has come since the last call, for a file its name. Never blocks. */
enum dw_folder_event dw_region_folder_next(struct dw_region_folder *f, char name[NAME_MAX + 1]);

/* Call @fn for the name of each file that is not ours, at most @max of them. */
void dw_region_folder_list(const struct dw_region_folder *f, size_t max,
			   void (*fn)(void *ctx, const char *name), void *ctx);

/*
 * Watch no longer: what comes is found by listing. The kernel takes some 10 ms to forget a watch,
 * for which a thread waits, until the folder is removed.
 */
void dw_region_folder_unwatch(struct dw_region_folder *f);

/* Remove the folder with all that is in it, and close everything. NULL path is fine. */
void dw_region_folder_remove(struct dw_region_folder *f);

/* Remove folders below @base that collectors of this user left when they were killed. */
void dw_region_folder_sweep(const char *base);
