/*
 * The probing agent's whole state. Areas are appended inside dw_agent_enter() and read by anybody;
 * the other fields belong to the file named beside them.
 */
#pragma once

#include "agent/probe/probe.h"
#include "agent/probe/reals.h"

enum {
	DWELL_HANDLERS = 512, /* distinct signal handlers that see original addresses */
	DWELL_KNOWN = 1024,   /* modules that may be loaded when another is opened */
};

struct dw_probe {
	struct dw_area areas[DWELL_REGION_MODULES];
	uint32_t area_n;
	uint64_t placed;   /* where room was found last, 0 = not yet, area.c */
	uint32_t module_n; /* in the region, modules.c */
	bool is_started;   /* what was there at the start has been cloned */
	uint32_t opener;   /* process whose thread is in dlopen(), 0 = none, loader-calls.c */
	bool is_disturbed; /* another thread has opened something meanwhile, loader-calls.c */
	uint32_t known_n;  /* modules.c */
	uint64_t known[DWELL_KNOWN];
	bool is_calibrated; /* the cost of probes is known, area.c */
	uint32_t id_n;	    /* keys of call trees that are taken, timing.c */
	uint64_t adds;	    /* modules loaded so far, as the loader counts, modules.c */
	uint32_t walks;	    /* over the loader's list for what is still there, modules.c */
	bool has_slowest;   /* single calls are kept of chosen functions only, timing.c */
	bool is_blind;	    /* the TSC may not be read any more, timing.c */
	bool is_muting;	    /* a thread is at it, atomic, mute-x86-64.c */
	bool is_finished;   /* nothing is measured any more, finish-x86-64.c */
	uint32_t mutes;	    /* serial of what is done, atomic, mute-x86-64.c */
	void *reals[DWELL_REALS_N];
	void *handlers[DWELL_HANDLERS]; /* signals.c */
};

extern struct dw_probe dw_probe;
