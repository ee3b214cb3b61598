/*
 * The clone images of a session, one per module file, made by a thread of their own while the
 * caller answers other processes.
 *
 * One thread calls; the maker's thread is an inner matter. Images are borrowed until
 * dw_images_free().
 */
#pragma once

#include "record/module-image.h"

enum { DWELL_IMAGES_MAX = 1024 }; /* of a session */

struct dw_images;

/* Start empty. @plan is borrowed until dw_images_stop(). 0, -ENOMEM, -errno. */
int dw_images_new(const struct dw_image_plan *plan, struct dw_images **ret, struct dw_error *err);

/*
 * The image of the module file behind @fd (taken over), called @path and opened with the rights of
 * @uid and @gid: the one that is there, or a new one. NULL = no memory, or DWELL_IMAGES_MAX.
 */
struct dw_module_image *dw_images_get(struct dw_images *s, int fd, const char *path, uid_t uid,
				      gid_t gid);

/* Make @m in the calling thread. Before the first dw_images_request(). */
void dw_images_make(struct dw_images *s, struct dw_module_image *m);

/* Have @m, which is new, made by the thread. 0 or -errno: there is no thread, m is
 * DWELL_IMAGE_NONE. */
int dw_images_request(struct dw_images *s, struct dw_module_image *m);

/* A descriptor that is readable when dw_images_take_done() has something to tell. */
int dw_images_fd(const struct dw_images *s);

/* Set the states of the images that were done since the last call. Whether there were any. */
bool dw_images_take_done(struct dw_images *s);

/*
 * Path of the image of @m, which is ready, for a process of @uid: that in the cache for ourselves,
 * a copy in @folder that all may read for others. Borrowed; NULL = no copy could be made.
 */
const char *dw_images_path(const struct dw_images *s, struct dw_module_image *m, uid_t uid,
			   const char *folder);

/* All images, in the order in which they were asked for, borrowed. *@n = their number. */
struct dw_module_image *const *dw_images_all(const struct dw_images *s, size_t *n);

/* Write down for later runs what this one has switched off. */
void dw_images_remember(const struct dw_images *s);

/* End the thread, after the image that it is at. NULL is fine. */
void dw_images_stop(struct dw_images *s);

/* End the thread and free everything. NULL is fine. */
void dw_images_free(struct dw_images *s);
