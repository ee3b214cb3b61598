/*
 * Maps of clones; see clone-map.h. Clones stand in the order of their functions; those left alone
 * have none and are stepped over.
 */
#include "record/clone-map.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { LONG_LENGTH = 15, LONG_LENGTH_BYTES = 2 };

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

int dw_clone_map_find(const struct dw_clone_map *m, uint32_t at, struct dw_clone_origin *ret)
{
	const struct dw_clone_function_entry *f = find_function(m, at);
	uint32_t clone, module = f ? f->start : 0;

	if (!f)
		return DWELL_ERR_NOT_FOUND;
	clone = f->clone_at;
	for (size_t i = f->instructions; i < m->instructions_n && module - f->start < f->bytes;) {
		uint32_t bytes = m->instructions[i] >> 4, there = m->instructions[i] & 15;

		i++;
		if (there == LONG_LENGTH && m->instructions_n - i >= LONG_LENGTH_BYTES) {
			there = (uint32_t)m->instructions[i] | (uint32_t)m->instructions[i + 1]
								       << 8;
			i += LONG_LENGTH_BYTES;
		}
		if (at - clone < there) {
			*ret = (struct dw_clone_origin){module, bytes, there,
							clone + there - at - 1};
			return 0;
		}
		clone += there;
		module += bytes;
	}
	return DWELL_ERR_NOT_FOUND;
}

uint32_t dw_clone_map_function(const struct dw_clone_map *m, uint32_t at)
{
	const struct dw_clone_function_entry *f = find_function(m, at);

	return f ? (uint32_t)(f - m->functions) : m->functions_n;
}

void dw_clone_map_release(struct dw_clone_map *m)
{
	free(m->instructions);
	free(m->imports);
	free(m->statements);
	*m = (struct dw_clone_map){0};
}
