/*
 * Stand-ins for what tells the program where it is: addresses in clones become the module's own.
 *
 * backtrace() translates what the real one gives and drops the agent's own frames (signals.c calls
 * handlers). _Unwind_Backtrace() sets the frame's address before the program's callback sees it:
 * both libgcc and LLVM's libunwind have found the next frame's rules by then, or find the same ones
 * at the module's address, where the frame looks alike. Personality routines still see clones.
 */
#include "agent/core/agent.h"
#include "agent/core/memory.h"
#include "agent/core/slow.h"
#include "agent/probe/reals.h"
#include "agent/probe/state.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <unwind.h>

#define STAND_IN __attribute__((visibility("default")))

enum {
	STACK_FRAMES = 64, /* more go to memory of their own */
	OWN_FRAMES = 16,   /* that a stack may hold besides the program's */
};

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden"))); /* behind all code */

static bool is_own(uint64_t pc)
{
	return pc >= (uint64_t)__ehdr_start && pc < (uint64_t)_DYNAMIC;
}

/* Copy the frames of the program from @from, @n of them, to @to as original addresses. */
static int translate(void *const *from, int n, void **to, int room)
{
	int kept = 0;

	for (int i = 0; i < n && kept < room; i++)
		if (!is_own((uint64_t)from[i]))
			to[kept++] = (void *)dw_original((uint64_t)from[i], true);
	return kept;
}

/* Room for @n addresses; give_back() after. NULL = none. */
static void **borrow(size_t n)
{
	return dw_agent_memory(n * sizeof(void *));
}

static void give_back(void **memory, size_t n)
{
	dw_agent_memory_free(memory, n * sizeof(*memory));
}

STAND_IN int backtrace(void **buffer, int size)
{
	__typeof__(&backtrace) real = DW_REAL(backtrace);
	void *few[STACK_FRAMES], **frames = few;
	int n, room = size + OWN_FRAMES;

	if (!real || size <= 0)
		return 0;
	if (room > STACK_FRAMES)
		frames = borrow((size_t)room);
	if (!frames) {
		frames = buffer;
		room = size;
	}
	n = real(frames, room);
	n = translate(frames, n, buffer, size);
	if (frames != few && frames != buffer)
		give_back(frames, (size_t)room);
	return n;
}

STAND_IN char **backtrace_symbols(void *const *buffer, int size)
{
	__typeof__(&backtrace_symbols) real = DW_REAL(backtrace_symbols);
	void **frames = real && size > 0 ? borrow((size_t)size) : NULL;
	char **symbols;

	if (!frames)
		return real ? real(buffer, size) : NULL;
	for (int i = 0; i < size; i++)
		frames[i] = (void *)dw_original((uint64_t)buffer[i], true);
	symbols = real(frames, size);
	give_back(frames, (size_t)size);
	return symbols;
}

STAND_IN void backtrace_symbols_fd(void *const *buffer, int size, int fd)
{
	__typeof__(&backtrace_symbols_fd) real = DW_REAL(backtrace_symbols_fd);

	for (int i = 0; i < size && real; i++) {
		void *frame = (void *)dw_original((uint64_t)buffer[i], true);

		real(&frame, 1, fd);
	}
}

STAND_IN int dladdr(const void *address, Dl_info *ret)
{
	__typeof__(&dladdr) real = DW_REAL(dladdr);

	return real ? real((const void *)dw_original((uint64_t)address, false), ret) : 0;
}

STAND_IN int dladdr1(const void *address, Dl_info *ret, void **extra, int flags)
{
	__typeof__(&dladdr1) real = DW_REAL(dladdr1);

	return real ? real((const void *)dw_original((uint64_t)address, false), ret, extra, flags)
		    : 0;
}

/* A program's walk over its frames. */
struct frames {
	_Unwind_Trace_Fn callback;
	void *data;
	__typeof__(&_Unwind_GetIPInfo) get;
	__typeof__(&_Unwind_SetIP) set;
};

static _Unwind_Reason_Code frame(struct _Unwind_Context *context, void *ctx)
{
	const struct frames *f = ctx;
	bool is_own_call = dw_slow_begin_own((uint64_t)__builtin_frame_address(0));
	int is_exact = 0; /* the frame was interrupted there: no return address */
	uint64_t pc = f->get(context, &is_exact), original = pc;

	if (!is_own(pc))
		original = dw_original(pc, !is_exact);
	if (original != pc)
		f->set(context, original);
	dw_slow_end_own(is_own_call);
	return is_own(pc) ? _URC_NO_REASON : f->callback(context, f->data);
}

STAND_IN _Unwind_Reason_Code _Unwind_Backtrace(_Unwind_Trace_Fn callback, void *data)
{
	__typeof__(&_Unwind_Backtrace) real = DW_REAL(_Unwind_Backtrace);
	struct frames f = {callback, data, DW_REAL(_Unwind_GetIPInfo), DW_REAL(_Unwind_SetIP)};

	if (!real)
		return _URC_END_OF_STACK;
	return f.get && f.set ? real(frame, &f) : real(callback, data);
}

STAND_IN void *_Unwind_FindEnclosingFunction(void *pc)
{
	__typeof__(&_Unwind_FindEnclosingFunction) real = DW_REAL(_Unwind_FindEnclosingFunction);

	return real ? real((void *)dw_original((uint64_t)pc, true)) : NULL;
}
