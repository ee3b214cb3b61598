/*
 * Facts that a recording notes about itself and its surroundings (docs/session-format.md lists the
 * keys).
 */
#pragma once

#include "base/buf.h"
#include "collect/backend.h"
#include "model/facts.h"

#include <sys/resource.h>

/* Facts known at the start: method, command line (quoted for a shell; @argv may be NULL), host,
 * kernel, versions, start time. 0 or -ENOMEM. */
int dw_note_start(struct dw_facts *facts, const char *method, char *const *argv);

/* The backend's counters, as they stand. 0 or -ENOMEM. */
int dw_note_stats(struct dw_facts *facts, const struct dw_backend_stats *stats);

/* CPU time of the command and the descendants it waited for. 0 or -ENOMEM. */
int dw_note_cpu(struct dw_facts *facts, const struct rusage *usage);
