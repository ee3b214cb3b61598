/*
 * The memory of a running process, read without stopping it (process_vm_readv), and the images of
 * modules, from there or from files: what unwinding needs of a module's code, and where those bytes
 * are.
 *
 * What is read may change at any moment: callers check what must hold. Images tie code/elf and
 * code/cfi together for those who see modules mapped, and are immutable once made. [any-thread]
 */
#pragma once

#include "base/address.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Copy [@addr, @addr + @n) of @pid to @buf, as far as it is readable from its start on. The number
 * of bytes copied, or -errno (-ESRCH gone, -EPERM, -EFAULT nothing readable there).
 */
ssize_t dw_memory_read(pid_t pid, uint64_t addr, void *buf, size_t n);

struct dw_cfi_table;
struct dw_elf;
struct dw_image;

/*
 * Open the ELF file behind @fd, which is taken over in case of success. Its unwind table comes from
 * @cache_dir (NULL = none) or is compiled now; a file without one is fine. 0; DWELL_ERR_FORMAT;
 * DWELL_ERR_UNSUPPORTED (not for this processor); -errno.
 */
int dw_image_open(int fd, const char *cache_dir, struct dw_image **ret, struct dw_error *err);

/* As dw_image_open() for an image as loaded, @n malloc()ed @bytes, taken over in case of success.
 */
int dw_image_open_bytes(uint8_t *bytes, size_t n, const char *cache_dir, struct dw_image **ret,
			struct dw_error *err);

/*
 * Copy the image of a module out of the memory of @pid; its ELF header is mapped at @base. Parts
 * that cannot be read stay zero. 0; DWELL_ERR_FORMAT; DWELL_ERR_LIMIT; -errno.
 */
int dw_image_copy(pid_t pid, uint64_t base, const char *cache_dir, struct dw_image **ret,
		  struct dw_error *err);

/* The vdso, which is the same in all processes: that of the caller. DWELL_ERR_NOT_FOUND without
 * one. */
int dw_image_vdso(const char *cache_dir, struct dw_image **ret, struct dw_error *err);

/* Free @image and close its file. NULL is fine. */
void dw_image_free(struct dw_image *image);

/* Where a mapping of file offset @offset at @start puts svma 0: avma = svma + *@ret. 0 or
 * DWELL_ERR_NOT_FOUND. */
int dw_image_bias(const struct dw_image *image, uint64_t start, uint64_t offset, uint64_t *ret);

/* The unwind table, borrowed. NULL = none. */
const struct dw_cfi_table *dw_image_cfi(const struct dw_image *image);

/* The build-id, borrowed, *@n = its bytes, 0 = none. */
const uint8_t *dw_image_build_id(const struct dw_image *image, size_t *n);

/* Its ELF object, borrowed. */
const struct dw_elf *dw_image_elf(const struct dw_image *image);

/* The file, borrowed. -1 for an image from memory. */
int dw_image_fd(const struct dw_image *image);

/* The bytes of an image from memory, borrowed. NULL for a file. */
const uint8_t *dw_image_bytes(const struct dw_image *image, size_t *n);
