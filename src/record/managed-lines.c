/*
 * Lines of managed code; see managed-lines.h. A PDB is kept as it is and asked at the end; the
 * reader checks each step.
 */
#include "record/managed-lines.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "code/clr/assembly.h"
#include "target/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Read piece by piece: the programs have tens of megabytes, and may be cut while they are read,
 * which a mapping would not survive.
 */

enum {
	PIECE = 1 << 20,
	HOST_MAX = 64 << 20, /* bytes of the host, which come first */
	LIST_MAX = 4 << 20,
};

static bool read_whole(int fd, uint64_t at, char *bytes, size_t n)
{
	while (n) {
		ssize_t got = pread(fd, bytes, n, (off_t)at);

		if (got <= 0)
			return false;
		bytes += got;
		at += (uint64_t)got;
		n -= (size_t)got;
	}
	return true;
}

/* Read @n bytes of @fd at @at; the caller frees them. NULL = they are not there, are none or too
 * many, or no memory. */
static void *file_read(int fd, uint64_t at, uint64_t n)
{
	dw_auto_free void *bytes = n && n <= DWELL_READ_MAX && at <= INT64_MAX ? malloc(n) : NULL;

	return bytes && read_whole(fd, at, bytes, n) ? dw_take_ptr(bytes) : NULL;
}

/* Where the list of @fd begins, which has @bytes bytes; 0 = it has none. */
static uint64_t find_list(int fd, uint64_t bytes)
{
	dw_auto_free char *piece = malloc(PIECE);
	uint64_t list = 0, n;

	for (uint64_t at = 0; piece && at < bytes && at < HOST_MAX;
	     at += PIECE - DWELL_BUNDLE_MARK_BYTES) {
		n = bytes - at < PIECE ? bytes - at : PIECE;
		if (!read_whole(fd, at, piece, n))
			break;
		if (dw_bundle_list_at(piece, n, &list))
			return list < bytes ? list : 0;
	}
	return 0;
}

/* Let @last be the list of the program @fd. */
static void read_list(struct dw_bundle_list *last, int fd, const struct stat *st)
{
	uint64_t bytes = (uint64_t)st->st_size, at = find_list(fd, bytes);

	free(last->bytes);
	last->dev = st->st_dev;
	last->ino = st->st_ino;
	last->n = bytes - at < LIST_MAX ? bytes - at : LIST_MAX;
	last->bytes = at ? file_read(fd, at, last->n) : NULL;
}

/* Find the file called @name in the program @fd. False: it has none that is called so. What is
 * packed is unpacked into bytes of @ret, which the caller frees; else they stay NULL. @last saves
 * reading the list again. */
static bool bundled_file_find(struct dw_bundle_list *last, int fd, const char *name,
			      struct dw_pe_file *ret)
{
	dw_auto_free void *packed = NULL;
	struct dw_bundle_file file;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || st.st_size <= 0)
		return false;
	if (st.st_dev != last->dev || st.st_ino != last->ino)
		read_list(last, fd, &st);
	if (!last->bytes || !dw_bundle_find(last->bytes, last->n, name, &file))
		return false;
	*ret = (struct dw_pe_file){.fd = fd, .at = file.at, .n = file.bytes};
	if (!file.packed_bytes)
		return true;
	packed = file_read(fd, file.at, file.packed_bytes);
	ret->bytes = packed ? dw_inflate(packed, file.packed_bytes, file.bytes) : NULL;
	return ret->bytes;
}

/* Free everything. */
static void bundle_list_release(struct dw_bundle_list *last)
{
	free(last->bytes);
	last->bytes = NULL;
}

/* Whose files are read, and below which folder. */
struct access {
	const struct dw_rights *wanted, *own;
	int root;
	int64_t before_ns; /* younger files are others, 0 = all count */
};

int dw_managed_lines_open(struct dw_managed_lines *l)
{
	*l = (struct dw_managed_lines){0};
	return dw_rights_read(getpid(), &l->own);
}

static bool is_younger(int fd, int64_t ns)
{
	struct stat st;

	return fstat(fd, &st) || (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec > ns;
}

static int open_file(const struct access *access, const char *path)
{
	dw_auto_close int fd = dw_target_file_open(access->root, path, access->wanted, access->own);

	return fd >= 0 && access->before_ns && is_younger(fd, access->before_ns) ? -ENOENT
										 : dw_take_fd(fd);
}

/* All of the file @path. NULL = it cannot be read, or is too large. */
static void *read_file(const struct access *access, const char *path, size_t *ret_n)
{
	dw_auto_close int fd = open_file(access, path);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || st.st_size <= 0)
		return NULL;
	*ret_n = (size_t)st.st_size;
	return file_read(fd, 0, *ret_n);
}

/* "NAME.pdb" of "NAME.dll"; of one that is in a program: beside that. The caller frees it. NULL =
 * it has no such name. */
static char *pdb_path(const char *path, bool is_bundled)
{
	const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/'), *end = slash;
	char *made;

	if (is_bundled && slash)
		end = memrchr(path, '/', (size_t)(slash - path));
	if (!dot || !end || dot < slash || path[0] != '/' ||
	    asprintf(&made, "%.*s%.*s.pdb", (int)(end - path), path, (int)(dot - slash), slash) < 0)
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

/* An assembly that is open. */
struct assembly {
	int fd;
	struct dw_pe_file file;
	bool is_bundled; /* in the program @fd */
};

/* Open the assembly @path, which may be in a program. False: there is none. */
static bool open_assembly(const struct access *access, const char *path,
			  struct dw_bundle_list *bundle, struct assembly *ret)
{
	const char *slash = strrchr(path, '/');
	dw_auto_free char *program = NULL;
	struct stat st;

	ret->fd = path[0] == '/' ? open_file(access, path) : -1;
	if (ret->fd >= 0) {
		ret->file = (struct dw_pe_file){.fd = ret->fd};
		if (!fstat(ret->fd, &st) && st.st_size > 0)
			ret->file.n = (size_t)st.st_size;
		return ret->file.n;
	}
	program = slash ? strndup(path, (size_t)(slash - path)) : NULL;
	ret->fd = program && program[0] == '/' ? open_file(access, program) : -1;
	ret->is_bundled = ret->fd >= 0;
	return ret->is_bundled && bundled_file_find(bundle, ret->fd, slash + 1, &ret->file);
}

static void close_assembly(struct assembly *a)
{
	free((void *)a->file.bytes);
	dw_cleanup_close(&a->fd);
}

/* Take the @n bytes at @bytes, which may be NULL, as the PDB called @id. False: freed. */
static bool take_pdb(struct dw_assembly_lines *a, void *bytes, size_t n, const uint8_t *id)
{
	if (!bytes || dw_pdb_open(bytes, n, &a->pdb) || memcmp(id, a->pdb.id, sizeof a->pdb.id)) {
		free(bytes);
		return false;
	}
	a->bytes = bytes;
	a->documents = calloc((size_t)a->pdb.documents.n + 1, sizeof *a->documents);
	return a->documents != NULL;
}

/* The lines of assembly @path, NULL = none. */
static struct dw_assembly_lines *read_lines(const struct access *access, const char *path,
					    struct dw_bundle_list *bundle)
{
	struct assembly assembly = {.fd = -1};
	bool is_open = open_assembly(access, path, bundle, &assembly), found = false;
	dw_auto_free char *pdb = pdb_path(path, assembly.is_bundled);
	struct dw_assembly_lines *a = calloc(1, sizeof *a);
	uint8_t id[DWELL_PDB_ID_BYTES];
	size_t n = 0;
	void *bytes;

	if (a && is_open && dw_pe_pdb_id(&assembly.file, id)) {
		bytes = pdb ? read_file(access, pdb, &n) : NULL;
		found = take_pdb(a, bytes, n, id);
		if (!found && !a->bytes) {
			bytes = dw_pe_embedded_pdb(&assembly.file, &n);
			found = take_pdb(a, bytes, n, id);
		}
	}
	close_assembly(&assembly);
	if (found)
		return a;
	free_assembly(a);
	return NULL;
}

static int add(struct dw_managed_lines *l, uint32_t module, const char *path,
	       const struct access *access)
{
	while (l->rows.n <= module)
		if (dw_vec_push(&l->rows, NULL))
			return -ENOMEM;
	if (!l->rows.v[module])
		l->rows.v[module] = read_lines(access, path, &l->bundle);
	return 0;
}

int dw_managed_lines_add(struct dw_managed_lines *l, uint32_t module, const char *path,
			 const struct dw_managed_owner *owner)
{
	dw_auto_close int root = owner->pid ? dw_target_root_open(owner->pid) : -1;
	const struct dw_rights owners = {.uid = owner->uid, .gid = owner->gid};
	const bool is_ours = owner->uid == l->own.uid;
	const struct access access = {is_ours ? &l->own : &owners, &l->own, root, 0};

	return root >= 0 || is_ours ? add(l, module, path, &access) : 0;
}

int dw_managed_lines_add_below(struct dw_managed_lines *l, uint32_t module, const char *path,
			       int root_fd, const struct dw_rights *wanted)
{
	return add(l, module, path, &(struct access){wanted, &l->own, root_fd, 0});
}

int dw_managed_lines_add_again(struct dw_managed_lines *l, uint32_t module, const char *path,
			       int64_t before_ns)
{
	return add(l, module, path, &(struct access){&l->own, &l->own, -1, before_ns});
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
	bundle_list_release(&l->bundle);
	dw_rights_release(&l->own);
}
