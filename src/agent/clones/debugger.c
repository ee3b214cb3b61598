/*
 * The list of debugger.h.
 *
 * Its symbols stand in the agent's .symtab only: gdb looks for them in each file by itself, and
 * programs that have such a list of their own (LLVM's, Mono's, .NET's) export theirs, so that ours
 * in the dynamic table would take its place. From gdb 14 on the descriptor must be a global symbol
 * (gdb's lookup_minimal_symbol_linkage()). A linker makes each one local that is not exported, so
 * meson.build changes that of the linked agent. An agent that was stripped shows nothing, unless
 * its separate debug file is there.
 *
 * A stopped process shows a whole list whenever that is: entries are filled in before they are
 * linked and unlinked by one store, and debuggers follow @next only.
 */
#include "agent/clones/debugger.h"

#include "agent/clones/clones.h"
#include "wire/clone-image.h"

#include <stddef.h>

enum { LIST_VERSION = 1 };

/* What has just happened, for debuggers that are attached. */
enum action { ACTION_NONE, ACTION_REGISTER, ACTION_UNREGISTER };

/* As gdb knows it. */
struct list {
	uint32_t version;
	uint32_t action;
	struct dw_debugger_entry *relevant;
	struct dw_debugger_entry *first;
};

_Static_assert(sizeof(struct list) == 24, "gdb's layout");
_Static_assert(sizeof(struct dw_debugger_entry) == 32, "gdb's layout");
_Static_assert(sizeof(struct dw_clone_object) <= DWELL_PAGE_BYTES - DWELL_CLONE_OBJECT_OFFSET,
	       "room in its pages");

/* Volatile, as others read it. */
static volatile struct list __jit_debug_descriptor
	__attribute__((used)) = {.version = LIST_VERSION};

/* A debugger that is attached has a breakpoint here. */
static void __attribute__((noinline, used)) __jit_debug_register_code(void)
{
	__asm__ volatile("" ::: "memory");
}

static void tell(uint32_t action, struct dw_debugger_entry *entry)
{
	__jit_debug_descriptor.relevant = entry;
	__jit_debug_descriptor.action = action;
	__jit_debug_register_code();
	__jit_debug_descriptor.action = ACTION_NONE;
}

void dw_debugger_write_object(uint64_t area, const struct dw_clone_header *h)
{
	const uint64_t constants = area + h->constants_at;
	struct dw_clone_object *o =
		(struct dw_clone_object *)(constants + DWELL_CLONE_OBJECT_OFFSET);

	*o = *(const struct dw_clone_object *)(area + DWELL_CLONE_OBJECT_OFFSET);
	for (int i = 0; i < DWELL_CLONE_SECTIONS; i++)
		if (o->sections[i].sh_flags & SHF_ALLOC)
			o->sections[i].sh_addr += area;
}

void dw_debugger_add(struct dw_area *area)
{
	const struct dw_clone_header *h = area->header;
	struct dw_debugger_entry *entry = &area->debugger, *first = __jit_debug_descriptor.first;

	*entry = (struct dw_debugger_entry){
		.next = first,
		.object = area->area + h->constants_at + DWELL_CLONE_OBJECT_OFFSET,
		.object_bytes = h->bytes - h->constants_at - DWELL_CLONE_OBJECT_OFFSET,
	};
	if (first)
		first->prev = entry;
	__atomic_store_n(&__jit_debug_descriptor.first, entry, __ATOMIC_RELEASE);
	tell(ACTION_REGISTER, entry);
}

void dw_debugger_remove(struct dw_area *area)
{
	struct dw_debugger_entry *entry = &area->debugger;

	if (!entry->object)
		return;
	if (entry->prev)
		__atomic_store_n(&entry->prev->next, entry->next, __ATOMIC_RELEASE);
	else
		__atomic_store_n(&__jit_debug_descriptor.first, entry->next, __ATOMIC_RELEASE);
	if (entry->next)
		entry->next->prev = entry->prev;
	tell(ACTION_UNREGISTER, entry);
	entry->object = 0;
}
