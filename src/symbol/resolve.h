/*
 * The addresses of one module -> their functions and lines, in a helper process.
 *
 * Takes the best source for each address: DWARF (in the file, a separate debug file, a dwz file, a
 * .dwo), then ELF symbols (.symtab, .gnu_debugdata, .gopclntab, .dynsym), then PLT stubs.
 */
#pragma once

#include "symbol/question.h"

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
