/* The road of samples; see road.h. */
#include "record/road.h"

#include "record/program.h"

/* Whether the command @name can take an agent. One that does not exist is the launch's matter. */
static int check_program(const char *name, const struct dw_error *refusal, struct dw_error *err)
{
	struct dw_program program;
	int rc = 0;

	if (!name)
		return dw_error_set(err, DWELL_ERR_REFUSED, "only perf attaches to programs: %s",
				    dw_error_message(refusal));
	dw_program_find(name, &program);
	if (program.kind != DWELL_PROGRAM_FITS && program.kind != DWELL_PROGRAM_MISSING)
		rc = dw_error_set(err, DWELL_ERR_REFUSED, "%s %s, which only perf can sample: %s",
				  name, dw_program_reason(program.kind), dw_error_message(refusal));
	dw_program_release(&program);
	return rc;
}

int dw_road_choose(enum dw_road wish, const char *name, bool waits_do, struct dw_road_choice *ret,
		   struct dw_error *err)
{
	int rc = 0;

	*ret = (struct dw_road_choice){.backend = &dw_backend_perf};
	if (wish == DWELL_ROAD_INSIDE)
		rc = dw_error_set(&ret->refusal, DWELL_ERR_REFUSED, "--road inside was given");
	else if (wish == DWELL_ROAD_OUTSIDE)
		rc = dw_error_set(&ret->refusal, DWELL_ERR_REFUSED, "--road outside was given");
	else if (wish == DWELL_ROAD_AUTO)
		rc = dw_perf_check(&ret->refusal);
	if (rc != DWELL_ERR_REFUSED)
		return 0; /* what else is wrong shows when it starts */
	if (!name && waits_do) {
		ret->backend = &dw_backend_outside;
		return 0;
	}
	ret->backend = &dw_backend_inside;
	return check_program(name, &ret->refusal, err);
}

void dw_road_release(struct dw_road_choice *c)
{
	dw_error_clear(&c->refusal);
}
