/* Names of processes; see title.h. */
#include "target/title.h"

#include "base/cleanup.h"
#include "target/proc.h"

#include <errno.h>
#include <string.h>

#define HOST	 "dotnet"
#define ASSEMBLY ".dll"
#define CUT	 "..."

/* The word @text without its folders, if it is an assembly. */
static const char *shortened(const char *text)
{
	const char *slash = strrchr(text, '/');
	size_t n = strlen(text), end = strlen(ASSEMBLY);

	return slash && n > end && !strcmp(text + n - end, ASSEMBLY) ? slash + 1 : text;
}

/* Cut @title, which begins at @start in @b, where a character begins. */
static void cut(struct dw_buf *b, size_t start)
{
	size_t end = start + DWELL_TITLE_BYTES - strlen(CUT);

	if (b->len - start <= DWELL_TITLE_BYTES)
		return;
	while (end > start && ((unsigned char)b->data[end] & 0xc0) == 0x80)
		end--;
	b->len = end;
	dw_buf_puts(b, CUT);
}

int dw_process_title(pid_t pid, const char *name, struct dw_buf *ret)
{
	dw_auto(dw_buf) line = DW_BUF_INIT;
	size_t start = ret->len, at;

	dw_buf_puts(ret, name);
	if (!strcmp(name, HOST) && !dw_proc_read(pid, "cmdline", &line) && line.len) {
		for (at = strlen(line.data) + 1; at < line.len && !ret->failed;
		     at += strlen(line.data + at) + 1)
			dw_buf_printf(ret, " %s", shortened(line.data + at));
		if (!ret->failed)
			cut(ret, start);
	}
	return ret->failed || line.failed ? -ENOMEM : 0;
}
