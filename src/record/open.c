/* Opening a session for reading; see open.h. The one place that knows where symbols come from. */
#include "record/open.h"

#include "record/finish.h"

int dw_open_profile(const char *path, const struct dw_session_range *range, struct dw_profile *p,
		    struct dw_error *err)
{
	const struct dw_finish_options options = {0};
	struct dw_session_info info = {0};
	int rc = dw_session_load_summed(path, range, p, &info, err);

	return rc || info.finished ? rc : dw_name_profile(p, &options, err);
}

int dw_open_running(const char *path, struct dw_profile *p, bool *ret_finished,
		    struct dw_error *err)
{
	const struct dw_finish_options options = {.names_only = true, .without_code = true};
	struct dw_session_info info = {0};
	int rc = dw_session_load(path, p, &info, err);

	*ret_finished = info.finished;
	return rc || info.finished ? rc : dw_name_profile(p, &options, err);
}
