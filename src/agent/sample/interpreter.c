/*
 * Frames of the interpreter's threads; see interpreter.h. They are kept in a buffer that handlers
 * share, since a handler's stack may be small.
 */
#include "agent/sample/interpreter.h"

#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

#include <sys/uio.h>

enum {
	TOLD = 1 << 14, /* functions that are remembered */
	BUFFERS = 64,
};

static const struct dw_interpreter_kind *const kinds[] = {&dw_python_kind, &dw_php_kind,
							  &dw_ruby_kind};

static struct {
	const struct dw_interpreter_kind *kind; /* NULL = this process has none */
	struct dw_interpreter_found found;
	bool is_busy;			      /* atomic: somebody completes it */
	uint64_t *told;			      /* TOLD of them: seals; atomic */
	struct dw_interpreter_frame *buffers; /* BUFFERS of them, */
	struct dw_interpreter_copies *copies; /* and of copies of pages */
	uint64_t in_use;		      /* a bit for each; atomic */
} own;

bool dw_interpreter_copy_page(int32_t pid, uint64_t at, uint8_t ret[DWELL_INTERPRETER_PAGE])
{
	const struct iovec from = {(void *)at, DWELL_INTERPRETER_PAGE},
			   to = {ret, DWELL_INTERPRETER_PAGE};

	return dw_syscall(SYS_process_vm_readv, pid, &to, 1, &from, 1) == DWELL_INTERPRETER_PAGE;
}

/* Tell what the function at @object is, its texts copied by the kernel, so that nothing of them can
 * fault. False: there is no room in the ring. */
static bool tell_code(struct dw_interpreter_frames *f, const struct dw_interpreter_frame *frame,
		      uint64_t object)
{
	struct dw_interpreter_part parts[DWELL_INTERPRETER_PARTS];
	struct dw_interpreter_code head;
	uint32_t at = sizeof(head), n;
	struct dw_ring_place place;

	n = dw_interpreter_describe(f, frame, object, &head, parts);
	if (!dw_ring_begin(&place, DWELL_SAMPLE_INTERPRETER_CODE, n))
		return false;
	dw_ring_write(&place, 0, &head, sizeof(head));
	for (int i = 0; i < DWELL_INTERPRETER_PARTS; at += parts[i++].bytes)
		if (parts[i].bytes &&
		    dw_ring_copy(&place, at, parts[i].at, parts[i].bytes) != parts[i].bytes)
			break;
	dw_ring_end(&place, at); /* shorter than it says where something could not be copied */
	return true;
}

/* Tell of @frame's function unless that was done. Of functions that have one number after each
 * other only the last is remembered, since the collector knows only what it was told last. */
static void tell(struct dw_interpreter_frames *f, const struct dw_interpreter_frame *frame,
		 uint64_t object, uint64_t seal)
{
	struct dw_interpreter_walk *w = (struct dw_interpreter_walk *)f;
	uint64_t code = frame->code & ~(uint64_t)DWELL_INTERPRETER_FLAGS;
	uint64_t *known = &own.told[(code * 0x9e3779b97f4a7c15u >> 32) % TOLD];
	uint32_t copied = f->memory.copied;

	if (w->ring_is_full || __atomic_load_n(known, __ATOMIC_ACQUIRE) == seal)
		return;
	f->memory.copied = 0; /* a function is told once: all of it, however long the walk was */
	if (tell_code(f, frame, object))
		__atomic_store_n(known, seal, __ATOMIC_RELEASE);
	else
		w->ring_is_full = true;
	f->memory.copied = copied;
}

/* Give @w buffers that no other thread's handler has. False: there are none. */
static bool take_buffers(struct dw_interpreter_walk *w)
{
	uint64_t in_use = __atomic_load_n(&own.in_use, __ATOMIC_RELAXED), bit;

	do {
		if (!~in_use)
			return false;
		bit = ~in_use & (in_use + 1);
	} while (!__atomic_compare_exchange_n(&own.in_use, &in_use, in_use | bit, false,
					      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
	w->buffer = (uint32_t)__builtin_ctzll(bit);
	w->frames.rows = own.buffers + (size_t)w->buffer * DWELL_INTERPRETER_FRAMES_MAX;
	w->frames.memory.copies = own.copies + w->buffer;
	return true;
}

/* Tell of the interpreter: of a complete one without a layout that its frames cannot be read.
 * False: there is no room in the ring. */
static bool tell_runtime(bool is_complete)
{
	struct dw_interpreter_runtime told = own.found.told;
	struct dw_ring_place place;

	if (is_complete && !own.found.layout)
		told.eval = 0;
	if (!dw_ring_begin(&place, DWELL_SAMPLE_INTERPRETER, sizeof(told)))
		return false;
	dw_ring_write(&place, 0, &told, sizeof(told));
	dw_ring_end(&place, sizeof(told));
	return true;
}

/* A walk without frames, of the calling thread. */
static void begin_walk(struct dw_interpreter_walk *w)
{
	*w = (struct dw_interpreter_walk){
		.frames = {.reader = own.kind->reader,
			   .layout = own.found.layout,
			   .data = own.found.told.data,
			   .type = own.found.told.type,
			   .memory = {.copy = dw_interpreter_copy_page, .pid = dw_sys_getpid()},
			   .state = DWELL_INTERPRETER_TORN,
			   .met = tell}};
}

/* Find out what is left to be. */
static void complete(void)
{
	struct dw_interpreter_walk w;

	begin_walk(&w);
	if (!take_buffers(&w))
		return;
	dw_interpreter_memory_begin(&w.frames.memory);
	if (own.kind->identify(&own.found, &w.frames.memory) && tell_runtime(true))
		__atomic_store_n(&own.found.is_complete, true, __ATOMIC_RELEASE);
	dw_interpreter_end(&w);
}

/* Whether all is known of the interpreter. */
static bool is_complete(void)
{
	if (!own.kind)
		return false;
	if (__atomic_load_n(&own.found.is_complete, __ATOMIC_ACQUIRE))
		return true;
	if (__atomic_exchange_n(&own.is_busy, true, __ATOMIC_ACQUIRE))
		return false;
	complete();
	__atomic_store_n(&own.is_busy, false, __ATOMIC_RELEASE);
	return own.found.is_complete;
}

bool dw_interpreter_look(struct dw_interpreter_walk *w, const uint64_t *registers)
{
	uint64_t place = is_complete() && own.found.layout ? own.kind->place(&own.found) : 0;

	if (!place)
		return false;
	begin_walk(w);
	w->frames.registers = registers;
	if (take_buffers(w))
		own.kind->reader->read(&w->frames, place);
	return true;
}

uint32_t dw_interpreter_write(const struct dw_interpreter_walk *w,
			      const struct dw_ring_place *place)
{
	const struct dw_interpreter_frames *f = &w->frames;
	const struct dw_interpreter_stack head = {f->n, f->state};
	const uint32_t bytes = f->n * (uint32_t)sizeof(*f->rows);

	dw_ring_write(place, 0, &head, sizeof(head));
	if (bytes)
		dw_ring_write(place, sizeof(head), f->rows, bytes);
	return (uint32_t)sizeof(head) + bytes;
}

void dw_interpreter_end(const struct dw_interpreter_walk *w)
{
	if (w->frames.rows)
		__atomic_fetch_and(&own.in_use, ~((uint64_t)1 << w->buffer), __ATOMIC_RELEASE);
}

void dw_interpreter_start(void)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds) && !own.kind; i++)
		if (kinds[i]->find(&own.found))
			own.kind = kinds[i];
	if (!own.kind)
		return;
	own.told = dw_agent_memory(TOLD * sizeof(*own.told));
	own.buffers =
		dw_agent_memory(BUFFERS * DWELL_INTERPRETER_FRAMES_MAX * sizeof(*own.buffers));
	own.copies = dw_agent_memory(BUFFERS * sizeof(*own.copies));
	if (!own.told || !own.buffers || !own.copies) {
		own.found.layout = NULL;
		own.found.is_complete = true;
	}
	tell_runtime(own.found.is_complete);
}

void dw_interpreter_forked(void)
{
	own.is_busy = false;
	own.in_use = 0;
	if (!own.told)
		return;
	memset(own.told, 0, TOLD * sizeof(*own.told));
	tell_runtime(own.found.is_complete);
}
