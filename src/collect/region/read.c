/*
 * Checked copies of regions; see read.h and wire/region.h. What is read twice may differ, so
 * nothing checked in one copy is believed of the next. A sum may wrap when a target writes nonsense
 * into its own counts: its numbers are its own.
 */
#include "collect/region/read.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum {
	COUNTS_STEP = 4096, /* counts read at a time */
	FIXED_BYTES = offsetof(struct dw_region_header, chunks),
};

int dw_region_read_bytes(int fd, void *buf, size_t n, uint64_t at)
{
	ssize_t got = pread(fd, buf, n, (off_t)at);

	if (got < 0)
		return -errno;
	return (size_t)got == n ? 0 : DWELL_ERR_NOT_FOUND;
}

int dw_region_read_head(int fd, struct dw_region_head *ret)
{
	dw_auto_free struct dw_region_header *h = malloc(sizeof *h); /* too large for a stack */
	int rc = h ? dw_region_read_bytes(fd, h, FIXED_BYTES, 0) : -ENOMEM;

	if (rc)
		return rc;
	if (!h->magic[0]) /* which is written last */
		return DWELL_ERR_NOT_FOUND;
	if (memcmp(h->magic, DWELL_REGION_MAGIC, sizeof h->magic))
		return DWELL_ERR_FORMAT;
	if (h->version != DWELL_REGION_VERSION ||
	    h->header_bytes != sizeof(struct dw_region_header))
		return DWELL_ERR_UNSUPPORTED;
	if (h->module_n > DWELL_REGION_MODULES || h->chunk_n > DWELL_REGION_CHUNKS ||
	    h->threads_n > DWELL_REGION_THREADS)
		return DWELL_ERR_FORMAT;
	*ret = (struct dw_region_head){
		.state = h->state,
		.off_reason = h->off_reason,
		.pid = h->pid,
		.parent_pid = h->parent_pid,
		.is_fork = h->is_fork,
		.module_n = h->module_n,
		.chunk_n = h->chunk_n,
		.start_ns = h->start_ns,
		.agent_start_ns = h->agent_start_ns,
		.start = h->start,
		.end = h->end,
		.end_cpu_ns = h->end_cpu_ns,
		.arena_base = h->arena_base,
		.arena_lines = h->arena_lines,
		.threads_n = h->threads_n,
		.pass_cost = h->pass_cost,
		.measured_ns = h->measured_ns,
		.system_calls_seen = h->system_calls_seen,
		.disabled_done = h->disabled_done,
		.disabled_error = h->disabled_error,
	};
	memcpy(ret->probe_cost, h->probe_cost, sizeof ret->probe_cost);
	memcpy(ret->os_sources, h->os_sources, sizeof ret->os_sources);
	memcpy(ret->drops, h->drops, sizeof ret->drops);
	memcpy(ret->maker, h->maker, sizeof ret->maker);
	return 0;
}

int dw_region_read_module(int fd, uint32_t i, struct dw_region_module *ret)
{
	struct dw_region_module m;
	int rc;

	if (i >= DWELL_REGION_MODULES)
		return DWELL_ERR_FORMAT;
	rc = dw_region_read_bytes(fd, &m, sizeof m, offsetof(struct dw_region_header, modules[i]));
	if (rc)
		return rc;
	m.path[sizeof m.path - 1] = 0;
	*ret = m;
	return 0;
}

int dw_region_read_chunk(int fd, uint32_t i, struct dw_region_chunk *ret)
{
	struct dw_region_chunk c;
	int rc;

	if (i >= DWELL_REGION_CHUNKS)
		return DWELL_ERR_FORMAT;
	rc = dw_region_read_bytes(fd, &c, sizeof c, offsetof(struct dw_region_header, chunks[i]));
	if (rc)
		return rc;
	if (c.at < sizeof(struct dw_region_header) || c.at > INT64_MAX ||
	    c.bytes > INT64_MAX - c.at)
		return DWELL_ERR_FORMAT;
	*ret = c;
	return 0;
}

int dw_region_read_threads(int fd, uint32_t *ret, uint32_t n)
{
	if (n > DWELL_REGION_THREADS)
		return DWELL_ERR_FORMAT;
	return dw_region_read_bytes(fd, ret, n * sizeof *ret,
				    offsetof(struct dw_region_header, threads));
}

int dw_region_add_counts(int fd, const struct dw_region_module *m, uint32_t n, uint64_t *sums)
{
	dw_auto_free uint64_t *counts = NULL;
	uint64_t bytes = (uint64_t)n * sizeof *counts;
	int rc;

	if (!m->counts)
		return DWELL_ERR_NOT_FOUND;
	if (m->counts_n != n || n > DWELL_REGION_COUNTS_MAX ||
	    m->counts < sizeof(struct dw_region_header) || m->counts > INT64_MAX - bytes)
		return DWELL_ERR_FORMAT;
	counts = malloc(bytes + 1);
	if (!counts)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i += COUNTS_STEP) {
		uint32_t step = n - i < COUNTS_STEP ? n - i : COUNTS_STEP;

		rc = dw_region_read_bytes(fd, counts + i, step * sizeof *counts,
					  m->counts + i * sizeof *counts);
		if (rc)
			return rc == DWELL_ERR_NOT_FOUND ? DWELL_ERR_FORMAT : rc;
	}
	/* All or nothing: a module is not half counted. */
	for (uint32_t i = 0; i < n; i++)
		sums[i] += counts[i];
	return 0;
}

static int write_all(int fd, const void *buf, size_t n, uint64_t at)
{
	ssize_t done = pwrite(fd, buf, n, (off_t)at);

	if (done < 0)
		return -errno;
	return (size_t)done == n ? 0 : -ENOSPC;
}

int dw_region_write_room(int fd, uint64_t bytes)
{
	return write_all(fd, &bytes, sizeof bytes, offsetof(struct dw_region_header, tree_room));
}

int dw_region_write_answer(int fd, uint32_t i, uint32_t state, uint32_t heartbeat, const char *path)
{
	struct dw_region_answer a = {.heartbeat = heartbeat};
	const size_t behind = offsetof(struct dw_region_answer, heartbeat);
	uint64_t at = offsetof(struct dw_region_header, answers[i]);
	int rc;

	if (i >= DWELL_REGION_MODULES || (path && strlen(path) >= sizeof a.image))
		return -EINVAL;
	if (path)
		memcpy(a.image, path, strlen(path));
	rc = write_all(fd, (char *)&a + behind, sizeof a - behind, at + behind);
	return rc ? rc
		  : write_all(fd, &state, sizeof state,
			      at + offsetof(struct dw_region_answer, state));
}

int dw_region_write_predisabled(int fd, uint32_t i, const uint32_t *disable_keys, uint32_t from,
				uint32_t n)
{
	const uint32_t part[] = {from, n};
	int rc;

	if (i >= DWELL_REGION_MODULES || from > DWELL_REGION_DISABLED ||
	    n > DWELL_REGION_DISABLED - from)
		return -EINVAL;
	rc = write_all(fd, disable_keys, n * sizeof *disable_keys,
		       offsetof(struct dw_region_header, predisabled[from]));
	return rc ? rc
		  : write_all(fd, part, sizeof part,
			      offsetof(struct dw_region_header, answers[i].predisabled_at));
}

int dw_region_read_disabled(int fd, uint32_t *keys, uint32_t *n, uint32_t *ended)
{
	uint64_t at = offsetof(struct dw_region_header, disabled);
	struct dw_region_disabled head;
	int rc = dw_region_read_bytes(fd, &head, offsetof(struct dw_region_disabled, keys), at);

	if (rc)
		return rc;
	if (head.n > DWELL_REGION_DISABLED || head.ended > head.n)
		return DWELL_ERR_FORMAT;
	*n = head.n;
	*ended = head.ended;
	return dw_region_read_bytes(fd, keys, head.n * sizeof *keys,
				    at + offsetof(struct dw_region_disabled, keys));
}

int dw_region_write_disabled(int fd, const uint32_t *keys, uint32_t from, uint32_t n,
			     uint32_t ended, uint32_t serial)
{
	uint64_t at = offsetof(struct dw_region_header, disabled);
	const uint32_t counts[] = {n, ended};
	int rc;

	if (n > DWELL_REGION_DISABLED || from > n || ended > n)
		return -EINVAL;
	rc = write_all(fd, keys + from, (n - from) * sizeof *keys,
		       at + offsetof(struct dw_region_disabled, keys[from]));
	if (!rc)
		rc = write_all(fd, counts, sizeof counts,
			       at + offsetof(struct dw_region_disabled, n));
	return rc ? rc
		  : write_all(fd, &serial, sizeof serial,
			      at + offsetof(struct dw_region_disabled, serial));
}
