/*
 * The identity of a module's code: equal in the file and in memory, computed by collector and
 * agent.
 *
 * A plain fast hash, no defence against a forger: who could forge a module runs it anyway; the
 * image only has to fit the bytes. Header-only, no calls into libc. [any-thread]
 * [async-signal-safe]
 */
#pragma once

#include "wire/clone-image.h"

#include <stddef.h>
#include <stdint.h>

#define DWELL_HASH_INIT 0x9e3779b97f4a7c15ULL

/*
 * Hash @n bytes at @bytes into @h, eight at a time in four lanes, so that 20 MB take some 3 ms.
 * Chains: the hash of two pieces in turn depends on where they are cut.
 */
static inline uint64_t dw_identity_hash(uint64_t h, const void *bytes, size_t n)
{
	const uint64_t mul = 0xff51afd7ed558ccdULL;
	const unsigned char *p = bytes;
	uint64_t lane[4] = {h, h ^ mul, h + mul, ~h};
	uint64_t word;

	for (; n >= 32; n -= 32, p += 32) {
		for (int i = 0; i < 4; i++) {
			__builtin_memcpy(&word, p + 8 * i, 8);
			lane[i] = (lane[i] ^ word) * mul;
			lane[i] ^= lane[i] >> 29;
		}
	}
	for (; n > 0; n--, p++)
		lane[0] = (lane[0] ^ *p) * mul;
	for (int i = 1; i < 4; i++)
		lane[0] = (lane[0] ^ (lane[i] >> 31) ^ lane[i]) * mul;
	return lane[0] ^ (lane[0] >> 32);
}

enum { DWELL_IDENTITY_GAP = 1024 };

/* Bytes of a module's code, module offsets. */
struct dw_identity_run {
	uint32_t start, end;
};

/*
 * The run of cloned functions that begins at @functions[@i] or behind it, of @n: those that follow
 * each other closely and what lies between them, so that hashing takes long pieces. The index to go
 * on with; no run is found when *@ret is empty.
 */
static inline uint32_t dw_identity_run(const struct dw_clone_function_entry *functions, uint32_t n,
				       uint32_t i, struct dw_identity_run *ret)
{
	while (i < n && !functions[i].clone_at)
		i++;
	ret->start = ret->end = i < n ? functions[i].start : 0;
	for (; i < n; i++) {
		if (functions[i].start - ret->end > DWELL_IDENTITY_GAP)
			break;
		if (functions[i].clone_at)
			ret->end = functions[i].start + functions[i].bytes;
	}
	return i;
}
