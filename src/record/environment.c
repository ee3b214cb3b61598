/* Facts of a recording; see environment.h. */
#include "record/environment.h"

#include "base/buf.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

static int note_command(struct dw_facts *facts, char *const *argv)
{
	struct dw_buf line = DW_BUF_INIT;
	int rc;

	for (char *const *word = argv; *word; word++) {
		if (word != argv)
			dw_buf_putc(&line, ' ');
		dw_buf_put_shell_word(&line, *word);
	}
	rc = line.failed ? -ENOMEM : dw_facts_set_text(facts, "command", dw_buf_str(&line));
	dw_buf_release(&line);
	return rc;
}

int dw_note_start(struct dw_facts *facts, const char *method, char *const *argv)
{
	struct utsname host;
	struct timespec now;
	int rc = dw_facts_set_text(facts, "method", method);

	uname(&host);
	clock_gettime(CLOCK_REALTIME, &now);
	if (!rc && argv)
		rc = note_command(facts, argv);
	if (!rc)
		rc = dw_facts_set_text(facts, "host", host.nodename);
	if (!rc)
		rc = dw_facts_set_text(facts, "kernel", host.release);
	if (!rc)
		rc = dw_facts_set_text(facts, "dwell_version", DWELL_VERSION);
	if (!rc)
		rc = dw_facts_set(facts, "start_realtime_ns",
				  now.tv_sec * 1000000000 + now.tv_nsec);
	return rc;
}

int dw_note_stats(struct dw_facts *facts, const struct dw_backend_stats *stats)
{
	const struct {
		const char *key;
		uint64_t value;
	} rows[] = {
		{"samples_kept", stats->samples_kept},
		{"samples_lost", stats->samples_lost},
		{"samples_discarded", stats->samples_discarded},
		{"stacks_cut", stats->stacks_cut},
		{"records_lost", stats->records_lost},
		{"throttled", stats->throttled},
	};
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof rows / sizeof *rows; i++)
		rc = dw_facts_set(facts, rows[i].key, (int64_t)rows[i].value);
	return rc;
}

static int64_t timeval_ns(struct timeval t)
{
	return t.tv_sec * 1000000000 + t.tv_usec * 1000;
}

int dw_note_cpu(struct dw_facts *facts, const struct rusage *usage)
{
	int rc = dw_facts_set(facts, "user_cpu_ns", timeval_ns(usage->ru_utime));

	return rc ? rc : dw_facts_set(facts, "kernel_cpu_ns", timeval_ns(usage->ru_stime));
}
