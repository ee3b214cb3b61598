/* Methods that wait; see blocking.h. model/wait.c has what they wait for. */
#include "agent/managed/blocking.h"

#include "agent/clr/il/body.h"
#include "agent/clr/runtime.h"
#include "agent/core/bytes.h"

enum {
	NAME_MAX = 64,
	WRAPPER_BYTES = 12, /* of IL that only calls */
};

struct method {
	const char *type, *name;
};

static const struct method waiting[] = {
	{"System.Threading.Thread", "Sleep"},
	{"System.Threading.Thread", "Join"},
	{"System.Threading.Monitor", "Enter_Slowpath"},
	{"System.Threading.Monitor", "TryEnter_Slowpath"},
	{"System.Threading.Monitor", "Wait"},
	{"System.Threading.Lock", "TryEnterSlow"},
	{"System.Threading.WaitHandle", "WaitOneNoCheck"},
	{"System.Threading.WaitHandle", "WaitMultiple"},
	{"System.Threading.WaitHandle", "SignalAndWait"},
	{"System.Threading.Tasks.Task", "InternalWaitCore"},
};

bool dw_is_core_assembly(const char *path, uint32_t bytes)
{
	static const char core[] = "/System.Private.CoreLib.dll";
	uint32_t n = sizeof(core) - 1;

	return bytes >= n && !memcmp(path + bytes - n, core, n);
}

/* @text as UTF-16 with NUL. */
static void widen(const char *text, uint16_t ret[NAME_MAX])
{
	uint32_t n = 0;

	for (; text[n] && n + 1 < NAME_MAX; n++)
		ret[n] = (uint8_t)text[n];
	ret[n] = 0;
}

static bool is_wrapper(uint64_t module, uint32_t token)
{
	struct dw_il_body body;
	const uint8_t *bytes;
	uint32_t n;

	return dw_runtime_body(module, token, &bytes, &n) < 0 ||
	       dw_il_open(bytes, n, &body) != DWELL_IL_OK || body.code_bytes <= WRAPPER_BYTES;
}

/* Take those of the @n methods at @ret that have code: how many. */
static uint32_t take(uint64_t module, void *metadata, uint32_t *ret, uint32_t n)
{
	struct dw_com_method m;
	uint32_t taken = 0;

	for (uint32_t i = 0; i < n; i++) {
		m = (struct dw_com_method){0};
		if (dw_metadata_method(metadata, ret[i], NULL, 0, &m) >= 0 && m.rva &&
		    !(m.flags & DWELL_COM_METHOD_NOT_IL) && !is_wrapper(module, ret[i]))
			ret[taken++] = ret[i];
	}
	return taken;
}

uint32_t dw_blocking_methods(uint64_t module, void *metadata, uint32_t *ret, uint32_t room)
{
	uint16_t name[NAME_MAX];
	uint32_t type = 0, n, all = 0;

	for (size_t i = 0; i < sizeof(waiting) / sizeof(*waiting); i++) {
		widen(waiting[i].type, name);
		/* To find one the runtime looks at thousands. */
		if ((!i || !dw_text_equal(waiting[i].type, waiting[i - 1].type)) &&
		    dw_metadata_type_named(metadata, name, &type) < 0)
			type = 0;
		if (!type)
			continue;
		widen(waiting[i].name, name);
		n = dw_metadata_methods_named(metadata, type, name, ret + all, room - all);
		all += take(module, metadata, ret + all, n);
	}
	return all;
}
