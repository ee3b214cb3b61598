/*
 * golden-session NAME FILE: write one of the sessions that golden texts are made from, through the
 * real writer.
 *
 * plain: two processes, recursion, an inlined function, a library, a cut stack, a thread without
 * samples. hostile: names that try to break each format.
 */
#include "analysis/totals.h"
#include "base/cleanup.h"
#include "maker.h"
#include "session/write.h"

#include <errno.h>
#include <stdio.h>

static void set_facts(struct dw_profile *p, const char *command)
{
	if (dw_facts_set_text(&p->facts, "method", "sampling") ||
	    dw_facts_set_text(&p->facts, "command", command) ||
	    dw_facts_set(&p->facts, "frequency_hz", 1000) ||
	    dw_facts_set(&p->facts, "duration_ns", 1234567890) ||
	    dw_facts_set(&p->facts, "samples_kept", (int64_t)p->samples.n) ||
	    dw_facts_set(&p->facts, "samples_lost", 3) ||
	    dw_facts_set(&p->facts, "samples_discarded", 12) ||
	    dw_facts_set(&p->facts, "stacks_cut", 5) ||
	    dw_facts_set(&p->facts, "user_cpu_ns", 1100000000) ||
	    dw_facts_set(&p->facts, "kernel_cpu_ns", 20000000))
		abort();
}

static void add_idle_thread(struct dw_profile *p)
{
	struct dw_thread t = {.process = 1,
			      .tid = 102,
			      .name = mk_text(p, "idle"),
			      .begin_ns = 1000000,
			      .end_ns = 900000000};
	uint32_t id;

	if (dw_threads_add(&p->threads, &t, &id))
		abort();
}

static void make_plain(struct dw_profile *p)
{
	uint32_t prog = mk_module(p, "prog"), lib = mk_module(p, "libwork.so");
	uint32_t one = mk_process(p, 101, "prog"), two = mk_process(p, 201, "child");
	uint32_t start = mk_function(p, prog, "_start", NULL, 0);
	uint32_t main_ = mk_function(p, prog, "main", "src/main.c", 10);
	uint32_t fib = mk_function(p, prog, "fib", "src/main.c", 30);
	uint32_t work = mk_function(p, lib, "work(int)", "src/work.cpp", 5);
	uint32_t leaf = mk_function(p, lib, "clamp<int>(int)", "src/work.h", 7);
	struct dw_location inlined[] = {{leaf, mk_text(p, "src/work.h"), 9, 12, 10, 1},
					{work, mk_text(p, "src/work.cpp"), 8, 3, 0, 0}};
	uint32_t cut = mk_cut(p), f_start = mk_plain_frame(p, start, 0x10, 0);
	uint32_t f_main = mk_plain_frame(p, main_, 0x20, 12);
	uint32_t f_main2 = mk_plain_frame(p, main_, 0x40, 15);
	uint32_t f_fib = mk_plain_frame(p, fib, 0x30, 33), f_fib2 = mk_plain_frame(p, fib, 8, 31);
	uint32_t f_work = mk_plain_frame(p, work, 0x18, 6);
	uint32_t f_in = mk_frame(p, (struct dw_frame){lib, DWELL_FRAME_CODE, 0x1333}, inlined, 2);

	mk_samples(p, one, mk_stack(p, (uint32_t[]){f_start, f_main, f_fib, f_fib, f_fib2}, 5), 40);
	mk_samples(p, one, mk_stack(p, (uint32_t[]){f_start, f_main, f_fib}, 3), 10);
	mk_samples(p, one, mk_stack(p, (uint32_t[]){f_start, f_main2, f_work}, 3), 30);
	mk_samples(p, one, mk_stack(p, (uint32_t[]){f_start, f_main2, f_in}, 3), 60);
	mk_samples(p, one, mk_stack(p, (uint32_t[]){cut, f_work, f_in}, 3), 5);
	mk_samples(p, two, mk_stack(p, (uint32_t[]){f_start, f_main2, f_in}, 3), 54);
	mk_samples(p, two, mk_stack(p, (uint32_t[]){f_start}, 1), 1);
	add_idle_thread(p);
	set_facts(p, "./prog --fast");
}

static void make_hostile(struct dw_profile *p)
{
	static const char *const names[] = {
		"esc\033[31mape\007",
		"line\nfeed\r\ttab",
		"quote\"and,comma",
		"<b>&amp;</b>]]><!--",
		"bidi\u202egnp.exe\u2066",
		"bad\xff\xc0\xaf\xed\xa0\x80utf8\xf4\x90\x80\x80 cut\xe2\x82",
		"noncharacter\uffff\ufffe",
		"=1+1;cmd|'/c'!A0",
		"wide\u6f22\u5b57\U0001f600 e\u0301",
		"c1\xc2\x85\u2028sep\u200bzero",
	};
	uint32_t module = mk_module(p, "lib\"<evil>\n\033[2J.so");
	uint32_t thread = mk_process(p, 666, "pro\033]0;title\007cess");

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		uint32_t f = mk_function(p, module, names[i], "src/\"<\n>&.c", 3);
		uint32_t frame = mk_plain_frame(p, f, 1, 4);

		mk_samples(p, thread, mk_stack(p, &frame, 1), 20 - i);
	}
	set_facts(p, "./prog '\033[2J' <>&\"\n");
}

/* A flush clears the samples, finishing wants them back. */
static int flush(struct dw_session_writer *w, struct dw_profile *p, struct dw_error *err)
{
	struct dw_samples all = {0};
	int rc = 0;

	for (size_t i = 0; i < p->samples.n && !rc; i++)
		rc = dw_samples_add(&all, p->samples.time_ns[i], p->samples.thread[i],
				    p->samples.stack[i]);
	if (!rc)
		rc = dw_session_flush(w, p, err);
	dw_samples_release(&p->samples);
	p->samples = all;
	return rc;
}

static int write_session(struct dw_profile *p, const char *path, struct dw_error *err)
{
	struct dw_totals totals = {0};
	struct dw_session_writer *w = NULL;
	dw_auto_free char *partial = NULL;
	int rc;

	if (asprintf(&partial, "%s.partial", path) < 0)
		return -ENOMEM;
	rc = dw_totals_compute(p, NULL, DWELL_TOTALS_ALL, &totals);
	if (!rc)
		rc = dw_session_create(path, &w, err);
	if (!rc)
		rc = flush(w, p, err);
	if (!rc)
		rc = dw_session_close_partial(w, err);
	dw_session_writer_free(w, rc != 0);
	if (!rc)
		rc = dw_session_finish(partial, path, p, &totals, err);
	dw_totals_release(&totals);
	return rc;
}

int main(int argc, char **argv)
{
	struct dw_profile p = DW_PROFILE_INIT;
	struct dw_error err = DW_ERROR_INIT;
	int rc;

	if (argc != 3) {
		fprintf(stderr, "usage: golden-session plain|hostile FILE\n");
		return 2;
	}
	if (!strcmp(argv[1], "plain"))
		make_plain(&p);
	else
		make_hostile(&p);
	rc = write_session(&p, argv[2], &err);
	if (rc)
		fprintf(stderr, "golden-session: %s\n", dw_error_message(&err));
	dw_profile_release(&p);
	dw_error_clear(&err);
	return rc ? 1 : 0;
}
