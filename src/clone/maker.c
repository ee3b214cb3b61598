/*
 * The running program's build-id; see maker.h.
 */
#include "clone/maker.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "code/elf/elf.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

void dw_clone_maker(uint8_t id[DWELL_MAKER_BYTES])
{
	dw_auto_close int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct dw_elf *elf = NULL;
	struct stat st;
	uint64_t hash;

	memset(id, 0, DWELL_MAKER_BYTES);
	if (fd < 0)
		return;
	if (!dw_elf_open(fd, &elf, NULL) && dw_elf_build_id(elf, id, DWELL_MAKER_BYTES)) {
		dw_elf_free(elf);
		return;
	}
	dw_elf_free(elf);
	if (fstat(fd, &st))
		return;
	hash = dw_hash_bytes(&st.st_mtim, sizeof st.st_mtim, (uint64_t)st.st_size);
	memcpy(id, &hash, sizeof hash);
}
