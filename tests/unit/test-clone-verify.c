/* The verifier: content with what the maker makes, and with nothing that was changed in it. */
#include "check.h"

#include "base/cleanup.h"
#include "clone/clone.h"
#include "clone/trampolines/trampolines.h"
#include "clone/verify/verify.h"
#include "code/elf/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>

enum { KINDS = DWELL_PROBES_TIME + 1 };

/* A sample and its image. */
struct sample {
	struct dw_elf *elf;
	uint8_t *image;
	size_t n;
	struct dw_clone_header h;
};

static bool open_sample(const char *path, uint32_t probes, struct sample *s)
{
	struct dw_clone_options options = {.probes = probes, .all_functions = true};
	dw_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);

	*s = (struct sample){0};
	if (fd < 0 || dw_elf_open(fd, &s->elf, NULL) ||
	    dw_clone_make(s->elf, &options, &s->image, &s->n, NULL))
		return false;
	memcpy(&s->h, s->image + DWELL_CLONE_HEADER_OFFSET, sizeof s->h);
	return true;
}

static void release(struct sample *s)
{
	free(s->image);
	dw_elf_free(s->elf);
}

/* Findings in the image as it is now; -1: it is no image any more. */
static int64_t findings(const struct sample *s, struct dw_verify_result *r)
{
	return dw_clone_verify(s->elf, s->image, s->n, r, NULL) ? -1 : (int64_t)r->findings_n;
}

/* Whether a change from @a to @b is one of a REX prefix: some of its bits may mean nothing. */
static bool is_rex(uint8_t a, uint8_t b)
{
	return (a & 0xf0) == 0x40 && (b & 0xf0) == 0x40;
}

/* Change each byte in [@at, @at + @n) in turn. The first one whose change is not found; 0 = none.
 */
static uint32_t first_unnoticed(struct sample *s, uint32_t at, uint32_t n, uint8_t change)
{
	for (uint32_t i = at; i < at + n; i++) {
		struct dw_verify_result r;
		int64_t found;

		s->image[i] ^= change;
		found = findings(s, &r);
		s->image[i] ^= change;
		if (!found && !is_rex(s->image[i], s->image[i] ^ change))
			return i;
	}
	return 0;
}

#define CHECK_NOTICED(s, at, n, change)                                                        \
	do {                                                                                   \
		uint32_t check_at = first_unnoticed(s, at, n, change);                         \
		if (check_at)                                                                  \
			CHECK_FAIL("a change of %#x at %#x is not found", (change), check_at); \
	} while (0)

/* Area offset behind the last clone. */
static uint32_t clones_end(const struct sample *s)
{
	struct dw_clone_function_entry e;
	uint32_t end = s->h.code_at;

	for (uint32_t i = 0; i < s->h.functions.n; i++) {
		memcpy(&e, s->image + s->h.functions.at + i * sizeof e, sizeof e);
		if (e.clone_at + e.clone_bytes > end)
			end = e.clone_at + e.clone_bytes;
	}
	return end;
}

TEST(finds_nothing_in_what_was_made)
{
	static const char *const paths[] = {CLONE_SAMPLE, CLONE_SAMPLE_FIXED};

	for (uint32_t i = 0; i < 2 * KINDS; i++) {
		struct dw_verify_result r;
		struct sample s;

		CHECK(open_sample(paths[i / KINDS], i % KINDS, &s));
		if (findings(&s, &r))
			CHECK_FAIL("%#" PRIx64 ": %s", r.findings[0].svma, r.findings[0].text);
		CHECK(i % KINDS == DWELL_PROBES_SYSTEM_CALLS ? r.functions == 2
							     : r.functions >= 12);
		release(&s);
	}
}

TEST(finds_nothing_in_odd_code)
{
	static const char *const paths[] = {CLONE_CORNERS, JUMPS_SAMPLE, JUMPS_SAMPLE_FIXED,
					    HAZARDS_SAMPLE};

	for (uint32_t i = 0; i < 4 * KINDS; i++) {
		struct dw_verify_result r;
		struct sample s;

		CHECK(open_sample(paths[i / KINDS], i % KINDS, &s));
		if (findings(&s, &r))
			CHECK_FAIL("%s: %#" PRIx64 ": %s", paths[i / KINDS], r.findings[0].svma,
				   r.findings[0].text);
		CHECK(i % KINDS == DWELL_PROBES_SYSTEM_CALLS || r.functions);
		release(&s);
	}
}

TEST(finds_every_changed_byte_of_code)
{
	for (uint32_t i = 0; i < KINDS; i++) {
		uint32_t clones, end;
		struct sample s;

		CHECK(open_sample(CLONE_SAMPLE, i, &s));
		clones = s.h.code_at + dw_trampolines_bytes(i);
		end = clones_end(&s);
		CHECK(end > clones + (i == DWELL_PROBES_SYSTEM_CALLS ? 20 : 400));
		CHECK_NOTICED(&s, s.h.code_at, end - s.h.code_at, 0xff);
		CHECK_NOTICED(&s, clones, end - clones, 0x01);
		CHECK_NOTICED(&s, clones, end - clones, 0x08);
		release(&s);
	}
}

TEST(finds_every_changed_byte_of_lists)
{
	struct sample s;

	CHECK(open_sample(CLONE_SAMPLE, DWELL_PROBES_COUNT, &s));
	CHECK_NOTICED(&s, s.h.instructions.at, s.h.instructions.n, 0x11);
	CHECK_NOTICED(&s,
		      DWELL_CLONE_HEADER_OFFSET +
			      (uint32_t)offsetof(struct dw_clone_header, cloned_hash),
		      sizeof s.h.cloned_hash, 0x10);
	CHECK_NOTICED(&s, s.h.functions.at,
		      s.h.functions.n * (uint32_t)sizeof(struct dw_clone_function_entry), 0x40);
	CHECK_NOTICED(&s, s.h.patches.at, s.h.patches.n * (uint32_t)sizeof(struct dw_clone_patch),
		      0x40);
	for (int i = 0; i < 4; i++)
		CHECK_NOTICED(&s, s.h.relocations[i].at, s.h.relocations[i].n * 4, 0x10);
	release(&s);
}

TEST(finds_every_changed_byte_of_probe_lists)
{
	struct dw_clone_part thread;
	struct sample s;

	CHECK(open_sample(CLONE_SAMPLE, DWELL_PROBES_TIME, &s));
	thread = s.h.relocations[DWELL_RELOC_THREAD];
	CHECK(s.h.imports.n >= 5);
	CHECK_INT(s.h.system_calls, 3);
	CHECK_INT(s.h.system_calls_left, 1);
	CHECK_NOTICED(&s, s.h.imports.at, s.h.imports.n * (uint32_t)sizeof(struct dw_clone_import),
		      0x11);
	CHECK_NOTICED(&s, s.h.returns.at, s.h.returns.n * (uint32_t)sizeof(struct dw_clone_return),
		      0x04);
	CHECK_NOTICED(&s, thread.at, thread.n * 4, 0x04);
	for (int i = 0; i < DWELL_TRAMPOLINES_N; i++) {
		CHECK(s.h.trampoline_at[i] || !s.h.trampoline_calls[i].n);
		CHECK_NOTICED(&s, s.h.trampoline_calls[i].at, s.h.trampoline_calls[i].n * 4, 0x04);
	}
	for (uint32_t i = 0; i < s.h.functions.n; i++) {
		uint32_t flags = s.h.functions.at +
				 i * (uint32_t)sizeof(struct dw_clone_function_entry) +
				 (uint32_t)offsetof(struct dw_clone_function_entry, flags);

		for (uint8_t flag = DWELL_CLONE_COLD; flag <= DWELL_CLONE_SWITCHES; flag <<= 1)
			CHECK_NOTICED(&s, flags, 1, flag);
	}
	release(&s);
}

TEST(finds_every_changed_byte_of_final_code)
{
	struct sample s;

	CHECK(open_sample(CLONE_SAMPLE, DWELL_PROBES_TIME, &s));
	CHECK(s.h.final_bytes >= 4096);
	CHECK_NOTICED(&s, s.h.bytes, s.h.final_bytes, 0x10);
	CHECK_NOTICED(&s,
		      DWELL_CLONE_HEADER_OFFSET +
			      (uint32_t)offsetof(struct dw_clone_header, final_bytes),
		      2 * sizeof s.h.final_bytes, 0x10);
	release(&s);
}

TEST(finds_every_changed_byte_of_maps_and_tables)
{
	struct sample s;
	uint32_t at;

	CHECK(open_sample(CLONE_SAMPLE, DWELL_PROBES_NONE, &s));
	at = s.h.wiped_at + 4096;
	CHECK(s.h.eh_frame_hdr_at > at + 32);
	CHECK_NOTICED(&s, at, s.h.eh_frame_hdr_at - at, 0x80);
	CHECK_NOTICED(&s, at, s.h.eh_frame_hdr_at - at, 0x04);
	release(&s);
}

/* Some changes mean nothing: of padding, of an encoding that tells small numbers apart as little as
 * before, of the place of types that no action names. */
TEST(finds_changed_bytes_of_unwind_tables)
{
	uint32_t unnoticed = 0;
	struct sample s;

	CHECK(open_sample(CLONE_SAMPLE, DWELL_PROBES_COUNT, &s));
	CHECK_NOTICED(&s, s.h.eh_frame_hdr_at, 12 + (s.h.functions.n + 1) * 8, 0x08);
	for (uint32_t i = 0; i < s.h.eh_frame_bytes; i++)
		unnoticed += first_unnoticed(&s, s.h.eh_frame_at + i, 1, 0x08) != 0;
	CHECK(unnoticed * 20 < s.h.eh_frame_bytes);
	release(&s);
}

/* Debuggers read what they are told. Not compared: e_version, e_entry, e_phoff and e_flags, names,
 * and where the code, which the object has not, would stand in it. */
TEST(finds_changes_of_what_debuggers_read)
{
	const uint32_t at = DWELL_CLONE_OBJECT_OFFSET;
	const Elf64_Shdr *table;
	struct sample s;

	for (uint32_t i = 0; i < KINDS; i++) {
		const uint32_t sections = at + offsetof(struct dw_clone_object, sections);

		CHECK(open_sample(CLONE_SAMPLE, i, &s));
		table = (const void *)(s.image + sections +
				       DWELL_CLONE_SECTION_SYMTAB * sizeof *table);
		CHECK_NOTICED(&s, at, EI_VERSION, 0xff);
		CHECK_NOTICED(&s, at + offsetof(Elf64_Ehdr, e_type), 4, 0x80);
		CHECK_NOTICED(&s, at + offsetof(Elf64_Ehdr, e_shoff), 8, 0x40);
		CHECK_NOTICED(&s, at + offsetof(Elf64_Ehdr, e_shnum), 4, 0x10);
		for (int k = DWELL_CLONE_SECTION_TEXT; k < DWELL_CLONE_SECTIONS; k++) {
			const uint32_t section = sections + (uint32_t)k * sizeof *table;

			CHECK_NOTICED(&s, section + offsetof(Elf64_Shdr, sh_type), 4, 0x40);
			if (k == DWELL_CLONE_SECTION_TEXT || k == DWELL_CLONE_SECTION_EH_FRAME)
				CHECK_NOTICED(&s, section + offsetof(Elf64_Shdr, sh_addr), 8, 1);
			if (k != DWELL_CLONE_SECTION_EH_FRAME_HDR)
				CHECK_NOTICED(&s, section + offsetof(Elf64_Shdr, sh_size) + 1, 7,
					      0xff);
			if (k == DWELL_CLONE_SECTION_EH_FRAME || k >= DWELL_CLONE_SECTION_SYMTAB)
				CHECK_NOTICED(&s, section + offsetof(Elf64_Shdr, sh_offset) + 3, 5,
					      0xff);
		}
		CHECK_NOTICED(&s,
			      s.h.constants_at + at + (uint32_t)table->sh_offset +
				      sizeof(Elf64_Sym) + offsetof(Elf64_Sym, st_info),
			      20, 0x41);
		release(&s);
	}
}

TEST(finds_lost_relocations)
{
	struct dw_verify_result r;
	struct sample s;

	CHECK(open_sample(CLONE_SAMPLE, DWELL_PROBES_COUNT, &s));
	for (int i = 0; i < 4; i++) {
		struct dw_clone_header h = s.h;

		if (!h.relocations[i].n)
			continue;
		h.relocations[i].n--;
		memcpy(s.image + DWELL_CLONE_HEADER_OFFSET, &h, sizeof h);
		CHECK(findings(&s, &r));
		h.relocations[i].n++;
		memcpy(s.image + DWELL_CLONE_HEADER_OFFSET, &h, sizeof h);
		CHECK_INT(findings(&s, &r), 0);
	}
	release(&s);
}

TEST(finds_calls_of_trampolines_that_are_not_listed)
{
	struct dw_verify_result r;
	struct sample s;

	CHECK(open_sample(CLONE_SAMPLE, DWELL_PROBES_TIME, &s));
	for (int i = 0; i < DWELL_TRAMPOLINES_N; i++) {
		struct dw_clone_header h = s.h;

		for (int by = -1; by < 2; by += 2) {
			h.trampoline_calls[i].n = s.h.trampoline_calls[i].n + (uint32_t)by;
			if (!s.h.trampoline_calls[i].n)
				continue;
			memcpy(s.image + DWELL_CLONE_HEADER_OFFSET, &h, sizeof h);
			CHECK(findings(&s, &r));
		}
	}
	release(&s);
}

/* Whether @bytes stand in [@from, @from + @room) of the image. */
static bool is_within(const struct sample *s, uint32_t from, uint32_t room, const char *bytes)
{
	return memmem(s->image + from, room, bytes, strlen(bytes));
}

/* The agent leaves interrupted trampolines by what it knows of their code. */
TEST(trampolines_are_as_signals_expect_them)
{
	static const char save_flags[] = "\x9f\x0f\x90\xc0\x89\x44\x24\xb0";
	static const char move[] = "\x48\x8d\x64\x24\xb0"; /* lea -80(%rsp), %rsp */
	static const char restore_rax[] = "\x48\x8b\x44\x24\xf8\xc3";
	struct sample s;

	CHECK(open_sample(CLONE_SAMPLE, DWELL_PROBES_TIME, &s));
	for (int i = DWELL_TRAMPOLINE_ENTER; i < DWELL_TRAMPOLINES_N; i++)
		CHECK(is_within(&s, s.h.trampoline_at[i], 64, save_flags));
	CHECK(is_within(&s, s.h.moves_at, sizeof move - 1, move));
	CHECK(s.h.signals_at > s.h.moves_at && s.h.signals_at < s.h.moved_at);
	CHECK(is_within(&s, s.h.moved_at, 48, restore_rax));
	for (int i = 0; i < DWELL_CLONE_TRAMPOLINES && s.h.trampolines[i].again; i++) {
		const struct dw_clone_trampoline *g = &s.h.trampolines[i];

		CHECK(g->again < g->commit && g->commit <= g->end && g->end <= g->over);
		CHECK_INT(is_within(&s, g->end, g->over - g->end, restore_rax), g->commit < g->end);
	}
	release(&s);
}

TEST_MAIN()
