/*
 * Fuzz target: what a hostile target tells of Python. The input begins with a byte that chooses the
 * version and one for the number of frames of a sample; then come those, and the rest is a record
 * of a code object, told at least once. Its line table is read, and the frames are merged with a
 * stack that evaluates twice.
 */
#include "collect/samples/interpreter-stack.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EVAL = 0x1000, FRAMES = 8 };

static void merge(struct dw_profile *p, struct dw_interpreters *all,
		  struct dw_interpreter_process *process,
		  const struct dw_interpreter_sample *sample)
{
	const struct dw_interpreter_merge m = {p, process, &all->counts[process->told.language]};
	struct dw_walk_frame rows[] = {{.pc = 1}, {.pc = EVAL}, {.pc = 2}, {.pc = EVAL}, {.pc = 3}};
	struct dw_walk w = {.has_frames = true};
	uint32_t stack;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (dw_frames_add(&p->frames, (struct dw_frame){.svma = rows[i].pc},
				  &rows[i].frame))
			abort();
	w.frames.v = rows;
	w.frames.n = sizeof rows / sizeof *rows;
	if (dw_interpreter_stack_merge(&m, &w, sample, &stack) || !dw_stacks_get(&p->stacks, stack))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_interpreter_runtime runtime = {
		.language = DWELL_PYTHON, .version = 0x309, .eval = EVAL};
	struct dw_interpreter_frame frames[FRAMES] = {0};
	struct dw_interpreter_sample sample = {.frames = frames, .is_told = true};
	struct dw_interpreter_process *process;
	struct dw_interpreters all = {0};
	struct dw_jit jit;

	if (size < 2)
		return 0;
	runtime.version += data[0] % 5;
	runtime.language += data[0] / 20 % (DWELL_LANGUAGES_END - 1);
	sample.state = data[0] / 5 % 4;
	sample.n = data[1] % (FRAMES + 1);
	if (size - 2 < sample.n * sizeof *frames)
		return 0;
	memcpy(frames, data + 2, sample.n * sizeof *frames);
	data += 2 + sample.n * sizeof *frames;
	size -= 2 + sample.n * sizeof *frames;
	dw_jit_init(&jit, &p);
	all.jit = &jit;
	process = dw_interpreter_begin(&runtime);
	if (!process)
		abort();
	process->eval.n = 1;
	process->eval.parts[0].start = EVAL;
	process->eval.parts[0].end = EVAL + 1;
	dw_interpreter_tell(&all, process, data, size);
	dw_interpreter_tell(&all, process, data, size);
	merge(&p, &all, process, &sample);
	dw_interpreter_end(process);
	dw_interpreter_release(&all);
	dw_jit_release(&jit);
	dw_profile_release(&p);
	return 0;
}
