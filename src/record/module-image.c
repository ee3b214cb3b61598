/*
 * Making one image and reading its tables; see module-image.h.
 *
 * Choosing functions by name needs all names first. The cache key is then a hash of the chosen
 * addresses, since names depend on debug files that come and go. Symbols for the image itself are
 * raw ones from the module's own table: whoever reads them demangles.
 */
#include "record/module-image.h"

#include "base/cache.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "clone/clone.h"
#include "code/cfi/fdes.h"
#include "symbol/module-symbols.h"
#include "symbol/symtab.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PAGE_MASK 4095u

enum { KEY_BYTES = 48, NAME_BYTES = 300 };

/* What the callbacks of the maker look into. */
struct making {
	const struct dw_elf *elf;
	struct dw_symtab symbols;
	bool has_symbols;
	uint64_t *chosen; /* sorted svmas */
	size_t chosen_n;
	uint64_t *slowest; /* likewise */
	size_t slowest_n;
	char key[KEY_BYTES];
	struct dw_clone_line *lines;
	size_t lines_n;
};

struct dw_module_image *dw_module_image_new(int fd, const char *path, uid_t uid, gid_t gid)
{
	struct dw_module_image *m = calloc(1, sizeof *m);

	if (m)
		*m = (struct dw_module_image){
			.fd = fd, .path = strdup(path), .uid = uid, .gid = gid};
	if (!m || !m->path || fstat(fd, &m->file)) {
		dw_module_image_free(m);
		if (!m)
			close(fd);
		return NULL;
	}
	return m;
}

bool dw_module_image_is_of(const struct dw_module_image *m, const struct stat *file)
{
	return m->file.st_dev == file->st_dev && m->file.st_ino == file->st_ino &&
	       m->file.st_size == file->st_size &&
	       !memcmp(&m->file.st_mtim, &file->st_mtim, sizeof file->st_mtim) &&
	       !memcmp(&m->file.st_ctim, &file->st_ctim, sizeof file->st_ctim);
}

const char *dw_module_image_file(const struct dw_module_image *m)
{
	const char *slash = strrchr(m->path, '/');

	return slash ? slash + 1 : m->path;
}

bool dw_module_image_is_libc(const char *path)
{
	static const char *const names[] = {"libc.so.6", "libpthread.so.0"};
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(file, names[i]))
			return true;
	return false;
}

/* The name of a function without a symbol. */
static void nameless(const struct dw_module_image *m, uint64_t svma, char ret[NAME_BYTES])
{
	snprintf(ret, NAME_BYTES, "%s+0x%" PRIx64, dw_module_image_file(m), svma);
}

static int read_names(const struct dw_module_image *m, const uint64_t *svmas, size_t n,
		      struct dw_function_names *ret, struct dw_error *err)
{
	struct dw_module_source source = {.fd = m->fd, .root_fd = -1, .uid = m->uid, .gid = m->gid};
	int rc = dw_function_names_read(&source, m->path, svmas, n, ret, err);

	for (size_t i = 0; i < n && !rc; i++) {
		char name[NAME_BYTES];

		if (ret->ids[i])
			continue;
		nameless(m, svmas[i], name);
		rc = dw_strings_adds(&ret->strings, name, &ret->ids[i]);
	}
	return rc;
}

/* The distinct starts of functions in @elf, sorted. */
static int read_starts(const struct dw_elf *elf, uint64_t **ret, size_t *ret_n,
		       struct dw_error *err)
{
	dw_auto_free struct dw_cfi_range *ranges = NULL;
	size_t n, to = 0;
	int rc = dw_cfi_ranges(elf, &ranges, &n, err);

	if (rc)
		return rc;
	*ret = calloc(n + 1, sizeof **ret);
	if (!*ret)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (!to || (*ret)[to - 1] != ranges[i].start)
			(*ret)[to++] = ranges[i].start;
	*ret_n = to;
	return 0;
}

/* Find out which functions @selection means. */
static int choose(struct making *k, const struct dw_module_image *m,
		  const struct dw_probe_selection *selection, struct dw_error *err)
{
	struct dw_function_names names = {0};
	size_t n;
	uint64_t hash;
	int rc = read_starts(k->elf, &k->chosen, &n, err);

	if (!rc)
		rc = read_names(m, k->chosen, n, &names, err);
	if (!rc) {
		k->slowest = calloc(n + 1, sizeof *k->slowest);
		rc = k->slowest ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < n && !rc; i++) {
		const char *name = dw_function_names_get(&names, i);
		uint64_t svma = k->chosen[i];

		if (dw_probe_selection_has_function(selection, name))
			k->chosen[k->chosen_n++] = svma;
		if (dw_probe_selection_has_slowest(selection, name))
			k->slowest[k->slowest_n++] = svma;
	}
	dw_function_names_release(&names);
	if (rc)
		return rc;
	hash = dw_hash_bytes(k->chosen, k->chosen_n * sizeof *k->chosen, k->slowest_n);
	hash = dw_hash_bytes(k->slowest, k->slowest_n * sizeof *k->slowest, hash);
	snprintf(k->key, sizeof k->key, "%zx-%016" PRIx64, k->chosen_n, hash);
	return 0;
}

static int compare(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return (a > b) - (a < b);
}

static bool is_chosen(void *ctx, uint64_t svma)
{
	const struct making *k = ctx;

	return bsearch(&svma, k->chosen, k->chosen_n, sizeof svma, compare);
}

static bool is_slowest(void *ctx, uint64_t svma)
{
	const struct making *k = ctx;

	return bsearch(&svma, k->slowest, k->slowest_n, sizeof svma, compare);
}

static const char *symbol_name(void *ctx, uint64_t svma)
{
	struct making *k = ctx;
	const struct dw_symbol *s;

	if (!k->has_symbols) {
		if (dw_symtab_add(&k->symbols, k->elf, ".symtab", ".strtab"))
			(void)dw_symtab_add(&k->symbols, k->elf, ".dynsym", ".dynstr");
		dw_symtab_sort(&k->symbols);
		k->has_symbols = true;
	}
	s = dw_symtab_find(&k->symbols, svma);
	return s ? s->name : NULL;
}

uint64_t dw_module_start(const struct dw_elf *elf)
{
	size_t n;
	const struct dw_elf_segment *s = dw_elf_segments(elf, &n);
	uint64_t start = UINT64_MAX;

	for (size_t i = 0; i < n; i++)
		if (s[i].type == PT_LOAD && s[i].svma.v < start)
			start = s[i].svma.v;
	return start & ~(uint64_t)PAGE_MASK;
}

static int bad_image(const char *path, struct dw_error *err)
{
	return dw_error_set(err, DWELL_ERR_FORMAT, "%s is no clone image", path);
}

/* Read the header and the functions of the image at m->image. */
static int read_image(struct dw_module_image *m, struct dw_error *err)
{
	dw_auto_close int fd = open(m->image, O_RDONLY | O_CLOEXEC);
	struct dw_clone_header *h = &m->header;
	struct stat st;
	size_t bytes;

	if (fd < 0 || fstat(fd, &st))
		return dw_error_set_errno(err, errno, "%s", m->image);
	if (pread(fd, h, sizeof *h, DWELL_CLONE_HEADER_OFFSET) != sizeof *h ||
	    memcmp(h->magic, DWELL_CLONE_MAGIC, sizeof h->magic) ||
	    h->version != DWELL_CLONE_VERSION || h->functions.at > st.st_size ||
	    h->functions.n > ((uint64_t)st.st_size - h->functions.at) / sizeof *m->functions)
		return bad_image(m->image, err);
	bytes = h->functions.n * sizeof *m->functions;
	m->functions = malloc(bytes + 1);
	if (!m->functions)
		return -ENOMEM;
	if (pread(fd, m->functions, bytes, h->functions.at) != (ssize_t)bytes)
		return bad_image(m->image, err);
	return 0;
}

/* The folder for the image of @m. The caller frees it. */
static char *folder_of(const struct dw_module_image *m, const struct dw_image_plan *plan)
{
	char *folder;

	if (plan->cache_dir && dw_file_is_trusted(&m->file))
		return strdup(plan->cache_dir);
	return asprintf(&folder, "%s/%u", plan->session_dir, m->file.st_uid) < 0 ? NULL : folder;
}

/* Whether what is switched off is kept: beside an image that is kept, too. */
static bool remembers(const struct dw_module_image *m, const struct dw_image_plan *plan)
{
	return plan->limit > 0 && m->probes == DWELL_PROBES_TIME && plan->cache_dir &&
	       dw_file_is_trusted(&m->file);
}

/* Find out where statements begin. */
static int find_lines(struct dw_module_image *m, struct making *k, struct dw_error *err)
{
	struct dw_module_source source = {.fd = m->fd, .root_fd = -1, .uid = m->uid, .gid = m->gid};
	struct dw_statements all;
	int rc = dw_statements_read(&source, m->path, &all, err);

	k->lines = calloc(all.list.n + 1, sizeof *k->lines);
	if (!rc && !k->lines)
		rc = -ENOMEM;
	for (size_t i = 0; i < all.list.n && !rc; i++)
		k->lines[i] = (struct dw_clone_line){all.list.v[i].svma, all.list.v[i].line};
	k->lines_n = all.list.n;
	m->lacks_lines = !rc && !k->lines_n;
	dw_statements_release(&all);
	return rc;
}

static int make(struct dw_module_image *m, const struct dw_image_plan *plan, struct making *k,
		struct dw_error *err)
{
	struct dw_clone_options options = {
		.probes = m->probes,
		.all_functions = plan->all_functions,
		.name = symbol_name,
		.ctx = k,
		.selection_key = k->key,
	};
	dw_auto_free char *folder = folder_of(m, plan);
	int rc = folder ? 0 : -ENOMEM;

	if (!rc && m->probes != DWELL_PROBES_SYSTEM_CALLS &&
	    dw_probe_selection_needs_names(&plan->selection)) {
		rc = choose(k, m, &plan->selection, err);
		options.is_chosen = is_chosen;
		options.is_slowest = is_slowest;
	}
	if (!rc && plan->lines && m->probes == DWELL_PROBES_TIME) {
		rc = find_lines(m, k, err);
		options.lines = k->lines;
		options.lines_n = k->lines_n;
	}
	if (!rc)
		rc = dw_clone_cached(folder, k->elf, &options, &m->image, err);
	if (rc)
		return rc;
	m->start = dw_module_start(k->elf);
	rc = read_image(m, err);
	if (!rc && remembers(m, plan) && !plan->forgets)
		rc = dw_disabled_cache_read(&m->disabled_cache, m->image, plan->limit,
					    m->header.functions.n + m->header.imports.n);
	return rc;
}

void dw_module_image_remember(const struct dw_module_image *m, const struct dw_image_plan *plan)
{
	if (remembers(m, plan) && (m->disabled_cache.rows.n || plan->forgets))
		(void)dw_disabled_cache_write(&m->disabled_cache, m->image, plan->limit);
}

void dw_module_image_make(struct dw_module_image *m, const struct dw_image_plan *plan)
{
	struct dw_error err = DW_ERROR_INIT;
	struct making k = {0};
	struct dw_elf *elf = NULL;

	m->rc = dw_elf_open(m->fd, &elf, &err);
	k.elf = elf;
	if (!m->rc)
		m->rc = make(m, plan, &k, &err);
	if (m->rc)
		m->why = strdup(err.code ? dw_error_message(&err) : dw_err_string(m->rc));
	dw_symtab_release(&k.symbols);
	free(k.chosen);
	free(k.slowest);
	free(k.lines);
	dw_elf_free(elf);
	dw_error_clear(&err);
}

int dw_module_image_names(const struct dw_module_image *m, struct dw_function_names *ret,
			  struct dw_error *err)
{
	dw_auto_free uint64_t *svmas = calloc(m->header.functions.n + 1, sizeof *svmas);

	*ret = (struct dw_function_names){0};
	if (!svmas)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->header.functions.n; i++)
		svmas[i] = m->start + m->functions[i].start;
	return read_names(m, svmas, m->header.functions.n, ret, err);
}

void dw_module_image_free(struct dw_module_image *m)
{
	if (!m)
		return;
	dw_cleanup_close(&m->fd);
	free(m->path);
	free(m->why);
	free(m->image);
	free(m->copy);
	free(m->functions);
	dw_disabled_cache_release(&m->disabled_cache);
	dw_launcher_release(&m->launcher);
	free(m->calls);
	free(m);
}
