/*
 * Finding a function by name; see match.h. Three passes, each looser than the one before; the first
 * that finds anything decides.
 */
#include "analysis/match.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

enum { LISTED_MAX = 20 };

typedef bool fits_fn(const char *text, const char *name);

static bool is_equal(const char *text, const char *name)
{
	return !strcmp(text, name);
}

static bool fits_glob(const char *text, const char *name)
{
	return !fnmatch(text, name, 0);
}

static bool is_part(const char *text, const char *name)
{
	return *text && strstr(name, text);
}

static const char *name_of(const struct dw_profile *p, const struct dw_function *f)
{
	return dw_strings_get(&p->strings, f->name);
}

static const char *module_of(const struct dw_profile *p, const struct dw_function *f)
{
	const struct dw_module *m = dw_modules_get(&p->modules, f->module);

	return m ? dw_strings_get(&p->strings, m->name) : "";
}

/* Whether @text means @f by name, MODULE!NAME or MODULE!0xADDRESS. @label is scratch. */
static bool fits(const struct dw_profile *p, const struct dw_function *f, const char *text,
		 fits_fn *fn, struct dw_buf *label)
{
	if (fn(text, name_of(p, f)))
		return true;
	if (!strchr(text, '!'))
		return false;
	dw_buf_clear(label);
	dw_buf_printf(label, "%s!%s", module_of(p, f), name_of(p, f));
	if (fn(text, dw_buf_str(label)))
		return true;
	dw_buf_clear(label);
	dw_buf_printf(label, "%s!0x%" PRIx64, module_of(p, f), f->svma);
	return is_equal(text, dw_buf_str(label));
}

struct found {
	DW_VEC(uint32_t) ids;
};

static int search(const struct dw_profile *p, const char *text, fits_fn *fn, struct found *ret)
{
	struct dw_buf label = DW_BUF_INIT;
	int rc = 0;

	for (uint32_t id = 1; id <= dw_functions_count(&p->functions) && !rc; id++)
		if (fits(p, dw_functions_get(&p->functions, id), text, fn, &label))
			rc = dw_vec_push(&ret->ids, id);
	dw_buf_release(&label);
	return rc;
}

/* Whether another of the @found has the module and name of @f. */
static bool is_twin(const struct dw_profile *p, const struct found *found, uint32_t id)
{
	const struct dw_function *a = dw_functions_get(&p->functions, id);

	dw_vec_each(other, &found->ids) {
		const struct dw_function *b = dw_functions_get(&p->functions, *other);

		if (*other != id && a->module == b->module && a->name == b->name)
			return true;
	}
	return false;
}

static int report_several(const struct dw_profile *p, const char *text, const struct found *found,
			  struct dw_error *err)
{
	int rc = dw_error_set(err, DWELL_ERR_NOT_FOUND, "'%s' means %zu functions:", text,
			      found->ids.n);

	for (size_t i = 0; i < found->ids.n && i < LISTED_MAX; i++) {
		uint32_t id = found->ids.v[i];
		const struct dw_function *f = dw_functions_get(&p->functions, id);

		if (is_twin(p, found, id))
			dw_error_add_line(err, "  %s!0x%" PRIx64 "  %s", module_of(p, f), f->svma,
					  name_of(p, f));
		else
			dw_error_add_line(err, "  %s!%s", module_of(p, f), name_of(p, f));
	}
	if (found->ids.n > LISTED_MAX)
		dw_error_add_line(err, "  and %zu more", found->ids.n - LISTED_MAX);
	return rc;
}

int dw_match_function(const struct dw_profile *p, const char *text, uint32_t *ret,
		      struct dw_error *err)
{
	fits_fn *const passes[] = {is_equal, fits_glob, is_part};
	struct found found = {0};
	int rc = 0;

	for (size_t i = 0; i < sizeof passes / sizeof *passes && !found.ids.n && !rc; i++)
		rc = search(p, text, passes[i], &found);
	if (rc)
		dw_error_set(err, rc, "out of memory");
	else if (found.ids.n == 1)
		*ret = found.ids.v[0];
	else if (found.ids.n)
		rc = report_several(p, text, &found, err);
	else
		rc = dw_error_set(err, DWELL_ERR_NOT_FOUND, "no function '%s' in this session",
				  text);
	dw_vec_release(&found.ids);
	return rc;
}
