/*
 * The cache of clone images; see clone.h. The name says everything that an image depends on: the
 * module's identity and its unwind bytes, the options, this build of dwell. The header is compared
 * once more; whoever can write the folder is the user.
 */
#include "base/cache.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "clone/clone.h"
#include "clone/maker.h"
#include "clone/module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((uint64_t)1 << 30)

static const char suffix[] = ".clone";

struct key {
	struct dw_module_identity identity;
	uint8_t maker[DWELL_MAKER_BYTES];
	char name[DWELL_CACHE_NAME];
};

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
	const char *choice = o->choice_key ? o->choice_key : "";
	uint64_t low, high;

	dw_clone_maker(key->maker);
	low = dw_hash_bytes(key->maker, sizeof key->maker, DWELL_CLONE_VERSION);
	low = dw_hash_bytes(&key->identity, sizeof key->identity, low);
	low = unwind_hash(elf, low);
	high = dw_hash_bytes(choice, strlen(choice), ~low ^ o->probes << 1 ^ o->all_functions);
	high ^= o->name ? 4 : 0;
	if (o->lines_n)
		high = dw_hash_bytes(o->lines, o->lines_n * sizeof *o->lines, high);
	snprintf(key->name, sizeof key->name, "%016lx%016lx%s", low, dw_hash_u64(high), suffix);
}

/* Whether the file holds a whole image for @key. */
static bool is_there(const char *dir, const struct key *key, const struct dw_clone_options *o)
{
	struct dw_clone_header h;
	size_t bytes;
	dw_auto_close int fd = dw_cache_open(dir, key->name, &bytes);

	if (fd < 0 || pread(fd, &h, sizeof h, DWELL_CLONE_HEADER_OFFSET) != sizeof h)
		return false;
	if (memcmp(h.magic, DWELL_CLONE_MAGIC, sizeof h.magic) || h.bytes != bytes ||
	    h.version != DWELL_CLONE_VERSION || h.header_bytes != sizeof h ||
	    memcmp(h.maker, key->maker, sizeof h.maker) || h.probes != o->probes ||
	    memcmp(&h.module, &key->identity, sizeof h.module))
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
	int rc = dw_clone_identity(elf, &key.identity, err);

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
