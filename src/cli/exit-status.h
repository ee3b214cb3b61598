/*
 * The exit status of commands that run a target.
 */
#pragma once

#include "record/record.h"

/*
 * What to exit with after a recording: the command's own status, which is waited for if it outlived
 * its recording; 128 + N when signal N ended it; 126 and 127 as env(1) when it could not be
 * executed; 125 when dwell failed (@rc is not 0, or it was never started).
 */
int dw_exit_status(const struct dw_record_result *result, int rc);
