/*
 * Copies of pages; see memory.h.
 */
#include "interpreter/memory.h"

#include <string.h>

enum { COPIED_MAX = 4096 /* pages of one look */ };

void dw_interpreter_memory_begin(struct dw_interpreter_memory *m)
{
	memset(m->copies->known, 0, sizeof(m->copies->known));
	m->copied = 0;
}

/* The slot of the page with @number: of the two that it may have, pages that are wanted in turns
 * most often differ in one. */
static uint32_t find_slot(const struct dw_interpreter_memory *m, uint64_t number)
{
	const uint64_t *known = m->copies->known;
	uint32_t first = number % DWELL_INTERPRETER_PAGES;
	uint32_t second = (uint32_t)(number * 0x9e3779b97f4a7c15u >> 32) % DWELL_INTERPRETER_PAGES;

	if (known[first] == number)
		return first;
	return known[second] == number || known[first] ? second : first;
}

/* The copy of the page that has @at; NULL = it cannot be read. */
static const uint8_t *find_page(struct dw_interpreter_memory *m, uint64_t at)
{
	uint64_t number = at / DWELL_INTERPRETER_PAGE, *known;
	uint32_t slot;

	if (!number)
		return NULL;
	slot = find_slot(m, number);
	known = &m->copies->known[slot];
	if (*known != number) {
		*known = 0;
		if (m->copied++ >= COPIED_MAX ||
		    !m->copy(m->pid, number * DWELL_INTERPRETER_PAGE, m->copies->bytes[slot]))
			return NULL;
		*known = number;
	}
	return m->copies->bytes[slot];
}

bool dw_interpreter_can_read(struct dw_interpreter_memory *m, uint64_t at, uint32_t bytes)
{
	uint64_t last = at + bytes - 1;

	if (at % sizeof(uint32_t) || last < at)
		return false;
	return find_page(m, at) &&
	       (at / DWELL_INTERPRETER_PAGE == last / DWELL_INTERPRETER_PAGE || find_page(m, last));
}

uint64_t dw_interpreter_word(struct dw_interpreter_memory *m, uint64_t at)
{
	const uint8_t *page = find_page(m, at);
	uint64_t word = 0;

	if (page)
		memcpy(&word, page + at % DWELL_INTERPRETER_PAGE, sizeof(word));
	return word;
}

bool dw_interpreter_load(struct dw_interpreter_memory *m, uint64_t at, uint64_t *ret)
{
	bool is_there = at % sizeof(*ret) == 0 && dw_interpreter_can_read(m, at, sizeof(*ret));

	*ret = is_there ? dw_interpreter_word(m, at) : 0;
	return is_there;
}
