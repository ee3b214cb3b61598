/*
 * Ruby in this process; see interpreter.h.
 *
 * Each thread has its execution context in a variable of its own. Of what is loaded at the start,
 * such variables lie at one distance from each thread's pointer.
 */
#include "agent/sample/ruby.h"

#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/sample/interpreter.h"
#include "arch/clock.h"
#include "interpreter/ruby/frames.h"
#include "interpreter/ruby/layout.h"

#include <dlfcn.h>

/* The version that @text ("3.1.2") begins with. */
static uint32_t read_version(const char *text)
{
	uint32_t major, minor;

	if (!text || text[0] < '0' || text[0] > '9' || text[1] != '.' || text[2] < '0' ||
	    text[2] > '9' || text[3] != '.')
		return 0;
	major = (uint32_t)(text[0] - '0');
	minor = (uint32_t)(text[2] - '0');
	return major << 8 | minor;
}

static bool find(struct dw_interpreter_found *ret)
{
	void *(*look_up)(void *, const char *) = (void *(*)(void *, const char *))dw_real("dlsym");
	const struct dw_ruby_layout *l;
	uint64_t at;

	if (!dw_loader_first("ruby_current_vm_ptr") || !dw_loader_first("ruby_version"))
		return false;
	l = dw_ruby_layout(read_version(dw_loader_first("ruby_version")));
	at = look_up && l ? (uint64_t)look_up(RTLD_DEFAULT, "ruby_current_ec") : 0;
	ret->told = (struct dw_interpreter_runtime){
		.language = DWELL_RUBY,
		.version = l ? l->version : 0,
		.eval = (uint64_t)dw_loader_first("rb_vm_exec"),
		.data = at - dw_thread_pointer(),
		.type = dw_ruby_names((uint64_t)dw_loader_first("rb_id2str"))};
	if (l && at && ret->told.eval)
		ret->layout = l;
	ret->is_complete = true;
	return true;
}

static uint64_t place(const struct dw_interpreter_found *found)
{
	return *(const volatile uint64_t *)(dw_thread_pointer() + found->told.data);
}

const struct dw_interpreter_kind dw_ruby_kind = {&dw_ruby_reader, find, NULL, place};
