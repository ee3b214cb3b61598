/*
 * Samples that two events take of one thread; see doubles.h. The kernel gives an inherited event
 * the identity of the one that was opened. Which of two comes first does not matter: each alone
 * samples at the full rate.
 */
#include "collect/perf/doubles.h"

#include <errno.h>
#include <sys/ioctl.h>

static int learn_event(struct dw_doubles *d, int fd, uint32_t watch)
{
	uint64_t identity;

	if (fd < 0)
		return 0;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &identity))
		return -errno;
	return dw_map_put(&d->watch_of, identity, watch);
}

int dw_doubles_learn(struct dw_doubles *d, const struct dw_perf_events *e)
{
	int rc = 0;

	for (; d->learned < e->watches.n && !rc; d->learned++) {
		const struct dw_perf_watch *w = &e->watches.v[d->learned];

		rc = learn_event(d, w->sample_fd, (uint32_t)d->learned + 1);
		if (!rc)
			rc = learn_event(d, w->deep_fd, (uint32_t)d->learned + 1);
	}
	return rc;
}

int dw_doubles_counts(struct dw_doubles *d, const struct dw_perf_events *e, uint32_t thread,
		      uint64_t identity)
{
	uint32_t watch = d->learned ? dw_map_get(&d->watch_of, identity) : 0, chosen;
	uint64_t key;
	int rc;

	if (!watch)
		return 1;
	key = (uint64_t)thread << 32 | (uint32_t)e->watches.v[watch - 1].cpu;
	chosen = dw_map_get(&d->chosen, key);
	if (chosen)
		return chosen == watch;
	rc = dw_map_put(&d->chosen, key, watch);
	return rc ? rc : 1;
}

void dw_doubles_release(struct dw_doubles *d)
{
	dw_map_release(&d->watch_of);
	dw_map_release(&d->chosen);
}
