/*
 * Commands that are .NET programs; see dotnet-command.h. The executables that the SDK makes, those
 * with the runtime inside included, are hosts (code/clr/assembly.h).
 */
#include "record/dotnet-command.h"

#include "base/cleanup.h"
#include "code/clr/assembly.h"
#include "code/elf/elf.h"
#include "record/program.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "dotnet"
/* What programs export that have the runtime in themselves. */
#define EXPORT "DotNetRuntimeInfo"

enum {
	WORDS = 16,		  /* of a command line, looked at as files */
	LOOKED_AT_MAX = 16 << 20, /* bytes of a file: the mark is in the front */
	SCRIPT_MAX = 64 << 10,	  /* the same of a script */
};

static bool is_host(int fd)
{
	struct stat st;
	size_t n;
	void *bytes;
	bool has;

	if (fd < 0 || fstat(fd, &st) || st.st_size <= 0)
		return false;
	n = st.st_size < LOOKED_AT_MAX ? (size_t)st.st_size : LOOKED_AT_MAX;
	bytes = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return false;
	has = dw_bundle_is_host(bytes, n);
	munmap(bytes, n);
	return has;
}

static bool is_dotnet_program(const char *name)
{
	struct dw_program program;
	bool is;

	dw_program_find(name, &program);
	is = is_host(program.fd);
	dw_program_release(&program);
	return is;
}

/* Whether the file @path is a script that names the SDK's command. */
static bool is_dotnet_script(const char *path)
{
	dw_auto_free char *text = malloc(SCRIPT_MAX);
	dw_auto_close int fd = -1;
	struct stat st;
	ssize_t n;

	/* A word can name anything, and opening a device may do something. */
	if (!text || stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	n = fd < 0 ? 0 : read(fd, text, SCRIPT_MAX);
	return n > 2 && !memcmp(text, "#!", 2) && memmem(text, (size_t)n, NAME, strlen(NAME));
}

bool dw_is_dotnet_command(char *const *argv)
{
	for (int i = 0; argv[i]; i++)
		if (strstr(argv[i], NAME))
			return true;
	for (int i = 0; argv[i] && i < WORDS; i++)
		if (((!i || strchr(argv[i], '/')) && is_dotnet_program(argv[i])) ||
		    is_dotnet_script(argv[i]))
			return true;
	return false;
}

bool dw_has_dotnet_runtime(int fd)
{
	const struct dw_elf_section *names;
	uint8_t *bytes = NULL;
	struct dw_elf *elf;
	bool has;
	size_t n;

	if (dw_elf_open(fd, &elf, NULL))
		return false;
	names = dw_elf_section(elf, ".dynstr");
	has = names && !dw_elf_read_section(elf, names, &bytes, &n, NULL) &&
	      memmem(bytes, n, EXPORT, sizeof EXPORT);
	free(bytes);
	dw_elf_free(elf);
	return has;
}
