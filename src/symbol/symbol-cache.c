/*
 * Kept answers and debug files; see symbol-cache.h. A file of answers is a head, the addresses, and
 * the answer in its form on the pipe. The hash guards against damage: whoever can write the file is
 * the user. Of a debug file the ELF header is written last, so a file with one is whole.
 */
#include "symbol/symbol-cache.h"

#include "base/cache.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "code/elf/elf.h"
#include "symbol/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_BYTES	((uint64_t)32 << 20) /* of all answers */
#define FILE_MAX_BYTES	((size_t)16 << 20)
#define DEBUG_MAX_BYTES ((uint64_t)128 << 20) /* of all debug files */

enum {
	VERSION = 1, /* raised when answers become others */
	ALIGNMENT = 16,
	ID_MAX_BYTES = 64,
};

DW_DEFINE_FREEP(dw_elf)

static const char magic[8] = "dwknown", suffix[] = ".known", debug_suffix[] = ".debug";

/* Which file a module is, and where its debug file was looked for. */
struct key {
	uint64_t device, inode, bytes;
	int64_t modified[2], changed[2];
	uint64_t debug_dirs;
};

struct head {
	char magic[sizeof magic];
	uint64_t version;
	struct key key;
	uint64_t n;    /* addresses */
	uint64_t hash; /* of what follows */
};

static bool find_key(const struct dw_question *q, struct key *ret)
{
	struct stat st;

	if (q->source->fd < 0 || q->source->root_fd >= 0 || fstat(q->source->fd, &st) ||
	    !dw_file_is_trusted(&st))
		return false;
	*ret = (struct key){
		.device = st.st_dev,
		.inode = st.st_ino,
		.bytes = (uint64_t)st.st_size,
		.modified = {st.st_mtim.tv_sec, st.st_mtim.tv_nsec},
		.changed = {st.st_ctim.tv_sec, st.st_ctim.tv_nsec},
		.debug_dirs = dw_hash_bytes(q->debug_dirs, strlen(q->debug_dirs), VERSION),
	};
	return true;
}

bool dw_symbol_cache_may_keep(const struct dw_question *q)
{
	struct key key;

	return !q->names_only && q->debug_fd < 0 && find_key(q, &key);
}

static void name_file(const struct key *key, char name[DWELL_CACHE_NAME])
{
	uint64_t low = dw_hash_bytes(key, sizeof *key, VERSION);

	snprintf(name, DWELL_CACHE_NAME, "%016lx%016lx%s", low,
		 dw_hash_bytes(key, sizeof *key, ~low), suffix);
}

/* Whether they rise, as they must to be searched. */
static bool is_sorted(const uint64_t *svmas, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (svmas[i - 1] >= svmas[i])
			return false;
	return true;
}

/* Fill @k from the @n bytes of a file at @bytes, which must be about @key. */
static int decode(const uint8_t *bytes, size_t n, const struct key *key, struct dw_symbol_cache *k)
{
	struct head h;
	size_t list;

	if (n < sizeof h)
		return DWELL_ERR_FORMAT;
	memcpy(&h, bytes, sizeof h);
	bytes += sizeof h;
	n -= sizeof h;
	list = h.n * sizeof *k->svmas;
	if (memcmp(h.magic, magic, sizeof magic) || h.version != VERSION ||
	    memcmp(&h.key, key, sizeof *key) || h.n > DWELL_SYMBOL_CACHE_MAX || list > n ||
	    dw_hash_bytes(bytes, n, h.n) != h.hash)
		return DWELL_ERR_FORMAT;
	k->svmas = malloc(list + 1);
	if (!k->svmas)
		return -ENOMEM;
	memcpy(k->svmas, bytes, list);
	k->n = h.n;
	if (!is_sorted(k->svmas, k->n))
		return DWELL_ERR_FORMAT;
	return dw_answer_decode(bytes + list, n - list, k->n, &k->answer);
}

int dw_symbol_cache_read(const char *dir, const struct dw_question *q, struct dw_symbol_cache *k)
{
	char name[DWELL_CACHE_NAME];
	struct key key;
	size_t n;
	dw_auto_free uint8_t *bytes = NULL;
	dw_auto_close int fd = -1;
	int rc = DWELL_ERR_FORMAT;

	if (!find_key(q, &key))
		return DWELL_ERR_NOT_FOUND;
	name_file(&key, name);
	fd = dw_cache_open(dir, name, &n);
	if (fd < 0 || n > FILE_MAX_BYTES)
		return DWELL_ERR_NOT_FOUND;
	bytes = malloc(n + 1);
	if (!bytes)
		return -ENOMEM;
	if (pread(fd, bytes, n, 0) == (ssize_t)n)
		rc = decode(bytes, n, &key, k);
	if (rc)
		dw_symbol_cache_release(k);
	else
		dw_cache_note_use(fd);
	return rc;
}

/* The place of @svma among those of @k, k->n = it is not there. */
static size_t place(const struct dw_symbol_cache *k, uint64_t svma)
{
	size_t i = dw_sorted_count(k->svmas, k->n, e, *e < svma);

	return i < k->n && k->svmas[i] == svma ? i : k->n;
}

bool dw_symbol_cache_has(const struct dw_symbol_cache *k, uint64_t svma)
{
	return place(k, svma) < k->n;
}

int dw_symbol_cache_widen(struct dw_symbol_cache *k, const uint64_t *svmas, size_t n)
{
	size_t old_n = k->n + n > DWELL_SYMBOL_CACHE_MAX ? 0 : k->n, i = 0, j = 0, to = 0;
	uint64_t *all = calloc(old_n + n + 1, sizeof *all);

	if (!all)
		return -ENOMEM;
	while (i < old_n || j < n) {
		if (j == n || (i < old_n && k->svmas[i] < svmas[j])) {
			all[to++] = k->svmas[i++];
			continue;
		}
		i += i < old_n && k->svmas[i] == svmas[j];
		all[to++] = svmas[j++];
	}
	dw_symbol_cache_release(k);
	k->svmas = all;
	k->n = to;
	return 0;
}

int dw_symbol_cache_narrow(const struct dw_symbol_cache *k, const uint64_t *svmas, size_t n,
			   struct dw_answer *a)
{
	struct dw_answer narrow = {0};
	int rc = dw_vec_push(&narrow.first, 0);

	for (size_t i = 0; i < n && !rc; i++) {
		size_t at = place(k, svmas[i]);

		for (uint32_t row = at < k->n ? a->first.v[at] : 0;
		     at < k->n && row < a->first.v[at + 1] && !rc; row++)
			rc = dw_vec_push(&narrow.rows, a->rows.v[row]);
		if (!rc)
			rc = dw_vec_push(&narrow.first, (uint32_t)narrow.rows.n);
	}
	if (rc) {
		dw_answer_release(&narrow);
		return -ENOMEM;
	}
	dw_vec_release(&a->first);
	dw_vec_release(&a->rows);
	memcpy(&a->first, &narrow.first, sizeof a->first);
	memcpy(&a->rows, &narrow.rows, sizeof a->rows);
	return 0;
}

int dw_symbol_cache_write(const char *dir, const struct dw_question *q,
			  const struct dw_symbol_cache *k, const struct dw_answer *a)
{
	struct head h = {.version = VERSION, .n = k->n};
	dw_auto(dw_buf) rest = DW_BUF_INIT;
	char name[DWELL_CACHE_NAME];
	struct iovec parts[2];
	int rc;

	if (k->n > DWELL_SYMBOL_CACHE_MAX || !find_key(q, &h.key))
		return DWELL_ERR_LIMIT;
	rc = dw_buf_put(&rest, k->svmas, k->n * sizeof *k->svmas);
	if (!rc)
		rc = dw_answer_encode(a, &rest);
	if (rc || rest.len + sizeof h > FILE_MAX_BYTES)
		return rc ? rc : DWELL_ERR_LIMIT;
	memcpy(h.magic, magic, sizeof magic);
	h.hash = dw_hash_bytes(rest.data, rest.len, h.n);
	parts[0] = (struct iovec){&h, sizeof h};
	parts[1] = (struct iovec){rest.data, rest.len};
	name_file(&h.key, name);
	rc = dw_cache_store(dir, name, parts, 2);
	dw_cache_prune(dir, suffix, MAX_BYTES);
	return rc;
}

void dw_symbol_cache_release(struct dw_symbol_cache *k)
{
	free(k->svmas);
	dw_answer_release(&k->answer);
	*k = (struct dw_symbol_cache){0};
}

/* The name of the file of @q's module. False: it gets none. */
static bool name_debug_file(const struct dw_question *q, char ret[DWELL_CACHE_NAME])
{
	const struct dw_module_source *s = q->source;
	dw_auto_ptr(dw_elf) elf = NULL;
	uint8_t id[ID_MAX_BYTES];
	struct stat st;
	uint64_t low;
	size_t n;

	if (q->names_only || q->debug_fd >= 0 || s->fd < 0 || s->root_fd >= 0 ||
	    s->uid != geteuid() || fstat(s->fd, &st) || !dw_file_is_trusted(&st) ||
	    dw_elf_open(s->fd, &elf, NULL))
		return false;
	n = dw_elf_build_id(elf, id, sizeof id);
	if (n < 8)
		return false;
	low = dw_hash_bytes(id, n, n);
	snprintf(ret, DWELL_CACHE_NAME, "%016lx%016lx%s", low, dw_hash_bytes(id, n, ~low),
		 debug_suffix);
	return true;
}

void dw_unpacked_open(const char *dir, struct dw_question *questions, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct dw_question *q = &questions[i];
		char name[DWELL_CACHE_NAME];
		size_t bytes;

		if (!dir || !name_debug_file(q, name))
			continue;
		q->unpacked_fd = dw_cache_open(dir, name, &bytes);
		if (q->unpacked_fd >= 0)
			dw_cache_note_use(q->unpacked_fd);
	}
}

void dw_unpacked_want(const char *dir, struct dw_question *questions, size_t n)
{
	char name[DWELL_CACHE_NAME];

	for (size_t i = 0; i < n; i++)
		if (dir && questions[i].unpacked_fd < 0 && name_debug_file(&questions[i], name))
			questions[i].unpacked_fd = memfd_create("dwell-debug", MFD_CLOEXEC);
}

/* Whether @fd was written by a helper: nothing that is kept can be written to. */
static bool is_new(int fd)
{
	return fd >= 0 && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR;
}

void dw_unpacked_keep(const char *dir, const struct dw_question *q)
{
	char name[DWELL_CACHE_NAME], begin[SELFMAG];
	struct iovec part;
	struct stat st;

	if (!is_new(q->unpacked_fd) || !name_debug_file(q, name) || fstat(q->unpacked_fd, &st) ||
	    st.st_size > DWELL_UNPACKED_MAX_BYTES ||
	    pread(q->unpacked_fd, begin, sizeof begin, 0) != SELFMAG ||
	    memcmp(begin, ELFMAG, SELFMAG) != 0)
		return;
	part.iov_len = (size_t)st.st_size;
	part.iov_base = mmap(NULL, part.iov_len, PROT_READ, MAP_SHARED, q->unpacked_fd, 0);
	if (part.iov_base == MAP_FAILED)
		return;
	(void)dw_cache_store(dir, name, &(struct iovec){part.iov_base, part.iov_len}, 1);
	munmap(part.iov_base, part.iov_len);
	dw_cache_prune(dir, debug_suffix, DEBUG_MAX_BYTES);
}

void dw_unpacked_close(struct dw_question *questions, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		dw_cleanup_close(&questions[i].unpacked_fd);
		questions[i].unpacked_fd = -1;
	}
}

bool dw_unpacked_has(const struct dw_question *q)
{
	struct stat st;

	return q->unpacked_fd >= 0 && !fstat(q->unpacked_fd, &st) && st.st_size > 0;
}

/* Whether @debug_fd is a file of root's, some sections of which are compressed. */
static bool is_worth_it(int debug_fd)
{
	dw_auto_ptr(dw_elf) elf = NULL;
	const struct dw_elf_section *info;
	struct stat st;

	if (fstat(debug_fd, &st) || st.st_uid || !dw_file_is_trusted(&st) ||
	    dw_elf_open(debug_fd, &elf, NULL))
		return false;
	info = dw_elf_section(elf, ".debug_info");
	return info && info->flags & SHF_COMPRESSED;
}

/* Write zeros up to where the next part stands. */
static bool align(int fd, uint64_t *at)
{
	static const char zeros[ALIGNMENT];
	size_t n = -*at % ALIGNMENT;

	*at += n;
	return !dw_write_all(fd, zeros, n);
}

/* Write the bytes of @section, which comes at *@at, and put its header into @ret. */
static bool write_section(Elf_Scn *section, int fd, uint64_t *at, Elf64_Shdr *ret)
{
	Elf_Data *data;
	GElf_Shdr header;

	if (!gelf_getshdr(section, &header))
		return false;
	*ret = header; /* the 64-bit form */
	if (header.sh_type == SHT_NOBITS || header.sh_type == SHT_NULL || !header.sh_size)
		return true;
	data = elf_rawdata(section, NULL);
	if (!data || data->d_size != header.sh_size || header.sh_size > DWELL_UNPACKED_MAX_BYTES)
		return false;
	if (!align(fd, at))
		return false;
	ret->sh_offset = *at;
	*at += data->d_size;
	return *at <= DWELL_UNPACKED_MAX_BYTES && !dw_write_all(fd, data->d_buf, data->d_size);
}

/* Write the headers of segments, which say where code is. */
static bool write_segments(Elf *elf, size_t n, int fd, uint64_t *at)
{
	GElf_Phdr header;

	for (size_t i = 0; i < n; i++)
		if (!gelf_getphdr(elf, (int)i, &header) || dw_write_all(fd, &header, sizeof header))
			return false;
	*at += n * sizeof header;
	return true;
}

void dw_unpacked_write(Elf *elf, int debug_fd, int fd)
{
	dw_auto_free Elf64_Shdr *headers = NULL;
	uint64_t at = sizeof(Elf64_Ehdr);
	Elf_Scn *section = NULL;
	size_t n, segments;
	GElf_Ehdr head;

	if (!is_worth_it(debug_fd) || !gelf_getehdr(elf, &head) ||
	    gelf_getclass(elf) != ELFCLASS64 || elf_getshdrnum(elf, &n) || n > UINT16_MAX ||
	    elf_getphdrnum(elf, &segments) || segments >= PN_XNUM)
		return;
	headers = calloc(n + 1, sizeof *headers);
	if (!headers || dw_write_all(fd, &(Elf64_Ehdr){0}, sizeof(Elf64_Ehdr)) ||
	    !write_segments(elf, segments, fd, &at))
		return;
	for (size_t i = 1; i < n && (section = elf_nextscn(elf, section)); i++)
		if (!write_section(section, fd, &at, &headers[i]))
			return;
	if (!align(fd, &at) || dw_write_all(fd, headers, n * sizeof *headers) ||
	    lseek(fd, 0, SEEK_SET))
		return;
	head.e_shoff = at;
	head.e_phoff = segments ? sizeof head : 0;
	(void)dw_write_all(fd, &head, sizeof head);
}
