/*
 * Unwind rules; see natives.h. Return addresses are looked up when they are first met, so
 * nothing is kept. Other modules can go at any time: what is read of them is copied by the kernel,
 * which refuses where there is no memory. Nearly all is the runtime's, which stays. Sources: the
 * LSB's ".eh_frame" and ".eh_frame_hdr", DWARF 5 section 6.4.
 */
#include "agent/clr/natives.h"

#include "agent/clr/frame-rules-x86-64.h"
#include "agent/core/agent.h"
#include "agent/core/bytes.h"
#include "agent/core/system-calls.h"

enum {
	RECORD_BYTES = 1024, /* of a record, more is refused */
	STEPS = 512,	     /* of a record's program */
	REMEMBERED = 8,	     /* states */
	WORD = 8,
	PCREL_SDATA4 = 0x1b,
	DATAREL_SDATA4 = 0x3b,
	UDATA4 = 0x03,
	RBP = 6, /* numbers of registers */
	RSP = 7,
	RETURN = 16,
};

/* Operations, the first three with an operand in their low bits. */
enum {
	ADVANCE = 0x40,
	OFFSET = 0x80,
	RESTORE = 0xc0,
	NOP = 0x00,
	ADVANCE_1 = 0x02,
	ADVANCE_2 = 0x03,
	ADVANCE_4 = 0x04,
	OFFSET_EXTENDED = 0x05,
	RESTORE_EXTENDED = 0x06,
	UNDEFINED = 0x07,
	SAME_VALUE = 0x08,
	IN_REGISTER = 0x09,
	REMEMBER = 0x0a,
	RECALL = 0x0b,
	CFA = 0x0c,
	CFA_REGISTER = 0x0d,
	CFA_OFFSET = 0x0e,
	CFA_EXPRESSION = 0x0f,
	EXPRESSION = 0x10,
	OFFSET_SIGNED = 0x11,
	CFA_SIGNED = 0x12,
	CFA_OFFSET_SIGNED = 0x13,
	VALUE_OFFSET = 0x14,
	VALUE_OFFSET_SIGNED = 0x15,
	VALUE_EXPRESSION = 0x16,
	ARGUMENTS = 0x2e,
};

/* A record's bytes. Reading behind its end gives zeros and @failed. */
struct bytes {
	const uint8_t *at, *end;
	bool failed;
};

enum rule_kind { SAME, SAVED, LOST };

struct rule {
	enum rule_kind kind;
	int64_t offset; /* from the frame's address, where it is saved */
};

struct rules {
	uint64_t base; /* register, of the frame's address */
	int64_t offset;
	bool has_base;
	struct rule rbp, ret;
};

/* A record's program on its way to @pc. */
struct program {
	struct bytes b;
	uint64_t at, pc;
	uint64_t code_factor;
	int64_t data_factor;
	struct rules now, first, kept[REMEMBERED];
	uint32_t kept_n;
};

/* A record with what it refers to. */
struct record {
	uint8_t text[RECORD_BYTES];
	struct bytes b; /* behind its length and its next word */
	uint32_t link;	/* that word */
	uint64_t address;
};

static bool copy(void *to, uint64_t from, size_t n)
{
	const struct {
		uint64_t at, n;
	} here = {(uint64_t)to, n}, there = {from, n};

	if (from >= dw_frame_rules.unwind_start && from < dw_frame_rules.unwind_end &&
	    n <= dw_frame_rules.unwind_end - from) {
		memcpy(to, (const void *)from, n);
		return true;
	}
	return dw_agent_may_call() &&
	       dw_syscall(SYS_process_vm_readv, dw_sys_getpid(), &here, 1, &there, 1, 0) == (long)n;
}

static uint64_t take(struct bytes *b, uint32_t n)
{
	uint64_t word = 0;

	if ((size_t)(b->end - b->at) < n) {
		b->failed = true;
		b->at = b->end;
		return 0;
	}
	for (uint32_t i = 0; i < n; i++)
		word |= (uint64_t)b->at[i] << 8 * i;
	b->at += n;
	return word;
}

static uint64_t take_unsigned(struct bytes *b)
{
	uint64_t word = 0, byte = 0x80;

	for (uint32_t shift = 0; byte & 0x80 && shift < 63 && !b->failed; shift += 7) {
		byte = take(b, 1);
		word |= (byte & 0x7f) << shift;
	}
	b->failed |= (byte & 0x80) != 0;
	return word;
}

static int64_t take_signed(struct bytes *b)
{
	const uint8_t *from = b->at;
	uint64_t word = take_unsigned(b);
	uint32_t bits = (uint32_t)(b->at - from) * 7;

	if (!b->failed && bits < 64 && b->at > from && b->at[-1] & 0x40)
		word |= ~(uint64_t)0 << bits;
	return (int64_t)word;
}

static void skip(struct bytes *b, uint64_t n)
{
	if (n > (size_t)(b->end - b->at))
		b->failed = true;
	else
		b->at += n;
}

/* Read the record at @address. False: it is none, or too long. */
static bool read_record(uint64_t address, struct record *r)
{
	uint32_t head[2];

	if (!copy(head, address, sizeof(head)) || head[0] < 4 || head[0] - 4 > RECORD_BYTES ||
	    !copy(r->text, address + 8, head[0] - 4))
		return false;
	r->b = (struct bytes){r->text, r->text + head[0] - 4, false};
	r->link = head[1];
	r->address = address;
	return true;
}

static void advance(struct program *p, uint64_t words)
{
	p->at += words * p->code_factor;
	if (p->at > p->pc)
		p->b.at = p->b.end;
}

static void set(struct rules *rules, uint64_t number, enum rule_kind kind, int64_t offset)
{
	if (number == RBP)
		rules->rbp = (struct rule){kind, offset};
	else if (number == RETURN)
		rules->ret = (struct rule){kind, offset};
}

static void restore(struct program *p, uint64_t number)
{
	const struct rule *first = number == RBP ? &p->first.rbp : &p->first.ret;

	set(&p->now, number, first->kind, first->offset);
}

/* Operations on the frame's address. False: @op is none. */
static bool run_base(struct program *p, uint8_t op)
{
	struct rules *now = &p->now;

	if (op == CFA || op == CFA_SIGNED || op == CFA_REGISTER)
		now->base = take_unsigned(&p->b);
	if (op == CFA || op == CFA_OFFSET)
		now->offset = (int64_t)take_unsigned(&p->b);
	else if (op == CFA_SIGNED || op == CFA_OFFSET_SIGNED)
		now->offset = take_signed(&p->b) * p->data_factor;
	else if (op == CFA_EXPRESSION)
		skip(&p->b, take_unsigned(&p->b));
	else if (op != CFA_REGISTER)
		return false;
	now->has_base = op != CFA_EXPRESSION && (now->has_base || op == CFA || op == CFA_SIGNED);
	return true;
}

/* Operations on one register. False: @op is none. */
static bool run_register(struct program *p, uint8_t op)
{
	struct bytes *b = &p->b;
	uint64_t number;

	if (op < OFFSET_EXTENDED || op > VALUE_EXPRESSION)
		return false;
	number = take_unsigned(b);
	if (op == OFFSET_EXTENDED)
		set(&p->now, number, SAVED, (int64_t)take_unsigned(b) * p->data_factor);
	else if (op == OFFSET_SIGNED)
		set(&p->now, number, SAVED, take_signed(b) * p->data_factor);
	else if (op == RESTORE_EXTENDED)
		restore(p, number);
	else
		set(&p->now, number, op == SAME_VALUE ? SAME : LOST, 0);
	if (op == IN_REGISTER || op == VALUE_OFFSET || op == VALUE_OFFSET_SIGNED)
		take_unsigned(b);
	else if (op == EXPRESSION || op == VALUE_EXPRESSION)
		skip(b, take_unsigned(b));
	return true;
}

static void run_state(struct program *p, uint8_t op)
{
	if (op == REMEMBER && p->kept_n < REMEMBERED)
		p->kept[p->kept_n++] = p->now;
	else if (op == RECALL && p->kept_n)
		p->now = p->kept[--p->kept_n];
	else
		p->b.failed = true;
}

static void step(struct program *p)
{
	uint8_t op = (uint8_t)take(&p->b, 1), low = op & 0x3f;

	if (op >= RESTORE)
		restore(p, low);
	else if (op >= OFFSET)
		set(&p->now, low, SAVED, (int64_t)take_unsigned(&p->b) * p->data_factor);
	else if (op >= ADVANCE)
		advance(p, low);
	else if (op >= ADVANCE_1 && op <= ADVANCE_4)
		advance(p, take(&p->b, 1u << (op - ADVANCE_1)));
	else if (op == REMEMBER || op == RECALL)
		run_state(p, op);
	else if (op == ARGUMENTS)
		take_unsigned(&p->b);
	else if (op != NOP && !run_base(p, op) && !run_register(p, op))
		p->b.failed = true;
}

static bool run(struct program *p, struct bytes program)
{
	p->b = program;
	for (int i = 0; i < STEPS && p->b.at < p->b.end && !p->b.failed; i++)
		step(p);
	return p->b.at == p->b.end && !p->b.failed;
}

/* What the letters behind 'z' say, with their data in @b. False: not what compilers write. */
static bool read_letters(struct bytes *b, struct bytes letters)
{
	bool has_encoding = false;
	uint8_t letter, encoding;

	for (;;) {
		letter = (uint8_t)take(&letters, 1);
		if (!letter || b->failed)
			return has_encoding && !letters.failed && !b->failed;
		encoding = (uint8_t)take(b, 1);
		if (letter == 'R')
			has_encoding = encoding == PCREL_SDATA4;
		else if (letter == 'P')
			take(b, (encoding & 7) == UDATA4 ? 4 : WORD);
		else if (letter != 'L')
			return false;
	}
}

/* Run what records @of of a module have in common. */
static bool run_common(struct program *p, const struct record *of)
{
	struct record common;
	struct bytes *b = &common.b, letters, data;
	uint64_t version, n;

	if (!read_record(of->address + 4 - of->link, &common) || common.link)
		return false;
	version = take(b, 1);
	letters = *b;
	while (take(b, 1))
		;
	p->code_factor = take_unsigned(b);
	p->data_factor = take_signed(b);
	n = version == 1 ? take(b, 1) : take_unsigned(b);
	if (take(&letters, 1) != 'z' || n != RETURN)
		return false;
	n = take_unsigned(b);
	data = *b;
	skip(b, n);
	if (b->failed || !read_letters(&data, letters))
		return false;
	p->pc = UINT64_MAX;
	return run(p, *b);
}

/* The record for @pc by the module's table of contents, sorted by address. 0 = none. */
static uint64_t find_record(const struct dw_cfi_range *m, uint64_t pc)
{
	struct {
		uint8_t version, frame_encoding, count_encoding, table_encoding;
		uint32_t frame, n;
	} head;
	int32_t entry[2];
	uint64_t low = 0, high, at;

	if (!copy(&head, m->index, sizeof(head)) || head.version != 1 ||
	    (head.frame_encoding & 0xf) != (PCREL_SDATA4 & 0xf) || head.count_encoding != UDATA4 ||
	    head.table_encoding != DATAREL_SDATA4)
		return 0;
	for (high = head.n; high - low > 1;) {
		at = low + (high - low) / 2;
		if (!copy(entry, m->index + sizeof(head) + at * sizeof(entry), sizeof(entry)))
			return 0;
		if (m->index + (uint64_t)(int64_t)entry[0] <= pc)
			low = at;
		else
			high = at;
	}
	if (!high || !copy(entry, m->index + sizeof(head) + low * sizeof(entry), sizeof(entry)))
		return 0;
	at = m->index + (uint64_t)(int64_t)entry[1];
	return at >= m->start && at < m->end ? at : 0;
}

/* The frame rule of @rules. */
static bool kind_of(const struct rules *rules, uint32_t *ret)
{
	int64_t words = rules->offset / WORD - 1, save = -1;

	if (!rules->has_base || rules->offset % WORD || rules->ret.kind != SAVED ||
	    rules->ret.offset != -WORD || rules->rbp.kind == LOST)
		return false;
	if (rules->rbp.kind == SAVED)
		save = (rules->offset + rules->rbp.offset) / WORD;
	if (rules->base == RBP && !save && words == 1) {
		*ret = dw_frame_rule(DWELL_FRAME_RULE_RBP, -1);
		return true;
	}
	if (rules->base != RSP || words < 0 || words > INT16_MAX || save >= words ||
	    (rules->rbp.kind == SAVED && save < 0))
		return false;
	*ret = dw_frame_rule((int32_t)words, (int32_t)save);
	return true;
}

bool dw_cfi_frame_rule(const struct dw_cfi_range *module, uint64_t ip, uint32_t *ret)
{
	uint64_t pc = ip - 1, at = find_record(module, pc), start;
	struct program p = {.now.rbp.kind = SAME, .now.ret.kind = LOST};
	struct record r;

	if (!at || !read_record(at, &r) || !r.link || !run_common(&p, &r))
		return false;
	start = at + 8 + (uint64_t)(int64_t)(int32_t)take(&r.b, 4);
	if (pc - start >= take(&r.b, 4))
		return false;
	skip(&r.b, take_unsigned(&r.b));
	p.first = p.now;
	p.at = start;
	p.pc = pc;
	return !r.b.failed && run(&p, r.b) && kind_of(&p.now, ret);
}
