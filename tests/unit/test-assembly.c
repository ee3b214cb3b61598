/*
 * Assemblies that carry their PDB, and single-file programs that carry assemblies.
 */
#include "base/buf.h"
#include "check.h"
#include "code/clr/assembly.h"
#include "code/clr/pdb.h"

#include <unistd.h>
#include <zlib.h>

enum { FILE_MAX = 1 << 16 };

static const char assembly[] = DWELL_SOURCE_ROOT "/fuzz/corpus/pdb/embedded.dll";

static size_t read_file(const char *path, uint8_t *to)
{
	FILE *f = fopen(path, "rb");
	size_t n = f ? fread(to, 1, FILE_MAX, f) : 0;

	if (f)
		fclose(f);
	return n;
}

#define in_memory(memory, length) (&(struct dw_pe_file){.bytes = (memory), .n = (length)})

TEST(an_assembly_has_its_lines_in_itself)
{
	static uint8_t bytes[FILE_MAX];
	size_t n = read_file(assembly, bytes), pdb_n = 0;
	uint8_t id[DWELL_PDB_ID_BYTES];
	struct dw_pdb_line line;
	struct dw_buf path = DW_BUF_INIT;
	struct dw_pdb pdb;
	void *embedded = dw_pe_embedded_pdb(in_memory(bytes, n), &pdb_n);

	CHECK(embedded);
	CHECK_INT(dw_pdb_open(embedded, pdb_n, &pdb), 0);
	CHECK(dw_pe_pdb_id(in_memory(bytes, n), id));
	CHECK(!memcmp(id, pdb.id, sizeof id));
	CHECK(dw_pdb_first(&pdb, 1, &line));
	CHECK_INT(line.line, 5); /* of fuzz/corpus/pdb/embedded.dll's tiny.cs: new int[...] */
	CHECK(dw_pdb_document(&pdb, line.document, &path));
	CHECK_STR(dw_buf_str(&path), "/src/tiny.cs");
	dw_buf_release(&path);
	free(embedded);
}

TEST(an_assembly_is_read_where_it_lies_in_a_file)
{
	static uint8_t bytes[FILE_MAX];
	size_t n = read_file(assembly, bytes), in_memory_n = 0, n_in_file = 0;
	void *embedded = dw_pe_embedded_pdb(in_memory(bytes, n), &in_memory_n);
	uint8_t id[DWELL_PDB_ID_BYTES], id_in_file[DWELL_PDB_ID_BYTES];
	FILE *f = tmpfile();
	struct dw_pe_file file = {.at = 1000, .n = n};
	void *in_file;

	CHECK(f && embedded && dw_pe_pdb_id(in_memory(bytes, n), id));
	file.fd = fileno(f);
	CHECK_INT(pwrite(file.fd, bytes, n, (off_t)file.at), n);
	in_file = dw_pe_embedded_pdb(&file, &n_in_file);
	CHECK_INT(n_in_file, in_memory_n);
	CHECK(in_file && !memcmp(in_file, embedded, n_in_file));
	CHECK(dw_pe_pdb_id(&file, id_in_file) && !memcmp(id_in_file, id, sizeof id));
	CHECK_INT(ftruncate(file.fd, (off_t)file.at + 100), 0);
	CHECK(!dw_pe_pdb_id(&file, id));
	CHECK(!dw_pe_embedded_pdb(&file, &n_in_file));
	free(in_file);
	free(embedded);
	fclose(f);
}

/* What dw_pe_embedded_pdb() finds when the size beside the PDB is told as @size. */
static bool is_found_with_size(uint32_t size)
{
	static uint8_t bytes[FILE_MAX];
	size_t n = read_file(assembly, bytes), got;
	uint8_t *mark = memmem(bytes, n, "MPDB", 4);
	void *found;

	for (int i = 0; mark && i < 4; i++)
		mark[4 + i] = (uint8_t)(size >> 8 * i);
	found = dw_pe_embedded_pdb(in_memory(bytes, n), &got);
	free(found);
	return found != NULL;
}

TEST(sizes_that_lie_are_refused)
{
	static uint8_t bytes[FILE_MAX];
	size_t n = read_file(assembly, bytes), size = 0;

	free(dw_pe_embedded_pdb(in_memory(bytes, n), &size));
	CHECK(is_found_with_size((uint32_t)size));
	CHECK(!is_found_with_size((uint32_t)size + 1));
	CHECK(!is_found_with_size((uint32_t)size - 1));
	CHECK(!is_found_with_size(0));
	CHECK(!is_found_with_size(UINT32_MAX));
	CHECK(!is_found_with_size(DWELL_INFLATE_MAX));
}

TEST(a_cut_assembly_has_no_lines)
{
	static uint8_t bytes[FILE_MAX];
	size_t n = read_file(assembly, bytes), size;
	uint8_t *mark = memmem(bytes, n, "MPDB", 4);

	CHECK(mark);
	for (size_t cut = 0; cut < (size_t)(mark - bytes) + 64; cut += 7)
		CHECK(!dw_pe_embedded_pdb(in_memory(bytes, cut), &size));
}

static void put_number(struct dw_buf *b, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		dw_buf_putc(b, (char)(value >> 8 * i));
}

static void put_text(struct dw_buf *b, const char *text)
{
	dw_buf_putc(b, (char)strlen(text));
	dw_buf_put(b, text, strlen(text));
}

/* A list as hosts of @version have it: a.dll at 100, b.dll at 200. */
static void put_list(struct dw_buf *b, uint32_t version)
{
	static const char *const names[] = {"a.dll", "b.dll"};

	put_number(b, version, 4);
	put_number(b, 0, 4);
	put_number(b, 2, 4);
	put_text(b, "id");
	for (int i = 0; version >= 2 && i < 5; i++)
		put_number(b, 0, 8);
	for (uint32_t i = 0; i < 2; i++) {
		put_number(b, 100 * (i + 1), 8);
		put_number(b, 10 + i, 8);
		if (version >= 6)
			put_number(b, i, 8);
		put_number(b, 1, 1);
		put_text(b, names[i]);
	}
}

TEST(files_of_a_bundle_are_found)
{
	for (uint32_t version = 1; version <= 6; version++) {
		struct dw_buf list = DW_BUF_INIT;
		struct dw_bundle_file file;

		put_list(&list, version);
		CHECK(dw_bundle_find(list.data, list.len, "b.dll", &file));
		CHECK_INT(file.at, 200);
		CHECK_INT(file.bytes, 11);
		CHECK_INT(file.packed_bytes, version >= 6);
		CHECK(!dw_bundle_find(list.data, list.len, "b", &file));
		CHECK(!dw_bundle_find(list.data, list.len, "c.dll", &file));
		for (size_t n = 0; n < list.len; n++)
			CHECK(!dw_bundle_find(list.data, n, "b.dll", &file));
		dw_buf_release(&list);
	}
}

TEST(the_mark_of_a_bundle_tells_of_its_list)
{
	static uint8_t bytes[FILE_MAX];
	size_t n = read_file(DWELL_SOURCE_ROOT "/fuzz/corpus/pdb/bundle", bytes);
	struct dw_bundle_file file;
	uint64_t at = 0;

	CHECK(dw_bundle_list_at(bytes, n, &at));
	CHECK_INT(at, 64);
	CHECK(dw_bundle_find(bytes + at, n - at, "managed.dll", &file));
	CHECK_INT(file.bytes, 14336);
	for (size_t cut = 0; cut < 64; cut++)
		CHECK(!dw_bundle_list_at(bytes, cut, &at));
}

TEST(what_is_inflated_has_the_size_that_was_told)
{
	uint8_t text[1000] = {1, 2, 3}, packed[2000];
	z_stream z = {.next_in = text, .avail_in = sizeof text};
	void *out;

	CHECK_INT(deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_out = packed;
	z.avail_out = sizeof packed;
	CHECK_INT(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	out = dw_inflate(packed, z.total_out, sizeof text);
	CHECK(out && !memcmp(out, text, sizeof text));
	free(out);
	CHECK(!dw_inflate(packed, z.total_out, sizeof text - 1));
	CHECK(!dw_inflate(packed, z.total_out, sizeof text + 1));
	CHECK(!dw_inflate(packed, z.total_out - 1, sizeof text));
}

TEST_MAIN()
