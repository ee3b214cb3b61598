/* Growth of typed arrays; see vec.h. */
#include "base/vec.h"

#include <errno.h>

int dw_vec_grow(void **pv, size_t *cap, size_t need, size_t size)
{
	size_t want = *cap < 8 ? 16 : *cap + *cap / 2;
	void *v;

	if (want < need)
		want = need;
	v = reallocarray(*pv, want, size);
	if (!v)
		return -ENOMEM;
	*pv = v;
	*cap = want;
	return 0;
}
