/* The decoder: kinds, relative fields, flags; what instructions read and write. */
#include "check.h"

#include "code/decode/insn-x86-64.h"

/* Decode the bytes of a string literal. */
#define DECODE(text) decode((const uint8_t *)(text), sizeof(text) - 1)
#define DETAIL(text) detail((const uint8_t *)(text), sizeof(text) - 1)

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R11 = 11, R12, R13 };
enum { CF = 1, ZF = 0x40, ALL_FLAGS = 0x8d5 };

static struct dw_insn decode(const uint8_t *bytes, size_t n)
{
	struct dw_insn insn;

	if (!dw_insn_decode(bytes, n, &insn))
		memset(&insn, 0, sizeof insn);
	return insn;
}

static struct dw_insn_detail detail(const uint8_t *bytes, size_t n)
{
	struct dw_insn plain = decode(bytes, n), insn;
	struct dw_insn_detail d;

	if (!dw_insn_decode_detail(bytes, n, &insn, &d) || memcmp(&plain, &insn, sizeof insn))
		memset(&d, 0xee, sizeof d);
	return d;
}

TEST(kinds_and_lengths)
{
	static const struct {
		const char *bytes;
		uint8_t n, kind, field_at, flags;
		int32_t value;
	} cases[] = {
		{"\x90", 1, DWELL_INSN_PLAIN, 0, 0, 0},
		{"\xf3\x0f\x1e\xfa", 4, DWELL_INSN_PLAIN, 0, 0, 0},
		{"\xcc", 1, DWELL_INSN_PLAIN, 0, 0, 0},
		{"\x0f\x05", 2, DWELL_INSN_PLAIN, 0, DWELL_INSN_SYSCALL, 0},
		{"\xe8\x10\0\0\0", 5, DWELL_INSN_CALL, 1, 0, 16},
		{"\x66\x48\xe8\xf0\xff\xff\xff", 7, DWELL_INSN_CALL, 3, 0, -16},
		{"\x66\xe8\x10\0\0\0", 6, DWELL_INSN_OTHER, 2, 0, 16},
		{"\xeb\xfe", 2, DWELL_INSN_JUMP, 1, 0, -2},
		{"\xf2\xe9\1\0\0\0", 6, DWELL_INSN_JUMP, 2, 0, 1},
		{"\x74\x80", 2, DWELL_INSN_BRANCH, 1, 0, -128},
		{"\x2e\x0f\x8f\xff\xff\xff\x7f", 7, DWELL_INSN_BRANCH, 3, 0, INT32_MAX},
		{"\xe3\2", 2, DWELL_INSN_LOOP, 1, 0, 2},
		{"\x67\xe3\2", 3, DWELL_INSN_LOOP, 2, 0, 2},
		{"\xe2\2", 2, DWELL_INSN_LOOP, 1, 0, 2},
		{"\xff\xd0", 2, DWELL_INSN_CALL_INDIRECT, 0, 0, 0},
		{"\xff\x15\4\0\0\0", 6, DWELL_INSN_CALL_INDIRECT, 2, DWELL_INSN_RELATIVE, 4},
		{"\x3e\xff\xe0", 3, DWELL_INSN_JUMP_INDIRECT, 0, DWELL_INSN_NOTRACK, 0},
		{"\xff\x25\xfc\xff\xff\xff", 6, DWELL_INSN_JUMP_INDIRECT, 2, DWELL_INSN_RELATIVE,
		 -4},
		{"\xff\x28", 2, DWELL_INSN_OTHER, 0, 0, 0},
		{"\xff\x1c\x24", 3, DWELL_INSN_OTHER, 0, DWELL_INSN_SP, 0},
		{"\x48\x8b\x44\x24\x18", 5, DWELL_INSN_PLAIN, 0, DWELL_INSN_SP, 24},
		{"\x48\x8b\x45\xf8", 4, DWELL_INSN_PLAIN, 0, DWELL_INSN_FP, -8},
		{"\x49\x8b\x44\x24\x18", 5, DWELL_INSN_PLAIN, 0, 0, 0}, /* r12 */
		{"\x49\x8b\x45\xf8", 4, DWELL_INSN_PLAIN, 0, 0, 0},	/* r13 */
		{"\x48\x8b\x44\xc4\x18", 5, DWELL_INSN_PLAIN, 0, DWELL_INSN_SP | DWELL_INSN_INDEX,
		 24},
		{"\x4a\x8b\x44\x25\x18", 5, DWELL_INSN_PLAIN, 0, DWELL_INSN_FP | DWELL_INSN_INDEX,
		 24},
		{"\x48\x8b\xec", 3, DWELL_INSN_PLAIN, 0, 0, 0}, /* no memory */
		{"\xc3", 1, DWELL_INSN_RETURN, 0, 0, 0},
		{"\xf3\xc3", 2, DWELL_INSN_RETURN, 0, 0, 0},
		{"\xc2\x08\0", 3, DWELL_INSN_RETURN, 0, 0, 0},
		{"\xcb", 1, DWELL_INSN_OTHER, 0, 0, 0},
		{"\x48\xcf", 2, DWELL_INSN_OTHER, 0, 0, 0},
		{"\x0f\x0b", 2, DWELL_INSN_STOP, 0, 0, 0},
		{"\xf4", 1, DWELL_INSN_STOP, 0, 0, 0},
		{"\xc7\xf8\4\0\0\0", 6, DWELL_INSN_BEGIN, 2, 0, 4},
		{"\x48\x8d\x05\x10\0\0\0", 7, DWELL_INSN_PLAIN, 3, DWELL_INSN_RELATIVE, 16},
		{"\x48\xc7\x05\x10\0\0\0\1\0\0\0", 11, DWELL_INSN_PLAIN, 3, DWELL_INSN_RELATIVE,
		 16},
		{"\x67\x8d\x05\x10\0\0\0", 7, DWELL_INSN_OTHER, 3, DWELL_INSN_RELATIVE, 16},
		{"\xf0\x48\x0f\xb1\x15\4\0\0\0", 9, DWELL_INSN_PLAIN, 5,
		 DWELL_INSN_RELATIVE | DWELL_INSN_PREFIX, 4},
		{"\x62\xf1\xfd\x48\x6f\x05\x10\0\0\0", 10, DWELL_INSN_PLAIN, 6, DWELL_INSN_RELATIVE,
		 16},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dw_insn got = decode((const uint8_t *)cases[i].bytes, cases[i].n);

		printf("# case %zu\n", i);
		CHECK_INT(got.length, cases[i].n);
		CHECK_INT(got.kind, cases[i].kind);
		CHECK_INT(got.field_at, cases[i].field_at);
		CHECK_INT(got.flags, cases[i].flags);
		CHECK_INT(got.value, cases[i].value);
	}
}

TEST(targets_wrap_like_the_processor)
{
	struct dw_insn insn = DECODE("\xeb\xfe");

	CHECK_INT(dw_insn_target(&insn, 0x1000), 0x1000);
	insn = DECODE("\x48\x8d\x05\xf0\xff\xff\xff");
	CHECK_INT(dw_insn_target(&insn, 0x1000), 0xff7);
}

TEST(what_is_no_instruction)
{
	CHECK_INT(DECODE("\x06").length, 0);
	CHECK_INT(DECODE("\xe8\0\0").length, 0);
	CHECK_INT(DECODE("").length, 0);
	CHECK_INT(DECODE("\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90").length,
		  0);
}

TEST(details_of_a_table_jump)
{
	/* movslq (%rdx,%rax,4),%rax; add %rdx,%rax; jmp *%rax; jmp *0x8(,%rcx,8) */
	struct dw_insn_detail d = DETAIL("\x48\x63\x04\x82");

	CHECK_INT(d.op, DWELL_OP_MOVSXD);
	CHECK_INT(d.to, RAX);
	CHECK_INT(d.reads, 1 << RAX | 1 << RDX);
	CHECK_INT(d.writes, 1 << RAX);
	CHECK(d.memory.is_there && d.memory.is_read && !d.memory.is_written && !d.memory.is_rip);
	CHECK_INT(d.memory.base, RDX);
	CHECK_INT(d.memory.index, RAX);
	CHECK_INT(d.memory.scale, 4);
	CHECK_INT(d.memory.bytes, 4);
	CHECK_INT(d.flags_written, 0);
	d = DETAIL("\x48\x01\xd0");
	CHECK_INT(d.op, DWELL_OP_ADD);
	CHECK_INT(d.to, RAX);
	CHECK_INT(d.from, RDX);
	CHECK_INT(d.bytes, 8);
	CHECK_INT(d.flags_written, ALL_FLAGS);
	d = DETAIL("\xff\xe0");
	CHECK_INT(d.from, RAX);
	d = DETAIL("\xff\x24\xcd\x08\0\0\0");
	CHECK_INT(d.memory.base, DWELL_NO_REGISTER);
	CHECK_INT(d.memory.index, RCX);
	CHECK_INT(d.memory.disp, 8);
	CHECK_INT(d.memory.bytes, 8);
}

TEST(details_of_moves)
{
	struct dw_insn_detail d = DETAIL("\xb8\1\0\0\0");

	CHECK_INT(d.op, DWELL_OP_MOV);
	CHECK(d.has_immediate && d.immediate == 1);
	CHECK_INT(d.reads, 0);
	d = DETAIL("\xb0\1"); /* mov $1,%al keeps the rest of rax */
	CHECK_INT(d.reads, 1 << RAX);
	d = DETAIL("\x48\x8d\x3d\x10\0\0\0"); /* lea 16(%rip),%rdi */
	CHECK(d.op == DWELL_OP_LEA && d.memory.is_rip && !d.memory.bytes && !d.memory.is_read);
	CHECK_INT(d.to, RDI);
	d = DETAIL("\x48\x89\x44\x24\xf0"); /* mov %rax,-16(%rsp) */
	CHECK(d.memory.is_written && !d.memory.is_read);
	CHECK_INT(d.memory.base, RSP);
	CHECK_INT(d.memory.disp, -16);
	CHECK_INT(d.to, DWELL_NO_REGISTER);
	CHECK_INT(d.from, RAX);
	d = DETAIL("\x41\x54"); /* push %r12 */
	CHECK_INT(d.op, DWELL_OP_PUSH);
	CHECK_INT(d.reads, 1 << R12 | 1 << RSP);
	CHECK_INT(d.from, R12);
	CHECK(!d.memory.is_there);
	d = DETAIL("\x64\x48\x8b\x04\x25\x28\0\0\0"); /* mov %fs:0x28,%rax */
	CHECK(d.memory.has_segment && d.memory.disp == 0x28);
}

TEST(details_that_are_not_certain)
{
	CHECK_INT(DETAIL("\xd3\xe0").flags_written, 0); /* shl %cl,%eax: a count of 0 keeps them */
	CHECK_INT(DETAIL("\xc1\xe0\x05").flags_written, ALL_FLAGS);
	CHECK_INT(DETAIL("\xc1\xe0\x20").flags_written, 0);
	CHECK_INT(DETAIL("\xf3\xa6").flags_written, 0); /* repe cmpsb: so does rcx = 0 */
	CHECK_INT(DETAIL("\xa6").flags_written, ALL_FLAGS);
	CHECK_INT(DETAIL("\x74\0").flags_read, ZF);
	CHECK_INT(DETAIL("\xff\xc0").flags_written, ALL_FLAGS & ~CF); /* inc */
	CHECK_INT(DETAIL("\x0f\x44\xc2").reads, 1 << RAX | 1 << RDX); /* cmove %edx,%eax */
	CHECK_INT(DETAIL("\x0f\xbc\xc2").reads, 1 << RAX | 1 << RDX); /* bsf %edx,%eax */
	CHECK_INT(DETAIL("\x0f\x05").op, DWELL_OP_SYSCALL);
	CHECK_INT(DETAIL("\x0f\x05").writes, 1 << RCX | 1 << R11);
}

/* Whether the short decoder, where it answers, answers as Zydis; *@answers counts. */
static bool quick_agrees(const uint8_t *bytes, size_t n, uint64_t *answers)
{
	struct dw_insn quick, zydis;
	struct dw_insn_detail d;

	if (!dw_insn_decode_quick(bytes, n, &quick))
		return true;
	++*answers;
	return dw_insn_decode_detail(bytes, n, &zydis, &d) && !memcmp(&quick, &zydis, sizeof quick);
}

TEST(short_decoder_agrees_on_noise)
{
	uint64_t state = 1, answers = 0;
	uint8_t bytes[16];

	for (int i = 0; i < 300000; i++) {
		for (int k = 0; k < 16; k++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			bytes[k] = (uint8_t)(state >> 56);
		}
		if (i % 2)
			bytes[0] = 0x40 | (bytes[0] & 15);
		if (i % 3 == 0)
			bytes[i % 2] = 0x0f;
		if (!quick_agrees(bytes, (size_t)(i % 16 + 1), &answers))
			CHECK_FAIL("%02x %02x %02x %02x, %d bytes", bytes[0], bytes[1], bytes[2],
				   bytes[3], i % 16 + 1);
	}
	CHECK(answers > 100000);
}

TEST(short_decoder_agrees_on_prefixes)
{
	static const uint8_t prefixes[] = {0x66, 0x2e, 0x66, 0x48, 0x41, 0x0f, 0x66, 0x2e};
	uint64_t state = 1, answers = 0;
	uint8_t bytes[16];

	for (int i = 0; i < 300000; i++) {
		for (int k = 0; k < 16; k++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			bytes[k] = k <= i % 6 ? prefixes[state >> 61] : (uint8_t)(state >> 56);
		}
		if (!quick_agrees(bytes, (size_t)(i % 16 + 1), &answers))
			CHECK_FAIL("%02x %02x %02x %02x, %d bytes", bytes[0], bytes[1], bytes[2],
				   bytes[3], i % 16 + 1);
	}
	CHECK(answers > 30000);
}

TEST(short_decoder_agrees_on_this_program)
{
	uint64_t answers = 0, all = 0;
	struct dw_insn insn;
	extern const uint8_t etext;
	const uint8_t *p = (const uint8_t *)(uintptr_t)dw_insn_decode_detail;

	for (; p < &etext; p += insn.length, all++) {
		size_t left = (size_t)(&etext - p);

		if (!quick_agrees(p, left, &answers))
			CHECK_FAIL("%02x %02x %02x %02x", p[0], p[1], p[2], p[3]);
		if (!dw_insn_decode(p, left, &insn))
			break;
	}
	CHECK(all > 300);
	CHECK(answers * 10 > all * 7);
}

/* As objdump -d and objdump -d -M intel print them. */
TEST(names_are_those_of_assemblers)
{
	static const struct {
		uint8_t bytes[10];
		const char *att, *intel;
	} cases[] = {
		{{0x74, 0x02}, "je", "je"},
		{{0x0f, 0x9d, 0xc0}, "setge", "setge"},
		{{0x0f, 0x47, 0xc1}, "cmova", "cmova"},
		{{0xf2, 0x0f, 0x10, 0x45, 0x08}, "movsd", "movsd"},
		{{0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x07}, "vmovdqu64", "vmovdqu64"},
		{{0xf2, 0x48, 0x0f, 0x2a, 0x07}, "cvtsi2sdq", "cvtsi2sd"},
		{{0x0f, 0xb6, 0x07}, "movzbl", "movzx"},
		{{0x48, 0x63, 0xc7}, "movslq", "movsxd"},
		{{0x48, 0x98}, "cltq", "cdqe"},
		{{0x48, 0xf7, 0x37}, "divq", "div"},
		{{0xd3, 0x27}, "shll", "shl"},
		{{0x48, 0x0f, 0xa4, 0x17, 3}, "shld", "shld"},
		{{0x48, 0x0f, 0xad, 0x17}, "shrd", "shrd"},
		{{0x0f, 0x1f, 0}, "nopl (%rax)", "nop dword ptr [rax]"},
		{{0x66, 0x0f, 0x1f, 0}, "nopw (%rax)", "nop word ptr [rax]"},
		{{0x0f, 0x1f, 0xc0}, "nop %eax", "nop eax"},
		{{0x48, 0xc7, 0x07, 1, 0, 0, 0}, "movq", "mov"},
		{{0x48, 0x89, 0x07}, "mov", "mov"},
		{{0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}, "movabs", "mov"},
		{{0xdd, 0x07}, "fldl", "fld"},
		{{0xde, 0xe9}, "fsubrp", "fsubp"},
		{{0xdc, 0xf1}, "fdiv", "fdivr"},
		{{0xd8, 0xe1}, "fsub", "fsub"},
		{{0xdc, 0x27}, "fsubl", "fsub"},
		{{0xde, 0xc9}, "fmulp", "fmulp"},
		{{0xdb, 0x2f}, "fldt", "fld"},
		{{0xdf, 0x2f}, "fildll", "fild"},
		{{0xf3, 0xa5}, "rep movsl", "rep movsd"},
		{{0xf0, 0x48, 0xff, 0x07}, "lock incq", "lock inc"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int intel = 0; intel < 2; intel++) {
			const char *want = intel ? cases[i].intel : cases[i].att;
			struct dw_buf text = DW_BUF_INIT;
			char got[100], with_blank[100];

			CHECK(dw_insn_put(&text, cases[i].bytes, sizeof cases[i].bytes, 0x1000,
					  intel));
			/* a blank behind the name, whether operands follow it or not */
			snprintf(with_blank, sizeof with_blank, "%s ", want);
			snprintf(got, sizeof got, "%s ", dw_buf_str(&text));
			got[strlen(with_blank)] = 0;
			CHECK_STR(got, with_blank);
			dw_buf_release(&text);
		}
}

TEST_MAIN()
