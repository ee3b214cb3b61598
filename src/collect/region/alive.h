/*
 * A page by which a collector's targets see whether it lives and records (struct dw_region_alive).
 */
#pragma once

#include "base/error.h"
#include "wire/region.h"

struct dw_alive;

/*
 * Make the page as file DWELL_REGION_ALIVE in the folder @folder. It lives as long as the calling
 * thread, which is the collector's main one, and uses no robust mutexes of the C library. *@ret or
 * -errno. dw_alive_free() when nobody opens it any more.
 */
int dw_alive_make(int folder, struct dw_alive **ret);

/* Say that the recording is over. NULL is fine. */
void dw_alive_end(struct dw_alive *alive);

/* Say so, and forget the page. By the thread that made it. NULL is fine. */
void dw_alive_free(struct dw_alive *alive);
