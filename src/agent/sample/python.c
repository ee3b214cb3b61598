/*
 * Frames of the interpreter's threads; see python.h. They are kept in a buffer that handlers share,
 * since a handler's stack may be small.
 */
#include "agent/sample/python.h"

#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"
#include "python/code.h"

#include <sys/uio.h>

enum {
	TOLD = 1 << 14, /* code objects that are remembered */
	WAYS = 4,
	BUFFERS = 64,
};

static struct {
	const struct dw_python_layout *layout; /* NULL = none whose frames can be read */
	void *(*state)(void);		       /* of the calling thread */
	uint64_t runtime, code_type, eval;
	uint64_t *told;			 /* TOLD of them: seals; atomic */
	struct dw_python_frame *buffers; /* BUFFERS of them, */
	struct dw_python_copies *copies; /* and of copies of pages */
	uint64_t in_use;		 /* a bit for each; atomic */
} python;

static bool copy_page(int32_t pid, uint64_t at, uint8_t ret[DWELL_PYTHON_PAGE])
{
	const struct iovec from = {(void *)at, DWELL_PYTHON_PAGE}, to = {ret, DWELL_PYTHON_PAGE};

	return dw_syscall(SYS_process_vm_readv, pid, &to, 1, &from, 1) == DWELL_PYTHON_PAGE;
}

/* Tell what the code object at @code is, its texts copied by the kernel, so that nothing of them
 * can fault. False: there is no room in the ring. */
static bool tell_code(struct dw_python_frames *f, uint64_t code, uint32_t seal)
{
	struct dw_python_part parts[DWELL_PYTHON_PARTS];
	struct dw_python_code head;
	uint32_t at = sizeof(head), n = at;
	struct dw_ring_place place;

	dw_python_describe(f->layout, &f->memory, code, seal, &head, parts);
	for (int i = 0; i < DWELL_PYTHON_PARTS; i++)
		n += parts[i].bytes;
	if (!dw_ring_begin(&place, DWELL_SAMPLE_PYTHON_CODE, n))
		return false;
	dw_ring_write(&place, 0, &head, sizeof(head));
	for (int i = 0; i < DWELL_PYTHON_PARTS; at += parts[i++].bytes)
		if (parts[i].bytes &&
		    dw_ring_copy(&place, at, parts[i].at, parts[i].bytes) != parts[i].bytes)
			break;
	dw_ring_end(&place, at); /* shorter than it says where something could not be copied */
	return true;
}

/* Tell of @frame's function unless that was done. */
static void tell(struct dw_python_frames *f, const struct dw_python_frame *frame, uint64_t seal)
{
	struct dw_python_walk *w = (struct dw_python_walk *)f;
	uint64_t code = frame->code & -(uint64_t)8, slot = code * 0x9e3779b97f4a7c15u >> 32;
	uint64_t *set = &python.told[slot % (TOLD / WAYS) * WAYS];
	uint32_t at = (uint32_t)(seal >> 8) % WAYS, copied = f->memory.copied;

	if (w->ring_is_full)
		return;
	for (int i = 0; i < WAYS; i++)
		if (__atomic_load_n(&set[i], __ATOMIC_ACQUIRE) == seal)
			return;
	f->memory.copied = 0; /* a function is told once: all of it, however long the walk was */
	if (tell_code(f, code, frame->seal))
		__atomic_store_n(&set[at], seal, __ATOMIC_RELEASE);
	else
		w->ring_is_full = true;
	f->memory.copied = copied;
}

/* Give @w buffers that no other thread's handler has. False: there are none. */
static bool take_buffers(struct dw_python_walk *w)
{
	uint64_t in_use = __atomic_load_n(&python.in_use, __ATOMIC_RELAXED), bit;

	do {
		if (!~in_use)
			return false;
		bit = ~in_use & (in_use + 1);
	} while (!__atomic_compare_exchange_n(&python.in_use, &in_use, in_use | bit, false,
					      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
	w->buffer = (uint32_t)__builtin_ctzll(bit);
	w->frames.rows = python.buffers + (size_t)w->buffer * DWELL_PYTHON_FRAMES_MAX;
	w->frames.memory.copies = python.copies + w->buffer;
	return true;
}

bool dw_python_look(struct dw_python_walk *w)
{
	uint64_t state = python.layout ? (uint64_t)python.state() : 0;

	if (!state)
		return false;
	*w = (struct dw_python_walk){
		.frames = {.layout = python.layout,
			   .code_type = python.code_type,
			   .memory = {.copy = copy_page, .pid = dw_sys_getpid()},
			   .state = DWELL_PYTHON_TORN,
			   .met = tell}};
	if (take_buffers(w))
		dw_python_frames_read(&w->frames, state);
	return true;
}

uint32_t dw_python_write(const struct dw_python_walk *w, const struct dw_ring_place *place)
{
	const struct dw_python_frames *f = &w->frames;
	const struct dw_python_stack head = {f->n, f->state};
	const uint32_t bytes = f->n * (uint32_t)sizeof(*f->rows);

	dw_ring_write(place, 0, &head, sizeof(head));
	if (bytes)
		dw_ring_write(place, sizeof(head), f->rows, bytes);
	return (uint32_t)sizeof(head) + bytes;
}

void dw_python_end(const struct dw_python_walk *w)
{
	if (w->frames.rows)
		__atomic_fetch_and(&python.in_use, ~((uint64_t)1 << w->buffer), __ATOMIC_RELEASE);
}

/* Tell of the interpreter, or that it is one whose frames cannot be read. */
static void tell_runtime(void)
{
	struct dw_python_runtime runtime = {0};
	struct dw_ring_place place;

	if (python.layout)
		runtime = (struct dw_python_runtime){.version = python.layout->version,
						     .eval = python.eval,
						     .runtime = python.runtime,
						     .code_type = python.code_type};
	if (!dw_ring_begin(&place, DWELL_SAMPLE_PYTHON, sizeof(runtime)))
		return;
	dw_ring_write(&place, 0, &runtime, sizeof(runtime));
	dw_ring_end(&place, sizeof(runtime));
}

void dw_python_start(void)
{
	const struct dw_python_layout *l;

	python.runtime = (uint64_t)dw_loader_first("_PyRuntime");
	if (!python.runtime)
		return;
	l = dw_python_find_layout();
	python.state = (void *(*)(void))dw_loader_first("PyGILState_GetThisThreadState");
	python.code_type = (uint64_t)dw_loader_first("PyCode_Type");
	python.eval = (uint64_t)dw_loader_first("_PyEval_EvalFrameDefault");
	python.told = dw_agent_memory(TOLD * sizeof(*python.told));
	python.buffers =
		dw_agent_memory(BUFFERS * DWELL_PYTHON_FRAMES_MAX * sizeof(*python.buffers));
	python.copies = dw_agent_memory(BUFFERS * sizeof(*python.copies));
	if (python.state && python.code_type && python.eval && python.told && python.buffers &&
	    python.copies)
		python.layout = l;
	tell_runtime();
}

void dw_python_forked(void)
{
	if (!python.layout)
		return;
	python.in_use = 0;
	memset(python.told, 0, TOLD * sizeof(*python.told));
	tell_runtime();
}
