/*
 * The addresses of one module -> their functions and lines, in a helper process.
 *
 * Takes the best source for each address: DWARF (in the file, a separate debug file, a dwz file, a
 * .dwo), then ELF symbols (.symtab, .gnu_debugdata, .dynsym), then PLT stubs.
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
	const uint64_t *svmas;	/* sorted, no two equal */
	size_t n;
	bool names_only;      /* by symbols, without reading DWARF, which takes its time */
	bool statements_only; /* all that the module has */
};

/* Fill the empty @a, which the caller releases. 0 (also when nothing is known) or -ENOMEM. */
int dw_resolve(const struct dw_question *q, struct dw_answer *a);
