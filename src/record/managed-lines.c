/*
 * Lines of managed code; see managed-lines.h. A PDB is kept as it is and asked at the end; the
 * reader checks each step.
 */
#include "record/managed-lines.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "code/clr/pe.h"
#include "target/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_BYTES_MAX = 64 << 20 };

int dw_managed_lines_open(struct dw_managed_lines *l)
{
	*l = (struct dw_managed_lines){0};
	return dw_rights_read(getpid(), &l->own);
}

/* Read all of @fd. NULL = it cannot be read, or is too large. */
static void *read_all(int fd, size_t *ret_n)
{
	struct stat st;
	char *bytes;
	size_t n = 0;
	ssize_t got = 1;

	if (fd < 0 || fstat(fd, &st) || st.st_size <= 0 || st.st_size > FILE_BYTES_MAX)
		return NULL;
	bytes = malloc((size_t)st.st_size);
	while (bytes && got > 0 && n < (size_t)st.st_size) {
		got = read(fd, bytes + n, (size_t)st.st_size - n);
		n += got > 0 ? (size_t)got : 0;
	}
	*ret_n = n;
	return bytes;
}

static void *read_file(const struct dw_managed_lines *l, const char *path, int root,
		       const struct dw_managed_owner *owner, size_t *ret_n)
{
	struct dw_rights owners = {.uid = owner->uid, .gid = owner->gid};
	const struct dw_rights *wanted = owner->uid == l->own.uid ? &l->own : &owners;
	dw_auto_close int fd = dw_target_file_open(root, path, wanted, &l->own);

	return read_all(fd, ret_n);
}

/* "NAME.pdb" of "NAME.dll"; the caller frees it. NULL = it has no such name. */
static char *pdb_path(const char *path)
{
	const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
	char *made;

	if (!dot || !slash || dot < slash || path[0] != '/' ||
	    asprintf(&made, "%.*s.pdb", (int)(dot - path), path) < 0)
		return NULL;
	return made;
}

static void free_assembly(struct dw_assembly_lines *a)
{
	for (uint32_t i = 0; a && a->documents && i < a->pdb.documents.n; i++)
		free(a->documents[i]);
	if (a) {
		free(a->documents);
		free(a->bytes);
	}
	free(a);
}

/* The lines in the files of assembly @path, NULL = none. */
static struct dw_assembly_lines *read_assembly(const struct dw_managed_lines *l, const char *path,
					       int root, const struct dw_managed_owner *owner)
{
	dw_auto_free char *pdb = pdb_path(path);
	dw_auto_free void *assembly = NULL;
	struct dw_assembly_lines *a = calloc(1, sizeof *a);
	uint8_t id[DWELL_PDB_ID_BYTES];
	size_t n, assembly_n;

	if (a && pdb)
		a->bytes = read_file(l, pdb, root, owner, &n);
	if (a && a->bytes && !dw_pdb_open(a->bytes, n, &a->pdb))
		assembly = read_file(l, path, root, owner, &assembly_n);
	if (assembly && dw_pe_pdb_id(assembly, assembly_n, id) &&
	    !memcmp(id, a->pdb.id, sizeof id)) {
		a->documents = calloc((size_t)a->pdb.documents.n + 1, sizeof *a->documents);
		if (a->documents)
			return a;
	}
	free_assembly(a);
	return NULL;
}

int dw_managed_lines_add(struct dw_managed_lines *l, uint32_t module, const char *path,
			 const struct dw_managed_owner *owner)
{
	dw_auto_close int root = owner->pid ? dw_target_root_open(owner->pid) : -1;

	while (l->rows.n <= module)
		if (dw_vec_push(&l->rows, NULL))
			return -ENOMEM;
	if (!l->rows.v[module] && (root >= 0 || owner->uid == l->own.uid))
		l->rows.v[module] = read_assembly(l, path, root, owner);
	return 0;
}

/* The path of document @row, borrowed. NULL = none. */
static const char *document(struct dw_assembly_lines *a, uint32_t row)
{
	dw_auto(dw_buf) path = DW_BUF_INIT;

	if (!row || row > a->pdb.documents.n)
		return NULL;
	if (!a->documents[row - 1] && dw_pdb_document(&a->pdb, row, &path))
		a->documents[row - 1] = strdup(dw_buf_str(&path));
	return a->documents[row - 1];
}

bool dw_managed_lines_find(void *ctx, uint32_t module, uint64_t svma, struct dw_il_line *ret)
{
	const struct dw_managed_lines *l = ctx;
	struct dw_assembly_lines *a = module < l->rows.n ? l->rows.v[module] : NULL;
	struct dw_pdb_line line;

	if (!a || !dw_pdb_find(&a->pdb, (uint32_t)(svma >> 32), (uint32_t)svma, &line))
		return false;
	*ret = (struct dw_il_line){document(a, line.document), line.line, line.column,
				   line.line_end, line.column_end};
	return ret->file != NULL;
}

void dw_managed_lines_release(struct dw_managed_lines *l)
{
	dw_vec_each(a, &l->rows)
		free_assembly(*a);
	dw_vec_release(&l->rows);
	dw_rights_release(&l->own);
}
