/*
 * Maps of clones; see clone-map.h. Clones stand in the order of their functions; those left alone
 * have none and are stepped over. Calls are asked for by the thousand, so that walks begin at
 * marks, which the first walk through a function leaves.
 */
#include "record/clone-map.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
	LONG_LENGTH = 15,
	LONG_LENGTH_BYTES = 2,
	MARK_INSTRUCTIONS = 32, /* from one mark to the next */
};

/* Read @n records of @size bytes at @at of the file @fd. NULL: rc in *@rc. */
static void *read_part(int fd, struct dw_clone_part part, size_t size, int *rc)
{
	struct stat st;
	void *p = NULL;

	if (*rc)
		return NULL;
	if (fstat(fd, &st))
		*rc = -errno;
	else if (part.at > st.st_size || part.n > ((uint64_t)st.st_size - part.at) / size)
		*rc = DWELL_ERR_FORMAT;
	else if (!(p = malloc(part.n * size + 1)))
		*rc = -ENOMEM;
	else if (pread(fd, p, part.n * size, part.at) != (ssize_t)(part.n * size))
		*rc = DWELL_ERR_FORMAT;
	return p;
}

int dw_clone_map_load(struct dw_clone_map *m, const char *path,
		      const struct dw_clone_header *header,
		      const struct dw_clone_function_entry *functions)
{
	dw_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc = fd < 0 ? -errno : 0;

	*m = (struct dw_clone_map){
		.functions = functions, .functions_n = header->functions.n, .bytes = header->bytes};
	m->instructions = read_part(fd, header->instructions, 1, &rc);
	m->imports = read_part(fd, header->imports, sizeof *m->imports, &rc);
	m->statements = read_part(fd, header->statements, sizeof *m->statements, &rc);
	if (!rc) {
		m->statements_n = header->statements.n;
		m->instructions_n = header->instructions.n;
		m->imports_n = header->imports.n;
		m->marks_of = calloc((size_t)m->functions_n + 1, sizeof *m->marks_of);
	}
	return rc;
}

/* The function whose clone holds the area offset @at. NULL = none. */
static const struct dw_clone_function_entry *find_function(const struct dw_clone_map *m,
							   uint32_t at)
{
	const struct dw_clone_function_entry *f = m->functions, *found = NULL;
	uint32_t low = 0, high = m->functions_n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2, k = middle;

		while (k > low && !f[k].clone_at)
			k--;
		if (!f[k].clone_at || f[k].clone_at <= at) {
			found = f[k].clone_at ? &f[k] : found;
			low = middle + 1;
		} else {
			high = k;
		}
	}
	return found && at - found->clone_at < found->clone_bytes ? found : NULL;
}

/* The instruction at @at of the walk, of which @f is, and what its clone begins with. The walk goes
 * on to the next one. False: there are no more. */
static bool step(const struct dw_clone_map *m, const struct dw_clone_function_entry *f,
		 struct dw_origin_mark *at, struct dw_clone_origin *ret)
{
	uint32_t bytes, there;

	if (at->instruction >= m->instructions_n || at->module - f->start >= f->bytes)
		return false;
	bytes = m->instructions[at->instruction] >> 4;
	there = m->instructions[at->instruction++] & 15;
	if (there == LONG_LENGTH && m->instructions_n - at->instruction >= LONG_LENGTH_BYTES) {
		there = (uint32_t)m->instructions[at->instruction] |
			(uint32_t)m->instructions[at->instruction + 1] << 8;
		at->instruction += LONG_LENGTH_BYTES;
	}
	*ret = (struct dw_clone_origin){.at = at->module, .bytes = bytes, .clone_bytes = there};
	at->clone += there;
	at->module += bytes;
	return true;
}

static struct dw_origin_mark start_of(const struct dw_clone_function_entry *f)
{
	return (struct dw_origin_mark){f->instructions, f->clone_at, f->start};
}

/* Walk all of @f and leave marks. 0 or -ENOMEM. */
static int leave_marks(struct dw_clone_map *m, const struct dw_clone_function_entry *f)
{
	struct dw_origin_marks *marks = &m->marks_of[f - m->functions];
	struct dw_origin_mark at = start_of(f);
	struct dw_clone_origin unused;

	marks->first = (uint32_t)m->marks.n;
	do {
		if (dw_vec_push(&m->marks, at))
			return -ENOMEM;
		marks->n++;
		for (int i = 1; i < MARK_INSTRUCTIONS && step(m, f, &at, &unused); i++)
			;
	} while (step(m, f, &at, &unused));
	return 0;
}

/* The last mark in @f at or before @at. */
static struct dw_origin_mark find_mark(struct dw_clone_map *m,
				       const struct dw_clone_function_entry *f, uint32_t at)
{
	struct dw_origin_marks marks = {0};
	uint32_t low = 0, high;

	if (m->marks_of && (m->marks_of[f - m->functions].n || !leave_marks(m, f)))
		marks = m->marks_of[f - m->functions];
	for (high = marks.n; high - low > 1;) {
		uint32_t middle = low + (high - low) / 2;

		if (m->marks.v[marks.first + middle].clone <= at)
			low = middle;
		else
			high = middle;
	}
	return marks.n ? m->marks.v[marks.first + low] : start_of(f);
}

int dw_clone_map_find(struct dw_clone_map *m, uint32_t at, struct dw_clone_origin *ret)
{
	const struct dw_clone_function_entry *f = find_function(m, at);
	struct dw_origin_mark walk = f ? find_mark(m, f, at) : (struct dw_origin_mark){0};

	while (f && step(m, f, &walk, ret)) {
		if (at < walk.clone) {
			ret->behind = walk.clone - at - 1;
			return 0;
		}
	}
	return DWELL_ERR_NOT_FOUND;
}

uint32_t dw_clone_map_function(const struct dw_clone_map *m, uint32_t at)
{
	const struct dw_clone_function_entry *f = find_function(m, at);

	return f ? (uint32_t)(f - m->functions) : m->functions_n;
}

bool dw_clone_map_is_probe(const struct dw_clone_map *m, uint32_t i, uint32_t at)
{
	return at - m->functions[i].clone_at < m->functions[i].prefix_bytes;
}

void dw_clone_map_release(struct dw_clone_map *m)
{
	free(m->instructions);
	free(m->imports);
	free(m->statements);
	dw_vec_release(&m->marks);
	free(m->marks_of);
	*m = (struct dw_clone_map){0};
}
