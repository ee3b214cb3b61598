/* All tables together; see profile.h. */
#include "model/profile.h"

#include <string.h>

bool dw_profile_has_calls(const struct dw_profile *p)
{
	const char *method = dw_facts_get_text(&p->facts, "method");

	return p->calls.nodes.n || (method && !strcmp(method, "instrumentation"));
}

void dw_profile_release(struct dw_profile *p)
{
	dw_strings_release(&p->strings);
	dw_facts_release(&p->facts);
	dw_modules_release(&p->modules);
	dw_processes_release(&p->processes);
	dw_threads_release(&p->threads);
	dw_frames_release(&p->frames);
	dw_stacks_release(&p->stacks);
	dw_samples_release(&p->samples);
	dw_calls_release(&p->calls);
	dw_functions_release(&p->functions);
	dw_locations_release(&p->locations);
	dw_codes_release(&p->codes);
}
