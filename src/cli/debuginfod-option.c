/* Options for debuginfod; see debuginfod-option.h. */
#include "cli/debuginfod-option.h"

#define DEFAULT_MS 10000
#define MAX_NS	   (86400ull * 1000000000)

int dw_option_debuginfod(const char *value, void *into, struct dw_error *err)
{
	struct dw_debuginfod_choice *c = into;

	(void)value, (void)err;
	c->is_wanted = true;
	return 0;
}

int dw_option_debuginfod_timeout(const char *value, void *into, struct dw_error *err)
{
	struct dw_debuginfod_choice *c = into;
	int rc = dw_option_time_ns(value, &c->timeout_ns, err);

	if (!rc && (c->timeout_ns < 1000000 || c->timeout_ns > MAX_NS))
		rc = dw_error_set(err, DWELL_ERR_USAGE, "'%s' is not from 1 ms to a day", value);
	c->is_wanted = true;
	return rc;
}

uint32_t dw_debuginfod_choice_ms(const struct dw_debuginfod_choice *c)
{
	if (!c->is_wanted)
		return 0;
	return c->timeout_ns ? (uint32_t)(c->timeout_ns / 1000000) : DEFAULT_MS;
}
