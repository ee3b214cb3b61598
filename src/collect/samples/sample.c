/*
 * From samples to interned stacks; see sample.h. Runs a thousand times per second and busy CPU, so:
 *
 * - outer frames that the thread's last stack had too keep their stack ids: pcs are compared from
 * the outermost frame inward, and nothing is looked up until they differ;
 * - a process remembers which frame id an address had, so that interning is one probe of a small
 * table;
 * - deep stacks are spliced onto the last one (deep-stack.h).
 *
 * - the walk's reads from the dump, which another processor has written, each depend on the one
 * before; most are where they were last time, so those are read ahead, all at once, while the
 * sample before is worked on. Read and not prefetched: a prefetch is dropped where the page is not
 * in the TLB, and each dump has pages of its own. This halves the time of a walk.
 *
 * Room for frames is address space, not memory, until a stack really is that deep.
 */
#include "collect/samples/sample.h"

#include "base/cleanup.h"
#include "collect/samples/interpreter-stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	FRAMES_MAX = 1 << 20,
	FRAMES_BYTES = FRAMES_MAX * sizeof(struct dw_unwind_frame),
};

enum { AHEAD_FRAMES = 256, SAVED_BYTES = 48 /* below a return address: saved registers */ };

/* One walk: what dw_unwind() found, and what it may be spliced onto. */
struct found {
	size_t n; /* frames, innermost first */
	const struct dw_walk_frame
		*onto; /* the last of them is this frame of the old walk; NULL = none */
	enum dw_unwind_end end;
};

static void touch(const uint8_t *p)
{
	(void)*(const volatile uint8_t *)p;
}

/* Fetch ahead what the return addresses of @w's frames and the registers saved below them stand in,
 * if it is in the dump. */
static void fetch_ahead(const struct dw_walk *w, const struct dw_perf_sample *sample)
{
	size_t n = w->frames.n < AHEAD_FRAMES ? w->frames.n : AHEAD_FRAMES;
	uint64_t base = sample->regs.r[DWELL_REG_SP] + SAVED_BYTES;

	for (const struct dw_walk_frame *f = w->frames.v + w->frames.n; n--;) {
		uint64_t at = (--f)->sp - 8 - base;

		if (at < sample->stack_bytes && at + SAVED_BYTES < sample->stack_bytes) {
			touch(sample->stack + at);
			touch(sample->stack + at + SAVED_BYTES);
		}
	}
}

/* Cut the stack where frames that were read late do not lead to those of the dump. False: none. */
static bool drop_strangers(struct dw_sample_unwinder *s, struct found *f)
{
	bool is_whole = f->end == DWELL_UNWIND_COMPLETE || s->deep.stopped;

	if (dw_deep_leads(&s->deep, s->frames, &f->n, is_whole))
		return false;
	f->end = DWELL_UNWIND_CUT;
	return true;
}

/* Frames beyond those that a signal interrupted count only if they are a whole chain, see
 * deep-stack.c. */
static void drop_unproven(const struct dw_sample_unwinder *s, struct found *f)
{
	if (s->deep.interrupted_sp && f->end != DWELL_UNWIND_COMPLETE)
		while (f->n > 1 && s->frames[f->n - 1].sp != s->deep.interrupted_sp)
			f->n--;
}

static struct found unwind(struct dw_sample_unwinder *s, struct dw_tracked_thread *th,
			   const struct dw_perf_record *r)
{
	const struct dw_perf_sample *sample = &r->sample;
	struct dw_tracked_process *p = th->process;
	struct dw_unwind_memory memory = {.base = sample->regs.r[DWELL_REG_SP],
					  .bytes = sample->stack,
					  .n = sample->stack_bytes};
	struct dw_unwind_regs regs = sample->regs;
	struct found f = {0};

	s->deep.time_ns = r->time_ns;
	dw_deep_begin(&s->deep, s->track->modules->offline ? 0 : p->pid, &p->space, th->walk,
		      &memory);
	for (;;) {
		struct dw_unwind_frame *last;
		size_t n;

		f.end = dw_unwind(&p->space, &regs, &memory, s->frames + f.n, FRAMES_MAX - f.n, &n);
		f.n += n;
		drop_unproven(s, &f);
		if (drop_strangers(s, &f))
			return f;
		last = &s->frames[f.n - 1];
		if (f.end != DWELL_UNWIND_CUT || !s->deep.stopped)
			return f;
		f.onto = dw_deep_splice(&s->deep, last);
		if (f.onto)
			return f;
		dw_deep_resume(&s->deep, &memory);
		regs.r[DWELL_REG_PC] = last->pc.v;
		regs.r[DWELL_REG_SP] = last->sp;
		regs.r[DWELL_REG_FP] = last->fp;
		f.n--;
	}
}

/* Begin a registry of the code of @p, for the sample that is being taken in, too. */
static int begin_registry(struct dw_sample_unwinder *s, struct dw_tracked_process *p)
{
	bool is_other;
	int rc = dw_track_registry(s->track, p);

	s->jit_code.registry = p->registry;
	if (!rc && p->registry)
		rc = dw_jit_update(p->registry, p->anon, s->deep.time_ns, &is_other);
	return rc;
}

/* Whether a file tells of the code in @range: .NET makes its code in files that have no name. */
static bool has_file(const struct dw_sample_unwinder *s, const struct dw_space_range *range)
{
	const struct dw_module *m =
		range ? dw_modules_get(&s->profile->modules, range->module) : NULL;

	return m && (range->cfi || (m->kind == DWELL_MODULE_FILE && !m->deleted));
}

/* The frame id of an address in @p. */
static int intern_frame(struct dw_sample_unwinder *s, struct dw_tracked_process *p,
			const struct dw_unwind_frame *f, uint32_t *ret)
{
	struct dw_frame_memo *memo = &p->memos[dw_hash_u64(f->pc.v) % DWELL_FRAME_MEMOS];
	struct dw_frame row = {.svma = f->pc.v};
	bool is_told;
	int rc = 0;

	if (memo->frame && memo->avma == f->pc.v && memo->generation == p->generation) {
		*ret = memo->frame;
		return 0;
	}
	if (f->range) {
		row.module = f->range->module;
		row.svma = f->pc.v - f->range->bias;
	}
	is_told = has_file(s, f->range);
	if (!is_told && !p->registry)
		rc = begin_registry(s, p);
	if (rc || dw_jit_code_frame(&s->jit_code, f->pc.v, is_told, &row) == -ENOMEM)
		return -ENOMEM;
	rc = dw_frames_add(&s->profile->frames, row, ret);
	if (!rc)
		*memo = (struct dw_frame_memo){f->pc.v, *ret, p->generation};
	return rc;
}

/* Put @f inside the frames that @w has. */
static int push_frame(struct dw_sample_unwinder *s, struct dw_tracked_process *p, struct dw_walk *w,
		      const struct dw_unwind_frame *f)
{
	uint32_t parent = w->frames.n ? w->frames.v[w->frames.n - 1].stack : 0, frame, stack = 0;
	int rc = intern_frame(s, p, f, &frame);

	if (!rc && !w->has_frames)
		rc = dw_stacks_add(&s->profile->stacks, parent, frame, &stack);
	return rc ? rc
		  : dw_vec_push(&w->frames,
				(struct dw_walk_frame){f->pc.v, f->sp, f->fp, stack, frame});
}

/* The mark of a cut stack, with nothing outside of it. */
static int add_cut(struct dw_sample_unwinder *s, uint32_t *ret)
{
	uint32_t frame;
	int rc = dw_frames_add(&s->profile->frames, (struct dw_frame){.kind = DWELL_FRAME_CUT},
			       &frame);

	return rc ? rc : dw_stacks_add(&s->profile->stacks, 0, frame, ret);
}

/* Put it outermost into the empty @w. */
static int push_cut(struct dw_sample_unwinder *s, struct dw_walk *w)
{
	uint32_t stack;
	int rc = add_cut(s, &stack);

	return rc ? rc
		  : dw_vec_push(&w->frames,
				(struct dw_walk_frame){DWELL_WALK_CUT, UINT64_MAX, 0, stack, 0});
}

/* Turn @w, a thread's last stack, into the one just found: keep the outer frames that are the same,
 * then push the others. */
static int update_walk(struct dw_sample_unwinder *s, struct dw_tracked_process *p,
		       struct dw_walk *w, const struct found *f)
{
	bool cut = !f->onto && f->end != DWELL_UNWIND_COMPLETE;
	size_t left = f->n, same = 0;
	int rc = 0;

	if (f->onto) {
		same = (size_t)(f->onto - w->frames.v) + 1;
		left--;
	} else if (cut && w->frames.n && w->frames.v[0].pc == DWELL_WALK_CUT) {
		same = 1;
	}
	if (!cut || same)
		for (;
		     left && same < w->frames.n && w->frames.v[same].pc == s->frames[left - 1].pc.v;
		     same++) {
			left--;
			w->frames.v[same].sp = s->frames[left].sp;
			w->frames.v[same].fp = s->frames[left].fp;
		}
	w->frames.n = same;
	if (cut && !same)
		rc = push_cut(s, w);
	while (left && !rc)
		rc = push_frame(s, p, w, &s->frames[--left]);
	if (rc)
		w->frames.n = 0;
	return rc;
}

/* From now on, believe what runtimes say of the code of @p. */
static int use_jit_code(struct dw_sample_unwinder *s, struct dw_tracked_process *p,
			uint64_t time_ns)
{
	const struct dw_jit_code_process who = {p->pid, p->anon, p->registry};
	bool is_other;
	int rc = dw_jit_code_begin(&s->jit_code, &who, time_ns, &is_other);

	p->space.rules = dw_jit_code_rules(&s->jit_code);
	p->generation += is_other || p->runtime != s->jit_code.runtime;
	p->runtime = s->jit_code.runtime;
	return rc;
}

/* Room for the deepest stack: address space, whatever settings malloc() has. NULL without it. */
static struct dw_unwind_frame *frames_new(void)
{
	void *p = mmap(NULL, FRAMES_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Whether an interpreter's frames come into stacks of @th. */
static bool has_interpreter(const struct dw_tracked_thread *th, const struct dw_perf_sample *sample)
{
	return th->process->interpreter && sample->interpreter.is_told;
}

/* Memory for walks, made with the first sample that needs it. @has_frames: as in the walk. */
static int prepare(struct dw_sample_unwinder *s, struct dw_tracked_thread *th, bool has_frames)
{
	struct dw_tracked_process *p = th->process;

	if (!s->frames)
		s->frames = frames_new();
	if (!p->memos)
		p->memos = calloc(DWELL_FRAME_MEMOS, sizeof *p->memos);
	if (!th->walk)
		th->walk = calloc(1, sizeof *th->walk);
	if (!s->frames || !p->memos || !th->walk)
		return -ENOMEM;
	if (th->walk->generation != p->generation || th->walk->has_frames != has_frames) {
		th->walk->generation = p->generation;
		th->walk->has_frames = has_frames;
		th->walk->frames.n = 0;
		th->walk->memory_bytes = 0;
	}
	return 0;
}

/* What somebody else has found. */
static struct found take_chain(struct dw_sample_unwinder *s, struct dw_tracked_process *p,
			       const struct dw_perf_record *r)
{
	const struct dw_perf_sample *sample = &r->sample;
	struct dw_unwind_memory nothing = {0};
	struct found f = {.end = DWELL_UNWIND_COMPLETE};

	s->deep.time_ns = r->time_ns;
	dw_deep_begin(&s->deep, 0, &p->space, NULL, &nothing);
	for (; f.n < sample->user_n && f.n < FRAMES_MAX; f.n++) {
		struct dw_avma pc = {sample->user[f.n] - (f.n != 0)}; /* into the call */

		s->frames[f.n] =
			(struct dw_unwind_frame){.pc = pc, .range = dw_space_find(&p->space, pc)};
	}
	return f;
}

/* Unwind, once more if an address was in no known code and reading the mappings again helps. */
static int walk_stack(struct dw_sample_unwinder *s, struct dw_tracked_thread *th,
		      const struct dw_perf_record *r, struct found *ret)
{
	bool has_frames = has_interpreter(th, &r->sample);
	int rc = use_jit_code(s, th->process, r->time_ns);

	if (!rc)
		rc = prepare(s, th, has_frames);
	if (rc)
		return rc;
	if (r->sample.user_n && !r->sample.stack_bytes) {
		*ret = take_chain(s, th->process, r);
		return 0;
	}
	*ret = unwind(s, th, r);
	if (ret->end == DWELL_UNWIND_NO_RULE && !s->frames[ret->n - 1].range &&
	    dw_track_resync(s->track, th->process, r->time_ns)) {
		rc = prepare(s, th, has_frames);
		if (!rc)
			*ret = unwind(s, th, r);
	}
	return rc;
}

/* Where the memory ends that a stack with the outermost frame @f needs: behind its return address.
 */
static uint64_t top_of(const struct dw_walk_frame *f)
{
	return f->sp + 64;
}

/* The stack of the walk of @th with its interpreter's frames. */
static int merge_frames(struct dw_sample_unwinder *s, const struct dw_tracked_thread *th,
			const struct dw_interpreter_sample *frames, uint32_t *ret)
{
	struct dw_interpreter_process *p = th->process->interpreter;
	const struct dw_interpreter_merge m = {s->profile, p,
					       &s->interpreters.counts[p->told.language]};

	s->cut += frames->state == DWELL_INTERPRETER_DEEP &&
		  th->walk->frames.v[0].pc != DWELL_WALK_CUT;
	return dw_interpreter_stack_merge(&m, th->walk, frames, ret);
}

/* The stack of the program's own frames. */
static int take_user(struct dw_sample_unwinder *s, struct dw_tracked_thread *th,
		     const struct dw_perf_record *r, uint32_t *ret)
{
	struct dw_walk *w;
	struct found f;
	int rc = walk_stack(s, th, r, &f);

	if (!rc)
		rc = update_walk(s, th->process, th->walk, &f);
	if (rc)
		return rc;
	w = th->walk;
	if (w->frames.v[0].pc == DWELL_WALK_CUT) {
		s->cut +=
			!w->has_frames || !dw_interpreter_stack_has_callers(&r->sample.interpreter);
		dw_deep_keep(&s->deep, w, 0);
	} else {
		dw_deep_keep(&s->deep, w, top_of(&w->frames.v[0]));
	}
	if (w->has_frames)
		return merge_frames(s, th, &r->sample.interpreter, ret);
	*ret = w->frames.v[w->frames.n - 1].stack;
	return 0;
}

/*
 * Of a program in the kernel nothing of the stack could be copied: it touches the page just now,
 * which is where it is known to be, or it is being made, which has left its code. The thread's last
 * walk stays for the next sample.
 */
static int take_place(struct dw_sample_unwinder *s, struct dw_tracked_thread *th,
		      const struct dw_perf_record *r, uint32_t *ret)
{
	struct dw_unwind_frame f = {.pc = {r->sample.regs.r[DWELL_REG_PC]}};
	struct dw_tracked_process *p = th->process;
	uint32_t frame;
	int rc;

	f.range = dw_space_find(&p->space, f.pc);
	if (r->sample.abi != PERF_SAMPLE_REGS_ABI_64 || !f.range)
		return 0;
	rc = use_jit_code(s, p, r->time_ns);
	if (!rc)
		rc = prepare(s, th, th->walk && th->walk->has_frames);
	if (!rc)
		rc = add_cut(s, ret);
	if (!rc)
		rc = intern_frame(s, p, &f, &frame);
	if (!rc)
		rc = dw_stacks_add(&s->profile->stacks, *ret, frame, ret);
	if (rc)
		return rc;
	s->cut++;
	s->uncopied++;
	return 0;
}

/* Put the kernel's frames inside of the stack *@stack. */
static int push_kernel(struct dw_sample_unwinder *s, const struct dw_perf_sample *sample,
		       uint32_t *stack)
{
	struct dw_frame row = {0};
	uint32_t frame;
	int rc = dw_perf_modules_kernel(s->track->modules, &row.module);

	for (size_t i = sample->kernel_n; i-- && !rc;) {
		memcpy(&row.svma, sample->kernel + i * sizeof row.svma, sizeof row.svma);
		row.svma -= i != 0; /* into the call */
		rc = dw_frames_add(&s->profile->frames, row, &frame);
		if (!rc)
			rc = dw_stacks_add(&s->profile->stacks, *stack, frame, stack);
	}
	return rc;
}

/* Whether the program's part of the stack was copied, or is all that there is: threads of the
 * kernel have none, and processes that are being made or end have none any more. */
static bool has_user(const struct dw_perf_sample *sample)
{
	return sample->abi == PERF_SAMPLE_REGS_ABI_64 &&
	       (sample->stack_bytes || sample->user_n || !sample->kernel_n);
}

static int take_frames(struct dw_sample_unwinder *s, struct dw_tracked_thread *th,
		       const struct dw_perf_record *r, uint32_t *ret)
{
	int rc = 0;

	*ret = 0;
	/* Whose end was told may be on its way out of the kernel, but its mappings are forgotten.
	 */
	if (!th->ended)
		rc = has_user(&r->sample) ? take_user(s, th, r, ret) : take_place(s, th, r, ret);
	return rc || !r->sample.kernel_n ? rc : push_kernel(s, &r->sample, ret);
}

/* The thread of a sample: one that has ended, if that is where the kernel still was. */
static int find_thread(struct dw_sample_unwinder *s, const struct dw_perf_record *r,
		       struct dw_tracked_thread **ret)
{
	struct dw_tracked_thread *th = dw_track_find(s->track, r->tid);
	int rc;

	if (th && th->ended && th->process->pid == r->pid && r->sample.kernel_n) {
		*ret = th;
		return 0;
	}
	rc = dw_track_thread(s->track, r->pid, r->tid, r->time_ns, ret);
	return rc ? rc : dw_track_title(s->track, (*ret)->process, r->time_ns);
}

/* What was taken beside samples. */
static int put_extra(struct dw_sample_unwinder *s, const struct dw_perf_record *r,
		     const struct dw_tracked_thread *th, uint32_t stack, enum dw_measure measure)
{
	const struct dw_extra row = {
		.begin_ns = dw_track_time(s->track, r->time_ns),
		.n = 1,
		.thread = th->id,
		.stack = stack,
		.measure = measure,
	};

	return dw_vec_push(&s->profile->extras.rows, row);
}

int dw_sample_unwinder_take(struct dw_sample_unwinder *s, const struct dw_perf_record *r)
{
	const struct dw_perf_sample *sample = &r->sample;
	struct dw_tracked_thread *th;
	enum dw_measure measure;
	uint32_t stack;
	int rc;

	/* No task has the numbers 0, of idle processors, and -1, of what is gone already. */
	if (r->pid <= 0 || sample->abi == PERF_SAMPLE_REGS_ABI_32 ||
	    (!sample->kernel_n && !has_user(sample))) {
		s->discarded++;
		s->discarded_32 += sample->abi == PERF_SAMPLE_REGS_ABI_32;
		return 0;
	}
	rc = find_thread(s, r, &th);
	if (!rc && s->counts) {
		rc = s->counts(s->ctx, th->id, sample);
		if (!rc)
			return 0;
		rc = rc < 0 ? rc : 0;
	}
	if (!rc)
		rc = take_frames(s, th, r, &stack);
	if (rc)
		return rc;
	measure = s->measure_of ? s->measure_of(s->ctx, sample) : DWELL_MEASURE_SAMPLES;
	if (measure != DWELL_MEASURE_SAMPLES)
		return put_extra(s, r, th, stack, measure);
	s->kept++;
	if (sample->kernel_n)
		th->process->kernel_samples++;
	else
		th->process->user_samples++;
	return dw_samples_add(&s->profile->samples, dw_track_time(s->track, r->time_ns), th->id,
			      stack);
}

int dw_sample_unwinder_begin(struct dw_sample_unwinder *s, struct dw_tracked_thread *th,
			     uint64_t time_ns)
{
	int rc = use_jit_code(s, th->process, time_ns);

	s->deep.time_ns = time_ns;
	return rc ? rc : prepare(s, th, th->walk && th->walk->has_frames);
}

int dw_sample_unwinder_intern(struct dw_sample_unwinder *s, const struct dw_tracked_thread *th,
			      size_t n, bool cut, const struct dw_interpreter_sample *frames,
			      uint32_t *ret)
{
	const struct dw_interpreter_process *p = th->process->interpreter;
	const struct dw_interpreter_merge m = {s->profile, p,
					       &s->interpreters.waits[p ? p->told.language : 0]};
	struct dw_walk w = {.has_frames = frames->is_told && p};
	int rc = cut ? push_cut(s, &w) : 0;

	while (n && !rc)
		rc = push_frame(s, th->process, &w, &s->frames[--n]);
	*ret = !rc && w.frames.n ? w.frames.v[w.frames.n - 1].stack : 0;
	if (!rc && w.has_frames && w.frames.n)
		rc = dw_interpreter_stack_merge(&m, &w, frames, ret);
	dw_vec_release(&w.frames);
	return rc;
}

void dw_sample_unwinder_ahead(const struct dw_sample_unwinder *s, const struct dw_perf_record *r)
{
	const struct dw_tracked_thread *th = dw_track_find(s->track, r->tid);

	if (th && th->walk && r->sample.abi == PERF_SAMPLE_REGS_ABI_64)
		fetch_ahead(th->walk, &r->sample);
}

void dw_sample_unwinder_release(struct dw_sample_unwinder *s)
{
	if (s->frames)
		munmap(s->frames, FRAMES_BYTES);
	s->frames = NULL;
	dw_deep_release(&s->deep);
	dw_interpreter_release(&s->interpreters);
}
