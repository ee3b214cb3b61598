/*
 * What readers of all languages share; see frames.h.
 */
#include "interpreter/frames.h"

uint32_t dw_interpreter_describe(struct dw_interpreter_frames *f,
				 const struct dw_interpreter_frame *frame, uint64_t object,
				 struct dw_interpreter_code *ret,
				 struct dw_interpreter_part parts[DWELL_INTERPRETER_PARTS])
{
	struct dw_interpreter_text *const texts[] = {&ret->owner, &ret->name, &ret->file};
	uint32_t bytes = sizeof(*ret);

	*ret = (struct dw_interpreter_code){
		.code = frame->code & ~(uint64_t)DWELL_INTERPRETER_FLAGS, .seal = frame->seal};
	for (int i = 0; i < DWELL_INTERPRETER_PARTS; i++)
		parts[i] = (struct dw_interpreter_part){0};
	f->reader->describe(f, object, ret, parts);
	for (int i = 0; i < DWELL_INTERPRETER_LINES; i++)
		*texts[i] = (struct dw_interpreter_text){(uint16_t)parts[i].bytes,
							 (uint16_t)parts[i].width};
	ret->lines_bytes = parts[DWELL_INTERPRETER_LINES].bytes;
	for (int i = 0; i < DWELL_INTERPRETER_PARTS; i++)
		bytes += parts[i].bytes;
	return bytes;
}
