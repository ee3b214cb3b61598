/*
 * What needs no image: a module's identity, and words for reasons; see clone.h.
 */
#include "clone/clone.h"

#include "clone/module.h"

static const char *const texts[DWELL_LEFT_REASONS] = {
	[DWELL_CLONED] = "cloned",
	[DWELL_LEFT_NOT_CHOSEN] = "not chosen",
	[DWELL_LEFT_START] = "the program's start",
	[DWELL_LEFT_UNDECODABLE] = "bytes that are no instruction",
	[DWELL_LEFT_ENTRY_OVERLAP] = "a branch into an instruction",
	[DWELL_LEFT_NO_ROOM] = "no room for a jump at its entry",
	[DWELL_LEFT_RED_ZONE] = "an indirect jump without free stack",
	[DWELL_LEFT_RESTARTABLE] = "a restartable sequence",
	[DWELL_LEFT_RETURN_ADDRESS] = "return addresses that must stay",
	[DWELL_LEFT_AFTER_CALL] = "data behind a call",
	[DWELL_LEFT_UNWIND] = "unwind rules that cannot be rewritten",
	[DWELL_LEFT_OWN_CALL] = "a call into itself",
	[DWELL_LEFT_INSTRUCTION] = "an instruction that cannot be moved",
	[DWELL_LEFT_RUNTIME] = "its language looks up return addresses",
	[DWELL_LEFT_TEMPLATE] = "code that its program copies elsewhere",
	[DWELL_LEFT_WRITTEN] = "code that is written at run time",
	[DWELL_LEFT_LIMIT] = "a limit of dwell",
};

const char *dw_clone_reason_text(uint32_t reason)
{
	return reason < DWELL_LEFT_REASONS ? texts[reason] : "unknown";
}

int dw_clone_identity(const struct dw_elf *elf, struct dw_module_identity *ret,
		      struct dw_error *err)
{
	struct dw_clone_module m;
	int rc = dw_clone_module_read_code(elf, &m, err);

	if (!rc)
		*ret = m.identity;
	dw_clone_module_release(&m);
	return rc;
}
