/* The dynamic section's DT_NEEDED; see needed.h. */
#include "code/elf/needed.h"

#include "base/cleanup.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES_MAX = 4096 }; /* of a dynamic section */

/* Read the dynamic section, up to its end mark. The caller frees *@ret. */
static int read_entries(const struct dw_elf *elf, Elf64_Dyn **ret, size_t *ret_n)
{
	size_t n, max, end = 0;
	const struct dw_elf_segment *s = dw_elf_segments(elf, &n);
	int rc;

	while (n && s->type != PT_DYNAMIC) {
		s++;
		n--;
	}
	*ret = NULL;
	*ret_n = 0;
	max = n ? s->file_bytes / sizeof **ret : 0;
	if (!max)
		return 0;
	max = max < ENTRIES_MAX ? max : ENTRIES_MAX;
	*ret = calloc(max, sizeof **ret);
	if (!*ret)
		return -ENOMEM;
	rc = dw_elf_read_svma(elf, s->svma, *ret, max * sizeof **ret);
	while (!rc && end < max && (*ret)[end].d_tag != DT_NULL)
		end++;
	*ret_n = end;
	return rc;
}

/* Add the name at @at of the @n bytes of strings at @strings. */
static int add_name(const struct dw_elf *elf, struct dw_elf_needed *ret, uint64_t strings,
		    uint64_t n, uint64_t at)
{
	char name[DWELL_ELF_NEEDED_BYTES];
	size_t bytes;
	char *copy;
	int rc;

	if (at >= n)
		return DWELL_ERR_NOT_FOUND;
	bytes = n - at < sizeof name ? (size_t)(n - at) : sizeof name;
	rc = dw_elf_read_svma(elf, (struct dw_svma){strings + at}, name, bytes);
	if (rc || !memchr(name, 0, bytes))
		return rc;
	copy = strdup(name);
	if (copy && !dw_vec_push(&ret->names, copy))
		return 0;
	free(copy);
	return -ENOMEM;
}

int dw_elf_needed_read(const struct dw_elf *elf, struct dw_elf_needed *ret)
{
	dw_auto_free Elf64_Dyn *entries = NULL;
	uint64_t strings = 0, strings_n = 0;
	size_t n;
	int rc = read_entries(elf, &entries, &n);

	*ret = (struct dw_elf_needed){0};
	for (size_t i = 0; i < n; i++) {
		if (entries[i].d_tag == DT_STRTAB)
			strings = entries[i].d_un.d_ptr;
		else if (entries[i].d_tag == DT_STRSZ)
			strings_n = entries[i].d_un.d_val;
	}
	for (size_t i = 0; i < n && !rc && ret->names.n < DWELL_ELF_NEEDED_MAX; i++)
		if (entries[i].d_tag == DT_NEEDED)
			rc = add_name(elf, ret, strings, strings_n, entries[i].d_un.d_val);
	return rc;
}

void dw_elf_needed_release(struct dw_elf_needed *n)
{
	dw_vec_each(name, &n->names)
		free(*name);
	dw_vec_release(&n->names);
}

uint64_t dw_elf_code_bytes(const struct dw_elf *elf)
{
	size_t n;
	const struct dw_elf_segment *s = dw_elf_segments(elf, &n);
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		if (s[i].type == PT_LOAD && s[i].flags & PF_X)
			sum += s[i].file_bytes;
	return sum;
}
