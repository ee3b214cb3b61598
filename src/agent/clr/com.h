/*
 * The profiling interface of the .NET runtime, as far as the agent uses it: identities, slots of
 * its tables of functions, structures. Objects are pointers to such a table; everything is called
 * by the plain C convention. Names, numbers and layouts are those of corprof.idl and cor.h.
 */
#pragma once

#include <stdint.h>

struct dw_guid {
	uint32_t a;
	uint16_t b, c;
	uint8_t d[8];
};

enum {
	DWELL_HR_OK = 0,
	DWELL_HR_STOP = 1, /* S_FALSE: no more of these */
};
#define DWELL_HR_NO_INTERFACE ((int32_t)0x80004002u)
#define DWELL_HR_FAIL	      ((int32_t)0x80004005u)
#define DWELL_HR_NO_CLASS     ((int32_t)0x80040111u)
#define DWELL_HR_NO_AGGREGATE ((int32_t)0x80040110u)
#define DWELL_HR_CANCEL	      ((int32_t)0x80131375u) /* let the program run without us */

/* What the runtime shall tell: SetEventMask2. */
enum dw_com_events {
	DWELL_COM_MODULE_LOADS = 0x4,
	DWELL_COM_JIT = 0x20,
	DWELL_COM_GC = 0x80,
	DWELL_COM_ALLOCATED = 0x100,
	DWELL_COM_SUSPENDS = 0x10000,
	DWELL_COM_CACHE_SEARCHES = 0x20000,
	DWELL_COM_ENABLE_ALLOCATED = 0x800000,
	DWELL_COM_ENABLE_SNAPSHOT = 0x10000000,
};
enum {
	DWELL_COM_HIGH_DYNAMIC_UNLOADS = 0x4,
	DWELL_COM_HIGH_EVENTS = 0x80,
};

/* Events of the runtime's own provider: keywords, levels, numbers. */
enum {
	DWELL_EVENT_WORD_GC = 0x1,
	DWELL_EVENT_LEVEL_INFORMATIONAL = 4,
	DWELL_EVENT_GC_TRIGGERED = 35,
};

/* ICorProfilerCallback11. */
enum dw_callback_slot {
	DWELL_CB_QUERY,
	DWELL_CB_ADD_REF,
	DWELL_CB_RELEASE,
	DWELL_CB_INITIALIZE,
	DWELL_CB_SHUTDOWN,
	DWELL_CB_MODULE_LOADED = 14,
	DWELL_CB_MODULE_UNLOAD_STARTED = 15,
	DWELL_CB_JIT_FINISHED = 24,
	DWELL_CB_SEARCH_FINISHED = 26,
	DWELL_CB_SUSPEND_STARTED = 42,
	DWELL_CB_RESUME_FINISHED = 46,
	DWELL_CB_ALLOCATED = 50,
	DWELL_CB_ALLOCATED_BY_CLASS = 51,
	DWELL_CB_OBJECT_REFERENCES = 52,
	DWELL_CB_GC_STARTED = 73,
	DWELL_CB_GC_FINISHED = 75,
	DWELL_CB_ROOTS = 77,
	DWELL_CB_MOVED = 87,
	DWELL_CB_SURVIVED = 88,
	DWELL_CB_DYNAMIC_FINISHED = 93,
	DWELL_CB_DYNAMIC_UNLOADED = 94,
	DWELL_CB_EVENT = 95,
	DWELL_CB_NOTIFICATION_ONLY = 97,
	DWELL_CB_SLOTS = 98
};

struct dw_com_range {
	int32_t generation;
	uint64_t start, bytes, reserved;
};

struct dw_com_code {
	uint64_t start, bytes;
};

/* A method in metadata. */
struct dw_com_method {
	uint32_t type;	/* token */
	uint32_t units; /* of its name, NUL included */
	const uint8_t *signature;
	uint32_t signature_bytes;
};

struct dw_com_provider {
	const uint16_t *name;
	uint64_t words; /* keywords */
	uint32_t level;
	const uint16_t *filter;
};

struct dw_com_il_map {
	uint32_t il, start, end; /* il: or -1 to -3 for code without */
};

/* One object of the heap. 0 ends. */
typedef int32_t dw_com_object_fn(uint64_t object, void *ctx);

/* One frame of a snapshot. 0 goes on, DWELL_HR_STOP ends. */
typedef int32_t dw_com_frame_fn(uint64_t function, uint64_t ip, uint64_t frame,
				uint32_t context_bytes, const uint8_t *context, void *ctx);
