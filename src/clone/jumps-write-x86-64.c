/*
 * The bytes of translated indirect jumps; see jumps.h.
 *
 * Jumps by the map must keep flags and registers. With t = target - start of the function,
 * w = the low 32 bits of t, and s = the sign of size - 1 - w (0 or -1, by cqo), t - w + s is 0
 * just when 0 <= t < size: lea, not, cqo, jrcxz and moves suffice and touch no flag.
 */
#include "clone/jumps-write-x86-64.h"

#include <string.h>

enum { RAX, RCX, RDX };
enum { SLOT_BYTES = 8, NEAR_LIMIT = -128 };

/* Where the saved words stand: slots below what is free. */
enum { SLOT_TARGET = 1, SLOT_RAX, SLOT_RCX, SLOT_RDX };

struct writer {
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
static void put_slot(struct writer *w, bool wide, uint8_t op, uint8_t reg, int slot)
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

static void save(struct writer *w, uint8_t reg, int slot)
{
	put_slot(w, true, 0x89, reg, slot);
}

static void restore(struct writer *w)
{
	put_slot(w, true, 0x8b, RAX, SLOT_RAX);
	put_slot(w, true, 0x8b, RCX, SLOT_RCX);
	put_slot(w, true, 0x8b, RDX, SLOT_RDX);
}

/* An indirect jump taken apart: ff /4, behind prefixes. */
struct parts {
	const uint8_t *bytes;
	uint8_t rex_at;	  /* or where it would stand */
	uint8_t rex;	  /* 0 = none */
	uint8_t modrm_at; /* behind one opcode byte */
	uint8_t n;
};

static bool is_legacy_prefix(uint8_t byte)
{
	static const uint8_t prefixes[] = {0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x2e,
					   0x36, 0x3e, 0x26, 0x64, 0x65};

	return memchr(prefixes, byte, sizeof prefixes) != NULL;
}

static bool is_rex(uint8_t byte)
{
	return (byte & 0xf0) == 0x40;
}

/* A REX prefix that does not stand right before the opcode is ignored. Intel SDM, vol. 2, 2.2.1. */
static struct parts take_apart(const uint8_t *bytes, uint8_t n)
{
	struct parts ret = {.bytes = bytes, .n = n};
	const uint8_t *p = bytes;

	while (is_legacy_prefix(*p) || (is_rex(*p) && (is_legacy_prefix(p[1]) || is_rex(p[1]))))
		p++;
	ret.rex_at = (uint8_t)(p - bytes);
	if (is_rex(*p))
		ret.rex = *p;
	ret.modrm_at = (uint8_t)(ret.rex_at + (ret.rex != 0) + 1);
	return ret;
}

/* Copy the instruction @insn at @svma, a rip operand still leading to the module. */
static void put_original(struct dw_jump_code *c, const struct dw_insn *insn, const uint8_t *bytes,
			 uint64_t svma)
{
	if (!(insn->flags & DWELL_INSN_RIP)) {
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
	struct parts parts = take_apart(bytes, insn->length);
	uint8_t head[3] = {(uint8_t)(0x48 | (parts.rex & 3)), 0x8b,
			   (uint8_t)((bytes[parts.modrm_at] & 0xc7) | reg << 3)};

	for (uint8_t i = 0; i < parts.rex_at; i++) /* notrack is one of jumps only */
		if (bytes[i] == 0x64 || bytes[i] == 0x65 || bytes[i] == 0x67)
			put(c, bytes + i, 1);
	put(c, head, sizeof head);
	if (insn->flags & DWELL_INSN_RIP)
		put_fixup(c, DWELL_JUMP_TO_MODULE, 0, dw_insn_target(insn, svma));
	else
		put(c, bytes + parts.modrm_at + 1, (size_t)parts.n - parts.modrm_at - 1);
}

void dw_jump_write_callee(const struct dw_insn *insn, const uint8_t *bytes, uint64_t svma,
			  struct dw_jump_code *ret)
{
	ret->n = ret->fixups_n = ret->leave_at = 0;
	put_operand(ret, insn, bytes, svma, RAX);
}

static void put_leave(struct writer *w, const uint8_t *leave, size_t n)
{
	if (!w->plan->free_below && n) {
		w->code->leave_at = w->code->n;
		put(w->code, leave, n);
	}
}

static void write_map(struct writer *w, const struct dw_clone_function *f,
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

void dw_jump_write(const struct dw_clone_module *m, const struct dw_jump_plan *plan, uint64_t svma,
		   const uint8_t *leave, size_t leave_n, struct dw_jump_code *ret)
{
	const struct dw_insn *insn = &m->insns.v[plan->insn];
	const struct dw_clone_function *f = dw_clone_function_at(m, svma);
	const uint8_t *bytes = dw_clone_module_bytes(m, svma, insn->length);
	struct writer w = {ret, plan};

	ret->n = ret->fixups_n = ret->leave_at = 0;
	if (plan->how == DWELL_JUMP_MAP)
		write_map(&w, f, insn, bytes, svma, leave, leave_n);
	else if (plan->how == DWELL_JUMP_LEAVE)
		put_leave(&w, leave, leave_n);
	if (plan->how == DWELL_JUMP_TABLE && plan->load == plan->insn)
		dw_jump_write_load(m, plan, svma, ret);
	else if (plan->how != DWELL_JUMP_MAP)
		put_original(ret, insn, bytes, svma);
}

void dw_jump_load_measure(const uint8_t *bytes, struct dw_jump_plan *plan)
{
	struct parts parts = take_apart(bytes, DWELL_INSN_BYTES_MAX);

	plan->load_disp_at = (uint8_t)(parts.modrm_at + 2); /* modrm and SIB */
	plan->load_bytes = (uint8_t)(plan->load_disp_at + 4);
}

void dw_jump_write_load(const struct dw_clone_module *m, const struct dw_jump_plan *plan,
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

void dw_jump_write_restore(const struct dw_clone_module *m, const struct dw_jump_plan *plan,
			   uint32_t k, struct dw_jump_code *ret)
{
	const struct dw_jump_table *table = &m->jump_tables.v[plan->table];
	uint64_t to = m->jump_restores.v[plan->first_target + k];
	int32_t distance = (int32_t)(to - table->base);
	bool two = plan->loads != plan->jumps_by;

	ret->n = ret->fixups_n = ret->leave_at = 0;
	if (two || !plan->add_n)
		put_address(ret, plan->jumps_by, plan->add_n ? table->base : to);
	if (two || plan->add_n)
		put_constant(ret, plan->loads, distance);
	put(ret, plan->add_bytes, plan->add_n);
	PUT(ret, 0xe9);
	put_fixup(ret, DWELL_JUMP_TO_CLONE, 0, to);
}
