/*
 * What the summary of calls says of files: how much was read and written, and in how many calls,
 * which tells at once whether it was in small pieces. It is known of whole recordings only.
 */
#include "view/notes.h"

#include "analysis/totals.h"

void dw_notes_files(struct dw_notes *t)
{
	struct dw_io_sums sum = {0};
	uint64_t files = 0;

	dw_vec_each(f, &t->totals->files) {
		if (f->parent != UINT32_MAX)
			continue;
		dw_io_sums_add(&sum, &f->sums);
		/* Pipes and their like have no path. */
		files += dw_strings_get(&t->profile->strings, f->file)[0] == '/';
	}
	if (!(sum.reads + sum.writes))
		return;
	dw_note(t, SAYS, READ_AND_WRITTEN,
		.n = {sum.bytes_read, sum.reads, sum.bytes_written, sum.writes});
	if (files)
		dw_note(t, MORE, OF_FILES, .n = {files});
	dw_note(t, MORE, SEE_FILES);
}
