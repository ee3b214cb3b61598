/*
 * Tables of jumps; see jumps-table.h.
 *
 * Without a bounds check a table is taken to reach as far as its words are plausible: real entries
 * always are, so the run can only be too long. Tables must be memory that nobody can have changed:
 * read-only, or read-only after relocation.
 */
#include "clone/jumps-table.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

enum { ENTRIES_MAX = 16384 };

static bool is_constant_memory(const struct dw_clone_module *m, uint64_t svma)
{
	size_t n;
	const struct dw_elf_segment *s = dw_elf_segments(m->elf, &n);
	bool found = false;

	for (size_t i = 0; i < n; i++) {
		if (svma - s[i].svma.v >= s[i].memory_bytes)
			continue;
		if (s[i].type == PT_GNU_RELRO)
			return true;
		found |= s[i].type == PT_LOAD && !(s[i].flags & PF_W);
	}
	return found;
}

static int index_words(const struct dw_clone_module *m, struct dw_jump_words *words)
{
	for (uint32_t i = 0; i < m->pointers.n; i++)
		if (m->pointers.v[i].is_sure &&
		    dw_map_put(&words->by_at, m->pointers.v[i].at, i + 1))
			return -ENOMEM;
	return 0;
}

/* The address that the entry at @svma leads to. False: it cannot be told. */
static bool read_entry(const struct dw_clone_module *m, const struct dw_jump_words *words,
		       const struct dw_jump_table_ask *ask, uint64_t svma, uint64_t *to)
{
	const uint8_t *bytes = dw_clone_module_bytes(m, svma, ask->entry_bytes);
	int32_t distance;
	uint32_t i;

	if (!bytes)
		return false;
	if (ask->entry_bytes == 4) {
		memcpy(&distance, bytes, sizeof distance);
		*to = ask->base + (uint64_t)(int64_t)distance;
		return true;
	}
	if (m->is_fixed) {
		memcpy(to, bytes, sizeof *to);
		return true;
	}
	i = dw_map_get(&words->by_at, svma);
	*to = i ? m->pointers.v[i - 1].to : 0;
	return i;
}

/* Whether a table may have an entry that leads to @to: some compilers let cases that cannot be
 * point behind the function. */
static bool is_plausible(const struct dw_clone_module *m, uint64_t to)
{
	return dw_clone_function_at(m, to) || dw_clone_function_at(m, to - 1);
}

static int read_tight(const struct dw_clone_module *m, const struct dw_jump_table_ask *ask,
		      const struct dw_jump_words *words, struct dw_jump_table_read *ret)
{
	uint64_t to;

	for (uint64_t i = 0; i <= ask->max; i++) {
		if (!read_entry(m, words, ask, ask->start + i * ask->entry_bytes, &to))
			return DWELL_ERR_NOT_FOUND;
		if (dw_vec_push(&ret->to, to))
			return -ENOMEM;
	}
	return 0;
}

static int read_run(const struct dw_clone_module *m, const struct dw_jump_table_ask *ask,
		    const struct dw_jump_words *words, struct dw_jump_table_read *ret)
{
	uint64_t to;

	if (ask->max == UINT64_MAX) {
		while (read_entry(m, words, ask, ret->start - ask->entry_bytes, &to) &&
		       is_plausible(m, to) && ask->start - ret->start < ENTRIES_MAX)
			ret->start -= ask->entry_bytes;
	}
	for (uint64_t at = ret->start;; at += ask->entry_bytes) {
		if (at >= ask->start && (at - ask->start) / ask->entry_bytes > ask->max)
			return 0;
		if (!read_entry(m, words, ask, at, &to) || !is_plausible(m, to))
			return 0;
		if (ret->to.n == ENTRIES_MAX)
			return DWELL_ERR_LIMIT;
		if (dw_vec_push(&ret->to, to))
			return -ENOMEM;
	}
}

/* Whether some entry leads into @f itself: else it is a table of functions. */
static bool leads_into(const struct dw_clone_function *f, const struct dw_jump_table_read *t)
{
	dw_vec_each(to, &t->to)
		if (*to - f->start < f->end - f->start)
			return true;
	return false;
}

int dw_jump_table_read(const struct dw_clone_module *m, const struct dw_clone_function *f,
		       const struct dw_jump_table_ask *ask, struct dw_jump_words *words,
		       struct dw_jump_table_read *ret)
{
	int rc;

	ret->start = ask->start;
	ret->to.n = 0;
	if (!is_constant_memory(m, ask->start))
		return DWELL_ERR_NOT_FOUND;
	if (ask->entry_bytes == 8 && !m->is_fixed && !words->by_at.used && index_words(m, words))
		return -ENOMEM;
	if (ask->is_tight && ask->max >= ENTRIES_MAX)
		return DWELL_ERR_LIMIT;
	rc = (ask->is_tight ? read_tight : read_run)(m, ask, words, ret);
	if (!rc && !leads_into(f, ret))
		rc = DWELL_ERR_NOT_FOUND;
	return rc;
}
