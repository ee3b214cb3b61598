/*
 * Making images, step by step, and their cache; see clone.h and module.h.
 *
 * Each step may leave functions alone; room for patches comes after all that decide by the code,
 * since the code of what is left alone goes on running; then nothing is decided any more, only
 * placed and written.
 *
 * The name in the cache says everything that an image depends on: the module's identity and its
 * unwind bytes, the options, this build of dwell. The header is compared once more; whoever can
 * write the folder is the user.
 */
#include "clone/clone.h"

#include "base/cache.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "clone/emit/emit.h"
#include "clone/plan/jumps.h"
#include "code/elf/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const texts[DWELL_LEFT_REASONS] = {
	[DWELL_CLONED] = "cloned",
	[DWELL_LEFT_NOT_CHOSEN] = "not chosen",
	[DWELL_LEFT_START] = "the start of the program or of a thread",
	[DWELL_LEFT_UNDECODABLE] = "bytes that are no instruction",
	[DWELL_LEFT_ENTRY_OVERLAP] = "a branch into an instruction",
	[DWELL_LEFT_NO_ROOM] = "no room for a jump at its entry",
	[DWELL_LEFT_RED_ZONE] = "an indirect jump without free stack",
	[DWELL_LEFT_RESTARTABLE] = "a restartable sequence",
	[DWELL_LEFT_RETURN_ADDRESS] = "return addresses that must stay",
	[DWELL_LEFT_AFTER_CALL] = "data behind a call",
	[DWELL_LEFT_UNWIND] = "unwind rules that cannot be rewritten",
	[DWELL_LEFT_OWN_CALL] = "a call into itself",
	[DWELL_LEFT_INSTRUCTION] = "an instruction that cannot be moved",
	[DWELL_LEFT_RUNTIME] = "its language looks up return addresses",
	[DWELL_LEFT_TEMPLATE] = "code that its program copies elsewhere",
	[DWELL_LEFT_WRITTEN] = "code that is written at run time",
	[DWELL_LEFT_LIMIT] = "a limit of dwell",
};

const char *dw_clone_reason_text(uint32_t reason)
{
	return reason < DWELL_LEFT_REASONS ? texts[reason] : "unknown";
}

enum { MAKER_BYTES = 20 };

/* Write the build-id of the running program to @id, without one a hash of its size and date: images
 * of another build are made anew. */
static void read_maker(uint8_t id[MAKER_BYTES])
{
	dw_auto_close int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct dw_elf *elf = NULL;
	struct stat st;
	uint64_t hash;

	memset(id, 0, MAKER_BYTES);
	if (fd < 0)
		return;
	if (!dw_elf_open(fd, &elf, NULL) && dw_elf_build_id(elf, id, MAKER_BYTES)) {
		dw_elf_free(elf);
		return;
	}
	dw_elf_free(elf);
	if (fstat(fd, &st))
		return;
	hash = dw_hash_bytes(&st.st_mtim, sizeof st.st_mtim, (uint64_t)st.st_size);
	memcpy(id, &hash, sizeof hash);
}

/* Find out about the code of @m: what is cloned, and how. */
static int decide(struct dw_clone_module *m, const struct dw_clone_options *options,
		  struct dw_patches *patches)
{
	int rc = dw_clone_module_decode(m);

	if (!rc)
		rc = dw_clone_choose(m, options);
	if (!rc)
		rc = dw_system_calls_find(m);
	if (!rc)
		rc = dw_clone_unwind_check(m);
	if (!rc)
		rc = dw_jumps_plan(m);
	if (!rc)
		rc = dw_hazards_find(m);
	if (!rc)
		rc = dw_patches_plan(m, patches);
	if (!rc)
		dw_clone_choose_probes(m, options);
	if (!rc)
		rc = dw_calls_out_find(m);
	if (!rc)
		rc = dw_statements_find(m, options);
	dw_system_calls_count(m);
	return rc;
}

int dw_clone_make(const struct dw_elf *elf, const struct dw_clone_options *options, uint8_t **ret,
		  size_t *ret_n, struct dw_error *err)
{
	struct dw_clone_layout layout;
	struct dw_patches patches = {0};
	struct dw_clone_module m;
	uint8_t maker[MAKER_BYTES];
	struct dw_image_parts parts = {&m, &layout, &patches, options, maker};
	int rc = dw_clone_module_read(elf, &m, err);

	m.probes = options->probes;
	if (!rc) {
		rc = decide(&m, options, &patches);
		if (rc)
			dw_error_set(err, rc, "no memory for its code");
	}
	if (!rc)
		rc = dw_clone_lay_out(&m, &layout, err);
	if (!rc) {
		dw_patches_link(&m, &patches);
		read_maker(maker);
		rc = dw_clone_image_write(&parts, ret, ret_n, err);
	}
	dw_patches_release(&patches);
	dw_clone_module_release(&m);
	return rc;
}

#define MAX_BYTES ((uint64_t)1 << 30)

static const char suffix[] = ".clone";

struct key {
	struct dw_module_identity identity;
	uint8_t maker[MAKER_BYTES];
	char name[DWELL_CACHE_NAME];
};

static int read_identity(const struct dw_elf *elf, struct dw_module_identity *ret,
			 struct dw_error *err)
{
	struct dw_clone_module m;
	int rc = dw_clone_module_read_code(elf, &m, err);

	if (!rc)
		*ret = m.identity;
	dw_clone_module_release(&m);
	return rc;
}

/* Hash what .eh_frame holds: it decides what functions are, and need not lie among the code. */
static uint64_t unwind_hash(const struct dw_elf *elf, uint64_t seed)
{
	struct dw_cfi_section s;
	dw_auto_free uint8_t *owned = NULL;

	dw_cfi_section_find(elf, DWELL_CFI_EH, &s);
	if (dw_cfi_section_read(elf, &s, &owned, NULL) || !s.bytes)
		return seed;
	return dw_hash_bytes(s.bytes, s.n, seed ^ s.svma);
}

static void make_key(const struct dw_elf *elf, const struct dw_clone_options *o, struct key *key)
{
	const char *selection = o->selection_key ? o->selection_key : "";
	uint64_t low, high;

	read_maker(key->maker);
	low = dw_hash_bytes(key->maker, sizeof key->maker, DWELL_CLONE_VERSION);
	low = dw_hash_bytes(&key->identity, sizeof key->identity, low);
	low = unwind_hash(elf, low);
	high = dw_hash_bytes(selection, strlen(selection),
			     ~low ^ o->probes << 1 ^ o->all_functions);
	high ^= o->name ? 4 : 0;
	if (o->lines_n)
		high = dw_hash_bytes(o->lines, o->lines_n * sizeof *o->lines, high);
	snprintf(key->name, sizeof key->name, "%016lx%016lx%s", low, dw_hash_u64(high), suffix);
}

static bool is_there(const char *dir, const struct key *key, const struct dw_clone_options *o)
{
	struct dw_clone_header h;
	size_t bytes;
	dw_auto_close int fd = dw_cache_open(dir, key->name, &bytes);

	if (fd < 0 || pread(fd, &h, sizeof h, DWELL_CLONE_HEADER_OFFSET) != sizeof h)
		return false;
	if (memcmp(h.magic, DWELL_CLONE_MAGIC, sizeof h.magic) ||
	    h.bytes + (uint64_t)h.final_bytes != bytes || h.version != DWELL_CLONE_VERSION ||
	    h.header_bytes != sizeof h || memcmp(h.maker, key->maker, sizeof h.maker) ||
	    h.probes != o->probes || memcmp(&h.module, &key->identity, sizeof h.module))
		return false;
	dw_cache_note_use(fd);
	return true;
}

int dw_clone_cached(const char *dir, const struct dw_elf *elf,
		    const struct dw_clone_options *options, char **ret, struct dw_error *err)
{
	dw_auto_free uint8_t *image = NULL;
	struct iovec part;
	struct key key;
	int rc = read_identity(elf, &key.identity, err);

	if (rc)
		return rc;
	make_key(elf, options, &key);
	if (!is_there(dir, &key, options)) {
		rc = dw_clone_make(elf, options, &image, &part.iov_len, err);
		if (rc)
			return rc;
		part.iov_base = image;
		rc = dw_cache_store(dir, key.name, &part, 1);
		if (rc)
			return dw_error_set(err, rc, "cannot write to the cache %s", dir);
		dw_cache_prune(dir, suffix, MAX_BYTES);
	}
	return asprintf(ret, "%s/%s", dir, key.name) < 0 ? -ENOMEM : 0;
}
