/*
 * Reading and decoding a module; see module.h.
 *
 * Functions are what .eh_frame describes: that table must be right for the program's own sake, and
 * stripped files have it. Ranges that overlap are cut to be disjoint and left alone. What linkers
 * make themselves (.plt, .init, .fini) is no function. Decoding is divided among threads; a range
 * that does not decode to its very end leaves no instructions.
 *
 * Shares have about as many bytes of code each. A thread takes some 30 us to start, which is what
 * small modules take as a whole.
 */
#include "clone/module.h"

#include "base/cleanup.h"
#include "base/process-setup.h"
#include "base/vec.h"
#include "wire/identity.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { WORTH_BYTES = 1 << 16 };

struct job {
	void (*work)(void *ctx, const struct dw_share *share);
	void *ctx;
	struct dw_share share;
};

static void *run_share(void *arg)
{
	struct job *job = arg;

	job->work(job->ctx, &job->share);
	return NULL;
}

void dw_shares_run(const struct dw_clone_module *m,
		   void (*work)(void *ctx, const struct dw_share *share), void *ctx)
{
	struct job jobs[DWELL_SHARES];
	pthread_t threads[DWELL_SHARES];
	bool is_thread[DWELL_SHARES] = {0};
	uint64_t sum = 0, all = 0;
	uint32_t i = 0;

	dw_vec_each(f, &m->functions)
		all += f->end - f->start;
	for (unsigned k = 0; k < DWELL_SHARES; k++) {
		jobs[k] = (struct job){work, ctx, {.k = k, .first = i}};
		for (; i < m->functions.n &&
		       (k == DWELL_SHARES - 1 || sum < all / DWELL_SHARES * (k + 1));
		     i++)
			sum += m->functions.v[i].end - m->functions.v[i].start;
		jobs[k].share.end = i;
	}
	for (unsigned k = 1; k < DWELL_SHARES && all >= WORTH_BYTES; k++)
		is_thread[k] = !pthread_create(&threads[k], NULL, run_share, &jobs[k]);
	for (unsigned k = 0; k < DWELL_SHARES; k++) {
		if (is_thread[k])
			pthread_join(threads[k], NULL);
		else
			run_share(&jobs[k]);
	}
}

enum { PAGE = 4096, MAX_BYTES = 1 << 30 };

static int read_segment(struct dw_clone_module *m, const struct dw_elf_segment *s)
{
	struct dw_clone_segment add = {s->svma.v, s->file_bytes, s->flags, NULL};

	add.bytes = malloc(s->file_bytes + 1);
	if (!add.bytes || dw_vec_push(&m->segments, add)) {
		free(add.bytes);
		return -ENOMEM;
	}
	dw_large_advise(add.bytes, s->file_bytes);
	return dw_elf_read_svma(m->elf, s->svma, add.bytes, s->file_bytes);
}

/* Read the bytes of all segments, or of what the identity needs only, and where the module begins
 * and ends. */
static int read_segments(struct dw_clone_module *m, bool all, struct dw_error *err)
{
	size_t n;
	const struct dw_elf_segment *s = dw_elf_segments(m->elf, &n);
	uint64_t low = UINT64_MAX, high = 0, sum = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t end = s[i].svma.v + s[i].memory_bytes;

		if (s[i].type != PT_LOAD || !s[i].memory_bytes)
			continue;
		if (end < s[i].svma.v || s[i].file_bytes > s[i].memory_bytes)
			return dw_error_set(err, DWELL_ERR_FORMAT, "a segment makes no sense");
		low = s[i].svma.v < low ? s[i].svma.v : low;
		high = end > high ? end : high;
		sum += s[i].file_bytes;
		if (sum > MAX_BYTES || high - low > MAX_BYTES)
			return dw_error_set(err, DWELL_ERR_LIMIT, "larger than 1 GB");
		if (s[i].file_bytes && (all || s[i].flags & PF_X || !s[i].offset.v)) {
			int rc = read_segment(m, &s[i]);

			if (rc)
				return dw_error_set(err, rc, "cannot read its segments");
		}
	}
	if (!high)
		return dw_error_set(err, DWELL_ERR_FORMAT, "no segment to load");
	m->start = low & -(uint64_t)PAGE;
	m->bytes = ((high + PAGE - 1) & -(uint64_t)PAGE) - m->start;
	return 0;
}

/* The program headers as the loader has them in memory, by the ELF header at file offset 0. */
static const uint8_t *program_headers(struct dw_clone_module *m, size_t *n)
{
	size_t segments_n;
	const struct dw_elf_segment *s = dw_elf_segments(m->elf, &segments_n);

	for (size_t i = 0; i < segments_n; i++) {
		const uint8_t *bytes;
		Elf64_Ehdr head;

		if (s[i].type != PT_LOAD || s[i].offset.v)
			continue;
		bytes = dw_clone_module_bytes(m, s[i].svma.v, sizeof head);
		if (!bytes)
			return NULL;
		memcpy(&head, bytes, sizeof head);
		m->entry = head.e_entry;
		*n = (size_t)head.e_phnum * sizeof(Elf64_Phdr);
		return dw_clone_module_bytes(m, s[i].svma.v + head.e_phoff, *n);
	}
	return NULL;
}

static int identify(struct dw_clone_module *m, struct dw_error *err)
{
	size_t n = 0;
	const uint8_t *headers = program_headers(m, &n);

	if (!headers)
		return dw_error_set(err, DWELL_ERR_UNSUPPORTED, "its headers are not loaded");
	m->identity.headers_hash = dw_identity_hash(DWELL_HASH_INIT, headers, n);
	m->identity.code_hash = DWELL_HASH_INIT;
	dw_vec_each(s, &m->segments) {
		if (!(s->flags & PF_X))
			continue;
		m->identity.code_hash = dw_identity_hash(m->identity.code_hash, s->bytes, s->n);
		m->identity.code_bytes += s->n;
	}
	return 0;
}

bool dw_clone_is_linkers(const struct dw_elf *elf, uint64_t svma)
{
	static const char *const names[] = {".plt", ".init", ".fini"};
	size_t n;
	const struct dw_elf_section *s = dw_elf_sections(elf, &n);

	for (size_t i = 0; i < n; i++) {
		if (!(s[i].flags & SHF_EXECINSTR) || svma - s[i].svma.v >= s[i].bytes)
			continue;
		for (size_t k = 0; k < sizeof names / sizeof *names; k++)
			if (!strncmp(s[i].name, names[k], strlen(names[k])))
				return true;
	}
	return false;
}

/* Add the function of FDE @i, the list being sorted. */
static int add_function(struct dw_clone_module *m, uint32_t i)
{
	const struct dw_cfi_fde_ref *fde = &m->fdes.list.v[i];
	struct dw_clone_function f = {.start = fde->start, .end = fde->end, .fde = i};
	struct dw_clone_function *last =
		m->functions.n ? &m->functions.v[m->functions.n - 1] : NULL;

	if (fde->kind != DWELL_CFI_EH || f.start < m->start || f.end - m->start > m->bytes ||
	    dw_clone_is_linkers(m->elf, f.start))
		return 0;
	if (last && f.start < last->end) {
		last->reason = f.reason = DWELL_LEFT_UNWIND;
		if (f.start == last->start) {
			last->end = f.end > last->end ? f.end : last->end;
			return 0;
		}
		f.end = f.end > last->end ? f.end : last->end;
		last->end = f.start;
	}
	return dw_vec_push(&m->functions, f);
}

static int read_functions(struct dw_clone_module *m, struct dw_error *err)
{
	struct dw_cfi_spans spans = {0};
	uint64_t low, high;
	int rc;

	dw_cfi_section_find(m->elf, DWELL_CFI_EH, &m->sections[DWELL_CFI_EH]);
	rc = dw_cfi_section_read(m->elf, &m->sections[DWELL_CFI_EH], &m->section_memory, err);
	if (rc)
		return rc;
	rc = dw_cfi_spans_read(m->elf, &spans);
	if (!rc)
		rc = dw_cfi_fdes_read(m->sections, &spans, &m->fdes);
	dw_cfi_spans_release(&spans);
	for (size_t i = 0; i < m->fdes.list.n && !rc; i++)
		rc = add_function(m, (uint32_t)i);
	if (rc)
		return rc;
	if (!m->functions.n)
		return dw_error_set(err, DWELL_ERR_NOT_FOUND, "no unwind table");
	low = m->functions.v[0].start;
	high = m->functions.v[m->functions.n - 1].end;
	if (dw_rank_init(&m->starts, low, high - low) ||
	    dw_rank_init(&m->insn_starts, low, high - low))
		return -ENOMEM;
	dw_vec_each(f, &m->functions)
		dw_rank_add(&m->starts, f->start);
	dw_rank_count(&m->starts);
	return 0;
}

static int read_bytes(const struct dw_elf *elf, bool all, struct dw_clone_module *ret,
		      struct dw_error *err)
{
	int rc;

	*ret = (struct dw_clone_module){.elf = elf, .is_fixed = dw_elf_type(elf) == ET_EXEC};
	if (!ret->is_fixed && dw_elf_type(elf) != ET_DYN)
		return dw_error_set(err, DWELL_ERR_UNSUPPORTED, "no program and no library");
	rc = read_segments(ret, all, err);
	return rc ? rc : identify(ret, err);
}

int dw_clone_module_read_code(const struct dw_elf *elf, struct dw_clone_module *ret,
			      struct dw_error *err)
{
	return read_bytes(elf, false, ret, err);
}

/* For a thread; not NULL without memory. */
static void *read_pointers(void *arg)
{
	return dw_clone_pointers_read(arg) ? arg : NULL;
}

int dw_clone_module_read(const struct dw_elf *elf, struct dw_clone_module *ret,
			 struct dw_error *err)
{
	int rc = read_bytes(elf, true, ret, err), functions;
	void *pointers = NULL;
	bool is_other;
	pthread_t other;

	if (rc)
		return rc;
	is_other = !pthread_create(&other, NULL, read_pointers, ret);
	functions = read_functions(ret, err);
	if (is_other)
		pthread_join(other, &pointers);
	else
		pointers = read_pointers(ret);
	return functions ? functions : pointers ? -ENOMEM : 0;
}

/* The instructions of one share. */
struct decoded {
	DW_VEC(struct dw_insn) insns;
	struct dw_share share;
	int rc;
};

struct decoding {
	struct dw_clone_module *m;
	struct decoded shares[DWELL_SHARES];
};

/* Mark where the instructions of @f begin, and what it has. */
static void index_insns(struct dw_clone_module *m, struct dw_clone_function *f,
			const struct dw_insn *insns)
{
	uint64_t at = f->start - m->insn_starts.base, bits = 0, word = at / 64;

	for (uint32_t i = 0; i < f->n; i++) {
		f->has_indirect_jump |= insns[i].kind == DWELL_INSN_JUMP_INDIRECT;
		if (at / 64 != word) {
			dw_rank_add_word(&m->insn_starts, word, bits);
			word = at / 64;
			bits = 0;
		}
		bits |= 1ull << at % 64;
		at += insns[i].length;
	}
	dw_rank_add_word(&m->insn_starts, word, bits);
}

/* Decode @f to the end of d->insns; its first and n count from there. */
static int decode_function(struct dw_clone_module *m, struct dw_clone_function *f,
			   struct decoded *d)
{
	size_t left = f->end - f->start;
	const uint8_t *bytes = dw_clone_module_bytes(m, f->start, left);
	struct dw_insn insn;

	for (; bytes && left; bytes += insn.length, left -= insn.length) {
		if (!dw_insn_decode(bytes, left, &insn))
			break;
		if (dw_vec_push(&d->insns, insn))
			return -ENOMEM;
	}
	if (!bytes || left) {
		d->insns.n = f->first;
		f->reason = DWELL_LEFT_UNDECODABLE;
	}
	f->n = (uint32_t)d->insns.n - f->first;
	if (f->n)
		index_insns(m, f, d->insns.v + f->first);
	return 0;
}

static void decode_share(void *ctx, const struct dw_share *share)
{
	struct decoding *all = ctx;
	struct decoded d = {.share = *share}; /* apart from that of other threads' cores */
	struct dw_clone_function *functions = all->m->functions.v;
	size_t bytes = 0;

	/* The first one's memory becomes that of all. */
	for (size_t i = share->first; i < (share->k ? share->end : all->m->functions.n); i++)
		bytes += functions[i].end - functions[i].start;
	d.rc = dw_vec_reserve(&d.insns, bytes / 3 + 1);
	if (!d.rc)
		dw_large_advise(d.insns.v, d.insns.cap * sizeof *d.insns.v);
	for (size_t i = share->first; i < share->end && !d.rc; i++) {
		functions[i].first = (uint32_t)d.insns.n;
		if (!functions[i].reason)
			d.rc = decode_function(all->m, &functions[i], &d);
	}
	all->shares[share->k] = d;
}

static int append(struct dw_clone_module *m, struct decoded *d)
{
	size_t before = m->insns.n;

	if (d->rc)
		return d->rc;
	if (!m->insns.v) {
		memcpy(&m->insns, &d->insns, sizeof m->insns);
		memset(&d->insns, 0, sizeof d->insns);
		return 0;
	}
	if (dw_vec_reserve(&m->insns, d->insns.n))
		return -ENOMEM;
	if (d->insns.n)
		memcpy(m->insns.v + before, d->insns.v, d->insns.n * sizeof *d->insns.v);
	m->insns.n += d->insns.n;
	for (size_t i = d->share.first; i < d->share.end; i++)
		m->functions.v[i].first += (uint32_t)before;
	return 0;
}

int dw_clone_module_decode(struct dw_clone_module *m)
{
	struct decoding all = {.m = m};
	int rc = 0;

	dw_shares_run(m, decode_share, &all);
	for (unsigned k = 0; k < DWELL_SHARES; k++) {
		if (!rc)
			rc = append(m, &all.shares[k]);
		dw_vec_release(&all.shares[k].insns);
	}
	if (rc)
		return rc;
	m->marks.v = calloc(m->insns.n + 1, sizeof *m->marks.v);
	if (!m->marks.v)
		return -ENOMEM;
	m->marks.n = m->marks.cap = m->insns.n;
	dw_rank_count(&m->insn_starts);
	return 0;
}

void dw_clone_module_release(struct dw_clone_module *m)
{
	dw_vec_each(s, &m->segments)
		free(s->bytes);
	dw_vec_release(&m->segments);
	free(m->section_memory);
	dw_cfi_fdes_release(&m->fdes);
	dw_vec_release(&m->functions);
	dw_vec_release(&m->insns);
	dw_vec_release(&m->marks);
	dw_vec_release(&m->pointers);
	dw_vec_release(&m->slots);
	dw_vec_release(&m->pads);
	dw_vec_release(&m->imports);
	dw_vec_release(&m->statements);
	dw_map_release(&m->import_of);
	dw_vec_release(&m->places);
	dw_vec_release(&m->jumps);
	dw_vec_release(&m->jump_loads);
	dw_vec_release(&m->jump_tables);
	dw_vec_release(&m->jump_entries);
	dw_vec_release(&m->jump_restores);
	dw_rank_release(&m->starts);
	dw_rank_release(&m->insn_starts);
}

const uint8_t *dw_clone_module_bytes(const struct dw_clone_module *m, uint64_t svma, size_t n)
{
	dw_vec_each(s, &m->segments)
		if (svma - s->svma < s->n && n <= s->n - (svma - s->svma))
			return s->bytes + (svma - s->svma);
	return NULL;
}

struct dw_clone_function *dw_clone_function_at(const struct dw_clone_module *m, uint64_t svma)
{
	struct dw_clone_function *f;

	if (svma - m->starts.base >= m->starts.n)
		return NULL;
	f = &m->functions.v[dw_rank_at(&m->starts, svma) - 1];
	return svma < f->end ? f : NULL;
}

int dw_clone_read_fde(const struct dw_clone_module *m, const struct dw_clone_function *f,
		      struct dw_cfi_reading *r)
{
	const struct dw_cfi_fde_ref *ref = &m->fdes.list.v[f->fde];

	return dw_cfi_read(r, &m->sections[ref->kind], ref->offset);
}

const struct dw_clone_function *dw_clone_function_of(const struct dw_clone_module *m, uint32_t i)
{
	return &m->functions
			.v[dw_sorted_count(m->functions.v, m->functions.n, f, f->first <= i) - 1];
}

uint32_t dw_clone_insn_at(const struct dw_clone_module *m, const struct dw_clone_function *f,
			  uint64_t svma)
{
	if (svma < f->start || svma >= f->end || !dw_rank_has(&m->insn_starts, svma))
		return UINT32_MAX;
	return dw_rank_at(&m->insn_starts, svma) - 1;
}

/* The instruction whose lock prefix stands in front of @svma; UINT32_MAX = none. */
static uint32_t behind_lock(const struct dw_clone_module *m, const struct dw_clone_function *f,
			    uint64_t svma)
{
	uint32_t i = dw_clone_insn_at(m, f, svma - 1);

	return i != UINT32_MAX && m->insns.v[i].flags & DWELL_INSN_PREFIX ? i : UINT32_MAX;
}

bool dw_clone_is_place(const struct dw_clone_module *m, const struct dw_clone_function *f,
		       uint64_t svma)
{
	if (dw_rank_has(&m->insn_starts, svma))
		return svma >= f->start && svma < f->end;
	return behind_lock(m, f, svma) != UINT32_MAX;
}

uint32_t dw_clone_place(const struct dw_clone_module *m, uint64_t svma, bool inside)
{
	const struct dw_clone_function *f;
	uint32_t i;

	/* Most branches; places of what is not cloned are 0. */
	if (dw_rank_has(&m->insn_starts, svma) && (inside || !dw_rank_has(&m->starts, svma)))
		return m->places.v[dw_rank_at(&m->insn_starts, svma) - 1];
	f = dw_clone_function_at(m, svma);
	if (!f || f->reason || !f->clone_at)
		return 0;
	if (svma == f->start && !inside)
		return f->clone_at;
	i = behind_lock(m, f, svma);
	return i == UINT32_MAX ? 0 : m->places.v[i] + 1;
}

uint32_t dw_clone_boundary(const struct dw_clone_module *m, const struct dw_clone_function *f,
			   uint64_t svma)
{
	uint32_t i;

	if (svma == f->start)
		return f->clone_at;
	i = dw_clone_insn_at(m, f, svma);
	return i == UINT32_MAX ? f->clone_at + f->clone_bytes : dw_clone_front(m, i);
}
