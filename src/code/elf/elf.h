/*
 * A reader of ELF files for this processor that trusts nothing: headers, segments, sections,
 * build-id.
 *
 * Reads with pread() into private memory, never maps (a file that a target can truncate would raise
 * SIGBUS), checks every offset and size against the file's size and named limits. Not for debug
 * information: that is libdw's, in src/symbol. One object may be read by several threads.
 */
#pragma once

#include "base/address.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct dw_elf;

struct dw_elf_segment {
	uint32_t type;	/* PT_* */
	uint32_t flags; /* PF_* */
	struct dw_foff offset;
	struct dw_svma svma;
	uint64_t file_bytes;
	uint64_t memory_bytes;
};

struct dw_elf_section {
	const char *name; /* borrowed from the object, never NULL */
	uint32_t type;	  /* SHT_* */
	uint64_t flags;	  /* SHF_* */
	struct dw_foff offset;
	struct dw_svma svma;
	uint64_t bytes; /* in the file; 0 for SHT_NOBITS */
};

/*
 * Open the ELF file behind @fd (duplicated; the caller keeps its own).
 * Returns 0; DWELL_ERR_FORMAT (not ELF, or broken: @err says where); DWELL_ERR_UNSUPPORTED (ELF,
 * but not of 64 bits, little-endian and for this processor); -errno of a read. *@ret is written on
 * success only; dw_elf_free() it.
 */
int dw_elf_open(int fd, struct dw_elf **ret, struct dw_error *err);

/*
 * Open an ELF image in memory, borrowed until dw_elf_free(). @loaded: laid out as the loader does
 * (the vdso, or a module read from a process): bytes lie at their svma minus the first segment's,
 * and sections may be missing. Errors as dw_elf_open().
 */
int dw_elf_open_bytes(const void *bytes, size_t n, bool loaded, struct dw_elf **ret,
		      struct dw_error *err);

/* Free @elf. NULL is fine. */
void dw_elf_free(struct dw_elf *elf);

/* ET_EXEC, ET_DYN, ... */
uint16_t dw_elf_type(const struct dw_elf *elf);

/* Where the kernel enters the file when it is executed (e_entry), 0 = nowhere. */
struct dw_svma dw_elf_entry(const struct dw_elf *elf);

/* The segments, borrowed. *@n = their number. */
const struct dw_elf_segment *dw_elf_segments(const struct dw_elf *elf, size_t *n);

/* The sections, borrowed. *@n = their number, 0 when the file has no (readable) section headers. */
const struct dw_elf_section *dw_elf_sections(const struct dw_elf *elf, size_t *n);

/* The first section called @name, borrowed. NULL = none. */
const struct dw_elf_section *dw_elf_section(const struct dw_elf *elf, const char *name);

/*
 * Read @section whole, decompressed where SHF_COMPRESSED says so (zlib, zstd). *@ret is the
 * caller's to free() and has one NUL behind @ret_n bytes. DWELL_ERR_LIMIT past 1 GB.
 */
int dw_elf_read_section(const struct dw_elf *elf, const struct dw_elf_section *section,
			uint8_t **ret, size_t *ret_n, struct dw_error *err);

/* The contents of the section @name, *@n bytes with a NUL behind them, which the caller frees. NULL
 * and 0 = it has none that can be read. */
uint8_t *dw_elf_read_named(const struct dw_elf *elf, const char *name, size_t *n);

/* Read @n bytes that the loader would put at @svma. 0; DWELL_ERR_NOT_FOUND when they are not all in
 * the file. -errno. */
int dw_elf_read_svma(const struct dw_elf *elf, struct dw_svma svma, void *buf, size_t n);

/* Copy the build-id (at most @max bytes) among the @n bytes of notes at @notes, which are foreign,
 * to @id. The number of bytes, 0 = none. */
size_t dw_elf_notes_build_id(const uint8_t *notes, size_t n, uint8_t *id, size_t max);

/* Likewise the build-id of the file. */
size_t dw_elf_build_id(const struct dw_elf *elf, uint8_t *id, size_t max);

/*
 * Where a mapping of @pgoff bytes into the file at address @start puts svma 0: avma = svma +
 * *@ret_bias (wraps). Returns 0, or DWELL_ERR_NOT_FOUND when no loadable segment covers that
 * offset.
 */
int dw_elf_bias(const struct dw_elf *elf, struct dw_avma start, struct dw_foff pgoff,
		uint64_t *ret_bias);
