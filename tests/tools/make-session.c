/*
 * make-session FILE [key=value ...]: write a synthetic session through the real writer, for benches
 * and tests of size and speed. Keys are the fields of struct synthetic, and partial=1 to leave
 * FILE.partial as a killed collector would.
 */
#include "synthetic.h"

#include "analysis/totals.h"
#include "base/cleanup.h"
#include "session/read.h"
#include "session/write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
	const char *path;
	struct synthetic shape;
	uint32_t partial;
	uint32_t code; /* 0: without machine code */
};

static int parse(int argc, char **argv, struct options *o)
{
	const struct {
		const char *key;
		uint32_t *value;
	} keys[] = {
		{"samples", &o->shape.samples},
		{"stacks", &o->shape.stacks},
		{"depth", &o->shape.depth},
		{"addresses", &o->shape.addresses},
		{"functions", &o->shape.functions},
		{"modules", &o->shape.modules},
		{"threads", &o->shape.threads},
		{"processes", &o->shape.processes},
		{"rate_hz", &o->shape.rate_hz},
		{"partial", &o->partial},
		{"code", &o->code},
	};
	size_t n = sizeof keys / sizeof *keys;

	for (int i = 2; i < argc; i++) {
		char *equals = strchr(argv[i], '=');
		size_t k = 0;

		if (equals)
			*equals = 0;
		while (k < n && strcmp(argv[i], keys[k].key))
			k++;
		if (!equals || (k == n && strcmp(argv[i], "seed")))
			return -EINVAL;
		if (k < n)
			*keys[k].value = (uint32_t)strtoul(equals + 1, NULL, 0);
		else
			o->shape.seed = strtoull(equals + 1, NULL, 0);
	}
	o->path = argv[1];
	return argc >= 2 ? 0 : -EINVAL;
}

/* A flush per second of the recording, as the collector does. */
static int record(const struct options *o, struct dw_error *err)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_session_writer *w = NULL;
	uint32_t *leaves = NULL, per_flush = o->shape.rate_hz * o->shape.threads;
	int rc = dw_session_create(o->path, &w, err);

	if (!rc)
		rc = synthetic_tables(&o->shape, &p, &leaves);
	for (uint32_t i = 0; i < o->shape.samples && !rc; i += per_flush) {
		uint32_t end = o->shape.samples - i < per_flush ? o->shape.samples : i + per_flush;

		rc = synthetic_samples(&o->shape, leaves, i, end, &p);
		if (!rc)
			rc = dw_session_flush(w, &p, err);
	}
	if (!rc)
		rc = dw_session_close_partial(w, err);
	dw_session_writer_free(w, rc != 0);
	dw_profile_release(&p);
	free(leaves);
	return rc;
}

static int finish(const struct options *o, struct dw_error *err)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_totals totals = {0};
	dw_auto_free char *partial = NULL;
	int rc;

	if (asprintf(&partial, "%s.partial", o->path) < 0)
		return -ENOMEM;
	rc = dw_session_load(partial, &p, NULL, err);
	if (!rc)
		rc = synthetic_symbols(&o->shape, &p);
	if (!o->code)
		dw_codes_release(&p.codes);
	if (!rc)
		rc = dw_totals_compute(&p, NULL, DWELL_TOTALS_ALL, &totals);
	if (!rc)
		rc = dw_session_finish(partial, o->path, &p, &totals, err);
	dw_totals_release(&totals);
	dw_profile_release(&p);
	return rc;
}

int main(int argc, char **argv)
{
	struct options o = {.shape = SYNTHETIC_SMALL, .code = 1};
	struct dw_error err = DW_ERROR_INIT;
	int rc;

	if (parse(argc, argv, &o)) {
		fprintf(stderr, "usage: make-session FILE [samples=N] [stacks=N] [depth=N] "
				"[addresses=N] [functions=N] [modules=N] [threads=N] "
				"[processes=N] [rate_hz=N] [seed=N] [code=0] [partial=1]\n");
		return 2;
	}
	rc = record(&o, &err);
	if (!rc && !o.partial)
		rc = finish(&o, &err);
	if (rc)
		fprintf(stderr, "make-session: %s\n",
			err.code ? dw_error_message(&err) : dw_err_string(rc));
	dw_error_clear(&err);
	return rc ? 1 : 0;
}
