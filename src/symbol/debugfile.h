/*
 * Separate debug files: where they are, and whether they belong to the module.
 *
 * Paths are taken in the root and with the rights of the calling process, which is a helper that
 * has the target's (spawn.h). One thread at a time.
 */
#pragma once

#include "base/buf.h"
#include "code/elf/elf.h"

#include <elfutils/libdw.h>

/* The only way in which files named by debug information are opened: regular, at most 16 GB, never
 * waiting. A descriptor or -errno. */
int dw_debugfile_open(const char *path);

/* 0 when @fd is a file that may be read, -errno else. [signal-safe] */
int dw_debugfile_check(int fd);

/*
 * The debug file of the module @elf with path @module, by build-id or .gnu_debuglink, in @dirs
 * (colon-separated). Its build-id or checksum has been compared. Its path goes to @path. A
 * descriptor, or DWELL_ERR_NOT_FOUND.
 */
int dw_debugfile_find(const struct dw_elf *elf, const char *module, const char *dirs,
		      struct dw_buf *path);

/* The supplementary file (dwz) that @dwarf, read from @path, refers to. A descriptor, or
 * DWELL_ERR_NOT_FOUND. */
int dw_debugfile_find_alt(Dwarf *dwarf, const char *path, const char *dirs);

/* Whether the ELF file @fd has the build-id @id of @n bytes. */
bool dw_debugfile_has_id(int fd, const uint8_t *id, size_t n);

/* A descriptor of @fd if that is the supplementary file that @dwarf refers to, or
 * DWELL_ERR_NOT_FOUND. */
int dw_debugfile_take_alt(Dwarf *dwarf, int fd);

/* Unpack the symbol table in .gnu_debugdata of @elf. 0; *@ret is the caller's to free().
 * DWELL_ERR_NOT_FOUND, DWELL_ERR_FORMAT, -ENOMEM. */
int dw_debugfile_unpack(const struct dw_elf *elf, uint8_t **ret, size_t *ret_n);
