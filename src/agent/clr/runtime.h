/*
 * What the agent asks the runtime: ICorProfilerInfo13 and IMetaDataImport, typed. Each function
 * returns what the runtime does: negative = it failed.
 *
 * In callbacks that allow no collection (ObjectAllocated) only what is marked with * may be called.
 * [any-thread]
 */
#pragma once

#include "agent/clr/com.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* * EnumMethodsWithName: whether @type has several methods of @name, which ends in NUL. */
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
