/* Names of compared sessions; see names.h. */
#include "compare/names.h"

#include "base/buf.h"
#include "compare/name.h"

#include <errno.h>
#include <string.h>

enum {
	CODE_BYTES_LEAST = 8, /* of code that is told apart by its size, */
	CALLS_LEAST = 2,      /* and by its calls: many functions are called once */
};

static uint32_t intern(struct dw_names *n, const char *s)
{
	uint32_t id = 0;

	return dw_strings_adds(&n->strings, s, &id) ? 0 : id;
}

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

static uint32_t module_key(struct dw_names *n, const struct dw_name_facts *facts)
{
	struct dw_buf key = DW_BUF_INIT;
	uint32_t id;

	if (facts->key)
		dw_buf_puts(&key, facts->key);
	else
		dw_name_put_module(&key, facts->module);
	id = intern(n, dw_buf_str(&key));
	dw_buf_release(&key);
	return id;
}

static uint32_t loose_of(struct dw_names *n, const char *text)
{
	struct dw_buf loose = DW_BUF_INIT;
	uint32_t id;

	dw_name_put_loose(&loose, text);
	id = intern(n, dw_buf_str(&loose));
	dw_buf_release(&loose);
	return id;
}

uint32_t dw_names_add(struct dw_names *n, const struct dw_name_facts *facts, enum dw_side side)
{
	uint32_t module = module_key(n, facts), text = intern(n, facts->text), id;
	struct dw_compared_name *name;

	if ((*facts->text && !text) ||
	    (!n->v.n && dw_vec_push(&n->v, (struct dw_compared_name){0})))
		return 0;
	id = dw_pairs_add(&n->pairs, module, text);
	if (id && id == n->v.n &&
	    dw_vec_push(&n->v, (struct dw_compared_name){.module = module,
							 .module_shown = intern(n, facts->module),
							 .text = text,
							 .loose = loose_of(n, facts->text),
							 .same = id}))
		return 0;
	if (!id || id >= n->v.n)
		return 0;
	name = &n->v.v[id];
	/* What the newer side says is shown. */
	if (facts->file && *facts->file) {
		name->file = intern(n, base_name(facts->file));
		name->line = facts->line;
		if (name->file_of[side] && name->file_of[side] != name->file)
			name->in_files[side] = true;
		name->file_of[side] = name->file;
	}
	if (facts->bytes)
		name->bytes = facts->bytes;
	return id;
}

static bool is_alone(const struct dw_compared_name *name, enum dw_side side)
{
	return name->has[side] && !name->has[!side] && !name->other;
}

/* Names that can be taken for another by @likeness have the same key. 0 = it can be taken for none.
 */
static uint64_t key_of(const struct dw_compared_name *name, enum dw_likeness likeness)
{
	uint64_t seed = dw_hash_u64(name->module + 1);

	if (!name->text)
		return 0;
	if (likeness == DWELL_LIKE_LOOSE)
		return seed ^ dw_hash_u64(((uint64_t)name->loose << 1 | 1) + 77);
	if (likeness == DWELL_LIKE_MOVED)
		return dw_hash_u64(name->loose + 99);
	if (likeness == DWELL_LIKE_CODE) {
		uint64_t calls = name->calls[DWELL_SIDE_BASE] + name->calls[DWELL_SIDE_NEW];

		if (name->bytes < CODE_BYTES_LEAST || calls < CALLS_LEAST)
			return 0;
		return seed ^ dw_hash_u64(name->bytes << 20 ^ dw_hash_u64(calls));
	}
	if (!name->file || !name->line)
		return 0;
	return seed ^ dw_hash_u64((uint64_t)name->file << 32 | name->line);
}

enum { SEVERAL = UINT32_MAX };

static int put_alone(struct dw_map *m, uint64_t key, uint32_t id)
{
	return dw_map_put(m, key, dw_map_get(m, key) ? (uint32_t)SEVERAL : id);
}

static int match_by(struct dw_names *n, enum dw_likeness likeness, bool *any)
{
	struct dw_map alone[DWELL_SIDES] = {0};
	int rc = 0;

	for (uint32_t id = 1; id < n->v.n && !rc; id++)
		for (int side = 0; side < DWELL_SIDES && !rc; side++) {
			uint64_t key = key_of(&n->v.v[id], likeness);

			if (key && n->v.v[id].same == id && is_alone(&n->v.v[id], side))
				rc = put_alone(&alone[side], key, id);
		}
	for (uint32_t id = 1; id < n->v.n && !rc; id++) {
		struct dw_compared_name *name = &n->v.v[id];
		uint64_t key = key_of(name, likeness);
		uint32_t base = key ? dw_map_get(&alone[DWELL_SIDE_BASE], key) : 0;

		if (!base || base == (uint32_t)SEVERAL ||
		    dw_map_get(&alone[DWELL_SIDE_NEW], key) != id)
			continue;
		n->v.v[base].same = id;
		name->other = base;
		name->likeness = likeness;
		*any = true;
	}
	dw_map_release(&alone[DWELL_SIDE_BASE]);
	dw_map_release(&alone[DWELL_SIDE_NEW]);
	return rc;
}

int dw_names_match(struct dw_names *n, bool *ret_any)
{
	int rc = 0;

	for (int likeness = DWELL_LIKE_LOOSE; likeness <= DWELL_LIKE_CODE && !rc; likeness++)
		rc = match_by(n, (enum dw_likeness)likeness, ret_any);
	return rc;
}

void dw_names_release(struct dw_names *n)
{
	dw_strings_release(&n->strings);
	dw_vec_release(&n->v);
	dw_pairs_release(&n->pairs);
}
