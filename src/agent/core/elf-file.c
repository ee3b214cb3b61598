/* Where a module's bytes lie in its file; see elf-file.h. All headers are read at once. */
#include "agent/core/elf-file.h"

#include "agent/core/bytes.h"
#include "agent/core/syscall-x86-64.h"

#include <elf.h>

enum { DWELL_ELF_SEGMENTS = 32 };

uint64_t dw_elf_file_offset(int fd, uint64_t svma)
{
	Elf64_Ehdr elf;
	Elf64_Phdr segments[DWELL_ELF_SEGMENTS], *p = segments;
	long bytes;

	if (dw_sys_pread(fd, &elf, sizeof(elf), 0) != (long)sizeof(elf) ||
	    memcmp(elf.e_ident, ELFMAG, SELFMAG) || elf.e_phnum > DWELL_ELF_SEGMENTS)
		return 0;
	bytes = elf.e_phnum * (long)sizeof(*p);
	if (dw_sys_pread(fd, segments, (size_t)bytes, elf.e_phoff) != bytes)
		return 0;
	for (; p < segments + elf.e_phnum; p++)
		if (p->p_type == PT_LOAD && svma - p->p_vaddr < p->p_filesz)
			return svma - p->p_vaddr + p->p_offset;
	return 0;
}
