/*
 * The profiling interface of the .NET runtime, as far as the agent uses it: identities, slots of
 * its tables of functions, structures. Objects are pointers to such a table; everything is called
 * by the plain C convention. Names, numbers and layouts are those of corprof.idl and cor.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
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
	DWELL_COM_EXCEPTIONS = 0x40,
	DWELL_COM_GC = 0x80,
	DWELL_COM_ALLOCATED = 0x100,
	DWELL_COM_SUSPENDS = 0x10000,
	DWELL_COM_CACHE_SEARCHES = 0x20000,
	DWELL_COM_ENABLE_REJIT = 0x40000,
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
	DWELL_CB_SEARCH_STARTED = 25,
	DWELL_CB_SEARCH_FINISHED = 26,
	DWELL_CB_SUSPEND_STARTED = 42,
	DWELL_CB_RESUME_FINISHED = 46,
	DWELL_CB_THREAD_SUSPENDED = 47,
	DWELL_CB_THREAD_RESUMED = 48,
	DWELL_CB_ALLOCATED = 50,
	DWELL_CB_ALLOCATED_BY_CLASS = 51,
	DWELL_CB_OBJECT_REFERENCES = 52,
	DWELL_CB_FINALLY_ENTER = 64,
	DWELL_CB_CATCHER_ENTER = 66,
	DWELL_CB_GC_STARTED = 73,
	DWELL_CB_GC_FINISHED = 75,
	DWELL_CB_ROOTS = 77,
	DWELL_CB_REJIT_PARAMETERS = 84,
	DWELL_CB_REJIT_ERROR = 86,
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
	uint32_t rva;	/* 0 = it has no body */
	uint32_t flags; /* enum dw_com_method_flag bits */
};

/* Why the runtime stops its threads: COR_PRF_SUSPEND_REASON. */
enum { DWELL_SUSPEND_FOR_GC = 1, DWELL_SUSPEND_FOR_GC_PREP = 7 };

/* Whether threads that stop for @reason stop for a collection. */
static inline bool dw_suspends_to_collect(uint32_t reason)
{
	return reason == DWELL_SUSPEND_FOR_GC || reason == DWELL_SUSPEND_FOR_GC_PREP;
}

/* What GetModuleInfo2 tells of a module, among others. */
enum { DWELL_COM_MODULE_DYNAMIC = 0x4, DWELL_COM_MODULE_COLLECTIBLE = 0x8 };

/* What a method is made of: CorMethodImpl. */
enum dw_com_method_flag {
	DWELL_COM_METHOD_NOT_IL = 0x3,
	DWELL_COM_METHOD_INLINED = 0x100, /* aggressively */
	DWELL_COM_METHOD_ASYNC = 0x2000,  /* by the runtime */
};

struct dw_com_provider {
	const uint16_t *name;
	uint64_t words; /* keywords */
	uint32_t level;
	const uint16_t *filter;
};

/* COR_PRF_EX_CLAUSE_INFO. */
struct dw_com_clause {
	uint32_t kind;
	uint64_t pc, frame, shadow_stack;
};

struct dw_com_il_map {
	uint32_t il, start, end; /* il: or -1 to -3 for code without */
};

/* One object of the heap. 0 ends. */
typedef int32_t dw_com_object_fn(uint64_t object, void *ctx);

/* One frame of a snapshot. 0 goes on, DWELL_HR_STOP ends. */
typedef int32_t dw_com_frame_fn(uint64_t function, uint64_t ip, uint64_t frame,
				uint32_t context_bytes, const uint8_t *context, void *ctx);

/*
 * What the agent asks the runtime: ICorProfilerInfo13 and IMetaDataImport, typed. Each function
 * returns what the runtime does: negative = it failed.
 *
 * In callbacks that allow no collection (ObjectAllocated) only what is marked with * may be called.
 * [any-thread]
 */

/* Take the interface from @unknown, what Initialize is given. False: the runtime is too old. */
bool dw_runtime_start(void *unknown);

/* An address of the runtime's own code or data: in which module it lies. */
const void *dw_runtime_address(void);

/* SetEventMask2. */
int32_t dw_runtime_events(uint32_t low, uint32_t high);

/* EventPipeStartSession of the runtime's own events with any of @words. */
int32_t dw_runtime_listen(uint64_t words, uint32_t level);

/* SetEnvironmentVariable without a value: the runtime has an environment of its own, which managed
 * code sees. */
int32_t dw_runtime_unset(const uint16_t *name);

/* GetRuntimeInformation: major, minor, build. */
int32_t dw_runtime_version(uint16_t ret[3]);

/* * GetCurrentThreadID: the runtime's structure of the calling thread, NULL = none. */
uint64_t *dw_runtime_thread(void);

/* * GetFunctionFromIP3: @ip lies in the function's code. */
int32_t dw_runtime_function_at(uint64_t ip, uint64_t *ret);

/* * Name of a function made at run time, UTF-16, NUL included in @ret_n. False: it is another. */
bool dw_runtime_dynamic_name(uint64_t function, uint16_t *ret, uint32_t room, uint32_t *ret_n);

/* * GetFunctionInfo: module and token. */
int32_t dw_runtime_function_token(uint64_t function, uint64_t *ret_module, uint32_t *ret_token);

/* * IsArrayClass: negative or 1 = it is none. */
int32_t dw_runtime_array(uint64_t class, int32_t *ret_kind, uint64_t *ret_element,
			 uint32_t *ret_rank);

/* * GetClassIDInfo2: type arguments, *@n in: room, out: how many there are. */
int32_t dw_runtime_class(uint64_t class, uint64_t *ret_module, uint32_t *ret_token,
			 uint64_t *ret_arguments, uint32_t *n);

/* * GetModuleInfo2: path as UTF-16 with NUL. */
int32_t dw_runtime_module(uint64_t module, uint16_t *ret, uint32_t room, uint32_t *ret_n,
			  uint32_t *ret_flags);

/* * The metadata of @module, for dw_metadata_*(), NULL = none. Give back. */
void *dw_metadata_open(uint64_t module);

/* * Give @metadata back. */
void dw_metadata_close(void *metadata);

/* * GetTypeDefProps: name as UTF-16 with NUL. */
int32_t dw_metadata_type(void *metadata, uint32_t token, uint16_t *ret, uint32_t room,
			 uint32_t *ret_n);

/* * GetNestedClassProps: the type around it. */
int32_t dw_metadata_outer(void *metadata, uint32_t token, uint32_t *ret);

/* * GetTypeRefProps: what it is in and its name as UTF-16 with NUL. */
int32_t dw_metadata_reference(void *metadata, uint32_t token, uint32_t *ret_scope, uint16_t *ret,
			      uint32_t room, uint32_t *ret_n);

/* * GetMethodProps: its name as UTF-16 with NUL, the rest in *@ret_more. */
int32_t dw_metadata_method(void *metadata, uint32_t token, uint16_t *ret, uint32_t room,
			   struct dw_com_method *ret_more);

/* * GetSigFromToken: the bytes of a signature that stands alone, in the metadata. */
int32_t dw_metadata_signature(void *metadata, uint32_t token, const uint8_t **ret, uint32_t *ret_n);

/* * FindTypeDefByName: the type called @name, which ends in NUL and is in none. */
int32_t dw_metadata_type_named(void *metadata, const uint16_t *name, uint32_t *ret);

/* * EnumMethodsWithName: the methods of @type called @name, which ends in NUL: how many, @room at
 * most. */
uint32_t dw_metadata_methods_named(void *metadata, uint32_t type, const uint16_t *name,
				   uint32_t *ret, uint32_t room);

/* * The same: whether @type has several methods of @name, which ends in NUL. */
bool dw_metadata_is_overloaded(void *metadata, uint32_t type, const uint16_t *name);

/* * EnumGenericParams: the tokens of the type parameters of @owner, a type (with those of the types
 * around it) or a method, in their order: how many, @room at most. */
uint32_t dw_metadata_parameters(void *metadata, uint32_t owner, uint32_t *ret, uint32_t room);

/* * GetGenericParamProps: its name as UTF-16 with NUL. */
int32_t dw_metadata_parameter(void *metadata, uint32_t token, uint16_t *ret, uint32_t room,
			      uint32_t *ret_n);

/* * ForceGC: collect all generations. Not within a callback. */
int32_t dw_runtime_collect(void);

/* * DoStackSnapshot of this thread with registers. */
int32_t dw_runtime_snapshot(dw_com_frame_fn *fn, void *ctx);

/* * GetGenerationBounds: *@n in: room, out: how many there are. In GarbageCollectionStarted and
 * Finished only. */
int32_t dw_runtime_generations(struct dw_com_range *ret, uint32_t *n);

/* GetObjectGeneration: as struct dw_com_range has it. In GarbageCollectionStarted only. */
int32_t dw_runtime_generation(uint64_t object, int32_t *ret);

/* EnumerateGCHeapObjects: @fn for each while the program stands still, 0 ends. Negative also where
 * the runtime is older than .NET 9. */
int32_t dw_runtime_heap(dw_com_object_fn *fn, void *ctx);

/* * GetCodeInfo: the code that the function was compiled to first. */
int32_t dw_runtime_first_code(uint64_t function, struct dw_com_code *ret);

/* GetNativeCodeStartAddresses: *@n in: room, out: how many there are. */
int32_t dw_runtime_code_starts(uint64_t function, uint64_t *ret, uint32_t *n);

/* GetCodeInfo4: *@n in: room, out: how many there are. */
int32_t dw_runtime_code(uint64_t start, struct dw_com_code *ret, uint32_t *n);

/* GetILToNativeMapping3: *@n in: room, out: how many there are. */
int32_t dw_runtime_il_map(uint64_t start, struct dw_com_il_map *ret, uint32_t *n);

/*
 * Giving methods other bodies: GetReJITParameters is called for each that was asked for, when it is
 * compiled, with an object that takes the new one. What it is given is copied.
 */

/* RequestReJIT of @n methods. */
int32_t dw_runtime_recompile(uint32_t n, const uint64_t *modules, const uint32_t *tokens);

/* GetILFunctionBody: the body that the file of @module has, borrowed as long as that is loaded. */
int32_t dw_runtime_body(uint64_t module, uint32_t token, const uint8_t **ret, uint32_t *ret_bytes);

/* GetNotifiedExceptionClauseInfo: the frame of the method whose handler is about to run. Negative
 * also where there is none. In callbacks about handlers only. */
int32_t dw_runtime_handler_frame(uint64_t *ret);

/* GetTokenFromSig: the token of the signature @bytes, @n of them, in @module, which gets it where
 * it has none. Its metadata become writable, which costs some 20 ms where they are large. */
int32_t dw_runtime_signature(uint64_t module, const uint8_t *bytes, uint32_t n, uint32_t *ret);

/* SetILFunctionBody of @control, what GetReJITParameters was given. */
int32_t dw_runtime_set_body(void *control, const uint8_t *body, uint32_t bytes);

/* SetILInstrumentedCodeMap of @control: @n rows of COR_IL_MAP. */
int32_t dw_runtime_set_map(void *control, const void *rows, uint32_t n);
