/*
 * Decoding of perf records; see records.h and perf_event_open(2), "MMAP layout". The fields of a
 * sample stand in the order of that page, those that were asked for only; all other records end in
 * the fields of struct sample_id that were asked for, here pid, tid and time.
 */
#include "collect/perf/records.h"

#include "base/cursor.h"
#include "base/error.h"

#include <string.h>

enum { HEADER_BYTES = 8, SAMPLE_TIME_OFFSET = 24, TRAILER_BYTES = 16, CHAIN_MAX = 8191 };

/* perf's order of the registers in DWELL_PERF_REGS_MASK -> DWARF numbers (asm/perf_regs.h). */
static const uint8_t dwarf_number[DWELL_REG_COUNT] = {
	0, 3, 2, 1, 4, 5, DWELL_REG_FP, DWELL_REG_SP, DWELL_REG_PC, 8, 9, 10, 11, 12, 13, 14, 15};

uint64_t dw_perf_record_time(const void *p, size_t n)
{
	struct perf_event_header h;
	uint64_t time;
	size_t at;

	if (n < HEADER_BYTES + TRAILER_BYTES)
		return 0;
	memcpy(&h, p, sizeof h);
	at = h.type == PERF_RECORD_SAMPLE ? SAMPLE_TIME_OFFSET : n - sizeof time;
	if (at + sizeof time > n)
		return 0;
	memcpy(&time, (const char *)p + at, sizeof time);
	return time;
}

/* The kernel's part of a chain of addresses: what follows its mark, up to the next one. */
static void decode_chain(struct dw_cursor *c, struct dw_perf_sample *s)
{
	uint64_t n = dw_cursor_u64(c), mark;
	const uint8_t *chain = n <= CHAIN_MAX ? dw_cursor_bytes(c, n * 8) : NULL;

	if (n > CHAIN_MAX)
		c->failed = true;
	if (!chain || !n)
		return;
	memcpy(&mark, chain, sizeof mark);
	if (mark != PERF_CONTEXT_KERNEL)
		return;
	s->kernel = chain + 8;
	for (; s->kernel_n < n - 1; s->kernel_n++) {
		memcpy(&mark, s->kernel + 8 * s->kernel_n, sizeof mark);
		if (mark >= PERF_CONTEXT_MAX)
			return;
	}
}

static void decode_sample(struct dw_cursor *c, bool has_chain, struct dw_perf_record *ret)
{
	struct dw_perf_sample *s = &ret->sample;
	uint64_t dumped, valid;

	*s = (struct dw_perf_sample){0}; /* other sources have more than perf tells */
	s->event = dw_cursor_u64(c);	 /* or the address, which is among the registers too */
	ret->pid = (int32_t)dw_cursor_u32(c);
	ret->tid = (int32_t)dw_cursor_u32(c);
	ret->time_ns = dw_cursor_u64(c);
	if (has_chain)
		decode_chain(c, s);
	s->abi = dw_cursor_u64(c);
	if (s->abi != PERF_SAMPLE_REGS_ABI_NONE)
		for (int i = 0; i < DWELL_REG_COUNT; i++)
			s->regs.r[dwarf_number[i]] = dw_cursor_u64(c);
	dumped = dw_cursor_u64(c);
	if (!dumped)
		return;
	s->stack = dw_cursor_bytes(c, dumped);
	valid = dw_cursor_u64(c);
	s->stack_bytes = valid < dumped ? valid : dumped;
}

static void decode_mapping(struct dw_cursor *c, struct dw_perf_record *ret)
{
	struct dw_perf_mapping *m = &ret->mapping;

	ret->pid = (int32_t)dw_cursor_u32(c);
	ret->tid = (int32_t)dw_cursor_u32(c);
	m->start = dw_cursor_u64(c);
	m->bytes = dw_cursor_u64(c);
	m->offset = dw_cursor_u64(c);
	m->major_no = dw_cursor_u32(c);
	m->minor_no = dw_cursor_u32(c);
	m->inode = dw_cursor_u64(c);
	m->generation = dw_cursor_u64(c);
	dw_cursor_skip(c, 8); /* prot, flags */
	m->path = dw_cursor_cstr(c);
}

static void decode_comm(struct dw_cursor *c, uint16_t misc, struct dw_perf_record *ret)
{
	ret->pid = (int32_t)dw_cursor_u32(c);
	ret->tid = (int32_t)dw_cursor_u32(c);
	ret->comm.name = dw_cursor_cstr(c);
	ret->comm.exec = misc & PERF_RECORD_MISC_COMM_EXEC;
}

static void decode_task(struct dw_cursor *c, struct dw_perf_record *ret)
{
	ret->pid = (int32_t)dw_cursor_u32(c);
	ret->parent.pid = (int32_t)dw_cursor_u32(c);
	ret->tid = (int32_t)dw_cursor_u32(c);
	ret->parent.tid = (int32_t)dw_cursor_u32(c);
}

static int decode_body(struct dw_cursor *c, uint16_t misc, bool has_chain,
		       struct dw_perf_record *ret)
{
	switch (ret->type) {
	case PERF_RECORD_SAMPLE:
		decode_sample(c, has_chain, ret);
		break;
	case PERF_RECORD_MMAP2:
		decode_mapping(c, ret);
		break;
	case PERF_RECORD_COMM:
		decode_comm(c, misc, ret);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		decode_task(c, ret);
		break;
	case PERF_RECORD_LOST:
		dw_cursor_u64(c); /* id of the event */
		ret->lost = dw_cursor_u64(c);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		ret->lost = dw_cursor_u64(c);
		break;
	case PERF_RECORD_THROTTLE:
		break;
	case PERF_RECORD_SWITCH:
		ret->to = !(misc & PERF_RECORD_MISC_SWITCH_OUT)	       ? DWELL_SWITCH_ON
			  : misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? DWELL_SWITCH_PREEMPTED
								       : DWELL_SWITCH_OFF;
		break;
	default:
		return DWELL_ERR_UNSUPPORTED;
	}
	return c->failed ? DWELL_ERR_FORMAT : 0;
}

int dw_perf_record_decode(const void *p, size_t n, bool has_chain, struct dw_perf_record *ret)
{
	struct perf_event_header h;
	struct dw_cursor c;

	if (n < HEADER_BYTES + TRAILER_BYTES)
		return DWELL_ERR_FORMAT;
	memcpy(&h, p, sizeof h);
	ret->type = h.type;
	ret->pid = ret->tid = 0;
	ret->time_ns = dw_perf_record_time(p, n);
	dw_cursor_init(&c, p, h.type == PERF_RECORD_SAMPLE ? n : n - TRAILER_BYTES);
	dw_cursor_skip(&c, HEADER_BYTES);
	if (h.type == PERF_RECORD_SWITCH) { /* nothing of its own says whose it is */
		memcpy(&ret->pid, (const char *)p + n - TRAILER_BYTES, sizeof ret->pid);
		memcpy(&ret->tid, (const char *)p + n - TRAILER_BYTES + 4, sizeof ret->tid);
	}
	return decode_body(&c, h.misc, has_chain, ret);
}

int dw_dispatcher_record(struct dw_dispatcher *in, const void *p, size_t n, bool side)
{
	struct dw_perf_record r;
	int rc = dw_perf_record_decode(p, n, in->has_chains, &r);

	if (!rc)
		return dw_dispatcher_take(in, &r, side);
	in->malformed += rc == DWELL_ERR_FORMAT;
	return 0;
}

void dw_dispatcher_prefetch(struct dw_dispatcher *in, const void *p, size_t n)
{
	struct dw_perf_record r;

	if (!dw_perf_record_decode(p, n, in->has_chains, &r) && r.type == PERF_RECORD_SAMPLE)
		dw_sample_unwinder_ahead(&in->unwinder, &r);
}
