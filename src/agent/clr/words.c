/* Maps; see words.h. Twice as large when half full. */
#include "agent/clr/words.h"

#include "agent/core/memory.h"
#include "agent/core/syscall-x86-64.h"

enum { FIRST = 1 << 10 };

static struct dw_word *find(const struct dw_words *w, uint64_t a, uint32_t b)
{
	uint64_t at = (a + b * 0x632be59bd9b4e019u) * 0x9e3779b97f4a7c15u >> 24;
	struct dw_word *word;

	while ((word = &w->all[at & w->mask])->value && (word->a != a || word->b != b))
		at++;
	return word;
}

/* How many are there, counted: what was given out may not have been set. */
static uint64_t count(const struct dw_words *w)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i <= w->mask; i++)
		n += w->all[i].value != 0;
	return n;
}

void dw_words_clear(struct dw_words *w)
{
	dw_agent_memory_free(w->all, (w->mask + 1) * sizeof(*w->all));
	*w = (struct dw_words){0};
}

static bool grow(struct dw_words *w)
{
	uint64_t places = w->all ? 2 * (w->mask + 1) : FIRST;
	struct dw_words more = {dw_agent_memory(places * sizeof(*more.all)), places - 1, 0};

	if (!more.all)
		return false;
	for (uint64_t i = 0; w->all && i <= w->mask; i++)
		if (w->all[i].value)
			*find(&more, w->all[i].a, w->all[i].b) = w->all[i];
	dw_words_clear(w);
	*w = more;
	w->n = count(w);
	return true;
}

uint32_t *dw_words_at(struct dw_words *w, uint64_t a, uint32_t b)
{
	struct dw_word *word = w->all ? find(w, a, b) : NULL;

	if (word && word->value)
		return &word->value;
	if ((!w->all || w->n > w->mask / 2) && !grow(w))
		return NULL;
	word = find(w, a, b);
	word->a = a;
	word->b = b;
	w->n++;
	return &word->value;
}
