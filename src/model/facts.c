/* Facts of a session; see facts.h. A few dozen rows at most, so a linear search serves. */
#include "model/facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct dw_fact *find(const struct dw_facts *t, const char *key)
{
	dw_vec_each(row, &t->rows)
		if (!strcmp(row->key, key))
			return row;
	return NULL;
}

static struct dw_fact *find_or_add(struct dw_facts *t, const char *key)
{
	struct dw_fact *row = find(t, key);
	char *copy;

	if (row || dw_vec_reserve(&t->rows, 1))
		return row;
	copy = strdup(key);
	if (!copy)
		return NULL;
	t->rows.v[t->rows.n] = (struct dw_fact){.key = copy};
	return &t->rows.v[t->rows.n++];
}

int dw_facts_set_text(struct dw_facts *t, const char *key, const char *text)
{
	struct dw_fact *row = find_or_add(t, key);
	char *copy = row ? strdup(text) : NULL;

	if (!copy)
		return -ENOMEM;
	free(row->text);
	row->text = copy;
	row->integer = 0;
	return 0;
}

int dw_facts_set(struct dw_facts *t, const char *key, int64_t value)
{
	struct dw_fact *row = find_or_add(t, key);

	if (!row)
		return -ENOMEM;
	free(row->text);
	row->text = NULL;
	row->integer = value;
	return 0;
}

int64_t dw_facts_get(const struct dw_facts *t, const char *key, int64_t otherwise)
{
	const struct dw_fact *row = find(t, key);

	return row && !row->text ? row->integer : otherwise;
}

const char *dw_facts_get_text(const struct dw_facts *t, const char *key)
{
	const struct dw_fact *row = find(t, key);

	return row ? row->text : NULL;
}

void dw_facts_release(struct dw_facts *t)
{
	dw_vec_each(row, &t->rows) {
		free(row->key);
		free(row->text);
	}
	dw_vec_release(&t->rows);
}
