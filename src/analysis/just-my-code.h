/*
 * Just My Code: call paths without the inner life of the C library, the kernel and frameworks.
 *
 * A profile is changed before anything is computed of it, so that totals, trees and exports all
 * follow one rule. Code is the user's unless its module is one of the system's, by name; `_start`,
 * and what calls __libc_start_main, is the system's in every module. What the system's code does
 * for the user's becomes part of the function that the user's code called, or of the caller itself.
 * What an interpreter does for the user's code is that code's own, with the functions that it calls
 * itself. What leads to the user's code is left out. A stack without any code of the user's stays
 * whole, since there is nothing else to tell, but begins at a function of the system's that is kept
 * as a caller, and ends where it calls the kernel.
 */
#pragma once

#include "base/error.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_my_code_rule {
	bool keeps_callees; /* functions of the system that the user's code calls stay */
	bool keeps_callers; /* functions of the system that call the user's code stay */
	uint32_t opened;    /* function id: somebody asks for it, so its code is as the user's; 0 =
			       none */
	/* Globs or exact names of modules, borrowed: they outrank the list of the system's. */
	const char *const *mine;
	size_t mine_n;
	const char *const *systems;
	size_t systems_n;
};

/* Whether module @id, which is there, is the system's if nobody says otherwise. */
bool dw_is_system_module(const struct dw_profile *p, uint32_t id);

/* Whether it is an interpreter: of Python, PHP or Ruby. */
bool dw_is_interpreter(const struct dw_profile *p, uint32_t id);

/* Whether it is an interpreter of Ruby, or has what that has in itself. */
bool dw_is_ruby(const struct dw_profile *p, uint32_t id);

/* Whether its functions are of Python's own library. */
bool dw_is_python_library(const struct dw_profile *p, uint32_t id);

/*
 * Fold the system's code in @p, a profile that was loaded whole with its symbols. Of calls, those
 * of functions that were folded are no longer counted; cells without paths stay as they are. How
 * many frames or nodes were folded to *@ret. 0; DWELL_ERR_NOT_FOUND when a word of @rule fits no
 * module
 * (@err names it); -ENOMEM. @p is of no use after an error.
 */
int dw_fold_system_code(struct dw_profile *p, const struct dw_my_code_rule *rule, size_t *ret,
			struct dw_error *err);

/* A folded profile beside the one that it was made of. */
struct dw_folded {
	struct dw_profile profile; /* stacks, what refers to them and locations are its own, the
				      rest borrowed */
	size_t paths;		   /* that were folded */
};

/*
 * Make *@ret of @p, a profile of samples or objects that was loaded whole with its symbols. @p
 * stays as it is, and longer than *@ret; when its tables move, dw_folded_follow() is told. As
 * dw_fold_system_code(), *@ret is to be released in either case.
 */
int dw_folded_make(const struct dw_profile *p, const struct dw_my_code_rule *rule,
		   struct dw_folded *ret, struct dw_error *err);

/* Where the instructions of @p begin was found out since @f was made of it. */
void dw_folded_follow(struct dw_folded *f, const struct dw_profile *p);

/* Free what is @f's own. */
void dw_folded_release(struct dw_folded *f);

/* Whether it makes a difference that somebody asks for @function (dw_my_code_rule.opened). */
bool dw_is_opened(const struct dw_profile *p, uint32_t function);
