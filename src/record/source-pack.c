/* Source in sessions; see finish.h. */
#include "record/finish.h"

#include "analysis/totals.h"
#include "base/cleanup.h"
#include "target/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FILE_MAX_BYTES = 4 << 20,
	ALL_MAX_BYTES = 16 << 20,
};

/* A file, and the module through which it is known. */
struct ranked {
	uint32_t file;
	uint32_t module;
	uint64_t exclusive, inclusive;
};

static int by_file(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	return (a->file > b->file) - (a->file < b->file);
}

static int by_use(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	if (a->exclusive != b->exclusive)
		return a->exclusive < b->exclusive ? 1 : -1;
	if (a->inclusive != b->inclusive)
		return a->inclusive < b->inclusive ? 1 : -1;
	return by_file(a, b);
}

/* Join the entries of each file. How many are left. */
static size_t join(struct ranked *v, size_t n)
{
	size_t left = 0;

	qsort(v, n, sizeof *v, by_file);
	for (size_t i = 0; i < n; i++) {
		if (left && v[left - 1].file == v[i].file) {
			v[left - 1].exclusive += v[i].exclusive;
			v[left - 1].inclusive += v[i].inclusive;
		} else {
			v[left++] = v[i];
		}
	}
	return left;
}

/* The files of all lines, most used first; *@n of them. NULL without memory. */
static struct ranked *rank(const struct dw_profile *p, size_t *n)
{
	struct dw_totals totals = {0};
	struct ranked *v = NULL;

	*n = 0;
	if (!dw_totals_compute(p, NULL, DWELL_TOTALS_LINES, &totals))
		v = calloc(totals.lines.n + 1, sizeof *v);
	dw_vec_each(line, &totals.lines) {
		const struct dw_function *f = dw_functions_get(&p->functions, line->function);
		const struct dw_values *values = dw_totals_values(&totals, line->amounts);

		if (v && f && line->file)
			v[(*n)++] = (struct ranked){line->file, f->module, values->exclusive,
						    values->inclusive};
	}
	dw_totals_release(&totals);
	if (v && *n) {
		*n = join(v, *n);
		qsort(v, *n, sizeof *v, by_use);
	}
	return v;
}

/* Open @path as the user of the module would. */
static int open_as(const struct dw_module_source *source, const char *path,
		   const struct dw_rights *own)
{
	struct dw_rights wanted = {.uid = source->uid, .gid = source->gid};
	int fd = 0;

	for (size_t i = 0; i < source->groups_n && !fd; i++)
		fd = dw_vec_push(&wanted.groups, source->groups[i]) ? -ENOMEM : 0;
	if (!fd)
		fd = dw_target_file_open(source->root_fd, path, &wanted, own);
	dw_rights_release(&wanted);
	return fd;
}

/* The text of @fd into @ret, at most @most bytes of it. False: it is longer, or cannot be read. */
static bool read_text(int fd, size_t most, struct dw_source *ret)
{
	struct stat st;
	size_t n = 0;
	ssize_t got = 1;

	if (fstat(fd, &st) || st.st_size <= 0 || (uint64_t)st.st_size > most)
		return false;
	ret->text = malloc((size_t)st.st_size);
	while (ret->text && n < (size_t)st.st_size && got > 0) {
		got = read(fd, ret->text + n, (size_t)st.st_size - n);
		n += got > 0 ? (size_t)got : 0;
	}
	ret->bytes_n = (uint32_t)n;
	return ret->text;
}

/* Pack one file, when it is there and fits. */
static int pack(struct dw_profile *p, const struct dw_module_source *source, uint32_t file,
		const struct dw_rights *own, size_t *left)
{
	const char *path = dw_strings_get(&p->strings, file);
	struct dw_source row = {.file = file};
	dw_auto_close int fd = *path == '/' ? open_as(source, path, own) : -ENOENT;

	if (fd < 0 || !read_text(fd, *left < FILE_MAX_BYTES ? *left : FILE_MAX_BYTES, &row))
		return fd == -ENOMEM ? -ENOMEM : 0;
	if (dw_vec_push(&p->sources.rows, row)) {
		free(row.text);
		return -ENOMEM;
	}
	*left -= row.bytes_n;
	return 0;
}

/* Only of files it is known whose they are. */
static bool has_source(const struct dw_profile *p, uint32_t module)
{
	const struct dw_module *m = dw_modules_get(&p->modules, module);

	return m && m->kind == DWELL_MODULE_FILE;
}

int dw_source_pack(struct dw_profile *p, const struct dw_module_source *sources, size_t n)
{
	struct dw_rights own = {0};
	size_t files, left = ALL_MAX_BYTES;
	dw_auto_free struct ranked *v = rank(p, &files);
	int rc = v ? dw_rights_read(getpid(), &own) : -ENOMEM;

	for (size_t i = 0; i < files && !rc; i++)
		if (v[i].module < n && has_source(p, v[i].module))
			rc = pack(p, &sources[v[i].module], v[i].file, &own, &left);
	dw_rights_release(&own);
	if (!rc)
		rc = dw_facts_set(&p->facts, "source_files", (int64_t)p->sources.rows.n);
	if (!rc)
		rc = dw_facts_set(&p->facts, "source_files_left_out",
				  (int64_t)(files - p->sources.rows.n));
	return rc;
}
