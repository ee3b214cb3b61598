/*
 * make-session FILE [key=value ...]: write a synthetic session through the real writer, for benches
 * and tests of size and speed. Keys are the fields of struct synthetic, and partial=1 to leave
 * FILE.partial as a killed collector would.
 */
#include "recorded.h"

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
		{"call_nodes", &o->shape.call_nodes},
		{"slices", &o->shape.slices},
		{"disabled", &o->shape.disabled},
		{"alloc_groups", &o->shape.alloc_groups},
		{"alloc_types", &o->shape.alloc_types},
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
	if (o->shape.slices)
		o->shape.samples = 0;
	o->path = argv[1];
	return argc >= 2 ? 0 : -EINVAL;
}

/* One flush per second or slice of the recording, as the collector does. */
static uint32_t flushes(const struct synthetic *s)
{
	if (s->slices)
		return s->slices;
	return s->samples / (s->rate_hz * s->threads) + 1;
}

int main(int argc, char **argv)
{
	struct options o = {.shape = SYNTHETIC_SMALL, .code = 1};
	struct dw_error err = DW_ERROR_INIT;
	int rc;

	if (parse(argc, argv, &o)) {
		fprintf(stderr, "usage: make-session FILE [samples=N] [stacks=N] [depth=N] "
				"[addresses=N] [functions=N] [modules=N] [threads=N] "
				"[processes=N] [rate_hz=N] [seed=N] [call_nodes=N slices=N] "
				"[alloc_groups=N alloc_types=N slices=N] "
				"[code=0] [partial=1]\n");
		return 2;
	}
	o.shape.functions_without_code = !o.code;
	rc = recorded_session(&o.shape, o.path, flushes(&o.shape), !o.partial, &err);
	if (rc)
		fprintf(stderr, "make-session: %s\n",
			err.code ? dw_error_message(&err) : dw_err_string(rc));
	dw_error_clear(&err);
	return rc ? 1 : 0;
}
