/*
 * CPython in this process; see interpreter.h.
 *
 * Before a version's layout is used the interpreter's own list of members of code objects must say
 * the same, and from 3.13 on its table for debuggers, too, so that a build that differs is left
 * alone.
 */
#include "agent/sample/interpreter.h"

#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "interpreter/python/frames.h"
#include "interpreter/python/layout.h"

enum {
	TYPE_MEMBERS = 240, /* in a type object */
	MEMBER_BYTES = 40,
	MEMBER_OFFSET = 16,
	MEMBERS_MAX = 64,
	PAGE = 4096,
	VERSION_39 = 0x309,
	VERSION_310 = 0x30a,
	VERSION_313 = 0x30d,
};

/* Its version, 0 = none that can be here. Names that a version brought tell 3.9 and 3.10. */
static uint32_t find_version(void)
{
	const uint32_t *version = dw_loader_first("Py_Version");

	if (version)
		return *version >> 16;
	if (dw_loader_first("Py_NewRef"))
		return VERSION_310;
	return dw_loader_first("PyFrame_GetCode") ? VERSION_39 : 0;
}

/* Whether @known, which may lie anywhere, is @text. */
static bool is_text(const char *known, const char *text)
{
	for (size_t i = 0;; i++) {
		if ((!i || (uint64_t)(known + i) % PAGE == 0) && !dw_is_readable(known + i, 1))
			return false;
		if (known[i] != text[i] || !text[i])
			return known[i] == text[i];
	}
}

/* The word at @at, which can be read: the process is only starting. */
static uint64_t word_at(uint64_t at)
{
	return *(const volatile uint64_t *)at;
}

/* Where the type object @type says that its member @name stands, 0 = it has none. */
static uint64_t member(uint64_t type, const char *name)
{
	uint64_t at = dw_is_readable((const void *)(type + TYPE_MEMBERS), sizeof(at))
			      ? word_at(type + TYPE_MEMBERS)
			      : 0;

	for (int i = 0; at && i < MEMBERS_MAX; i++, at += MEMBER_BYTES) {
		const char *known = dw_is_readable((const void *)at, MEMBER_BYTES)
					    ? (const char *)word_at(at)
					    : NULL;

		if (!known)
			return 0;
		if (is_text(known, name))
			return word_at(at + MEMBER_OFFSET);
	}
	return 0;
}

/* Whether code objects are as @l has it. */
static bool has_members(const struct dw_python_layout *l)
{
	uint64_t type = (uint64_t)dw_loader_first("PyCode_Type");

	return type && member(type, "co_firstlineno") == l->code_first_line &&
	       member(type, "co_filename") == l->code_file &&
	       member(type, "co_name") == l->code_name;
}

/* Whether the table for debuggers at the beginning of the runtime says what @l does; of 3.13. */
static bool has_offsets(const struct dw_python_layout *l, const uint64_t *table)
{
	enum { COOKIE, VERSION, FREE_THREADED, STATE_FRAME = 23, PREVIOUS = 29, CODE, POSITION };
	enum { OWNER = 33, FILE = 35, NAME, SHOWN, LINES, FIRST_LINE, BYTECODE = 43 };

	return dw_is_readable(table, (BYTECODE + 1) * sizeof(*table)) &&
	       !memcmp(table, "xdebugpy", 8) && table[VERSION] >> 16 == l->version &&
	       !table[FREE_THREADED] && table[STATE_FRAME] == l->state_frame &&
	       table[PREVIOUS] == l->frame_previous && table[CODE] == l->frame_code &&
	       table[POSITION] == l->frame_position && table[OWNER] == l->frame_mark &&
	       table[FILE] == l->code_file && table[NAME] == l->code_name &&
	       table[SHOWN] == l->code_shown && table[LINES] == l->code_lines &&
	       table[FIRST_LINE] == l->code_first_line && table[BYTECODE] == l->code_bytecode;
}

static bool find(struct dw_interpreter_found *ret)
{
	const uint64_t *runtime = dw_loader_first("_PyRuntime");
	const struct dw_python_layout *l = runtime ? dw_python_layout(find_version()) : NULL;

	if (!runtime)
		return false;
	ret->told = (struct dw_interpreter_runtime){
		.language = DWELL_PYTHON,
		.version = l ? l->version : 0,
		.eval = (uint64_t)dw_loader_first("_PyEval_EvalFrameDefault"),
		.data = (uint64_t)runtime,
		.type = (uint64_t)dw_loader_first("PyCode_Type")};
	ret->state = (void *(*)(void))dw_loader_first("PyGILState_GetThisThreadState");
	if (l && has_members(l) && (l->version < VERSION_313 || has_offsets(l, runtime)) &&
	    ret->state && ret->told.type && ret->told.eval)
		ret->layout = l;
	ret->is_complete = true;
	return true;
}

static uint64_t place(const struct dw_interpreter_found *found)
{
	return (uint64_t)found->state();
}

const struct dw_interpreter_kind dw_python_kind = {&dw_python_reader, find, NULL, place};
