/*
 * Fuzz target: what a hostile target tells of Python. The input begins with a byte that chooses the
 * version and one for the number of frames of a sample; then come those, and the rest is a record
 * of a code object, told at least once. Its line table is read, and the frames are merged with a
 * stack that evaluates twice.
 */
#include "collect/samples/python-stack.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { EVAL = 0x1000, FRAMES = 8 };

static void merge(struct dw_profile *p, struct dw_python *all, struct dw_python_process *process,
		  const struct dw_python_sample *sample)
{
	const struct dw_python_merge m = {p, process, &all->counts};
	struct dw_walk_frame rows[] = {{.pc = 1}, {.pc = EVAL}, {.pc = 2}, {.pc = EVAL}, {.pc = 3}};
	struct dw_walk w = {.has_frames = true};
	uint32_t stack;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (dw_frames_add(&p->frames, (struct dw_frame){.svma = rows[i].pc},
				  &rows[i].frame))
			abort();
	w.frames.v = rows;
	w.frames.n = sizeof rows / sizeof *rows;
	if (dw_python_stack_merge(&m, &w, sample, &stack) || !dw_stacks_get(&p->stacks, stack))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_python_runtime runtime = {.version = 0x309, .eval = EVAL};
	struct dw_python_frame frames[FRAMES] = {0};
	struct dw_python_sample sample = {.frames = frames, .is_told = true};
	struct dw_python_process *process;
	struct dw_python all = {0};
	struct dw_jit jit;

	if (size < 2)
		return 0;
	runtime.version += data[0] % 5;
	sample.state = data[0] / 5 % 4;
	sample.n = data[1] % (FRAMES + 1);
	if (size - 2 < sample.n * sizeof *frames)
		return 0;
	memcpy(frames, data + 2, sample.n * sizeof *frames);
	data += 2 + sample.n * sizeof *frames;
	size -= 2 + sample.n * sizeof *frames;
	dw_jit_init(&jit, &p);
	all.jit = &jit;
	process = dw_python_begin(&runtime, NULL, 0);
	if (!process)
		abort();
	process->eval.n = 1;
	process->eval.parts[0].start = EVAL;
	process->eval.parts[0].end = EVAL + 1;
	dw_python_tell(&all, process, data, size);
	dw_python_tell(&all, process, data, size);
	merge(&p, &all, process, &sample);
	dw_python_end(process);
	dw_python_release(&all);
	dw_jit_release(&jit);
	dw_profile_release(&p);
	return 0;
}
