/*
 * Jumps by tables of clone addresses; see code-x86-64.h.
 *
 * The clone of the load differs in its displacement only: by how much tells where the clone's table
 * stands, once it is known where the module's does: at a constant that an instruction of the
 * function makes; and entries count from such a constant. Those count for which entries agree: each
 * must lead to the clone of what the module's entry leads to, if need be through a sequence that
 * puts the module's address into the register first, or a jump to the module. How many entries a
 * table has is not known here, so in the end each byte of the tables' part must belong to one.
 *
 * Whether code reads what a jump leaves behind: only sure reads count. Calls, returns and what
 * leaves the function are taken to read nothing, as what they read is a matter of their callers'
 * and callees' conventions.
 */
#include "clone/verify/code-x86-64.h"

#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A place in the code, and registers (bit n) and flags (above FLAGS_SHIFT) that hold other values
 * there than in the module. */
struct left {
	uint64_t svma;
	uint32_t left;
};

enum {
	FLAGS_SHIFT = 16,
	STEPS_MAX = 4000,
	XOR_TO_MEMORY = 0x31,
	XOR_FROM_MEMORY = 0x33,
	MODE_REGISTERS = 3
};

/* Places still to be looked at. */
struct work {
	DW_VEC(struct left) list;
	uint32_t *seen; /* by instruction of the function: what was left behind there */
};

/* Whether the instruction makes its register zero, whatever was in it. */
static bool is_zeroing(const uint8_t *bytes, const struct dw_insn *insn)
{
	const uint8_t *p = bytes + ((*bytes & 0xf0) == 0x40);
	uint8_t modrm = p[1];
	bool extended = p > bytes && (*bytes & 4) >> 2 != (*bytes & 1);

	return insn->length == 2 + (p - bytes) && (*p == XOR_TO_MEMORY || *p == XOR_FROM_MEMORY) &&
	       modrm >> 6 == MODE_REGISTERS && (modrm >> 3 & 7) == (modrm & 7) && !extended;
}

/* Pass over one instruction: what of @left it reads, and what is left behind it. */
static uint32_t pass(const struct dw_insn_detail *d, bool zeroing, uint32_t *left)
{
	uint32_t reads = (zeroing ? 0 : d->reads) | d->flags_read << FLAGS_SHIFT;
	uint32_t writes = d->writes | d->flags_written << FLAGS_SHIFT;
	uint32_t read = *left & reads;

	*left &= ~writes;
	return read;
}

static int push(const struct dw_verify *v, const struct dw_verify_function *f, struct work *w,
		uint64_t svma, uint32_t left)
{
	const struct dw_verify_insn *insns = v->insns.v + f->first;
	size_t i;

	if (!left || svma - f->start >= f->end - f->start)
		return 0;
	i = dw_sorted_count(insns, f->n, e, e->svma < svma);
	if (i == f->n || insns[i].svma != svma || !(left & ~w->seen[i]))
		return 0;
	w->seen[i] |= left;
	return dw_vec_push(&w->list, (struct left){svma, left});
}

/* Look at one place. 1: what is left is read; 0; -ENOMEM. */
static int step(const struct dw_verify *v, const struct dw_verify_function *f, struct work *w)
{
	struct left at = w->list.v[--w->list.n];
	struct dw_insn_detail d;
	struct dw_insn insn;
	size_t n;
	const uint8_t *bytes = dw_verify_bytes(v, at.svma, &n);
	uint64_t next;
	int rc = 0;

	if (!bytes || !dw_insn_decode_detail(bytes, n, &insn, &d))
		return 0;
	next = at.svma + insn.length;
	switch (insn.kind) {
	case DWELL_INSN_PLAIN:
		if (pass(&d, is_zeroing(bytes, &insn), &at.left))
			return 1;
		return push(v, f, w, next, at.left);
	case DWELL_INSN_BRANCH:
	case DWELL_INSN_LOOP:
	case DWELL_INSN_JUMP:
		if (pass(&d, false, &at.left))
			return 1;
		rc = push(v, f, w, dw_insn_target(&insn, at.svma), at.left);
		if (!rc && insn.kind != DWELL_INSN_JUMP)
			rc = push(v, f, w, next, at.left);
		return rc;
	case DWELL_INSN_CALL_INDIRECT:
	case DWELL_INSN_JUMP_INDIRECT:
		return pass(&d, false, &at.left) != 0;
	}
	return 0;
}

/* Whether code of @f from @svma on surely reads some of @left before it writes it. 1, 0 or -ENOMEM.
 */
static int is_read(const struct dw_verify *v, const struct dw_verify_function *f, uint64_t svma,
		   uint32_t left)
{
	struct work w = {.seen = calloc(f->n, sizeof *w.seen)};
	int rc = w.seen ? push(v, f, &w, svma, left) : -ENOMEM;

	for (int steps = 0; !rc && w.list.n && steps < STEPS_MAX; steps++)
		rc = step(v, f, &w);
	free(w.seen);
	dw_vec_release(&w.list);
	return rc;
}

enum { PAGE = 4096, ENTRIES_MAX = 1 << 20, ALIGNMENT = 8, DISP_BYTES = 4 };

int dw_verify_note(struct dw_verify *v, uint64_t svma, uint64_t n)
{
	return dw_vec_push(&v->regions, (struct dw_verify_region){svma, n});
}

/* The first difference between two memory operands but for the displacement: none. */
static bool same_memory(const struct dw_insn_memory *a, const struct dw_insn_memory *b)
{
	return a->is_there && b->is_there && !a->is_rip && !b->is_rip && a->base == b->base &&
	       a->index == b->index && a->scale == b->scale && a->has_segment == b->has_segment;
}

/* Whether the bytes @clone, @n of them, are @bytes but for the size and value of a displacement
 * that ends both. */
static bool same_but_disp(const uint8_t *bytes, const uint8_t *clone, uint8_t n)
{
	uint8_t modrm = (uint8_t)(n - DISP_BYTES - 2), mod = clone[modrm] >> 6;

	return n > DISP_BYTES + 2 && !memcmp(bytes, clone, modrm) &&
	       !((bytes[modrm] ^ clone[modrm]) & 0x3f) && bytes[modrm + 1] == clone[modrm + 1] &&
	       (mod == 2 || (mod == 0 && (clone[modrm + 1] & 7) == 5));
}

const char *dw_verify_table_load(const struct dw_verify_pair *p, uint32_t *n)
{
	const uint8_t *clone = p->v->area + p->at;
	struct dw_insn_detail old, new;
	struct dw_insn insn;
	struct dw_verify_load load;

	if (!dw_insn_decode_detail(p->bytes, p->insn.length, &insn, &old) ||
	    !dw_insn_decode_detail(clone, p->n, &insn, &new) || insn.kind != p->insn.kind ||
	    old.op != new.op || old.to != new.to || !same_memory(&old.memory, &new.memory) ||
	    !same_but_disp(p->bytes, clone, insn.length))
		return "another instruction";
	*n = insn.length;
	load = (struct dw_verify_load){.svma = p->svma,
				       .disp = old.memory.disp,
				       .shift = new.memory.disp - old.memory.disp,
				       .function = (uint32_t)(p->f - p->v->functions.v),
				       .base = old.memory.base,
				       .loads = old.to,
				       .entry_bytes = old.memory.scale};
	if (load.entry_bytes < 4)
		return "a load from no table";
	return dw_vec_push(&p->v->loads, load) ? "no memory" : NULL;
}

/* Registers that a sequence gives values. */
struct values {
	uint64_t r[16];
	uint32_t written; /* bit n: register n */
};

/* Run one instruction that restores: a constant, or the sum of two. */
static bool restore(const struct dw_insn *insn, const struct dw_insn_detail *d, uint64_t at,
		    struct values *x)
{
	const struct dw_insn_memory *m = &d->memory;

	if (d->bytes != 8 || d->to >= 16)
		return false;
	if (d->op == DWELL_OP_LEA && m->is_rip)
		x->r[d->to] = dw_insn_target(insn, at);
	else if (d->op == DWELL_OP_LEA && m->base < 16 && m->index < 16 && m->scale == 1)
		x->r[d->to] = x->r[m->base] + x->r[m->index] + (uint64_t)m->disp;
	else if (d->op == DWELL_OP_MOV && d->has_immediate)
		x->r[d->to] = (uint64_t)d->immediate;
	else if (d->op == DWELL_OP_ADD && d->from < 16)
		x->r[d->to] += x->r[d->from];
	else
		return false;
	x->written |= 1u << d->to;
	return true;
}

/* Whether the bytes of the clone behind the jump, @n from area offset @at on, are instructions that
 * restore and jumps: table entries tell which. */
static bool is_tail(const struct dw_verify *v, uint32_t at, uint32_t n)
{
	struct values x = {.written = 0};

	while (n) {
		struct dw_insn_detail d;
		struct dw_insn insn;

		if (!dw_insn_decode_detail(v->area + at, n, &insn, &d) ||
		    (insn.kind != DWELL_INSN_JUMP && !restore(&insn, &d, at, &x)))
			return false;
		at += insn.length;
		n -= insn.length;
	}
	return true;
}

const char *dw_verify_table_jump(const struct dw_verify_pair *p)
{
	uint32_t n = p->insn.length;
	const char *wrong = NULL;

	if (p->n < n || memcmp(p->bytes, p->v->area + p->at, n))
		wrong = dw_verify_table_load(p, &n);
	if (!wrong && !is_tail(p->v, p->at + n, p->n - n))
		wrong = "bytes of no instruction";
	return wrong;
}

/* What the word of @n bytes at @svma holds once all is loaded. */
static bool read_word(const struct dw_verify *v, uint64_t svma, unsigned n, uint64_t *ret)
{
	size_t left, lo = 0, hi = v->pointers.n;
	const uint8_t *bytes = dw_verify_bytes(v, svma, &left);
	int32_t narrow;

	if (!bytes || left < n)
		return false;
	if (n == sizeof narrow) {
		memcpy(&narrow, bytes, n);
		*ret = (uint64_t)(int64_t)narrow;
		return true;
	}
	memcpy(ret, bytes, n);
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (v->pointers.v[mid].at < svma)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < v->pointers.n && v->pointers.v[lo].at == svma)
		*ret = v->pointers.v[lo].to;
	return true;
}

/* Where the jump of 5 bytes at svma @at leads; 0: there is none. */
static uint64_t jump_at(const struct dw_verify *v, uint64_t at)
{
	size_t left;
	const uint8_t *p = dw_verify_bytes(v, at, &left);
	int32_t distance;

	if (!p || left < 5 || *p != 0xe9)
		return 0;
	memcpy(&distance, p + 1, sizeof distance);
	return at + 5 + (uint64_t)(int64_t)distance;
}

/* Whether the @n bytes at @sum are an instruction between @load and its jump. */
static bool is_of_jump(const struct dw_verify *v, const struct dw_verify_load *load,
		       const uint8_t *sum, size_t n)
{
	for (uint32_t i = load->insn + 1; i < load->jump; i++) {
		size_t left;
		const uint8_t *bytes = dw_verify_bytes(v, v->insns.v[i].svma, &left);

		if (bytes && left >= n && !memcmp(bytes, sum, n))
			return true;
	}
	return false;
}

/* Whether the sequence at @at gives the registers of a jump to @svma the values that they have in
 * the module, where entries count from @base, and goes on there. What it adds it adds as the module
 * does, where the other register holds @base. */
static bool restores(const struct dw_verify *v, uint64_t at, uint64_t svma, uint64_t base,
		     const struct dw_verify_load *load)
{
	uint8_t jumps_by = load->jumps_by, loads = load->loads;
	struct values x = {.written = 0};
	struct dw_insn_detail d;
	struct dw_insn insn;
	size_t left;

	if (jumps_by >= 16 || loads >= 16)
		return false;
	for (int i = 0; i < 16; i++)
		x.r[i] = base;
	for (;; at += insn.length) {
		const uint8_t *p = dw_verify_bytes(v, at, &left);

		if (!p || !dw_insn_decode_detail(p, left, &insn, &d))
			return false;
		if (insn.kind == DWELL_INSN_JUMP)
			break;
		if (!restore(&insn, &d, at, &x) ||
		    (!d.memory.is_rip && !d.has_immediate && !is_of_jump(v, load, p, insn.length)))
			return false;
	}
	return x.written == (1u << jumps_by | 1u << loads) && x.r[jumps_by] == svma &&
	       (loads == jumps_by || x.r[loads] == svma - base) &&
	       dw_verify_same_place(v, svma, jump_at(v, at), true);
}

/* Whether the code at @svma may be entered with what the clone of the jump leaves in registers and
 * flags. */
static bool is_unread(struct dw_verify *v, const struct dw_verify_load *load, uint64_t svma)
{
	const struct dw_verify_function *f = &v->functions.v[load->function];
	if (svma - f->start >= f->end - f->start || dw_pairs_find(&v->unread, svma, load->left))
		return true;
	if (dw_pairs_find(&v->read, svma, load->left))
		return false;
	if (is_read(v, f, svma, load->left)) {
		(void)dw_pairs_add(&v->read, svma, load->left);
		return false;
	}
	return dw_pairs_add(&v->unread, svma, load->left);
}

/* Whether entries lead to the same place: @from the module's table, @to the clone's. */
static bool same_entry(struct dw_verify *v, const struct dw_verify_load *load, uint64_t base,
		       uint64_t from, uint64_t to)
{
	bool in_area = to - v->area_svma < v->area_n;

	if (dw_verify_same_place(v, from, to, true))
		return to == from || is_unread(v, load, from);
	if (to == from) /* beyond the table: of another one, or no table at all */
		return dw_verify_function_at(v, from) != &v->functions.v[load->function] ||
		       !dw_verify_clone_of(v, from, true);
	return in_area && (jump_at(v, to) == from || restores(v, to, from, base, load));
}

static bool in_tables(const struct dw_verify *v, uint64_t svma)
{
	uint64_t from = v->h.wiped_at + PAGE;

	return svma - v->area_svma - from < v->h.eh_frame_hdr_at - from;
}

/* A way to read a load's table. */
struct reading {
	uint64_t table; /* svma of the module's table, entry 0 */
	uint64_t base;	/* svma that entries count from */
};

/* The number of entries that agree from entry 0 of @r on, or below it. */
static uint64_t agreeing(struct dw_verify *v, const struct dw_verify_load *load,
			 const struct reading *r, bool below)
{
	uint64_t n = 0, from, to;

	for (; n < ENTRIES_MAX; n++) {
		uint64_t k = (below ? ~n : n) * load->entry_bytes;
		uint64_t table = r->table + k, at = table + (uint64_t)load->shift;

		if (!in_tables(v, at) || !read_word(v, table, load->entry_bytes, &from) ||
		    !read_word(v, at, load->entry_bytes, &to) ||
		    !same_entry(v, load, r->base, r->base + from, r->base + to))
			break;
	}
	return n;
}

/* Whether the instruction at @svma puts a constant into a register; *@ret = which. */
static bool puts_constant(const struct dw_verify *v, uint64_t svma, uint64_t *ret)
{
	struct dw_insn_detail d;
	struct dw_insn insn;
	size_t left;
	const uint8_t *bytes = dw_verify_bytes(v, svma, &left);

	if (!bytes || !dw_insn_decode(bytes, left, &insn) || insn.kind != DWELL_INSN_PLAIN ||
	    (!(insn.flags & DWELL_INSN_RELATIVE) && !v->is_fixed) ||
	    !dw_insn_decode_detail(bytes, left, &insn, &d) || d.to == DWELL_NO_REGISTER)
		return false;
	*ret = d.bytes == 4 ? (uint32_t)d.immediate : (uint64_t)d.immediate;
	if (insn.flags & DWELL_INSN_RELATIVE)
		*ret = dw_insn_target(&insn, svma);
	return d.op == (insn.flags & DWELL_INSN_RELATIVE ? DWELL_OP_LEA : DWELL_OP_MOV) &&
	       (d.has_immediate || insn.flags & DWELL_INSN_RELATIVE);
}

/* Find the load's own place, and the next indirect jump behind it, which is by what it loads. */
static void find_jump(const struct dw_verify *v, struct dw_verify_load *load)
{
	const struct dw_verify_function *f = &v->functions.v[load->function];
	struct dw_insn_detail d;
	struct dw_insn insn;
	size_t left;

	load->insn = f->first;
	while (v->insns.v[load->insn].svma < load->svma)
		load->insn++;
	load->jumps_by = DWELL_NO_REGISTER;
	load->left = load->loads < 16 ? 1u << load->loads : 0;
	for (load->jump = load->insn; load->jump < f->first + f->n; load->jump++) {
		const uint8_t *bytes = dw_verify_bytes(v, v->insns.v[load->jump].svma, &left);

		if (!bytes || !dw_insn_decode_detail(bytes, left, &insn, &d))
			continue;
		load->left &= ~(d.flags_written << FLAGS_SHIFT);
		if (d.op == DWELL_OP_ADD && (d.to == load->loads || d.from == load->loads))
			load->left |= d.flags_written << FLAGS_SHIFT;
		if (insn.kind != DWELL_INSN_JUMP_INDIRECT)
			continue;
		if (!d.memory.is_there) {
			load->jumps_by = d.from;
			load->left |= d.from < 16 ? 1u << d.from : 0;
		}
		return;
	}
}

/* Constants that the code of a function makes, each once. */
struct constants {
	DW_VEC(uint64_t) list;
};

static int find_constants(const struct dw_verify *v, const struct dw_verify_function *f,
			  struct constants *ret)
{
	uint64_t value;
	size_t n = 0;

	for (uint32_t i = f->first; i < f->first + f->n; i++)
		if (puts_constant(v, v->insns.v[i].svma, &value) && dw_vec_push(&ret->list, value))
			return -ENOMEM;
	if (ret->list.n)
		qsort(ret->list.v, ret->list.n, sizeof *ret->list.v, dw_verify_by_svma);
	for (size_t i = 0; i < ret->list.n; i++)
		if (!i || ret->list.v[i] != ret->list.v[i - 1])
			ret->list.v[n++] = ret->list.v[i];
	ret->list.n = n;
	return 0;
}

/* Note the entries that agree when @load is read as @r. 1: there are some; 0; -ENOMEM. */
static int check_reading(struct dw_verify *v, const struct dw_verify_load *load,
			 const struct reading *r)
{
	uint64_t at = r->table + (uint64_t)load->shift, n, below;

	if (!in_tables(v, at))
		return 0;
	n = agreeing(v, load, r, false);
	below = agreeing(v, load, r, true);
	if (!(n + below))
		return 0;
	return dw_verify_note(v, at - below * load->entry_bytes, (below + n) * load->entry_bytes)
		       ? -ENOMEM
		       : 1;
}

/* Check @load with what @c lists as its table's address and base. All that makes sense is noted:
 * tables stand as far apart as the module's do, so that a load may seem to be of another one. */
static int check_load(struct dw_verify *v, const struct dw_verify_load *load,
		      const struct constants *c)
{
	size_t bases = load->entry_bytes == 8 ? 1 : c->list.n;
	bool found = false;

	dw_vec_each(t, &c->list) {
		for (size_t i = 0; i < bases; i++) {
			struct reading r = {*t + (uint64_t)load->disp,
					    load->entry_bytes == 8 ? 0 : c->list.v[i]};
			int rc = check_reading(v, load, &r);

			if (rc < 0)
				return rc;
			found |= rc;
		}
	}
	if (!found)
		dw_verify_find(v, load->svma, 0, "a jump's table leads elsewhere");
	return 0;
}

/* Check all loads of tables, which are in the order of functions. */
static int check_loads(struct dw_verify *v)
{
	struct constants c = {0}, zero = {0};
	uint32_t function = UINT32_MAX;
	int rc = dw_vec_push(&zero.list, 0);

	for (size_t i = 0; i < v->loads.n && !rc; i++) {
		struct dw_verify_load *load = &v->loads.v[i];

		if (load->function != function) {
			c.list.n = 0;
			function = load->function;
			rc = find_constants(v, &v->functions.v[function], &c);
		}
		find_jump(v, load);
		if (!rc) /* without a base the displacement is the table's address */
			rc = check_load(v, load, load->base == DWELL_NO_REGISTER ? &zero : &c);
	}
	dw_vec_release(&c.list);
	dw_vec_release(&zero.list);
	return rc;
}

/* Whether [@from, @to) of the area is zero, and no more than alignment needs. */
static bool is_padding(const struct dw_verify *v, uint64_t from, uint64_t to)
{
	if (to - from >= ALIGNMENT)
		return from == to;
	for (uint64_t at = from; at < to; at++)
		if (v->area[at - v->area_svma])
			return false;
	return true;
}

int dw_verify_tables(struct dw_verify *v)
{
	uint64_t end = v->area_svma + v->h.wiped_at + PAGE;
	uint64_t last = v->area_svma + v->h.eh_frame_hdr_at;
	int rc = check_loads(v);

	if (rc || end > last)
		return rc;
	if (v->regions.n)
		qsort(v->regions.v, v->regions.n, sizeof *v->regions.v, dw_verify_by_svma);
	for (size_t i = 0; i <= v->regions.n; i++) {
		uint64_t from = i < v->regions.n ? v->regions.v[i].svma : last;

		if (from > end && !is_padding(v, end, from))
			dw_verify_find(v, 0, (uint32_t)(end - v->area_svma),
				       "bytes of no table that was checked");
		if (i < v->regions.n && from + v->regions.v[i].n > end)
			end = from + v->regions.v[i].n;
	}
	return 0;
}
