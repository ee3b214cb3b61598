/* Opening a session for reading; see open.h. The one place that knows where symbols come from. */
#include "record/open.h"

#include "record/finish.h"

int dw_open_profile(const char *path, const struct dw_session_range *range, struct dw_profile *p,
		    struct dw_error *err)
{
	struct dw_finish_options options = {.without_code = false};
	struct dw_session_info info = {0};
	int rc = dw_session_load_summed(path, range, p, &info, err);

	if (!rc && !info.finished)
		rc = dw_name_profile(p, &options, err);
	return rc;
}
