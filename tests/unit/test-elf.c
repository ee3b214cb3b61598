/* The ELF reader: this test's own binary, files made by hand, broken ones. */
#include "check.h"

#include "base/cleanup.h"
#include "code/elf/needed.h"

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <zlib.h>
#include <zstd.h>

DW_DEFINE_FREEP(dw_elf)

/* A small ELF image: header, two segments, four sections, one note. */
struct image {
	Elf64_Ehdr head;
	Elf64_Phdr seg[3];
	Elf64_Shdr sec[4];
	char names[32];
	uint8_t note[36];
	uint8_t data[256];
};

static struct image good_image(void)
{
	struct image m = {
		.head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     EV_CURRENT},
			 .e_type = ET_DYN,
			 .e_machine = EM_X86_64,
			 .e_phoff = offsetof(struct image, seg),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 3,
			 .e_shoff = offsetof(struct image, sec),
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = 4,
			 .e_shstrndx = 1},
		.seg = {{.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = 0x400, .p_memsz = 0x400},
			{.p_type = PT_LOAD,
			 .p_flags = PF_R | PF_X,
			 .p_offset = offsetof(struct image, data),
			 .p_vaddr = 0x10000 + offsetof(struct image, data),
			 .p_filesz = 256,
			 .p_memsz = 0x1000},
			{.p_type = PT_NOTE,
			 .p_offset = offsetof(struct image, note),
			 .p_filesz = 36}},
		.sec = {{0},
			{.sh_name = 1,
			 .sh_type = SHT_STRTAB,
			 .sh_offset = offsetof(struct image, names),
			 .sh_size = 32},
			{.sh_name = 7,
			 .sh_type = SHT_PROGBITS,
			 .sh_addr = 0x10000 + offsetof(struct image, data),
			 .sh_offset = offsetof(struct image, data),
			 .sh_size = 256},
			{.sh_name = 13, .sh_type = SHT_NOBITS, .sh_size = 1 << 20}},
		.names = "\0names\0.data\0.bss",
		.note = {4, 0, 0, 0, 20, 0, 0, 0, NT_GNU_BUILD_ID, 0, 0, 0, 'G', 'N', 'U', 0, 0xab},
	};

	for (size_t i = 0; i < sizeof m.data; i++)
		m.data[i] = (uint8_t)i;
	return m;
}

/* Open @m as a file image; NULL when it is refused. */
static struct dw_elf *open_image(const struct image *m, int *rc)
{
	struct dw_elf *elf = NULL;

	*rc = dw_elf_open_bytes(m, sizeof *m, false, &elf, NULL);
	return elf;
}

TEST(own_binary)
{
	dw_auto_close int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	dw_auto_ptr(dw_elf) elf = NULL;
	dw_auto_free uint8_t *text = NULL;
	const struct dw_elf_section *s;
	uint8_t bytes[16];
	size_t n;

	CHECK_INT(dw_elf_open(fd, &elf, NULL), 0);
	CHECK_INT(dw_elf_type(elf), ET_DYN);
	CHECK(dw_elf_segments(elf, &n) && n > 3);
	CHECK(dw_elf_sections(elf, &n) && n > 10);
	s = dw_elf_section(elf, ".text");
	CHECK(s);
	CHECK_INT(dw_elf_read_section(elf, s, &text, &n, NULL), 0);
	CHECK_INT(n, s->bytes);
	CHECK_INT(dw_elf_read_svma(elf, s->svma, bytes, sizeof bytes), 0);
	CHECK(!memcmp(bytes, text, sizeof bytes));
}

TEST(segments_sections_and_build_id)
{
	struct image m = good_image();
	int rc;
	dw_auto_ptr(dw_elf) elf = open_image(&m, &rc);
	dw_auto_free uint8_t *data = NULL;
	const struct dw_elf_section *s;
	uint8_t id[32] = {0};
	size_t n;

	CHECK_INT(rc, 0);
	CHECK(dw_elf_segments(elf, &n));
	CHECK_INT(n, 3);
	s = dw_elf_section(elf, ".bss");
	CHECK(s);
	CHECK_INT(s->bytes, 0);
	s = dw_elf_section(elf, ".data");
	CHECK(s);
	CHECK_INT(dw_elf_read_section(elf, s, &data, &n, NULL), 0);
	CHECK_INT(n, 256);
	CHECK_INT(data[255], 255);
	CHECK_INT(data[256], 0);
	CHECK_INT(dw_elf_build_id(elf, id, sizeof id), 20);
	CHECK_INT(id[0], 0xab);
	CHECK_INT(dw_elf_build_id(elf, id, 4), 4);
	CHECK(!dw_elf_section(elf, ".none"));
}

TEST(svma_reads_stop_at_the_file_bytes)
{
	struct image m = good_image();
	int rc;
	dw_auto_ptr(dw_elf) elf = open_image(&m, &rc);
	struct dw_svma data = {m.seg[1].p_vaddr};
	uint8_t b[257];

	CHECK_INT(dw_elf_read_svma(elf, data, b, 256), 0);
	CHECK_INT(b[9], 9);
	CHECK_INT(dw_elf_read_svma(elf, data, b, 257), DWELL_ERR_NOT_FOUND);
	data.v += 256;
	CHECK_INT(dw_elf_read_svma(elf, data, b, 1), DWELL_ERR_NOT_FOUND);
	CHECK_INT(dw_elf_read_svma(elf, (struct dw_svma){~0ull - 3}, b, 8), DWELL_ERR_NOT_FOUND);
}

TEST(bias_prefers_the_executable_segment)
{
	struct image m = good_image();
	int rc;
	dw_auto_ptr(dw_elf) elf = open_image(&m, &rc);
	uint64_t bias = 0;

	/* both segments lie in the file's first page */
	CHECK_INT(dw_elf_bias(elf, (struct dw_avma){0x7f0000010000}, (struct dw_foff){0}, &bias),
		  0);
	CHECK_INT(bias, 0x7f0000000000);
	CHECK_INT(dw_elf_bias(elf, (struct dw_avma){0x1000}, (struct dw_foff){0x5000}, &bias),
		  DWELL_ERR_NOT_FOUND);
}

TEST(numbers_that_do_not_fit_the_header)
{
	struct image m = good_image();
	size_t n;
	int rc;

	m.head.e_shnum = 0;
	m.head.e_shstrndx = SHN_XINDEX;
	m.head.e_phnum = PN_XNUM;
	m.sec[0].sh_size = 4;
	m.sec[0].sh_link = 1;
	m.sec[0].sh_info = 2;
	dw_auto_ptr(dw_elf) elf = open_image(&m, &rc);
	CHECK_INT(rc, 0);
	CHECK(dw_elf_section(elf, ".data"));
	dw_elf_segments(elf, &n);
	CHECK_INT(n, 2);
}

TEST(foreign_files_are_refused)
{
	struct image m = good_image();
	int rc;

	m.head.e_ident[0] = 0;
	CHECK(!open_image(&m, &rc));
	CHECK_INT(rc, DWELL_ERR_FORMAT);
	m = good_image();
	m.head.e_ident[EI_CLASS] = ELFCLASS32;
	CHECK(!open_image(&m, &rc));
	CHECK_INT(rc, DWELL_ERR_UNSUPPORTED);
	m = good_image();
	m.head.e_machine = EM_AARCH64;
	CHECK(!open_image(&m, &rc));
	CHECK_INT(rc, DWELL_ERR_UNSUPPORTED);
	m = good_image();
	m.head.e_phentsize = 8;
	CHECK(!open_image(&m, &rc));
	CHECK_INT(rc, DWELL_ERR_FORMAT);
	m = good_image();
	m.head.e_phoff = ~0ull - 8;
	CHECK(!open_image(&m, &rc));
	CHECK_INT(rc, DWELL_ERR_FORMAT);
}

TEST(bad_section_table_counts_as_none)
{
	uint64_t huge[] = {~0ull, ~0ull - 100, sizeof(struct image) - 8};
	struct image m;
	size_t n;
	int rc;

	for (size_t i = 0; i < 3; i++) {
		m = good_image();
		m.head.e_shoff = huge[i];
		dw_auto_ptr(dw_elf) elf = open_image(&m, &rc);
		CHECK_INT(rc, 0);
		dw_elf_sections(elf, &n);
		CHECK_INT(n, 0);
	}
	m = good_image();
	m.head.e_shnum = 0;
	m.sec[0].sh_size = ~0ull / 2;
	dw_auto_ptr(dw_elf) elf = open_image(&m, &rc);
	CHECK_INT(rc, 0);
	dw_elf_sections(elf, &n);
	CHECK_INT(n, 0);
}

TEST(sections_outside_the_file_cannot_be_read)
{
	struct image m = good_image();
	uint8_t *data = NULL;
	size_t n;
	int rc;

	m.sec[2].sh_size = ~0ull;
	m.sec[1].sh_name = 5000;
	dw_auto_ptr(dw_elf) elf = open_image(&m, &rc);
	CHECK_INT(rc, 0);
	CHECK_INT(dw_elf_read_section(elf, dw_elf_section(elf, ".data"), &data, &n, NULL),
		  DWELL_ERR_FORMAT);
	CHECK(!data);
}

/* Put @packed bytes behind a compression header into .data of a copy of the good image. */
static int read_packed(uint32_t method, const void *packed, size_t packed_n, uint64_t claim,
		       uint8_t **ret, size_t *ret_n)
{
	struct image m = good_image();
	Elf64_Chdr head = {.ch_type = method, .ch_size = claim, .ch_addralign = 1};
	int rc;

	memcpy(m.data, &head, sizeof head);
	memcpy(m.data + sizeof head, packed, packed_n);
	m.sec[2].sh_flags = SHF_COMPRESSED;
	m.sec[2].sh_size = sizeof head + packed_n;
	dw_auto_ptr(dw_elf) elf = open_image(&m, &rc);
	return dw_elf_read_section(elf, dw_elf_section(elf, ".data"), ret, ret_n, NULL);
}

TEST(compressed_sections)
{
	uint8_t plain[5000], packed[200], *got = NULL;
	uLongf n = sizeof packed;
	size_t got_n, m;

	memset(plain, 'x', sizeof plain);
	CHECK_INT(compress(packed, &n, plain, sizeof plain), Z_OK);
	CHECK_INT(read_packed(ELFCOMPRESS_ZLIB, packed, n, sizeof plain, &got, &got_n), 0);
	CHECK_INT(got_n, sizeof plain);
	CHECK(!memcmp(got, plain, got_n));
	free(got);
	m = ZSTD_compress(packed, sizeof packed, plain, sizeof plain, 1);
	CHECK_INT(read_packed(2, packed, m, sizeof plain, &got, &got_n), 0);
	CHECK(!memcmp(got, plain, got_n));
	free(got);
	/* lies about the size, a cut stream, an unknown method, more than the limit */
	CHECK_INT(read_packed(2, packed, m, 4999, &got, &got_n), DWELL_ERR_FORMAT);
	CHECK_INT(read_packed(2, packed, m, 5001, &got, &got_n), DWELL_ERR_FORMAT);
	CHECK_INT(read_packed(2, packed, m - 3, 5000, &got, &got_n), DWELL_ERR_FORMAT);
	CHECK_INT(read_packed(9, packed, m, 5000, &got, &got_n), DWELL_ERR_UNSUPPORTED);
	CHECK_INT(read_packed(2, packed, m, 1ull << 40, &got, &got_n), DWELL_ERR_LIMIT);
}

TEST(vdso_is_a_loaded_image)
{
	const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	dw_auto_ptr(dw_elf) elf = NULL;
	uint8_t magic[4];

	CHECK(vdso);
	CHECK_INT(dw_elf_open_bytes(vdso, 4096, true, &elf, NULL), 0);
	CHECK_INT(dw_elf_read_svma(elf, (struct dw_svma){0}, magic, 4), 0);
	CHECK(!memcmp(magic, ELFMAG, 4));
}

/* What the image @m is linked to, with its dynamic section of @n entries in its data, and strings
 * behind that: the first name, "" = none, or what was wrong. */
static const char *first_needed(struct image *m, const Elf64_Dyn *entries, size_t n, char ret[32])
{
	struct dw_elf_needed needed;
	int rc;

	m->seg[2] = m->seg[1];
	m->seg[2].p_type = PT_DYNAMIC;
	m->seg[2].p_filesz = n * sizeof *entries;
	memset(m->data, 'x', sizeof m->data);
	memcpy(m->data, entries, n * sizeof *entries);
	memcpy(m->data + 128, "\0libone.so.1\0libtwo.so", 23);

	dw_auto_ptr(dw_elf) elf = open_image(m, &rc);

	if (!rc)
		rc = dw_elf_needed_read(elf, &needed);
	snprintf(ret, 32, "%s", rc ? dw_err_string(rc) : needed.names.n ? needed.names.v[0] : "");
	dw_elf_needed_release(&needed);
	return ret;
}

TEST(needed_libraries)
{
	const uint64_t data = 0x10000 + offsetof(struct image, data), strings = data + 128;
	const Elf64_Dyn good[] = {{DT_NEEDED, {1}},
				  {DT_NEEDED, {13}},
				  {DT_STRTAB, {strings}},
				  {DT_STRSZ, {23}},
				  {DT_NULL, {0}}};
	const Elf64_Dyn *none = good + 2;
	Elf64_Dyn bad[5];
	struct image m = good_image();
	const char *outside = dw_err_string(DWELL_ERR_NOT_FOUND);
	char got[32];

	CHECK_STR(first_needed(&m, good, 5, got), "libone.so.1");
	CHECK_STR(first_needed(&m, good + 1, 4, got), "libtwo.so");
	CHECK_STR(first_needed(&m, none, 3, got), "");
	CHECK_STR(first_needed(&m, good, 4, got), "libone.so.1"); /* no end mark */
	memcpy(bad, good, sizeof bad);
	bad[0].d_un.d_val = 23;
	CHECK_STR(first_needed(&m, bad, 5, got), outside);
	bad[0].d_un.d_val = 1;
	bad[2].d_un.d_val = data + 300;
	CHECK_STR(first_needed(&m, bad, 5, got), outside);
	bad[2].d_un.d_val = strings;
	bad[3].d_un.d_val = 8; /* cuts the first name; of the second one nothing is there */
	CHECK_STR(first_needed(&m, bad, 5, got), outside);
}

TEST(own_binary_needs_the_c_library)
{
	dw_auto_close int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	dw_auto_ptr(dw_elf) elf = NULL;
	struct dw_elf_needed needed;
	bool has_libc = false;

	CHECK_INT(dw_elf_open(fd, &elf, NULL), 0);
	CHECK_INT(dw_elf_needed_read(elf, &needed), 0);
	dw_vec_each(name, &needed.names)
		has_libc |= !strcmp(*name, "libc.so.6");
	CHECK(has_libc);
	dw_elf_needed_release(&needed);
	CHECK(dw_elf_code_bytes(elf) >= dw_elf_section(elf, ".text")->bytes);
}

/* No single damaged byte may crash the reader. */
TEST(every_byte_damaged)
{
	struct image m = good_image();

	for (size_t i = 0; i < offsetof(struct image, data); i++) {
		for (int bit = 0; bit < 8; bit += 7) {
			size_t n, got_n;
			uint8_t *got, id[20];
			int rc;

			((uint8_t *)&m)[i] ^= (uint8_t)(1 << bit);
			dw_auto_ptr(dw_elf) elf = open_image(&m, &rc);
			((uint8_t *)&m)[i] ^= (uint8_t)(1 << bit);
			if (rc)
				continue;
			const struct dw_elf_section *s = dw_elf_sections(elf, &n);

			for (size_t k = 0; k < n; k++)
				if (!dw_elf_read_section(elf, &s[k], &got, &got_n, NULL))
					free(got);
			CHECK(dw_elf_build_id(elf, id, sizeof id) <= sizeof id);
		}
	}
}

TEST_MAIN()
