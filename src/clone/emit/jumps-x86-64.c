/*
 * Indirect jumps in clones, the loads that read their tables, and the tables; by the plans of
 * plan/jumps.h.
 *
 * Jumps by the map must keep flags and registers. With t = target - start of the function,
 * w = the low 32 bits of t, and s = the sign of size - 1 - w (0 or -1, by cqo), t - w + s is 0
 * just when 0 <= t < size: lea, not, cqo, jrcxz and moves suffice and touch no flag.
 *
 * The clone of a jump is followed by its restoring sequences, then by jumps to the module ("exits")
 * for those entries of its table that lead there and are 8-byte words of position-independent code:
 * no word of the area could hold such an address without one more kind of relocation.
 */
#include "clone/emit/writer-x86-64.h"

#include <errno.h>
#include <string.h>

enum { RAX, RCX, RDX };

enum { CALL = 0xe8, JUMP_BYTES = DWELL_JUMP_BYTES, SLOT_BYTES = 8, NEAR_LIMIT = -128 };

/* Where the saved words stand: slots below what is free. */
enum { SLOT_TARGET = 1, SLOT_RAX, SLOT_RCX, SLOT_RDX };

struct composer {
	struct dw_jump_code *code;
	const struct dw_jump_plan *plan;
};

static void put(struct dw_jump_code *c, const void *bytes, size_t n)
{
	if (n > sizeof c->bytes - c->n)
		n = sizeof c->bytes - c->n;
	memcpy(c->bytes + c->n, bytes, n);
	c->n = (uint8_t)(c->n + n);
}

#define PUT(c, ...)                                            \
	do {                                                   \
		static const uint8_t bytes_[] = {__VA_ARGS__}; \
		put(c, bytes_, sizeof bytes_);                 \
	} while (0)

static void put32(struct dw_jump_code *c, int32_t value)
{
	put(c, &value, sizeof value);
}

/* A 32-bit distance to be filled in, @after bytes in front of the instruction's end. */
static void put_fixup(struct dw_jump_code *c, enum dw_jump_target to, uint8_t after, uint64_t svma)
{
	c->fixups[c->fixups_n++] =
		(struct dw_jump_fixup){.at = c->n, .to = (uint8_t)to, .after = after, .svma = svma};
	put32(c, 0);
}

/* A jump of 8 bits ahead, its distance set by land(). */
static uint8_t put_ahead(struct dw_jump_code *c, uint8_t op)
{
	uint8_t two[2] = {op, 0};

	put(c, two, sizeof two);
	return c->n;
}

static void land(struct dw_jump_code *c, uint8_t from)
{
	c->bytes[from - 1] = (uint8_t)(c->n - from);
}

/* An instruction with REX.W or no prefix, its opcode, a register field and a slot as operand. */
static void put_slot(struct composer *w, bool wide, uint8_t op, uint8_t reg, int slot)
{
	int32_t at = w->plan->free_below - slot * SLOT_BYTES;
	bool near = at >= NEAR_LIMIT;
	uint8_t bytes[4] = {0x48, op, (uint8_t)((near ? 0x44 : 0x84) | reg << 3), 0x24};
	int8_t at8 = (int8_t)at;

	put(w->code, bytes + !wide, sizeof bytes - !wide);
	if (near)
		put(w->code, &at8, 1);
	else
		put32(w->code, at);
}

static void save(struct composer *w, uint8_t reg, int slot)
{
	put_slot(w, true, 0x89, reg, slot);
}

static void restore(struct composer *w)
{
	put_slot(w, true, 0x8b, RAX, SLOT_RAX);
	put_slot(w, true, 0x8b, RCX, SLOT_RCX);
	put_slot(w, true, 0x8b, RDX, SLOT_RDX);
}

/* Copy the instruction @insn at @svma, a rip operand still leading to the module. */
static void put_original(struct dw_jump_code *c, const struct dw_insn *insn, const uint8_t *bytes,
			 uint64_t svma)
{
	if (!(insn->flags & DWELL_INSN_RELATIVE)) {
		put(c, bytes, insn->length);
		return;
	}
	put(c, bytes, insn->field_at);
	put_fixup(c, DWELL_JUMP_TO_MODULE, (uint8_t)(insn->length - insn->field_at - 4),
		  dw_insn_target(insn, svma));
	put(c, bytes + insn->field_at + 4, (size_t)insn->length - insn->field_at - 4);
}

/* mov OPERAND, @reg (one without REX) for the operand of the jump or call. */
static void put_operand(struct dw_jump_code *c, const struct dw_insn *insn, const uint8_t *bytes,
			uint64_t svma, uint8_t reg)
{
	struct dw_jump_parts parts = dw_jump_take_apart(bytes, insn->length);
	uint8_t head[3] = {(uint8_t)(0x48 | (parts.rex & 3)), 0x8b,
			   (uint8_t)((bytes[parts.modrm_at] & 0xc7) | reg << 3)};

	for (uint8_t i = 0; i < parts.rex_at; i++) /* notrack is one of jumps only */
		if (bytes[i] == 0x64 || bytes[i] == 0x65 || bytes[i] == 0x67)
			put(c, bytes + i, 1);
	put(c, head, sizeof head);
	if (insn->flags & DWELL_INSN_RELATIVE)
		put_fixup(c, DWELL_JUMP_TO_MODULE, 0, dw_insn_target(insn, svma));
	else
		put(c, bytes + parts.modrm_at + 1, (size_t)parts.n - parts.modrm_at - 1);
}

void dw_jump_write_callee(const struct dw_insn *insn, const uint8_t *bytes, uint64_t svma,
			  struct dw_jump_code *ret)
{
	ret->n = ret->fixups_n = 0;
	put_operand(ret, insn, bytes, svma, RAX);
}

static void put_leave(struct composer *w, const uint8_t *leave, size_t n)
{
	if (!w->plan->free_below)
		put(w->code, leave, n);
}

static void write_map(struct composer *w, const struct dw_clone_function *f,
		      const struct dw_insn *insn, const uint8_t *bytes, uint64_t svma,
		      const uint8_t *leave, size_t leave_n)
{
	struct dw_jump_code *c = w->code;
	int32_t size = (int32_t)(f->end - f->start);
	uint8_t inside, unknown, hit;

	save(w, RAX, SLOT_RAX);
	save(w, RCX, SLOT_RCX);
	save(w, RDX, SLOT_RDX);
	put_operand(c, insn, bytes, svma, RCX);
	PUT(c, 0x48, 0x8d, 0x05); /* lea START(%rip), %rax */
	put_fixup(c, DWELL_JUMP_TO_FUNCTION, 0, f->start);
	PUT(c, 0x48, 0xf7, 0xd1);	      /* not %rcx */
	PUT(c, 0x48, 0x8d, 0x0c, 0x01);	      /* lea (%rcx,%rax), %rcx */
	PUT(c, 0x48, 0xf7, 0xd1);	      /* not %rcx: t */
	PUT(c, 0x89, 0xc8);		      /* mov %ecx, %eax: w */
	PUT(c, 0x48, 0xf7, 0xd0);	      /* not %rax */
	PUT(c, 0x48, 0x8d, 0x4c, 0x01, 0x01); /* lea 1(%rcx,%rax), %rcx: t - w */
	PUT(c, 0x48, 0x8d, 0x80);	      /* lea SIZE(%rax), %rax: size - 1 - w */
	put32(c, size);
	PUT(c, 0x48, 0x99);		/* cqo: s */
	PUT(c, 0x48, 0x8d, 0x0c, 0x11); /* lea (%rcx,%rdx), %rcx */
	inside = put_ahead(c, 0xe3);	/* jrcxz inside */
	unknown = put_ahead(c, 0xeb);	/* jmp leave */
	land(c, inside);
	PUT(c, 0x48, 0xf7, 0xd0); /* not %rax: w - size */
	PUT(c, 0x48, 0x8d, 0x15); /* lea MAP(%rip), %rdx */
	put_fixup(c, DWELL_JUMP_TO_MAP, 0, 0);
	PUT(c, 0x48, 0x63, 0x8c, 0x82); /* movslq 4*SIZE(%rdx,%rax,4), %rcx */
	put32(c, 4 * size);
	hit = put_ahead(c, 0xe3);	/* jrcxz leave */
	PUT(c, 0x48, 0x8d, 0x0c, 0x11); /* lea (%rcx,%rdx), %rcx */
	save(w, RCX, SLOT_TARGET);
	restore(w);
	put_slot(w, false, 0xff, 4, SLOT_TARGET); /* jmp *TARGET */
	land(c, unknown);
	land(c, hit);
	restore(w);
	put_leave(w, leave, leave_n);
	put_original(c, insn, bytes, svma);
}

static void write_load(const struct dw_clone_module *m, const struct dw_jump_plan *plan,
		       uint64_t svma, struct dw_jump_code *ret)
{
	uint8_t n = m->insns.v[plan->load].length;
	const uint8_t *bytes = dw_clone_module_bytes(m, svma, n);
	uint8_t modrm_at = (uint8_t)(plan->load_disp_at - 2);

	ret->n = ret->fixups_n = 0;
	put(ret, bytes, plan->load_disp_at);
	if (!plan->is_absolute) /* with a base: mod 2, a 32-bit displacement */
		ret->bytes[modrm_at] = (uint8_t)((bytes[modrm_at] & 0x3f) | 0x80);
	put32(ret, (int32_t)plan->load_disp);
}

static void write_code(const struct dw_clone_module *m, const struct dw_jump_plan *plan,
		       uint64_t svma, const uint8_t *leave, size_t leave_n,
		       struct dw_jump_code *ret)
{
	const struct dw_insn *insn = &m->insns.v[plan->insn];
	const struct dw_clone_function *f = dw_clone_function_at(m, svma);
	const uint8_t *bytes = dw_clone_module_bytes(m, svma, insn->length);
	struct composer w = {ret, plan};

	ret->n = ret->fixups_n = 0;
	if (plan->how == DWELL_JUMP_MAP)
		write_map(&w, f, insn, bytes, svma, leave, leave_n);
	else if (plan->how == DWELL_JUMP_LEAVE)
		put_leave(&w, leave, leave_n);
	if (plan->how == DWELL_JUMP_TABLE && plan->load == plan->insn)
		write_load(m, plan, svma, ret);
	else if (plan->how != DWELL_JUMP_MAP)
		put_original(ret, insn, bytes, svma);
}

/* lea @svma(%rip), @reg */
static void put_address(struct dw_jump_code *c, uint8_t reg, uint64_t svma)
{
	uint8_t lea[3] = {(uint8_t)(0x48 | (reg & 8) >> 1), 0x8d, (uint8_t)(0x05 | (reg & 7) << 3)};

	put(c, lea, sizeof lea);
	put_fixup(c, DWELL_JUMP_TO_MODULE, 0, svma);
}

/* mov $value, @reg, extended by its sign */
static void put_constant(struct dw_jump_code *c, uint8_t reg, int32_t value)
{
	uint8_t mov[3] = {(uint8_t)(0x48 | reg >> 3), 0xc7, (uint8_t)(0xc0 | (reg & 7))};

	put(c, mov, sizeof mov);
	put32(c, value);
}

static void write_restore(const struct dw_clone_module *m, const struct dw_jump_plan *plan,
			  uint32_t k, struct dw_jump_code *ret)
{
	const struct dw_jump_table *table = &m->jump_tables.v[plan->table];
	uint64_t to = m->jump_restores.v[plan->first_target + k];
	int32_t distance = (int32_t)(to - table->base);
	bool two = plan->loads != plan->jumps_by;

	ret->n = ret->fixups_n = 0;
	if (two || !plan->add_n)
		put_address(ret, plan->jumps_by, plan->add_n ? table->base : to);
	if (two || plan->add_n)
		put_constant(ret, plan->loads, distance);
	put(ret, plan->add_bytes, plan->add_n);
	PUT(ret, 0xe9);
	put_fixup(ret, DWELL_JUMP_TO_CLONE, 0, to);
}

/* A call of the leaving trampoline that write_code() puts where it belongs; its field is found by
 * these bytes. */
static const uint8_t leave_mark[JUMP_BYTES] = {CALL, 'l', 'e', 'f', 't'};

/* Write the clone of the indirect jump @i to @code. Its plan; NULL: it has none. */
static const struct dw_jump_plan *write_jump(const struct dw_clone_module *m,
					     const struct dw_clone_function *f, uint32_t i,
					     uint64_t at, struct dw_jump_code *code)
{
	const struct dw_jump_plan *plan = dw_jumps_find(m, i);

	if (plan)
		write_code(m, plan, at, leave_mark,
			   dw_clone_is_measured(m, f) ? sizeof leave_mark : 0, code);
	return plan;
}

static bool is_cloned(const struct dw_clone_module *m, uint64_t svma)
{
	const struct dw_clone_function *f = dw_clone_function_at(m, svma);

	return f && !f->reason && dw_clone_insn_at(m, f, svma) != UINT32_MAX;
}

static bool needs_exit(const struct dw_clone_module *m, const struct dw_jump_table *table,
		       const struct dw_jump_entry *e)
{
	return table->entry_bytes == 8 && !m->is_fixed && e->to != DWELL_JUMP_TO_RESTORE &&
	       (e->to != DWELL_JUMP_TO_CLONE || !is_cloned(m, e->svma));
}

/* The exits behind the jump of @plan: of the first @n entries of its table. */
static uint32_t exits(const struct dw_clone_module *m, const struct dw_jump_plan *plan, uint32_t n)
{
	const struct dw_jump_table *table = &m->jump_tables.v[plan->table];
	uint32_t sum = 0;

	for (uint32_t k = 0; k < n; k++)
		sum += needs_exit(m, table, &m->jump_entries.v[table->first + k]);
	return sum;
}

/* Whether the exits of its table stand behind the jump of @plan. */
static bool has_exits(const struct dw_clone_module *m, const struct dw_jump_plan *plan)
{
	return plan->how == DWELL_JUMP_TABLE &&
	       plan == &m->jumps.v[m->jump_tables.v[plan->table].plan];
}

static uint32_t tail_bytes(const struct dw_clone_module *m, const struct dw_jump_plan *plan)
{
	struct dw_jump_code code = {0};
	uint32_t sum = 0;

	if (plan->how != DWELL_JUMP_TABLE)
		return 0;
	if (plan->restores)
		write_restore(m, plan, 0, &code);
	if (has_exits(m, plan))
		sum = JUMP_BYTES * exits(m, plan, m->jump_tables.v[plan->table].n);
	return sum + plan->restores * code.n;
}

uint32_t dw_emit_jump_length(const struct dw_clone_module *m, const struct dw_clone_function *f,
			     uint32_t i, uint64_t at)
{
	struct dw_jump_code code;
	const struct dw_jump_plan *plan = write_jump(m, f, i, at, &code);

	return plan ? code.n + tail_bytes(m, plan) : m->insns.v[i].length;
}

uint32_t dw_emit_load_length(const struct dw_clone_module *m, uint32_t i)
{
	return dw_jumps_find_load(m, i)->load_bytes;
}

void dw_emit_put_code(struct dw_writer *w, const struct dw_jump_code *code)
{
	uint32_t start = w->pos;
	const uint8_t *mark = memmem(code->bytes, code->n, leave_mark, sizeof leave_mark);

	dw_put(w, code->bytes, code->n);
	for (uint8_t k = 0; k < code->fixups_n; k++) {
		const struct dw_jump_fixup *x = &code->fixups[k];
		uint32_t field = start + x->at, from = field + 4 + x->after, place = 0;

		if (x->to == DWELL_JUMP_TO_MAP)
			place = w->f->map_at;
		else if (x->to == DWELL_JUMP_TO_CLONE)
			place = dw_clone_place(w->m, x->svma, true);
		if (place)
			dw_set_distance(w, field, place, from);
		else
			dw_set_module_distance(w, field, x->svma, from);
	}
	if (mark)
		dw_set_trampoline_call(w, start + (uint32_t)(mark - code->bytes),
				       dw_trampoline_of_leaving(w->t->trampolines.probes));
}

/* The load that was just put leads to the clone's table. */
static void set_load(struct dw_writer *w, const struct dw_jump_plan *plan, uint32_t start)
{
	const struct dw_jump_table *table = &w->m->jump_tables.v[plan->table];
	uint32_t field = start + plan->load_disp_at;
	int64_t apart = w->m->distance + table->at - (int64_t)(table->start - w->m->start);

	dw_set_distance(w, field, plan->load_disp + apart, 0);
	dw_add_relocation(w, plan->is_absolute ? DWELL_RELOC_AREA_32 : DWELL_RELOC_FROM_MODULE,
			  field);
}

void dw_emit_load(struct dw_writer *w, uint32_t i, uint64_t at)
{
	const struct dw_jump_plan *plan = dw_jumps_find_load(w->m, i);
	uint32_t start = w->pos;
	struct dw_jump_code code;

	write_load(w->m, plan, at, &code);
	dw_emit_put_code(w, &code);
	set_load(w, plan, start);
}

static void put_exits(struct dw_writer *w, const struct dw_jump_plan *plan)
{
	const struct dw_jump_table *table = &w->m->jump_tables.v[plan->table];

	for (uint32_t k = 0; k < table->n; k++) {
		const struct dw_jump_entry *e = &w->m->jump_entries.v[table->first + k];

		if (needs_exit(w->m, table, e))
			dw_put_module_jump(w, e->svma);
	}
}

void dw_emit_jump(struct dw_writer *w, uint32_t i, uint64_t at, const uint8_t *bytes)
{
	uint32_t start = w->pos;
	struct dw_jump_code code;
	const struct dw_jump_plan *plan = write_jump(w->m, w->f, i, at, &code);

	if (!plan) {
		dw_put_copy(w, bytes, &w->m->insns.v[i], at);
		return;
	}
	dw_emit_put_code(w, &code);
	if (plan->how != DWELL_JUMP_TABLE)
		return;
	if (plan->load == i)
		set_load(w, plan, start);
	for (uint32_t k = 0; k < plan->restores; k++) {
		write_restore(w->m, plan, k, &code);
		dw_emit_put_code(w, &code);
	}
	if (has_exits(w->m, plan))
		put_exits(w, plan);
}

/* A table being written, and where what stands behind its jump begins. */
struct table {
	const struct dw_jump_table *t;
	const struct dw_jump_plan *plan;
	uint32_t restores_at; /* area offset */
	uint32_t restore_bytes;
	uint32_t exits_at;
};

static struct table find_tail(const struct dw_clone_module *m, const struct dw_jump_table *t,
			      const struct dw_clone_function *f)
{
	struct table ret = {.t = t, .plan = &m->jumps.v[t->plan]};
	uint32_t next = ret.plan->insn + 1;
	uint32_t end =
		next < f->first + f->n ? dw_clone_front(m, next) : f->clone_at + f->clone_bytes;
	struct dw_jump_code code = {0};

	if (ret.plan->restores)
		write_restore(m, ret.plan, 0, &code);
	ret.restore_bytes = code.n;
	ret.restores_at = end - tail_bytes(m, ret.plan);
	ret.exits_at = ret.restores_at + ret.plan->restores * code.n;
	return ret;
}

/* The place of the clone that entry @k leads to; 0: the module. */
static uint32_t entry_place(const struct dw_clone_module *m, const struct table *table, uint32_t k)
{
	const struct dw_jump_entry *e = &m->jump_entries.v[table->t->first + k];

	if (e->to == DWELL_JUMP_TO_RESTORE)
		return table->restores_at + e->restore * table->restore_bytes;
	if (needs_exit(m, table->t, e))
		return table->exits_at + JUMP_BYTES * exits(m, table->plan, k);
	return e->to == DWELL_JUMP_TO_CLONE ? dw_clone_place(m, e->svma, true) : 0;
}

static void put_entry(struct dw_writer *w, const struct table *table, uint32_t k)
{
	const struct dw_clone_module *m = w->m;
	uint32_t place = entry_place(m, table, k), field = table->t->at + k * table->t->entry_bytes;
	uint64_t svma = m->jump_entries.v[table->t->first + k].svma;

	if (table->t->entry_bytes == 4) {
		int64_t to = place ? (int64_t)m->start + m->distance + place : (int64_t)svma;

		dw_set_distance(w, field, to, (int64_t)table->t->base);
		if (place)
			dw_add_relocation(w, DWELL_RELOC_FROM_MODULE, field);
		return;
	}
	if (place) {
		svma = m->is_fixed ? m->start + (uint64_t)m->distance + place : place;
		dw_add_relocation(w, DWELL_RELOC_AREA_64, field);
	}
	memcpy(w->t->area + field, &svma, sizeof svma);
}

int dw_emit_tables(const struct dw_emit_target *t, struct dw_emit_result *ret)
{
	struct dw_writer w = {.t = t, .m = t->m, .ret = ret};

	dw_vec_each(x, &t->m->jump_tables) {
		struct table table;

		if (!x->at)
			continue;
		table = find_tail(t->m, x, dw_clone_function_of(t->m, t->m->jumps.v[x->plan].insn));
		for (uint32_t k = 0; k < x->n && !w.rc; k++)
			put_entry(&w, &table, k);
	}
	return w.rc;
}
