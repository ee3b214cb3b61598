/* Source files of a session; see source.h. They are few, and asked for once each. */
#include "model/source.h"

#include <stdlib.h>

const struct dw_source *dw_sources_get(const struct dw_sources *t, uint32_t file)
{
	dw_vec_each(s, &t->rows)
		if (s->file == file)
			return s;
	return NULL;
}

void dw_sources_release(struct dw_sources *t)
{
	dw_vec_each(s, &t->rows)
		free(s->text);
	dw_vec_release(&t->rows);
}
