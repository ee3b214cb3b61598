/*
 * The addresses of one module -> their functions and lines, in a helper process.
 *
 * Takes the best source for each address: DWARF (in the file, a separate debug file, a dwz file, a
 * .dwo), then ELF symbols (.symtab, .gnu_debugdata, .gopclntab, .dynsym), then PLT stubs.
 */
#pragma once

#include "symbol/answer.h"
#include "target/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_question {
	const struct dw_module_source *source;
	const char *path;	/* of the module, as the target names it */
	const char *debug_dirs; /* colon-separated */
	int debug_fd;		/* its debug file where none is in those, borrowed; -1 = none */
	int alt_fd;		/* that one's supplementary file, borrowed; -1 = none */
	int unpacked_fd;	/* its debug file as unpacked.h keeps it; an empty one is to be
				   written; owned by who opened it; -1 = none */
	const uint64_t *svmas;	/* sorted, no two equal */
	size_t n;
	bool names_only;      /* by symbols, without reading DWARF, which takes its time */
	bool statements_only; /* all that the module has */
	bool presence_only;   /* whether it has debug information here */
};

/* A module whose files are open. */
struct dw_resolver;

/* Open the files that @q (borrowed until the next call with another) is about. Its addresses are
 * not used yet. 0 (also when there is nothing to be found) or -ENOMEM. */
int dw_resolver_new(const struct dw_question *q, struct dw_resolver **ret);

/* Read what all answers need, while there is time. 0 or -ENOMEM. */
int dw_resolver_look_ahead(struct dw_resolver *r);

/* Fill the empty @a, which the caller releases, with the answer to @q (borrowed likewise), which is
 * about the same module and wants more than presence. Once only. 0 (also when nothing is known) or
 * -ENOMEM. */
int dw_resolver_answer(struct dw_resolver *r, const struct dw_question *q, struct dw_answer *a);

/* Close and free everything. NULL is fine. */
void dw_resolver_free(struct dw_resolver *r);

/* All of that. Fill the empty @a, which the caller releases. 0 (also when nothing is known) or
 * -ENOMEM. */
int dw_resolve(const struct dw_question *q, struct dw_answer *a);
