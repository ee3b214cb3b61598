/*
 * Synthetic sessions through the real writer, and a comparison of profiles.
 */
#pragma once

#include "synthetic.h"

#include "base/error.h"
#include "session/write.h"

/* Record the samples of @s into @path.partial in @flushes parts. @finish: symbolize and finish it
 * as @path. 0 or a negative code. */
int recorded_session(const struct synthetic *s, const char *path, uint32_t flushes, bool finish,
		     struct dw_error *err);

/* Load @partial, symbolize it as @s tells, and finish it as @path. 0 or a negative code. */
int recorded_finish(const struct synthetic *s, const char *partial, const char *path,
		    struct dw_error *err);

/* What recorded_session() has written, made anew in @p (empty). 0 or -ENOMEM. */
int recorded_expect(const struct synthetic *s, bool symbols, struct dw_profile *p);

/* The name of the first table in which two profiles differ, "none" when they are equal. Static. */
const char *recorded_difference(const struct dw_profile *a, const struct dw_profile *b);

/* The first column of the first row of @sql in @path as an integer, -1 on failure. */
int64_t recorded_query(const char *path, const char *sql);
