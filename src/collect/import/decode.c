/*
 * Decoding of perf.data's records; see decode.h.
 *
 * All events of a file have the same fields before the time and behind other records, or say in the
 * first, or last, word which one they are: perf makes sure of that, as it could not read its files
 * otherwise.
 */
#include "collect/import/decode.h"

#include "base/cursor.h"

#include <asm/perf_regs.h>
#include <string.h>
#include <sys/mman.h>

enum { HEADER_BYTES = 8, BRANCH_BYTES = 24, BUILD_ID_BYTES = 20 };

#define MISC_MMAP_DATA	   (1 << 13)
#define MISC_MMAP_BUILD_ID (1 << 14)
#define BRANCH_HW_INDEX	   (1ull << 17)
#define BRANCH_COUNTERS	   (1ull << 19)
#define READ_LOST	   (1ull << 4)

/* perf's numbers of registers -> DWARF's, + 1; 0 = of no interest. */
static const uint8_t dwarf_number[64] = {
	[PERF_REG_X86_AX] = 1,
	[PERF_REG_X86_DX] = 2,
	[PERF_REG_X86_CX] = 3,
	[PERF_REG_X86_BX] = 4,
	[PERF_REG_X86_SI] = 5,
	[PERF_REG_X86_DI] = 6,
	[PERF_REG_X86_BP] = DWELL_REG_FP + 1,
	[PERF_REG_X86_SP] = DWELL_REG_SP + 1,
	[PERF_REG_X86_IP] = DWELL_REG_PC + 1,
	[PERF_REG_X86_R8] = 9,
	[PERF_REG_X86_R9] = 10,
	[PERF_REG_X86_R10] = 11,
	[PERF_REG_X86_R11] = 12,
	[PERF_REG_X86_R12] = 13,
	[PERF_REG_X86_R13] = 14,
	[PERF_REG_X86_R14] = 15,
	[PERF_REG_X86_R15] = 16,
};

static unsigned bits(uint64_t v)
{
	return (unsigned)__builtin_popcountll(v);
}

/* Words of the fields in @before that a sample of @type has. All are one word long. */
static size_t words_before(uint64_t type, uint64_t before)
{
	return bits(type & before);
}

/* Whether records other than samples end in words that say when and of whom they are. */
static uint64_t trailer_fields(const struct dw_perf_event *e)
{
	return !e->attr.sample_id_all
		       ? 0
		       : e->attr.sample_type &
				 (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
				  PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER);
}

/* The word number @i of the record @p of @n bytes, from its end if below 0. 0 when it has not so
 * many. */
static uint64_t word_at(const uint8_t *p, size_t n, int i)
{
	size_t at = i < 0 ? n - (size_t)-i * 8 : HEADER_BYTES + (size_t)i * 8;
	uint64_t v;

	if (n < HEADER_BYTES + 8 || at > n - 8 || at < HEADER_BYTES)
		return 0;
	memcpy(&v, p + at, sizeof v);
	return v;
}

uint64_t dw_import_record_time(const struct dw_perf_file *f, const void *p, size_t n)
{
	const struct dw_perf_event *e = f->events.v;
	uint64_t type = e->attr.sample_type, trailer = trailer_fields(e);
	struct perf_event_header h;

	memcpy(&h, p, sizeof h);
	if (!(type & PERF_SAMPLE_TIME))
		return 0;
	if (h.type == PERF_RECORD_SAMPLE)
		return word_at(p, n,
			       (int)words_before(type, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
							       PERF_SAMPLE_TID));
	if (!(trailer & PERF_SAMPLE_TIME))
		return 0;
	trailer &= ~(uint64_t)PERF_SAMPLE_TID;
	return word_at(p, n, -(int)bits(trailer));
}

/* Which event the sample @p of @n bytes is of. NULL = one that is not there. */
static const struct dw_perf_event *event_of(const struct dw_perf_file *f, const uint8_t *p,
					    size_t n)
{
	uint64_t type = f->events.v[0].attr.sample_type, id;

	if (f->events.n == 1)
		return f->events.v;
	if (type & PERF_SAMPLE_IDENTIFIER)
		id = word_at(p, n, 0);
	else if (type & PERF_SAMPLE_ID)
		id = word_at(p, n,
			     (int)words_before(type, PERF_SAMPLE_IP | PERF_SAMPLE_TID |
							     PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR));
	else
		return f->events.v;
	dw_vec_each(e, &f->events) {
		dw_vec_each(other, &e->ids) {
			if (*other == id)
				return e;
		}
	}
	return NULL;
}

static void skip_read(struct dw_cursor *c, uint64_t format)
{
	uint64_t n = 1, each = 1 + bits(format & (PERF_FORMAT_ID | READ_LOST));

	if (format & PERF_FORMAT_GROUP)
		n = dw_cursor_u64(c);
	dw_cursor_skip(c, 8 * bits(format & (PERF_FORMAT_TOTAL_TIME_ENABLED |
					     PERF_FORMAT_TOTAL_TIME_RUNNING)));
	if (n > UINT16_MAX)
		c->failed = true;
	else
		dw_cursor_skip(c, 8 * n * each);
}

/* Sort the addresses of a chain into the kernel's and the program's. */
static void take_chain(struct dw_cursor *c, struct dw_import_record *ret)
{
	struct dw_perf_sample *s = &ret->r.sample;
	uint64_t n = dw_cursor_u64(c), context = PERF_CONTEXT_USER;

	if (n > DWELL_IMPORT_CHAIN_MAX)
		c->failed = true;
	for (uint64_t i = 0; i < n && !c->failed; i++) {
		uint64_t address = dw_cursor_u64(c);

		if (address >= PERF_CONTEXT_MAX)
			context = address;
		else if (context == PERF_CONTEXT_USER)
			ret->user[s->user_n++] = address;
		else if (context == PERF_CONTEXT_KERNEL)
			ret->kernel[s->kernel_n++] = address;
	}
	s->user = ret->user;
	s->kernel = (const uint8_t *)ret->kernel;
}

static void skip_branches(struct dw_cursor *c, uint64_t type)
{
	uint64_t n = dw_cursor_u64(c);

	if (n > UINT16_MAX)
		c->failed = true;
	dw_cursor_skip(c, type & BRANCH_HW_INDEX ? 8 : 0);
	dw_cursor_skip(c, c->failed ? 0 : n * (BRANCH_BYTES + (type & BRANCH_COUNTERS ? 8 : 0)));
}

static void take_registers(struct dw_cursor *c, uint64_t mask, struct dw_perf_sample *s)
{
	s->abi = dw_cursor_u64(c);
	for (unsigned i = 0; s->abi && i < 64; i++) {
		uint64_t v = mask >> i & 1 ? dw_cursor_u64(c) : 0;

		if (mask >> i & 1 && dwarf_number[i])
			s->regs.r[dwarf_number[i] - 1] = v;
	}
}

static void take_stack(struct dw_cursor *c, struct dw_perf_sample *s)
{
	uint64_t dumped = dw_cursor_u64(c), valid;

	if (!dumped)
		return;
	s->stack = dw_cursor_bytes(c, dumped);
	valid = dw_cursor_u64(c);
	s->stack_bytes = valid < dumped ? valid : dumped;
}

/* What stands before registers and stack. Unknown fields behind them are of no interest. */
static void take_fields(struct dw_cursor *c, const struct perf_event_attr *a,
			struct dw_import_record *ret, uint64_t *ip)
{
	uint64_t type = a->sample_type;

	dw_cursor_skip(c, type & PERF_SAMPLE_IDENTIFIER ? 8 : 0);
	*ip = type & PERF_SAMPLE_IP ? dw_cursor_u64(c) : 0;
	if (type & PERF_SAMPLE_TID) {
		ret->r.pid = (int32_t)dw_cursor_u32(c);
		ret->r.tid = (int32_t)dw_cursor_u32(c);
	}
	ret->r.time_ns = type & PERF_SAMPLE_TIME ? dw_cursor_u64(c) : 0;
	dw_cursor_skip(c, 8 * words_before(type, PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
							 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
							 PERF_SAMPLE_PERIOD));
	if (type & PERF_SAMPLE_READ)
		skip_read(c, a->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		take_chain(c, ret);
	if (type & PERF_SAMPLE_RAW)
		dw_cursor_skip(c, dw_cursor_u32(c));
	if (type & PERF_SAMPLE_BRANCH_STACK)
		skip_branches(c, a->branch_sample_type);
	if (type & PERF_SAMPLE_REGS_USER)
		take_registers(c, a->sample_regs_user, &ret->r.sample);
	if (type & PERF_SAMPLE_STACK_USER)
		take_stack(c, &ret->r.sample);
}

static int decode_sample(const struct dw_perf_file *f, const uint8_t *p, size_t n,
			 struct dw_import_record *ret)
{
	struct dw_perf_sample *s = &ret->r.sample;
	struct perf_event_header h;
	struct dw_cursor c;
	uint64_t ip;
	bool in_kernel;

	memset(s, 0, sizeof *s);
	ret->event = event_of(f, p, n);
	if (!ret->event)
		return DWELL_ERR_UNSUPPORTED;
	dw_cursor_init(&c, p, n);
	dw_cursor_skip(&c, HEADER_BYTES);
	take_fields(&c, &ret->event->attr, ret, &ip);
	memcpy(&h, p, sizeof h);
	in_kernel = (h.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	/* Without stacks there is at least an address. */
	if (!s->kernel_n && in_kernel) {
		ret->kernel[s->kernel_n++] = ip;
		s->kernel = (const uint8_t *)ret->kernel;
	} else if (!s->user_n && !in_kernel) {
		ret->user[s->user_n++] = ip;
		s->user = ret->user;
	}
	if (!s->abi && s->user_n)
		s->abi = PERF_SAMPLE_REGS_ABI_64;
	return c.failed ? DWELL_ERR_FORMAT : 0;
}

static void decode_mapping(struct dw_cursor *c, uint16_t misc, bool second,
			   struct dw_import_record *ret)
{
	struct dw_perf_mapping *m = &ret->r.mapping;
	const uint8_t *id;
	uint8_t bytes;

	memset(m, 0, sizeof *m);
	ret->mapping.build_id_bytes = 0;
	ret->is_data = misc & MISC_MMAP_DATA;
	ret->r.pid = (int32_t)dw_cursor_u32(c);
	ret->r.tid = (int32_t)dw_cursor_u32(c);
	m->start = dw_cursor_u64(c);
	m->bytes = dw_cursor_u64(c);
	m->offset = dw_cursor_u64(c);
	if (second && misc & MISC_MMAP_BUILD_ID) {
		bytes = dw_cursor_u8(c);
		dw_cursor_skip(c, 3);
		id = dw_cursor_bytes(c, BUILD_ID_BYTES);
		if (id)
			memcpy(ret->mapping.build_id, id, BUILD_ID_BYTES);
		ret->mapping.build_id_bytes = bytes < BUILD_ID_BYTES ? bytes : BUILD_ID_BYTES;
	} else if (second) {
		m->major_no = dw_cursor_u32(c);
		m->minor_no = dw_cursor_u32(c);
		m->inode = dw_cursor_u64(c);
		m->generation = dw_cursor_u64(c);
	}
	if (second) {
		ret->is_data |= !(dw_cursor_u32(c) & PROT_EXEC);
		dw_cursor_skip(c, 4); /* flags */
	}
	m->path = dw_cursor_cstr(c);
}

static void decode_task(struct dw_cursor *c, struct dw_perf_record *r)
{
	r->pid = (int32_t)dw_cursor_u32(c);
	r->parent.pid = (int32_t)dw_cursor_u32(c);
	r->tid = (int32_t)dw_cursor_u32(c);
	r->parent.tid = (int32_t)dw_cursor_u32(c);
}

int dw_import_decode(const struct dw_perf_file *f, const void *p, size_t n,
		     struct dw_import_record *ret)
{
	struct perf_event_header h;
	struct dw_cursor c;

	memcpy(&h, p, sizeof h);
	ret->r.type = h.type;
	ret->r.pid = ret->r.tid = 0;
	ret->r.time_ns = dw_import_record_time(f, p, n);
	dw_cursor_init(&c, p, n);
	dw_cursor_skip(&c, HEADER_BYTES);
	switch (h.type) {
	case PERF_RECORD_SAMPLE:
		return decode_sample(f, p, n, ret);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		decode_mapping(&c, h.misc, h.type == PERF_RECORD_MMAP2, ret);
		ret->r.type = PERF_RECORD_MMAP2;
		break;
	case PERF_RECORD_COMM:
		ret->r.pid = (int32_t)dw_cursor_u32(&c);
		ret->r.tid = (int32_t)dw_cursor_u32(&c);
		ret->r.comm.name = dw_cursor_cstr(&c);
		ret->r.comm.exec = h.misc & PERF_RECORD_MISC_COMM_EXEC;
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		decode_task(&c, &ret->r);
		break;
	case PERF_RECORD_LOST:
		dw_cursor_skip(&c, 8); /* id of the event */
		ret->r.lost = dw_cursor_u64(&c);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		ret->r.lost = dw_cursor_u64(&c);
		break;
	case PERF_RECORD_THROTTLE:
		break;
	default:
		return DWELL_ERR_UNSUPPORTED;
	}
	return c.failed ? DWELL_ERR_FORMAT : 0;
}
