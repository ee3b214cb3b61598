/*
 * The table text of a finished session.
 */
#pragma once

#include "base/error.h"
#include "base/strings.h"
#include "session/database.h"

#include <stdint.h>

/* Write those @strings that are marked in @shown, by id. 0 or a negative code. */
int dw_text_table_write(struct dw_database *db, const struct dw_strings *strings,
			const uint8_t *shown, struct dw_error *err);
