/*
 * Methods with probes: what is asked of the runtime when an assembly is loaded, and the bodies that
 * its methods get when they are compiled.
 *
 * All methods of an assembly in scope are asked for at once, before any of them has been compiled;
 * their bodies are made when they are first called. So what is never called costs next to nothing,
 * and no copy of a method without probes is ever inlined. For callbacks of the runtime, on any
 * thread; what fails leaves the method as it is, and is counted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Before all others. @all: small methods have probes, too. */
void dw_methods_start(bool all);

/* @module is loaded: ask for its methods, if it is in scope. */
void dw_methods_loaded(uint64_t module);

/* Code of @module goes, and another one may have its number. */
void dw_methods_unloaded(uint64_t module);

/* Whether the methods of @module have probes, and not a few of them alone. */
bool dw_methods_has(uint64_t module);

/* The same of the module of @function. */
bool dw_methods_has_function(uint64_t function);

/* Give the method @token of @module its body, through @control. */
void dw_methods_compile(uint64_t module, uint32_t token, void *control);
