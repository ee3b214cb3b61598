/*
 * What rows of compared sessions are about: functions, modules, types, each under a name that means
 * the same in all sessions, and which names of one side are others of the other side.
 *
 * Names equal in module and text are one. A name that one side alone has is matched, if that is the
 * only way: to one that is equal without what builds number anew; to one in another module; to one
 * with the same declaration, or as many bytes of code and as many calls, under another name.
 *
 * One thread.
 */
#pragma once

#include "base/map.h"
#include "base/strings.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dw_side { DWELL_SIDE_BASE = 0, DWELL_SIDE_NEW, DWELL_SIDES };

/* How the two names of a pair are alike. */
enum dw_likeness {
	DWELL_LIKE_EXACT = 0,
	DWELL_LIKE_LOOSE,   /* but for numbers that builds give anew */
	DWELL_LIKE_MOVED,   /* in another module */
	DWELL_LIKE_RENAMED, /* declared in the same place under another name */
	DWELL_LIKE_CODE,    /* as many bytes of code and as many calls, which may be chance */
};

/* Texts are ids in dw_names.strings. */
struct dw_compared_name {
	uint32_t module;       /* without version */
	uint32_t module_shown; /* as it is */
	uint32_t text;	       /* "" = the module itself */
	uint32_t loose;	       /* text without numbers */
	uint32_t file;	       /* where it is declared, without folders; 0 = not known */
	uint32_t line;
	uint64_t bytes;		     /* of code, 0 = not known */
	uint64_t calls[DWELL_SIDES]; /* of the first run of each side that has it */
	uint32_t file_of[DWELL_SIDES];
	bool in_files[DWELL_SIDES]; /* several have a function of this name */
	bool has[DWELL_SIDES];	    /* rows */
	bool inlined[DWELL_SIDES];  /* there are inlined copies */
	uint32_t same;		   /* id of the pair's name that stands for both; itself if alone */
	uint32_t other;		   /* of a pair's name that stands for both: the base's, 0 = none */
	enum dw_likeness likeness; /* of these two */
};

struct dw_names {
	struct dw_strings strings;
	DW_VEC(struct dw_compared_name) v; /* by id; 0 is unused */
	struct dw_pairs pairs;		   /* module, text */
};

/* What is told of a name besides. */
struct dw_name_facts {
	const char *module; /* its file's name */
	const char *key;    /* what stands for that, NULL = itself without version */
	const char *text;
	const char *file; /* path, "" = not known */
	uint32_t line;
	uint64_t bytes;
};

/* The id of the name, added when new. 0 = no memory. */
uint32_t dw_names_add(struct dw_names *n, const struct dw_name_facts *facts, enum dw_side side);

/* The name of @id (not 0), borrowed until the next add. */
static inline struct dw_compared_name *dw_names_get(const struct dw_names *n, uint32_t id)
{
	return &n->v.v[id];
}

/* Pair names that one side alone has. *@ret_any: some were. 0 or -ENOMEM. */
int dw_names_match(struct dw_names *n, bool *ret_any);

/* Free everything. */
void dw_names_release(struct dw_names *n);
