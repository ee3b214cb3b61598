/*
 * Walking the frames of CPython; see python.h. They are kept in a buffer that handlers share, since
 * a handler's stack may be small.
 *
 * Versions that reach the innermost frame by a record on the C stack (cframe) enter that before it
 * is filled in: what it leads to then is whatever lay there, and the record before it has the
 * frames. Source: Python/ceval.c of each version.
 */
#include "agent/sample/python.h"

#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/memory.h"
#include "agent/core/system-calls.h"

#include <sys/uio.h>

enum {
	TOLD = 1 << 14, /* code objects that are remembered */
	WAYS = 4,
	COPIED_MAX = 4096, /* pages of one look */
	BUFFERS = 64,
	OBJECT_TYPE = 8,
	OBJECT_SIZE = 16,
	TEXT_HASH = 24,
	CODE_BYTES = 216,
	OWNED_BY_C = 3, /* a frame's owner */
};

static struct {
	const struct dw_python_layout *layout; /* NULL = none whose frames can be read */
	void *(*state)(void);		       /* of the calling thread */
	uint64_t code_type;
	uint64_t eval;
	uint64_t *told;			 /* TOLD of them: seals; atomic */
	struct dw_python_frame *buffers; /* BUFFERS of them, */
	struct dw_python_copies *copies; /* and of copies of pages */
	uint64_t in_use;		 /* a bit for each; atomic */
} python;

/* The copy of the page that has @at; NULL = it cannot be read. */
static const uint8_t *find_page(struct dw_python_pages *pages, uint64_t at)
{
	uint64_t number = at / DWELL_PYTHON_PAGE, slot = number % DWELL_PYTHON_PAGES;
	uint8_t *copy = pages->copies->bytes[slot];
	uint64_t *known = &pages->copies->known[slot];
	const struct iovec from = {(void *)(number * DWELL_PYTHON_PAGE), DWELL_PYTHON_PAGE};
	const struct iovec to = {copy, DWELL_PYTHON_PAGE};

	if (!number)
		return NULL;
	if (*known == number)
		return copy;
	*known = 0;
	if (pages->copied++ >= COPIED_MAX || dw_syscall(SYS_process_vm_readv, dw_sys_getpid(), &to,
							1, &from, 1) != DWELL_PYTHON_PAGE)
		return NULL;
	*known = number;
	return copy;
}

bool dw_python_can_read(struct dw_python_pages *pages, uint64_t at, uint32_t bytes)
{
	uint64_t last = at + bytes - 1;

	if (at % sizeof(uint32_t) || last < at)
		return false;
	return find_page(pages, at) &&
	       (at / DWELL_PYTHON_PAGE == last / DWELL_PYTHON_PAGE || find_page(pages, last));
}

uint64_t dw_python_word(struct dw_python_pages *pages, uint64_t at)
{
	const uint8_t *page = find_page(pages, at);
	uint64_t word = 0;

	if (page)
		memcpy(&word, page + at % DWELL_PYTHON_PAGE, sizeof(word));
	return word;
}

static bool load(struct dw_python_walk *w, uint64_t at, uint64_t *ret)
{
	bool is_there = at % sizeof(*ret) == 0 && dw_python_can_read(&w->pages, at, sizeof(*ret));

	*ret = is_there ? dw_python_word(&w->pages, at) : 0;
	return is_there;
}

static bool is_code(struct dw_python_walk *w, uint64_t at)
{
	return at && at % sizeof(at) == 0 && dw_python_can_read(&w->pages, at, CODE_BYTES) &&
	       dw_python_word(&w->pages, at + OBJECT_TYPE) == python.code_type;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

/* A number for what the code object at @code is, which can be read. */
static uint64_t seal_of(struct dw_python_walk *w, uint64_t code)
{
	const struct dw_python_layout *l = python.layout;
	uint64_t hash = mix(1, code), name;

	for (int i = 0; i < 2; i++)
		for (uint32_t at = l->sealed[i][0]; at < l->sealed[i][1]; at += 8)
			hash = mix(hash, dw_python_word(&w->pages, code + at));
	if (l->seals_name &&
	    load(w, dw_python_word(&w->pages, code + l->code_name) + TEXT_HASH, &name))
		hash = mix(hash, name);
	return hash | 1;
}

/* How far the frame at @frame has come in @code. */
static uint32_t position_of(struct dw_python_walk *w, uint64_t frame, uint64_t code)
{
	const struct dw_python_layout *l = python.layout;
	uint64_t word = dw_python_word(&w->pages, frame + l->frame_position), at;

	if (l->position_kind == DWELL_PYTHON_POINTER) {
		at = word - (code + l->code_bytecode);
		return at < dw_python_word(&w->pages, code + OBJECT_SIZE) * 2 && at < INT32_MAX
			       ? (uint32_t)at
			       : DWELL_PYTHON_POSITION_NONE;
	}
	at = (uint32_t)word;
	if (at >= INT32_MAX / 2)
		return DWELL_PYTHON_POSITION_NONE;
	return (uint32_t)(l->position_kind == DWELL_PYTHON_UNITS ? at * 2 : at);
}

/* Read the frame at *@frame, and go to the one that called it. False: it is none. */
static bool next(struct dw_python_walk *w, uint64_t *frame, struct dw_python_frame *ret,
		 uint64_t *ret_seal)
{
	const struct dw_python_layout *l = python.layout;
	const uint64_t at = *frame;
	uint8_t mark;
	uint64_t code;

	if (at % sizeof(at) || !dw_python_can_read(&w->pages, at, l->frame_bytes))
		return false;
	*ret = (struct dw_python_frame){.code = DWELL_PYTHON_OUTERMOST};
	*ret_seal = 0;
	*frame = dw_python_word(&w->pages, at + l->frame_previous);
	mark = (uint8_t)(dw_python_word(&w->pages, (at + l->frame_mark) & -(uint64_t)8) >>
			 (l->frame_mark % 8 * 8));
	if (l->has_base && mark == OWNED_BY_C)
		return true;
	code = dw_python_word(&w->pages, at + l->frame_code);
	if (!is_code(w, code))
		return false;
	*ret_seal = seal_of(w, code);
	ret->code = code;
	ret->position = position_of(w, at, code);
	ret->seal = (uint32_t)(*ret_seal >> 32);
	if (l->is_eval_own || (!l->has_base && mark))
		ret->code |= DWELL_PYTHON_OUTERMOST;
	return true;
}

/* Tell of @frame's function unless that was done. */
static void tell(struct dw_python_walk *w, const struct dw_python_frame *frame, uint64_t seal)
{
	uint64_t code = frame->code & -(uint64_t)8;
	uint64_t *set = &python.told[mix(2, code) % (TOLD / WAYS) * WAYS];
	uint32_t at = (uint32_t)(seal >> 8) % WAYS, copied = w->pages.copied;

	if (!code || w->ring_is_full)
		return;
	for (int i = 0; i < WAYS; i++)
		if (__atomic_load_n(&set[i], __ATOMIC_ACQUIRE) == seal)
			return;
	w->pages.copied = 0; /* a function is told once: all of it, however long the walk was */
	if (dw_python_tell_code(python.layout, &w->pages, code, frame->seal))
		__atomic_store_n(&set[at], seal, __ATOMIC_RELEASE);
	else
		w->ring_is_full = true;
	w->pages.copied = copied;
}

/* Take in the frames from @frame on, and tell of what they are. False: they do not end as they
 * must. */
static bool take_all(struct dw_python_walk *w, uint64_t frame)
{
	struct dw_python_frame row = {.code = DWELL_PYTHON_OUTERMOST};
	uint64_t seal;

	w->n = 0;
	while (frame && w->n < DWELL_PYTHON_FRAMES_MAX) {
		if (!next(w, &frame, &row, &seal))
			return false;
		tell(w, &row, seal);
		w->frames[w->n++] = row;
	}
	if (frame)
		w->state = DWELL_PYTHON_DEEP;
	return frame || row.code & DWELL_PYTHON_OUTERMOST;
}

/* Where the frames of the thread with the state @state begin, or, not @is_newest, began before its
 * last call from C. */
static bool find_first(struct dw_python_walk *w, uint64_t state, bool is_newest, uint64_t *ret)
{
	const struct dw_python_layout *l = python.layout;

	if (!load(w, state + l->state_frame, ret))
		return false;
	if (!l->has_cframe)
		return true;
	if (!is_newest && !load(w, *ret + l->cframe_previous, ret))
		return false;
	return load(w, *ret + l->cframe_frame, ret);
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
	w->frames = python.buffers + (size_t)w->buffer * DWELL_PYTHON_FRAMES_MAX;
	w->pages.copies = python.copies + w->buffer;
	memset(w->pages.copies->known, 0, sizeof(w->pages.copies->known));
	return true;
}

bool dw_python_look(struct dw_python_walk *w)
{
	uint64_t state = python.layout ? (uint64_t)python.state() : 0, first;

	if (!state)
		return false;
	memset(w, 0, sizeof(*w));
	if (take_buffers(w) && ((find_first(w, state, true, &first) && take_all(w, first)) ||
				(python.layout->has_cframe && find_first(w, state, false, &first) &&
				 take_all(w, first))))
		return true;
	w->state = DWELL_PYTHON_TORN;
	w->n = 0;
	return true;
}

uint32_t dw_python_write(const struct dw_python_walk *w, const struct dw_ring_place *place)
{
	const struct dw_python_stack head = {w->n, w->state};
	const uint32_t bytes = w->n * (uint32_t)sizeof(*w->frames);

	dw_ring_write(place, 0, &head, sizeof(head));
	if (bytes)
		dw_ring_write(place, sizeof(head), w->frames, bytes);
	return (uint32_t)sizeof(head) + bytes;
}

void dw_python_end(const struct dw_python_walk *w)
{
	if (w->frames)
		__atomic_fetch_and(&python.in_use, ~((uint64_t)1 << w->buffer), __ATOMIC_RELEASE);
}

/* Tell of the interpreter, or that it is one whose frames cannot be read. */
static void tell_runtime(void)
{
	const struct dw_python_runtime runtime = {.version = python.layout ? python.layout->version
									   : 0,
						  .eval = python.layout ? python.eval : 0};
	struct dw_ring_place place;

	if (!dw_ring_begin(&place, DWELL_SAMPLE_PYTHON, sizeof(runtime)))
		return;
	dw_ring_write(&place, 0, &runtime, sizeof(runtime));
	dw_ring_end(&place, sizeof(runtime));
}

void dw_python_start(void)
{
	const struct dw_python_layout *l;

	if (!dw_loader_first("_PyRuntime"))
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
