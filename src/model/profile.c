/* All tables together; see profile.h. */
#include "model/profile.h"

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
