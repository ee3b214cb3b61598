/*
 * A table of images, a queue and a thread; see images.h. The thread is started with the first
 * request: until then the process has one thread and may fork freely. It ends after the image it is
 * at.
 */
#include "record/images.h"

#include "base/cleanup.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <unistd.h>

struct dw_images {
	const struct dw_image_plan *plan;
	DW_VEC(struct dw_module_image *) all;
	int done_fd;
	bool has_thread;
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t wake;
	bool is_ending;
	DW_VEC(struct dw_module_image *) wanted;
	DW_VEC(struct dw_module_image *) done;
};

int dw_images_new(const struct dw_image_plan *plan, struct dw_images **ret, struct dw_error *err)
{
	struct dw_images *s = calloc(1, sizeof *s);

	if (!s)
		return -ENOMEM;
	s->plan = plan;
	s->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->wake, NULL);
	if (s->done_fd < 0) {
		int rc = dw_error_set_errno(err, errno, "eventfd");

		dw_images_free(s);
		return rc;
	}
	*ret = s;
	return 0;
}

static struct dw_module_image *find(const struct dw_images *s, int fd)
{
	struct stat file;

	if (fstat(fd, &file))
		return NULL;
	dw_vec_each(m, &s->all) {
		if (dw_module_image_is_of(*m, &file))
			return *m;
	}
	return NULL;
}

struct dw_module_image *dw_images_get(struct dw_images *s, int fd, const char *path, uid_t uid,
				      gid_t gid)
{
	struct dw_module_image *m = find(s, fd);

	if (m || s->all.n >= DWELL_IMAGES_MAX) {
		close(fd);
		return m;
	}
	m = dw_module_image_new(fd, path, uid, gid);
	if (m)
		m->probes = s->plan->probes;
	if (m && dw_vec_push(&s->all, m)) {
		dw_module_image_free(m);
		return NULL;
	}
	return m;
}

static void settle(struct dw_module_image *m)
{
	m->state = m->rc ? DWELL_IMAGE_NONE : DWELL_IMAGE_READY;
}

void dw_images_make(struct dw_images *s, struct dw_module_image *m)
{
	dw_module_image_make(m, s->plan);
	settle(m);
}

/* The thread: make what is wanted, in order, until the end. */
static void *work(void *ctx)
{
	struct dw_images *s = ctx;

	pthread_mutex_lock(&s->lock);
	while (!s->is_ending) {
		struct dw_module_image *m;

		if (!s->wanted.n) {
			pthread_cond_wait(&s->wake, &s->lock);
			continue;
		}
		m = s->wanted.v[0];
		s->wanted.n--;
		for (size_t i = 0; i < s->wanted.n; i++)
			s->wanted.v[i] = s->wanted.v[i + 1];
		pthread_mutex_unlock(&s->lock);
		dw_module_image_make(m, s->plan);
		pthread_mutex_lock(&s->lock);
		(void)dw_vec_push(&s->done, m); /* room was reserved with the request */
		eventfd_write(s->done_fd, 1);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static int start_thread(struct dw_images *s)
{
	int rc = s->has_thread ? 0 : pthread_create(&s->thread, NULL, work, s);

	s->has_thread |= !rc;
	return -rc;
}

int dw_images_request(struct dw_images *s, struct dw_module_image *m)
{
	int rc = start_thread(s);

	pthread_mutex_lock(&s->lock);
	if (!rc)
		rc = dw_vec_reserve(&s->done, s->wanted.n + 2);
	if (!rc)
		rc = dw_vec_push(&s->wanted, m);
	/* Once the thread may take it, what it says of it is the thread's. */
	m->rc = rc;
	m->state = rc ? DWELL_IMAGE_NONE : DWELL_IMAGE_MAKING;
	if (!rc)
		pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

int dw_images_fd(const struct dw_images *s)
{
	return s->done_fd;
}

bool dw_images_take_done(struct dw_images *s)
{
	eventfd_t count;
	bool any;

	eventfd_read(s->done_fd, &count);
	pthread_mutex_lock(&s->lock);
	any = s->done.n;
	dw_vec_each(m, &s->done)
		settle(*m);
	s->done.n = 0;
	pthread_mutex_unlock(&s->lock);
	return any;
}

/* Copy the file @from to the new file @to, readable for all. 0 or -errno. */
static int copy_file(const char *from, const char *to)
{
	dw_auto_close int in = open(from, O_RDONLY | O_CLOEXEC);
	dw_auto_close int out =
		open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	ssize_t n;

	if (in < 0 || out < 0)
		return -errno;
	do
		n = sendfile(out, in, NULL, 1 << 20);
	while (n > 0);
	return n < 0 || fchmod(out, 0444) ? -errno : 0;
}

const char *dw_images_path(const struct dw_images *s, struct dw_module_image *m, uid_t uid,
			   const char *folder)
{
	size_t id = 0;

	if (uid == geteuid())
		return m->image;
	if (m->copy)
		return m->copy;
	while (s->all.v[id] != m)
		id++;
	if (asprintf(&m->copy, "%s/image-%zu", folder, id) < 0) {
		m->copy = NULL;
	} else if (copy_file(m->image, m->copy)) {
		unlink(m->copy);
		free(dw_take_ptr(m->copy));
	}
	return m->copy;
}

struct dw_module_image *const *dw_images_all(const struct dw_images *s, size_t *n)
{
	*n = s->all.n;
	return s->all.v;
}

void dw_images_remember(const struct dw_images *s)
{
	dw_vec_each(m, &s->all) {
		if ((*m)->state == DWELL_IMAGE_READY)
			dw_module_image_remember(*m, s->plan);
	}
}

void dw_images_stop(struct dw_images *s)
{
	if (!s || !s->has_thread)
		return;
	pthread_mutex_lock(&s->lock);
	s->is_ending = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	s->has_thread = false;
}

void dw_images_free(struct dw_images *s)
{
	if (!s)
		return;
	dw_images_stop(s);
	dw_vec_each(m, &s->all)
		dw_module_image_free(*m);
	dw_vec_release(&s->all);
	dw_vec_release(&s->wanted);
	dw_vec_release(&s->done);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->wake);
	dw_cleanup_close(&s->done_fd);
	free(s);
}
