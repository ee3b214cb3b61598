/*
 * Questions about the addresses of a module, their answers, and how both are written on the pipe
 * between us and a helper process.
 *
 * Questions come from our own process and are believed: all that one refers to is one run of bytes,
 * descriptors by their numbers, which the helper has, too. A helper reads hostile debug
 * information, so its answers are foreign bytes: decoding checks every count and index. Ids in an
 * answer are its own: strings in @strings, functions from 1 up.
 */
#pragma once

#include "base/buf.h"
#include "base/cursor.h"
#include "base/strings.h"
#include "model/profile.h"
#include "target/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_question {
	const struct dw_module_source *source;
	const char *path;	/* of the module, as the target names it */
	const char *debug_dirs; /* colon-separated */
	int debug_fd;		/* its debug file where none is in those, borrowed; -1 = none */
	int alt_fd;		/* that one's supplementary file, borrowed; -1 = none */
	int unpacked_fd;	/* its debug file as symbol-cache.h keeps it; an empty one is
				   to be written; owned by who opened it; -1 = none */
	const uint64_t *svmas;	/* sorted, no two equal */
	size_t n;
	bool names_only;      /* by symbols, without reading DWARF, which takes its time */
	bool statements_only; /* all that the module has */
	bool presence_only;   /* whether it has debug information here */
};

/* Where separate debug files stand, as struct dw_question has it. */
#define DWELL_DEBUG_DIRS "/usr/lib/debug"

/* The source of @module among the @n by module id. NULL = it has none that can be read. */
static inline const struct dw_module_source *
dw_module_source_at(const struct dw_module_source *sources, size_t n, uint32_t module)
{
	const struct dw_module_source *source = module && module < n ? &sources[module] : NULL;

	return source && (source->fd >= 0 || source->image) ? source : NULL;
}

/* A question about the module behind @source, which is called @path, without addresses. Both are
 * borrowed. */
static inline struct dw_question dw_question_about(const struct dw_module_source *source,
						   const char *path)
{
	return (struct dw_question){
		.source = source,
		.path = path,
		.debug_dirs = DWELL_DEBUG_DIRS,
		.debug_fd = -1,
		.alt_fd = -1,
		.unpacked_fd = -1,
	};
}

/* The same about @module of @p. */
static inline struct dw_question dw_module_question(const struct dw_profile *p,
						    const struct dw_module_source *source,
						    uint32_t module)
{
	const struct dw_module *m = dw_modules_get(&p->modules, module);

	return dw_question_about(source, m ? dw_strings_get(&p->strings, m->path) : "");
}

/* Questions as a helper gets them. */
struct dw_questions {
	struct dw_question *v;
	struct dw_module_source *sources;
	size_t n;
};

/* Append the @n questions @q. 0 or -ENOMEM. */
int dw_questions_encode(const struct dw_question *q, size_t n, struct dw_buf *to);

/* Fill @ret, which is empty, from what @c (whose bytes are borrowed) has left. 0; -ENOMEM;
 * DWELL_ERR_FORMAT. To be released in any case. */
int dw_questions_decode(struct dw_cursor *c, struct dw_questions *ret);

enum { DWELL_QUESTION_FDS = 4 }; /* descriptors of one question, at most */

/* List the descriptors of @n questions, written to @fds. Their number. */
size_t dw_questions_fds(const struct dw_question *q, size_t n, int *fds);

/* Free everything. */
void dw_questions_release(struct dw_questions *q);

enum {
	DWELL_ANSWER_CHAIN_MAX = 256,	     /* functions at one address */
	DWELL_ANSWER_NAME_MAX_BYTES = 16384, /* a longer name is cut */
};

/* The first instruction of a statement. */
struct dw_statement {
	uint64_t svma;
	uint64_t line; /* equal = the same line of the source */
};

struct dw_answer {
	struct dw_strings strings;
	DW_VEC(struct dw_function) functions;	/* index 0 unused; module is not set */
	DW_VEC(struct dw_location) rows;	/* function 0 = an address without a symbol */
	DW_VEC(uint32_t) first;			/* addresses + 1 entries */
	DW_VEC(struct dw_statement) statements; /* rising svmas; where they were asked for */
	bool has_debug; /* where that was asked for; else: a separate debug file, and all that it
			   refers to, said it */
};

/* Add @s, cut where it is too long, to the strings of @a. 0 or -ENOMEM. */
int dw_answer_add_string(struct dw_answer *a, const char *s, uint32_t *ret);

/* Add @f. 0 and its id in *@ret, or -ENOMEM. */
int dw_answer_add_function(struct dw_answer *a, const struct dw_function *f, uint32_t *ret);

/* Append @a in its form on the pipe to @to. 0 or -ENOMEM. */
int dw_answer_encode(const struct dw_answer *a, struct dw_buf *to);

/*
 * Fill the empty @a from @n bytes that must speak of @addresses addresses. Returns 0;
 * DWELL_ERR_FORMAT; -ENOMEM. Release @a in any case.
 */
int dw_answer_decode(const void *bytes, size_t n, size_t addresses, struct dw_answer *a);

/* Free everything. */
void dw_answer_release(struct dw_answer *a);
