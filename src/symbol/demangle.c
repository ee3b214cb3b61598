/*
 * Demangling; see demangle.h. libiberty's own recursion limit stays on. Its automatic style knows
 * Rust and C++ but not D, which is asked for by its prefix.
 */
#include "symbol/demangle.h"

#include "base/cleanup.h"
#include "code/clr/native-name.h"
#include "symbol/question.h"

#include <errno.h>
#include <libiberty/demangle.h>
#include <string.h>

char *dw_demangle(const char *mangled)
{
	int options = DMGL_PARAMS | DMGL_ANSI;

	if (strnlen(mangled, DWELL_ANSWER_NAME_MAX_BYTES) == DWELL_ANSWER_NAME_MAX_BYTES)
		return NULL;
	if (mangled[0] != '_')
		return NULL;
	if (mangled[1] == 'D')
		return dlang_demangle(mangled, options);
	if (mangled[1] == 'R')
		return rust_demangle(mangled, options);
	return cplus_demangle(mangled, options | DMGL_AUTO);
}

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
