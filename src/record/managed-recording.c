/*
 * Managed code in recordings by sampling; see managed-recording.h. That a runtime ran is told by
 * its library, which all have but those that are linked into their program.
 */
#include "record/managed-recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define RUNTIME "libcoreclr.so"

static int make_environment(struct dw_managed_recording *r, const char *agent, const char *program)
{
	snprintf(r->mode, sizeof r->mode, "code memory=%" PRIu64, DWELL_MANAGED_BUDGET);
	r->agent.path = agent;
	r->agent.folder = dw_regions_path(&r->managed.regions);
	r->agent.mode = r->mode;
	return dw_clr_environment_make(&r->environment, agent, r->agent.folder, r->mode, program);
}

int dw_managed_recording_begin(struct dw_managed_recording *r, struct dw_profile *p,
			       const char *agent, const char *why_not, const char *program)
{
	const char *other = dw_clr_environment_conflict();
	int rc = dw_managed_lines_open(&r->lines);

	r->managed = (struct dw_managed){.p = p, .regions.folder = DW_REGION_FOLDER_INIT};
	if (rc)
		return rc == -ENOMEM ? rc : 0;
	if (!agent)
		rc = dw_error_set(&r->why_not, DWELL_ERR_NOT_FOUND, "%s", why_not);
	else if (other)
		rc = dw_error_set(&r->why_not, DWELL_ERR_REFUSED,
				  "the environment names a profiler already (%s)", other);
	else
		rc = dw_managed_open(&r->managed, p, ".", &r->why_not);
	if (!rc)
		rc = make_environment(r, agent, program);
	r->is_on = !rc;
	return rc == -ENOMEM ? rc : 0;
}

int dw_managed_recording_drain(struct dw_managed_recording *r, uint64_t now_ns)
{
	return r->is_on ? dw_managed_drain(&r->managed, now_ns) : 0;
}

int dw_managed_recording_lines(struct dw_managed_recording *r)
{
	const struct dw_profile *p = r->managed.p;
	int rc = 0;

	while (r->modules_seen < r->managed.modules.n && !rc) {
		const struct dw_managed_module *m = &r->managed.modules.v[r->modules_seen++];
		const struct dw_managed_owner owner = {m->pid, m->uid, m->gid};
		const struct dw_module *row = dw_modules_get(&p->modules, m->module);

		rc = dw_managed_lines_add(&r->lines, m->module,
					  dw_strings_get(&p->strings, row->path), &owner);
	}
	return rc;
}

int dw_managed_recording_made_lines(struct dw_managed_recording *r, const struct dw_jit *jit)
{
	int rc = 0;

	dw_vec_each(a, &jit->il_of) {
		if (!rc)
			rc = dw_managed_lines_add_below(
				&r->lines, a->module,
				dw_strings_get(&jit->functions.texts, a->path), a->owner->root_fd,
				&a->owner->rights);
	}
	return rc;
}

int dw_managed_recording_end(struct dw_managed_recording *r)
{
	struct dw_facts *facts = &r->managed.p->facts;
	int rc;

	if (!r->is_on)
		return 0;
	dw_managed_finish(&r->managed);
	rc = dw_facts_set(facts, "runtimes", (int64_t)r->managed.began);
	return rc ? rc : dw_facts_set(facts, "managed_code_lost", (int64_t)r->managed.lost);
}

static bool has_runtime(const struct dw_profile *p)
{
	for (uint32_t id = 1; id <= dw_modules_count(&p->modules); id++)
		if (!strcmp(dw_strings_get(&p->strings, dw_modules_get(&p->modules, id)->name),
			    RUNTIME))
			return true;
	return false;
}

void dw_managed_recording_complain(const struct dw_managed_recording *r, char *ret, size_t room)
{
	const char *why = "";

	if (!r->managed.began && has_runtime(r->managed.p))
		why = r->why_not.code ? dw_error_message(&r->why_not)
				      : "the runtime did not take the agent";
	snprintf(ret, room, "%s", why);
}

void dw_managed_recording_release(struct dw_managed_recording *r)
{
	dw_managed_release(&r->managed);
	dw_managed_lines_release(&r->lines);
	dw_target_environment_release(&r->environment);
	dw_error_clear(&r->why_not);
}
