/*
 * Symbols of other modules, without dlsym(): it takes the loader's lock, looks at its caller's
 * address and may itself be stood in for.
 *
 * The loader's list of modules (struct link_map) is read without a lock: the constructor runs while
 * the loader holds it, and later callers ask for symbols of modules that never go away. The list's
 * order is that in which modules were loaded, which for those of the start is the order of the
 * search. Symbols are found by DT_GNU_HASH, or by DT_HASH where a linker made only that.
 * Sources: the ELF gABI, "DT_GNU_HASH" as binutils writes it, glibc's link.h.
 */
#include "agent/core/agent-internal.h"
#include "agent/core/bytes.h"
#include "agent/core/slow.h"
#include "agent/core/system-calls.h"

#include <elf.h>
#include <link.h>

extern struct r_debug _r_debug __attribute__((weak)); /* the loader's; missing in other libcs */
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

enum { DWELL_SYMBOL_HIDDEN = 0x8000, DWELL_GNU_HASH_HEADER = 4 };

/* A module's symbols. */
struct symbols {
	const ElfW(Sym) * symbols;
	const char *names;
	const uint16_t *versions; /* NULL = none */
	const uint32_t *gnu_hash;
	const uint32_t *hash;
};

/* What a dynamic entry points to: glibc relocates it in place, but for the vDSO's. */
static const void *pointee(const struct link_map *map, const ElfW(Dyn) * entry)
{
	ElfW(Addr) value = entry->d_un.d_ptr;

	return (const void *)(value < map->l_addr ? value + map->l_addr : value);
}

static struct symbols symbols_of(const struct link_map *map)
{
	struct symbols s = {0};

	for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
		const void *at = pointee(map, entry);

		if (entry->d_tag == DT_SYMTAB)
			s.symbols = at;
		else if (entry->d_tag == DT_STRTAB)
			s.names = at;
		else if (entry->d_tag == DT_VERSYM)
			s.versions = at;
		else if (entry->d_tag == DT_GNU_HASH)
			s.gnu_hash = at;
		else if (entry->d_tag == DT_HASH)
			s.hash = at;
	}
	return s;
}

/* Whether symbol @i is the default definition of @name that others may use. */
static bool is_definition(const struct symbols *s, uint32_t i, const char *name)
{
	const ElfW(Sym) *symbol = &s->symbols[i];
	unsigned int type = ELF64_ST_TYPE(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF && type != STT_TLS &&
	       ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
	       !(s->versions && s->versions[i] & DWELL_SYMBOL_HIDDEN) &&
	       dw_text_equal(s->names + symbol->st_name, name);
}

static const ElfW(Sym) * find_gnu(const struct symbols *s, const char *name)
{
	const uint32_t *table = s->gnu_hash;
	uint32_t bucket_n = table[0], first = table[1], bloom_n = table[2], hash = 5381, i;
	const uint32_t *buckets = table + DWELL_GNU_HASH_HEADER + 2 * (size_t)bloom_n;
	const uint32_t *chain = buckets + bucket_n;

	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	i = bucket_n ? buckets[hash % bucket_n] : 0;
	if (i < first)
		return NULL;
	for (;; i++) {
		if ((chain[i - first] | 1) == (hash | 1) && is_definition(s, i, name))
			return &s->symbols[i];
		if (chain[i - first] & 1)
			return NULL;
	}
}

static const ElfW(Sym) * find_sysv(const struct symbols *s, const char *name)
{
	uint32_t bucket_n = s->hash[0], hash = 0;
	const uint32_t *buckets = s->hash + 2, *chain = buckets + bucket_n;

	for (const char *c = name; *c; c++) {
		hash = (hash << 4) + (unsigned char)*c;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	for (uint32_t i = bucket_n ? buckets[hash % bucket_n] : 0; i; i = chain[i])
		if (is_definition(s, i, name))
			return &s->symbols[i];
	return NULL;
}

/* What the function @resolver of another module gives. */
static void *resolve(void *(*resolver)(void))
{
	bool is_own = dw_slow_begin_own((uint64_t)__builtin_frame_address(0));
	void *found = resolver();

	dw_slow_end_own(is_own);
	return found;
}

void *dw_loader_find(const struct link_map *map, const char *name)
{
	struct symbols s = symbols_of(map);
	const ElfW(Sym) *symbol = NULL;
	void *(*resolver)(void);

	if (!s.symbols || !s.names)
		return NULL;
	if (s.gnu_hash)
		symbol = find_gnu(&s, name);
	else if (s.hash)
		symbol = find_sysv(&s, name);
	if (!symbol)
		return NULL;
	resolver = (void *(*)(void))(map->l_addr + symbol->st_value);
	return ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC ? resolve(resolver)
							       : (void *)resolver;
}

static const struct link_map *own_map(void)
{
	const struct link_map *map = _r_debug.r_map;

	while (map && map->l_ld != _DYNAMIC)
		map = map->l_next;
	return map;
}

void *dw_real(const char *name)
{
	const struct link_map *map = &_r_debug ? own_map() : NULL;
	void *found = NULL;

	while (map && !found) {
		map = map->l_next;
		found = map ? dw_loader_find(map, name) : NULL;
	}
	return found;
}

void *dw_loader_first(const char *name)
{
	const struct link_map *map = &_r_debug ? _r_debug.r_map : NULL;
	void *found = NULL;

	for (; map && !found; map = map->l_next)
		found = dw_loader_find(map, name);
	return found;
}

void *dw_real_once(void **kept, const char *name)
{
	void *found = __atomic_load_n(kept, __ATOMIC_RELAXED);

	if (!found) {
		found = dw_real(name);
		__atomic_store_n(kept, found, __ATOMIC_RELAXED);
	}
	return found;
}

void dw_errno_set(int error)
{
	int *(*location)(void) = dw_real_once(&dw_agent.real_errno, "__errno_location");
	bool is_own = dw_slow_begin_own((uint64_t)__builtin_frame_address(0));

	*location() = error;
	dw_slow_end_own(is_own);
}

static const char *soname(const struct link_map *map)
{
	const char *names = NULL, *name = NULL;

	for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_STRTAB)
			names = pointee(map, entry);
	for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_SONAME && names)
			name = names + entry->d_un.d_val;
	return name;
}

const struct link_map *dw_loader_libc(void)
{
	const char *name;

	if (!&_r_debug)
		return NULL;
	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
		name = soname(map);
		if (name && dw_text_equal(name, "libc.so.6"))
			return dw_loader_find(map, "gnu_get_libc_version") ? map : NULL;
	}
	return NULL;
}

const char *dw_loader_own_path(void)
{
	const struct link_map *map = dw_loader_libc() ? own_map() : NULL;

	return map ? map->l_name : NULL;
}

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
