/*
 * Modules. The agent among them is listed last, though it was loaded first: the address sanitizer
 * insists on being the first library, and refuses to run otherwise. What may be about to go is told
 * of first.
 */
#include "agent/sample/maps.h"
#include "agent/sample/reals.h"

#include <dlfcn.h>
#include <link.h>

#define STAND_IN __attribute__((visibility("default")))

extern const char __ehdr_start[] __attribute__((visibility("hidden"))); /* by the linker */

/* One caller's walk over modules. */
struct listing {
	int (*callback)(struct dl_phdr_info *info, size_t size, void *data);
	void *data;
	struct dl_phdr_info own;
	size_t own_size; /* 0 = not come by yet */
};

static int list(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct listing *l = ctx;

	if (info->dlpi_addr != (uintptr_t)__ehdr_start || size > sizeof(l->own))
		return l->callback(info, size, l->data);
	l->own = *info;
	l->own_size = size;
	return 0;
}

STAND_IN int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
	__typeof__(&dl_iterate_phdr) real = DW_SAMPLE_REAL(dl_iterate_phdr);
	struct listing l = {.callback = callback, .data = data};
	int result = real ? real(list, &l) : 0;

	return result || !l.own_size ? result : callback(&l.own, l.own_size, data);
}

STAND_IN int dlclose(void *handle)
{
	__typeof__(&dlclose) real = DW_SAMPLE_REAL(dlclose);

	dw_maps_tell_of_samples();
	return real ? real(handle) : -1;
}
