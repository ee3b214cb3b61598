/*
 * Which interpreter this process has, and where fields stand in its objects; see python.h.
 *
 * The table was made with offsetof() of each version's own headers; minor releases of a version
 * have the same. Before it is used the interpreter's own list of members of code objects must say
 * the same, and from 3.13 on its table for debuggers, too, so that a build that differs is left
 * alone. Debug builds have the same layouts, builds without the global lock have not.
 */
#include "agent/sample/python.h"

#include "agent/core/agent.h"
#include "agent/core/bytes.h"

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

static const struct dw_python_layout layouts[] = {
	{.version = VERSION_39,
	 .is_eval_own = true,
	 .state_frame = 24,
	 .frame_bytes = 112,
	 .frame_code = 32,
	 .frame_previous = 24,
	 .frame_position = 104,
	 .position_kind = DWELL_PYTHON_BYTES,
	 .code_first_line = 40,
	 .code_file = 104,
	 .code_name = 112,
	 .code_shown = 112,
	 .code_lines = 120,
	 .code_bytecode = 48,
	 .text_ascii = 48,
	 .text_other = 72,
	 .sealed = {{16, 128}},
	 .seals_name = true},
	{.version = VERSION_310,
	 .is_eval_own = true,
	 .state_frame = 24,
	 .frame_bytes = 104,
	 .frame_code = 32,
	 .frame_previous = 24,
	 .frame_position = 96,
	 .position_kind = DWELL_PYTHON_UNITS,
	 .code_first_line = 40,
	 .code_file = 104,
	 .code_name = 112,
	 .code_shown = 112,
	 .code_lines = 120,
	 .code_bytecode = 48,
	 .text_ascii = 48,
	 .text_other = 72,
	 .sealed = {{16, 128}},
	 .seals_name = true},
	{.version = 0x30b,
	 .has_cframe = true,
	 .state_frame = 56,
	 .cframe_frame = 8,
	 .cframe_previous = 16,
	 .frame_bytes = 80,
	 .frame_code = 32,
	 .frame_previous = 48,
	 .frame_position = 56,
	 .position_kind = DWELL_PYTHON_POINTER,
	 .frame_mark = 68,
	 .code_first_line = 72,
	 .code_file = 112,
	 .code_name = 120,
	 .code_shown = 128,
	 .code_lines = 136,
	 .code_bytecode = 184,
	 .text_ascii = 48,
	 .text_other = 72,
	 .sealed = {{24, 48}, {56, 144}},
	 .seals_name = true},
	{.version = 0x30c,
	 .has_cframe = true,
	 .has_base = true,
	 .state_frame = 56,
	 .cframe_frame = 0,
	 .cframe_previous = 8,
	 .frame_bytes = 72,
	 .frame_code = 0,
	 .frame_previous = 8,
	 .frame_position = 56,
	 .position_kind = DWELL_PYTHON_POINTER,
	 .frame_mark = 70,
	 .code_first_line = 68,
	 .code_file = 112,
	 .code_name = 120,
	 .code_shown = 128,
	 .code_lines = 136,
	 .code_bytecode = 192,
	 .text_ascii = 40,
	 .text_other = 56,
	 .sealed = {{24, 144}}}, /* with a version of its own */
	{.version = VERSION_313,
	 .has_base = true,
	 .state_frame = 72,
	 .frame_bytes = 72,
	 .frame_code = 0,
	 .frame_previous = 8,
	 .frame_position = 56,
	 .position_kind = DWELL_PYTHON_POINTER,
	 .frame_mark = 70,
	 .code_first_line = 68,
	 .code_file = 112,
	 .code_name = 120,
	 .code_shown = 128,
	 .code_lines = 136,
	 .code_bytecode = 200,
	 .text_ascii = 40,
	 .text_other = 56,
	 .sealed = {{24, 144}}},
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

const struct dw_python_layout *dw_python_find_layout(void)
{
	const uint64_t *runtime = dw_loader_first("_PyRuntime");
	uint32_t version = runtime ? find_version() : 0;

	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		const struct dw_python_layout *l = &layouts[i];

		if (l->version != version)
			continue;
		return has_members(l) && (version < VERSION_313 || has_offsets(l, runtime)) ? l
											    : NULL;
	}
	return NULL;
}
