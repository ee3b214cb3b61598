/*
 * The profiler of calls: its callbacks. Where we do not belong, or calls are not measured, the
 * runtime is told to go on without a profiler.
 */
#include "agent/clr/callbacks.h"
#include "agent/clr/names.h"
#include "agent/clr/runtime.h"
#include "agent/clr/tables.h"
#include "agent/clr/variables.h"
#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/deferred-start.h"
#include "agent/managed/methods.h"
#include "agent/managed/probes.h"
#include "agent/managed/scope.h"
#include "agent/managed/selection.h"

static bool is_collecting; /* threads are stopped for that, if they are; atomic */

static int32_t module_loaded(void *self, uint64_t module, int32_t result)
{
	(void)self;
	if (result >= 0 && !dw_agent_is_over())
		dw_methods_loaded(module);
	return DWELL_HR_OK;
}

static int32_t module_unloads(void *self, uint64_t module)
{
	(void)self;
	dw_methods_unloaded(module);
	return DWELL_HR_OK;
}

/* Precompiled code has copies of methods in others that call them: what is in scope is compiled
 * anew, all of it. */
static int32_t search_started(void *self, uint64_t function, int32_t *ret_is_used)
{
	(void)self;
	if (dw_methods_has_function(function))
		*ret_is_used = 0;
	return DWELL_HR_OK;
}

static int32_t rejit_parameters(void *self, uint64_t module, uint32_t token, void *control)
{
	(void)self;
	if (!dw_agent_is_over())
		dw_methods_compile(module, token, control);
	return DWELL_HR_OK;
}

/* A handler is about to run, of whatever method: what was open below that has ended. Handlers of
 * methods with probes see to it themselves, those of others do not. */
static int32_t handler_begins(void *self)
{
	uint64_t frame;

	(void)self;
	if (dw_runtime_handler_frame(&frame) >= 0)
		dw_method_unwound(frame);
	return DWELL_HR_OK;
}

/* Threads are stopped for other purposes, too. */
static int32_t suspend_started(void *self, uint32_t reason)
{
	(void)self;
	__atomic_store_n(&is_collecting, dw_suspends_to_collect(reason), __ATOMIC_RELAXED);
	return DWELL_HR_OK;
}

/* On the thread itself, which is about to go on. */
static int32_t thread_resumed(void *self)
{
	(void)self;
	dw_collection_ends();
	return DWELL_HR_OK;
}

/* On the thread itself, which is about to wait, or to collect for the others. */
static int32_t thread_suspended(void *self)
{
	(void)self;
	if (__atomic_load_n(&is_collecting, __ATOMIC_RELAXED))
		dw_collection_begins();
	return DWELL_HR_OK;
}

static int32_t rejit_error(void *self)
{
	(void)self;
	dw_tables_count(DWELL_CLR_METHODS_LOST, 1);
	return DWELL_HR_OK;
}

static void note_facts(void)
{
	uint64_t *facts = dw_tables_head()->facts, bytes;
	uint16_t version[3] = {0, 0, 0};

	dw_runtime_version(version);
	facts[DWELL_CLR_VERSION_MAJOR] = version[0];
	facts[DWELL_CLR_VERSION_MINOR] = version[1];
	facts[DWELL_CLR_VERSION_BUILD] = version[2];
	facts[DWELL_CLR_PROBES_AT] = dw_method_probes_code(&bytes);
	facts[DWELL_CLR_PROBES_BYTES] = bytes;
}

/* Get ready to measure as @mode says. False: nothing is to be measured. */
static bool start(const char *mode)
{
	const char *all = dw_text_option(mode, "all");

	if (!dw_text_after(mode, "time") || !dw_text_option(mode, "managed") || !dw_agent_is_on() ||
	    !dw_tables_start(DWELL_CLR_PROBED_BUDGET))
		return false;
	dw_method_probes_start(dw_text_option(mode, "slowest"));
	dw_names_start();
	dw_managed_scope_start(mode);
	dw_method_selection_start(mode);
	dw_methods_start(all && dw_text_number(all));
	note_facts();
	return true;
}

static int32_t initialize(void *self, void *unknown)
{
	(void)self;
	if (!dw_deferred_is_preloaded() || !dw_runtime_start(unknown))
		return DWELL_HR_CANCEL;
	dw_variables_hide();
	if (!start(dw_deferred_mode()) ||
	    dw_runtime_events(DWELL_COM_MODULE_LOADS | DWELL_COM_CACHE_SEARCHES |
				      DWELL_COM_ENABLE_REJIT | DWELL_COM_EXCEPTIONS |
				      DWELL_COM_SUSPENDS,
			      0) < 0)
		return DWELL_HR_CANCEL;
	return DWELL_HR_OK;
}

void *dw_clr_callbacks[DWELL_CB_SLOTS] = {
	[DWELL_CB_INITIALIZE] = initialize,
	[DWELL_CB_MODULE_LOADED] = module_loaded,
	[DWELL_CB_MODULE_UNLOAD_STARTED] = module_unloads,
	[DWELL_CB_SEARCH_STARTED] = search_started,
	[DWELL_CB_SUSPEND_STARTED] = suspend_started,
	[DWELL_CB_THREAD_SUSPENDED] = thread_suspended,
	[DWELL_CB_THREAD_RESUMED] = thread_resumed,
	[DWELL_CB_FINALLY_ENTER] = handler_begins,
	[DWELL_CB_CATCHER_ENTER] = handler_begins,
	[DWELL_CB_REJIT_PARAMETERS] = rejit_parameters,
	[DWELL_CB_REJIT_ERROR] = rejit_error,
};
