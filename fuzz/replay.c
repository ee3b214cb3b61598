/*
 * Replays inputs through a fuzz target without a fuzzer: fuzz-NAME FILE|DIRECTORY...
 *
 * Each file goes in whole, then cut at up to 64 places, then with up to 256 single bytes changed.
 * The changes follow from the input alone, so a finding repeats. That catches most careless reads
 * in the ordinary test run, and all the old findings; searching for new ones is scripts/fuzz.
 * Every input is copied to a block of exactly its size, so that the address sanitizer sees a read
 * past its end. Output is TAP: one test for each argument.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_CUTS = 64, MAX_CHANGES = 256, MAX_INPUT_BYTES = 16 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void feed(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size);

	if (size && !copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void feed_cut(const uint8_t *data, size_t size)
{
	size_t step = size / MAX_CUTS + 1;

	for (size_t n = 0; n < size; n += step)
		feed(data, n);
}

static void feed_changed(uint8_t *data, size_t size)
{
	static const uint8_t values[] = {0x00, 0xff, 0x7f, 0x80, 0x01};
	uint64_t random = 0x9e3779b97f4a7c15u ^ size;

	for (int i = 0; size && i < MAX_CHANGES; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		uint8_t *byte = &data[(random >> 33) % size], old = *byte;

		*byte = i % 2 ? (uint8_t)(random >> 24) : values[(i / 2) % sizeof(values)];
		feed(data, size);
		*byte = old;
	}
}

static bool replay_file(const char *path)
{
	FILE *f = fopen(path, "rbe");
	uint8_t *data = malloc(MAX_INPUT_BYTES);
	size_t size = 0;

	if (!f || !data) {
		printf("# cannot read %s\n", path);
	} else {
		size = fread(data, 1, MAX_INPUT_BYTES, f);
		feed(data, size);
		feed_cut(data, size);
		feed_changed(data, size);
	}
	free(data);
	return f && !fclose(f);
}

/* The number of files replayed, or -1. */
static int replay_directory(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool ok = dir != NULL;
	int n = 0;

	while (ok && (entry = readdir(dir)) != NULL) {
		char name[4096];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		ok = replay_file(name);
		n++;
	}
	if (dir)
		closedir(dir);
	return ok ? n : -1;
}

int main(int argc, char **argv)
{
	int bad = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n1..%d\n", argc - 1);
	for (int i = 1; i < argc; i++) {
		struct stat st;
		bool is_dir = !stat(argv[i], &st) && S_ISDIR(st.st_mode);
		int n = is_dir ? replay_directory(argv[i]) : replay_file(argv[i]);

		/* A folder without inputs would be a test that cannot fail. */
		bad += n < 1;
		printf("%sok %d - %s: %d inputs\n", n < 1 ? "not " : "", i, argv[i], n);
	}
	return bad || argc < 2;
}
