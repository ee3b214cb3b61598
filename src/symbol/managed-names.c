/* Names of native-compiled .NET methods; see managed-names.h. */
#include "symbol/managed-names.h"

#include "base/cleanup.h"
#include "code/clr/native-name.h"

#include <errno.h>
#include <string.h>

#define CODE "__managedcode"

static int rename_function(struct dw_answer *a, struct dw_function *f, const char *program)
{
	const uint32_t symbol = f->linkage_name ? f->linkage_name : f->name;
	const struct dw_native_method method = {
		.symbol = dw_strings_get(&a->strings, symbol),
		.name = f->linkage_name ? dw_strings_get(&a->strings, f->name) : NULL,
		.program = program,
	};
	dw_auto(dw_buf) name = DW_BUF_INIT;

	if (!dw_native_name_put(&name, &method))
		return 0;
	if (name.failed)
		return -ENOMEM;
	f->linkage_name = symbol;
	f->file = f->line = 0;
	return dw_strings_add(&a->strings, name.data, name.len, &f->name);
}

int dw_managed_names_put(struct dw_answer *a, const struct dw_elf *elf, const char *path)
{
	const struct dw_elf_section *code = dw_elf_section(elf, CODE);
	const char *slash = strrchr(path, '/');
	int rc = 0;

	if (!code)
		return 0;
	dw_vec_each(f, &a->functions) {
		if (f->name && f->svma - code->svma.v < code->bytes && !rc)
			rc = rename_function(a, f, slash ? slash + 1 : path);
	}
	return rc;
}
